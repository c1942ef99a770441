"""Which rows calibrate, and in which groups: what intervals and sets of classes share.

    split        some rows, drawn at random, calibrate; the others train one model
    cross        every row calibrates the model of the other folds
    jackknife+   every row calibrates the model of all other rows

With groups, a new row is compared with the calibration rows of its own group only (a "Mondrian"
taxonomy), so that the promise holds in every group by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    SharedFolds,
    Verdict,
    fitted,
    parameter,
    takes_weights,
    unfitted_members,
)
from novum.core.runtime import RandomSource, fitted_model, run_tasks, seed, seed_sequence, stream
from novum.core.tables import TrainingRows, divides_rows, plain_target, rows_of
from novum.evaluation.calibration.evidence import certify, kept_invariances
from novum.evaluation.conformal.quantiles import (
    check_coverage,
    is_reachable,
    proved_coverage,
    warn_of_few_rows,
)
from novum.numerics import Array, Floats, Mask, Positions

# Folds of "cross" unless told.
_FOLDS = 10


class ManyFitsWarning(UserWarning):
    """A learner is fitted once for every row; the message says how often, and what is cheaper."""


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Fitted models and the rows that each was fitted without.

    Attributes
    ----------
    models : list of fitted learners
    rows : int array of shape (n,)
        Calibration rows among those of the fit, in order.
    column : int array of shape (n,)
        For each of them the model that has not seen it.
    """

    models: list[Any]
    rows: Positions
    column: Positions

    def answers(self, ask: Callable[[Any, Any], Array], table: Any) -> Array:
        """What the models say of the calibration rows, `ask(model, rows)` of each, in order."""
        parts = [np.flatnonzero(self.column == k) for k in range(len(self.models))]
        answers = [
            ask(model, rows_of(table, self.rows[part]))
            for model, part in zip(self.models, parts, strict=True)
        ]
        whole = np.concatenate(answers)
        ordered = np.empty_like(whole)
        ordered[np.concatenate(parts)] = whole
        return ordered


