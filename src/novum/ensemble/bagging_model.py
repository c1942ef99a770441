"""What bagging classifiers and regressors share: drawing, fitting, growing on, asking.

Each member is a clone of the base learner, fitted to rows (and columns) drawn for it
(`novum.ensemble.resampling`). A base learner that takes weights is given the whole table and how
often each row was drawn; any other one is given the drawn rows, repeated as often as drawn.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    ConstantPredictor,
    Learner,
    count,
    fitted,
    parameter,
    share,
)
from novum.core.runtime import RandomSource, fit_context, fitting, seed_sequence
from novum.core.tables import TrainingRows, columns_of, rows_of
from novum.ensemble.certification import certify_members
from novum.ensemble.combining import in_order
from novum.ensemble.members import (
    combine_input_tags,
    consumes_weights,
    fitted_member,
    run_members,
    shared_invariances,
)
from novum.ensemble.resampling import Resampling, column_draws, row_draws
from novum.numerics import Array, Floats, Integers, Positions


class Bagging(MetaEstimatorMixin, Learner, metaclass=ABCMeta):
    """Shared fit of members to resampled rows; see `BaggingClassifier`."""

    estimator_: Any = fitted()
    estimators_: list[Any] = fitted()
    estimators_features_: list[Positions] = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()
    _resamplings: list[Resampling] = fitted()

    estimator: Any = parameter(HasMethods(["fit", "predict"]), None, default=None, kw_only=False)
    n_estimators: int = parameter(default=10, at_least=1, kw_only=False)
    max_samples: int | float | None = parameter(count(), share(), default=None)
    max_features: int | float = parameter(count(), share(), default=1.0)
    bootstrap: bool = parameter(default=True)
    bootstrap_features: bool = parameter(default=False)
    oob_score: bool = parameter(default=False)
    warm_start: bool = parameter(default=False)
    n_jobs: int | None = parameter(default=None)
    random_state: RandomSource = parameter(default=None)
    verbose: int = parameter("verbose", default=0)

    # What a learner of the family says

    @abstractmethod
    def _base(self) -> Any:
        """The base learner, as given or by default."""

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, *, grows: bool) -> TrainingRows:
        """Rows and targets of a fit, which perhaps adds to an earlier one."""

    @abstractmethod
    def _judge_out_of_bag(self, training: TrainingRows) -> None:
        """Stores out-of-bag predictions and their score."""

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit every member to rows drawn for it.

        Parameters
        ----------
        X, y
            Rows of any container the base learner reads, and targets.
        sample_weight : array-like of shape (n,), optional
            See Notes of `BaggingClassifier`.
        **fit_params
            For base learners that request them under scikit-learn's metadata routing.
        """
        with fitting(self) as watch:
            training = self._read(X, y, sample_weight, grows=self._grows_on())
            if not self._grow(training, fit_params):
                return self
            for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
                self.__dict__.pop(name, None)
            if self.oob_score:
                self._judge_out_of_bag(training)
            self.certificate_ = certify_members(
                self.estimators_,
                f"mean of {len(self.estimators_)} resampled {type(self.estimator_).__name__}",
                seconds=watch.seconds,
            )
        return self

    # Members

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    @property
    def estimators_samples_(self) -> list[Positions]:
        """Positions of the rows drawn for each member; drawn anew at each call, not kept."""
        return [self._resampling(m).rows(m) for m in range(len(self.estimators_))]

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; which rows are drawn depends on their order."""
        known = shared_invariances([self._base()])
        if not self.bootstrap and (self.max_samples is None or self.max_samples == 1.0):
            return known
        return tuple(name for name in known if name not in ("row_order", "duplication"))

    def _resampling(self, member: int) -> Resampling:
        return next(r for r in self._resamplings if r.first <= member < r.stop)

    # Steps of a fit

    def _grows_on(self) -> bool:
        """Whether this fit adds to the members of an earlier one."""
        return bool(self.warm_start) and hasattr(self, "estimators_")

    def _grow(self, training: TrainingRows, params: Mapping[str, Any]) -> bool:
        """Fits the members that are lacking; says whether there were any."""
        made = len(self.estimators_) if self._grows_on() else 0
        if self.oob_score and not self.bootstrap:
            raise InputError(
                "Out of bag estimation only available if bootstrap=True: without replacement and "
                "max_samples no row is left out."
            )
        if self.n_estimators < made:
            raise InputError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={made} when warm_start==True. Raise it, or set "
                "warm_start=False."
            )
        if self.n_estimators == made:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=4,
            )
            return False
        self.estimator_ = self._base()
        draws = self._draws(training, made)
        task = _MemberTask(self.estimator_, draws, training, self._fit_params(params))
        members = run_members(self, task, range(made, self.n_estimators))
        columns = [draws.columns(m) for m in range(made, self.n_estimators)]
        # New lists: a fit that does not come to its end must leave those of the last one alone.
        self.estimators_ = [*(self.estimators_ if made else []), *members]
        self.estimators_features_ = [*(self.estimators_features_ if made else []), *columns]
        self._resamplings = [*(self._resamplings if made else []), draws]
        return True

    def _draws(self, training: TrainingRows, made: int) -> Resampling:
        weight = None
        if training.weight is not None:
            weight = np.zeros(training.n_given)
            weight[slice(None) if training.kept is None else training.kept] = training.weight
        # Rows that are no cells, such as texts, are one column.
        n_columns = getattr(self, "n_features_in_", 1)
        return Resampling(
            self._seed_words(made),
            made,
            self.n_estimators,
            training.n_given,
            n_columns,
            row_draws(self.max_samples, training.n_given, weight, bootstrap=self.bootstrap),
            column_draws(self.max_features, n_columns),
            bool(self.bootstrap),
            bool(self.bootstrap_features),
            weight,
        )

    def _seed_words(self, made: int) -> NDArray[np.uint32]:
        """Root of all streams; members that are added continue those of the first fit."""
        if made and not isinstance(self.random_state, (Integral, np.random.SeedSequence)):
            return self._resamplings[-1].seed_words
        words = seed_sequence(self.random_state).generate_state(4, np.uint32)
        return words.astype(np.uint32)

    def _fit_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        _raise_for_params(params, self, "fit")
        if not _routing_enabled():
            return {}
        return dict(process_routing(self, "fit", **params).estimator.fit)

    # Asking members

    def _seen_by(self, table: Any, member: int) -> Any:
        """The columns of a table that a member knows."""
        if self._resampling(member).takes_every_column:
            return table
        return drawn_columns(table, self.estimators_features_[member])

    def _out_of_bag(
        self, training: TrainingRows, ask: Callable[[Any, int], Array]
    ) -> tuple[Floats, Integers]:
        """Sums over the members that have not seen a row of what they say of it, and their number.

        Both have an entry for each row given to `fit`; rows of weight zero have none to say.
        """
        kept = np.arange(training.n_given) if training.kept is None else training.kept
        if any(draws.n_rows != training.n_given for draws in self._resamplings):
            raise InputError(
                "Out-of-bag predictions need members drawn from one table, but earlier members "
                "were fitted to another number of rows. Set warm_start=False."
            )

        def left_out(member: int) -> tuple[Positions, Any]:
            rows = np.flatnonzero(self._resampling(member).counts(member)[kept] == 0)
            if rows.size == 0:
                return rows, 0.0
            return rows, ask(self._seen_by(rows_of(training.table, rows), member), member)

        sums: Any = None
        asked = np.zeros(training.n_given, np.int64)
        for rows, predicted in in_order(left_out, len(self.estimators_), self.n_jobs):
            if rows.size == 0:
                continue
            if sums is None:
                sums = np.zeros((training.n_given, *np.shape(predicted)[1:]))
            sums[kept[rows]] += predicted
            asked[kept[rows]] += 1
        never = int(np.count_nonzero(asked[kept] == 0))
        if never:
            warnings.warn(
                f"{never} of {len(kept)} rows were drawn for every member, so they have no "
                "out-of-bag prediction: it is NaN, and they count in no score. Use more "
                "estimators.",
                stacklevel=4,
            )
        return (np.zeros(training.n_given) if sums is None else sums), asked

    def _asked_params(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Arguments for the methods of the members, by the method's name."""
        _raise_for_params(params, self, method)
        if not params or not _routing_enabled():
            return {}
        routed: Mapping[str, Any] = process_routing(self, method, **params).estimator
        return routed

    # What others ask of a model

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        M = len(self.estimators_)
        ends = [(draws.first, draws.stop) for draws in self._resamplings]
        chained = all(a[1] == b[0] for a, b in pairwise(ends))
        if not M or not ends or ends[0][0] != 0 or ends[-1][1] != M or not chained:
            raise ModelFileError(f"The model's draws do not belong to its {M} members.")
        if len(self.estimators_features_) != M:
            raise ModelFileError("The model's members have no columns.")
        n_columns = getattr(self, "n_features_in_", 1)
        for columns in self.estimators_features_:
            if columns.ndim != 1 or not (
                columns.size and 0 <= columns.min() <= columns.max() < n_columns
            ):
                raise ModelFileError("A member of the model knows columns that are not there.")

    # scikit-learn

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the members, under scikit-learn's routing."""
        base = self._base()
        asked = "predict_proba" if hasattr(base, "predict_proba") else "predict"
        logs = "predict_log_proba" if hasattr(base, "predict_log_proba") else asked
        mapping = MethodMapping().add(caller="fit", callee="fit")
        if not hasattr(self, "predict_proba"):
            asked = "predict"
        mapping.add(caller="predict", callee=asked)
        mapping.add(caller="decision_function", callee="decision_function")
        mapping.add(caller="predict_proba", callee=asked)
        mapping.add(caller="predict_log_proba", callee=logs)
        return MetadataRouter(owner=self).add(estimator=base, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        combine_input_tags(tags, [self._base()])
        return tags


class _MemberTask:
    """Fits member number m to what was drawn for it."""

    def __init__(
        self, base: Any, draws: Resampling, training: TrainingRows, params: Mapping[str, Any]
    ) -> None:
        self._base, self._draws, self._training, self._params = base, draws, training, params
        self._weighted = consumes_weights(base)
        if training.weight is not None and not draws.bootstrap and not self._weighted:
            raise InputError(
                f"Without bootstrap, weights are passed on to the members, but "
                f"{type(base).__name__} takes no sample_weight. Set bootstrap=True, or leave the "
                "weights out."
            )

    def __call__(self, member: int) -> Any:
        model = clone(self._base)
        seeds = {
            name: self._draws.seed(member, name)
            for name in sorted(model.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            model.set_params(**seeds)
        X, y, params = self._drawn(member)
        classes = self._training.classes
        if classes is not None and len(classes) > 1:
            met = np.unique(y[params["sample_weight"] > 0] if "sample_weight" in params else y)
            if len(met) == 1:
                # A rare class can be missed by a draw, and many learners refuse a single class.
                return ConstantPredictor(int(met[0]), tuple(range(len(classes))))
        if not self._draws.takes_every_column:
            X = drawn_columns(X, self._draws.columns(member))
        return fitted_member(model, X, y, params, f"member {member}")

    def _drawn(self, member: int) -> tuple[Any, Array, dict[str, Any]]:
        training = self._training
        if training.weight is None and self._draws.takes_every_row:
            return training.table, training.target, dict(self._params)
        counts = self._draws.counts(member)
        counts = counts if training.kept is None else counts[training.kept]
        if not self._weighted:
            rows = np.repeat(np.arange(training.n_rows), counts.astype(np.intp))
            params = training.cut(self._params, rows)
            return rows_of(training.table, rows), training.target[rows], params
        # With replacement the weights have acted in the draw, without they are still to act.
        if training.weight is not None and not self._draws.bootstrap:
            counts = counts * training.weight
        return (
            training.table,
            training.target,
            {**training.cut(self._params), "sample_weight": counts},
        )


def drawn_columns(X: Any, columns: Positions) -> Any:
    """Some columns of a table, possibly repeated."""
    if not hasattr(X, "columns") and len(np.shape(X)) != 2:
        raise InputError(
            "The rows of X are no cells in columns, so columns cannot be drawn. Leave "
            "max_features and bootstrap_features at their defaults."
        )
    return columns_of(X, columns)