class ConformalLearner(MetaEstimatorMixin, Learner):
    """Shared by `ConformalRegressor` and `ConformalClassifier`.

    Parameters
    ----------
    learner : estimator
        Any that follows scikit-learn, also a pipeline or a search. In scikit-learn's
        `FrozenEstimator` it is taken as fitted, and all rows calibrate (`method="split"`).
    method : {"split", "cross", "jackknife+"}
    coverage : float
        The share of new rows whose truth is covered; another one can be asked of every prediction.
    cv : int, splitter or iterable of (train, test), optional
        Folds of "cross", which test every row once; ten by default, drawn at random.
    calibration_share : float
        Share of the rows that "split" and "quantile" set aside.
    n_jobs : int, optional
        Fits at once; the bits do not depend on it.
    random_state : None, int, Generator, RandomState or SeedSequence
        Of the split, the folds, and the seeds of learners that have none.
    """

    learner: Any = parameter(HasMethods(["fit", "predict"]), kw_only=False)
    method: str = parameter({"split", "cross", "jackknife+"}, default="cross")
    coverage: float = parameter(default=0.9, above=0, below=1)
    cv: Any = parameter("cv_object", default=None)
    calibration_share: float = parameter(default=0.25, above=0, below=1)
    n_jobs: int | None = parameter(default=None)
    random_state: RandomSource = parameter(default=0)

    estimator_: Any = fitted()
    calibration_weight_: Floats = fitted()
    calibration_groups_: Positions = fitted()
    group_labels_: Array | None = fitted()
    seed_: int = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return kept_invariances(self.learner, folds=True)

    # Steps of a fit

    def _weights(self, training: TrainingRows) -> dict[str, Floats]:
        """The weights as arguments of the learner."""
        if training.weight is None:
            return {}
        if not takes_weights(self.learner):
            raise InputError(
                f"{type(self.learner).__name__} takes no sample_weight. Leave the weights out, or "
                "choose a learner that takes them."
            )
        return {"sample_weight": training.weight}

    def _check_rows(self, training: TrainingRows) -> None:
        if training.n_rows < 2:
            raise InputError(
                f"{type(self).__name__} needs rows to learn from and others to calibrate with, but "
                "n_samples = 1. Pass more rows."
            )
        if isinstance(self.learner, FrozenEstimator) and self.method != "split":
            raise InputError(
                f"A frozen learner is not fitted again, which method={self.method!r} needs. Use "
                "method='split', whose rows then all calibrate."
            )

    def _split(self, training: TrainingRows) -> tuple[Positions, Positions]:
        """Rows to train on and rows to calibrate with."""
        n_rows = training.n_rows
        if isinstance(self.learner, FrozenEstimator):
            return np.arange(n_rows), np.arange(n_rows)
        size = min(max(round(self.calibration_share * n_rows), 1), n_rows - 1)
        order = stream(self._root(), "calibration rows").permutation(n_rows)
        return np.sort(order[size:]), np.sort(order[:size])

    def _folds(self, training: TrainingRows, labels: Array | None) -> SharedFolds:
        """The folds of "cross" and "jackknife+", with equal shares of classes if there are any."""
        cv = LeaveOneOut() if self.method == "jackknife+" else self.cv
        if cv is None or isinstance(cv, Integral):
            most = training.n_rows if labels is None else int(np.bincount(training.target).max())
            n_folds = max(2, min(_FOLDS if cv is None else int(cv), most))
            draw = seed(self._root(), "folds") % 2**32
            kind = KFold if labels is None else StratifiedKFold
            cv = kind(n_folds, shuffle=True, random_state=draw)
        elif training.kept is not None and not divides_rows(cv):
            # Given folds name rows as they were given, those of weight zero included.
            table, target = training.given
            if labels is not None:
                target = training.given_classes[target]
            folds = SharedFolds.of(cv, table, target, classifier=labels is not None)
            return folds.among(training.kept)
        target = training.target if labels is None else labels
        with warnings.catch_warnings():
            # A class with fewer rows than folds is absent from the tests of some, no more.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return SharedFolds.of(cv, training.table, target, classifier=labels is not None)

    def _fold_models(
        self, training: TrainingRows, target: Array, labels: Array | None
    ) -> FoldModels:
        """A model for each fold, fitted without its rows."""
        folds = self._folds(training, labels)
        if self.method == "jackknife+":
            warnings.warn(
                f"jackknife+ fits {type(self.learner).__name__} {training.n_rows} times, once "
                f"without each row. Use method='cross', which needs {_FOLDS} fits.",
                ManyFitsWarning,
                stacklevel=4,
            )
        weights = self._weights(training)
        members = unfitted_members(self.learner, len(folds.folds), seed(self._root(), "folds"))

        def fit(task: tuple[int, Any]) -> Any:
            number, (train, test) = task
            own = weights
            if self.method == "jackknife+" and weights:
                # A row of weight two is there twice, and one of the two is left out.
                rest = weights["sample_weight"].copy()
                rest[test] = np.maximum(rest[test] - 1.0, 0.0)
                own, train = {"sample_weight": rest}, np.flatnonzero(rest)
            try:
                return self._fitted(members[number], training, target, own, train)
            except Exception as error:
                error.add_note(f"This happened in fold {number} (counted from 0).")
                raise

        models = run_tasks(fit, list(enumerate(folds.split())), self.n_jobs)
        column = np.empty(training.n_rows, np.intp)
        for number, fold in enumerate(folds.folds):
            column[fold.test] = number
        return FoldModels(models, np.arange(training.n_rows), column)

    def _split_model(self, training: TrainingRows, target: Array) -> FoldModels:
        """One model, and the rows that were set aside."""
        train, rows = self._split(training)
        model = self._fitted(self._seeded(), training, target, self._weights(training), train)
        return FoldModels([model], rows, np.zeros(len(rows), np.intp))

    def _whole_model(self, training: TrainingRows, target: Array) -> Any:
        everything = np.arange(training.n_rows)
        weights = self._weights(training)
        return self._fitted(self._seeded(), training, target, weights, everything)

    def _seeded(self) -> Any:
        return unfitted_members(self.learner, 1, seed(self._root(), "learner"))[0]

    @staticmethod
    def _fitted(
        learner: Any,
        training: TrainingRows,
        target: Array,
        weights: Mapping[str, Floats],
        rows: Positions,
    ) -> Any:
        own = {name: weight[rows] for name, weight in weights.items()}
        return fitted_model(learner, rows_of(training.table, rows), target[rows], **own)

    def _root(self) -> np.random.SeedSequence:
        return seed_sequence(self.seed_)

    def _begin(self) -> None:
        """Draws the seed of all random numbers of a fit."""
        self.seed_ = seed(seed_sequence(self.random_state), "conformal")

    def _keep_groups(self, training: TrainingRows, groups: Any, rows: Positions) -> None:
        """Stores groups and weights of the calibration rows."""
        weight = training.weight
        self.calibration_weight_ = np.ones(len(rows)) if weight is None else weight[rows]
        self.group_labels_, self.calibration_groups_ = None, np.zeros(len(rows), np.intp)
        if groups is None:
            return
        given = training.cut({"groups": group_values(groups, training.n_given)})["groups"]
        labels, codes = np.unique(np.asarray(given)[rows], return_inverse=True)
        self.group_labels_, self.calibration_groups_ = labels, codes.astype(np.intp)

    def _certified(
        self, column: Positions, taxonomy: Positions, fault: str, seconds: float
    ) -> Certificate:
        """What is proved, whatever the learner: the coverage in the group where it is least.

        Parameters
        ----------
        column : int array of shape (n_calibration,)
            The fold of each row.
        taxonomy : int array of shape (n_calibration,)
            Rows that new rows are compared with.
        fault : str
            Why nothing is proved, or nothing.
        seconds : float
        """
        asked, weight = self.coverage, self.calibration_weight_
        proved = proved_coverage(self.method, asked, weight, column, taxonomy)
        proved = 0.0 if fault else proved
        claim = f"a coverage of at least {proved:.4g} is proved"
        if proved < asked:
            claim += f", about {asked:.4g} is what stable learners reach"
        if proved == 0:
            why = fault or f"{self.method} with so few rows and folds has no bound"
            claim = (
                f"no coverage is proved ({why}), about {asked:.4g} is what stable learners reach"
            )
        return certify(
            f"coverage by {self.method}",
            Verdict.PROVED if proved else Verdict.LOCAL,
            [self.estimator_],
            value=proved,
            seconds=seconds,
            claim=claim,
        )

    # Steps of a prediction

    def _asked(self, coverage: Any) -> float:
        return check_coverage(self.coverage if coverage is None else coverage)

    def _by_group(self, n_rows: int, groups: Any) -> Iterator[tuple[Positions, Mask, str]]:
        """New rows of each group, the calibration rows that count for them, and their name."""
        known = self.group_labels_
        if known is None:
            if groups is not None:
                raise InputError(
                    "groups were given for new rows, but not to fit. Pass them to both, or to none."
                )
            yield np.arange(n_rows), np.ones(len(self.calibration_groups_), bool), ""
            return
        if groups is None:
            raise InputError(
                "The model was calibrated by groups and needs the group of every new row. Pass "
                "groups."
            )
        values = group_values(groups, n_rows)
        met = {label: code for code, label in enumerate(known.tolist())}
        for label in dict.fromkeys(values.tolist()):
            if label not in met:
                raise InputError(
                    f"The group {label!r} has no calibration row; calibrated are "
                    f"{', '.join(map(repr, list(met)[:10]))}. Fit with rows of that group."
                )
            rows = np.flatnonzero(values == label)
            yield rows, self.calibration_groups_ == met[label], f" of group {label!r}"

    def _warn_if_few(
        self, weight: Floats, coverage: float, what: str, outcome: str, own: float = 1.0
    ) -> None:
        if not is_reachable(weight, coverage, own):
            warn_of_few_rows(coverage, float(weight.sum()), what, outcome)

    # What others ask of a model

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        codes, labels = self.calibration_groups_, self.group_labels_
        n_groups = 1 if labels is None else len(labels)
        if len(codes) != len(self.calibration_weight_) or not len(codes):
            raise ModelFileError("The weights and groups of the calibration rows do not agree.")
        if codes.min() < 0 or codes.max() >= n_groups or not (self.calibration_weight_ > 0).all():
            raise ModelFileError("A calibration row has an unknown group or a weight of zero.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.learner).input_tags
        return tags


def group_values(groups: Any, n_rows: int) -> Array:
    """The groups of all rows as an array of one dimension."""
    values = plain_target(groups)
    if values.ndim != 1 or len(values) != n_rows:
        raise InputError(
            f"groups has the shape {values.shape}, but there are {n_rows} rows. Pass one group for "
            "each row."
        )
    return values
