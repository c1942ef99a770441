"""A classifier whose threshold is chosen on rows that it has not been trained on.

    threshold = argmax_t  mean over folds of  score(y, [s(x) >= t])          any scorer
    threshold = argmin_t  pi C_fn P_fn(t) + (1 - pi) C_fp P_fp(t)           a working point

With a working point every threshold is looked at, by one sort of the cross-fitted scores of all
rows; a scorer is asked at `thresholds` places in each fold, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Learner, Verdict, count, fitted, parameter, share
from novum.core.runtime import fit_context, fitted_model, fitting, run_tasks
from novum.core.tables import TrainingRows, rows_of
from novum.evaluation.calibration.evidence import certify, kept_invariances
from novum.evaluation.calibration.threshold_classifier import (
    ThresholdClassifier,
    labels_at,
    positive_code,
)
from novum.evaluation.decisions.detection_cost import minimum_detection_cost
from novum.evaluation.decisions.error_rates import ErrorRates
from novum.numerics import Array, Floats, Positions, at_least, best_of

Folds = list[tuple[Positions, Positions]]


class TunedThresholdClassifierCV(ThresholdClassifier):
    """A binary classifier with the threshold that did best in cross-validation.

    Parameters
    ----------
    estimator : classifier
    scoring : str or callable
        What to maximize, unless a `point` is given.
    response_method : {"auto", "predict_proba", "decision_function"}
        "auto" takes the first of the two that the classifier has.
    thresholds : int or array
        How many places, or which, the scorer is asked at. A point looks at all.
    cv : int, float, splitter, iterable of (train, test) or "prefit", optional
        Five folds with equal shares of the classes by default. A float is the share of rows of
        one validation part; "prefit" takes the classifier as it is and all rows to validate.
    refit : bool
        Whether to fit the classifier to all rows in the end; needed with several folds.
    n_jobs : int, optional
    random_state : int, RandomState or None
        Of the validation part, if `cv` is a float.
    store_cv_results : bool
    point : WorkingPoint, optional
        Minimizes the detection cost there; its last class is the positive one.

    Attributes
    ----------
    estimator_ : fitted classifier
    best_threshold_ : float
        Infinite where the point is best served by one decision for all.
    best_score_ : float
        Mean score of the folds; with a point minus its normalized detection cost.
    cv_results_ : dict
        `thresholds` and `scores`, if stored.
    classes_ : array of two labels
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = [[-1.0], [0.0], [1.0], [1.0], [2.0], [3.0]] * 4
    >>> y = [0, 0, 0, 1, 1, 1] * 4
    >>> point = WorkingPoint.binary(prior=0.5, cost_fn=20, cost_fp=1)
    >>> model = TunedThresholdClassifierCV(GaussianNB(), point=point).fit(X, y)
    >>> model.predict([[0.0], [1.0], [2.0]]).tolist(), model.best_score_
    ([0, 1, 1], -0.3333333333333333)
    """

    scoring: Any = parameter(
        set(get_scorer_names()), callable, MutableMapping, default="balanced_accuracy"
    )
    thresholds: Any = parameter(count(), "array-like", default=100)
    cv: Any = parameter("cv_object", {"prefit"}, share("neither"), default=None)
    refit: bool = parameter(default=True)
    n_jobs: int | None = parameter(default=None)
    random_state: Any = parameter("random_state", default=None)
    store_cv_results: bool = parameter(default=False)
    point: WorkingPoint | None = parameter(default=None)

    best_threshold_: float = fitted()
    best_score_: float = fitted()
    cv_results_: dict[str, Any] = fitted()
    _positive: int = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return kept_invariances(self.estimator, folds=True)

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the threshold on held-out rows, then fit the classifier to all.

        Parameters
        ----------
        X, y
            Rows of any container the classifier reads, and labels of two classes.
        sample_weight : array-like of shape (n,), optional
            For the classifier, and for the scorer or the costs.
        **params
            For classifier, splitter and scorer, under scikit-learn's metadata routing.
        """
        with fitting(self) as watch:
            training = self._read(X, y, sample_weight)
            scorer = None if self.point is not None else self._scorer()
            self._positive = self._positive_of(scorer, training)
            given = self._routed(training, params)
            folds = self._folds(training, given["splitter"])
            scored = self._scored_folds(training, folds, given)
            self.estimator_ = self._final(training, folds, given["estimator"])
            curve = self._curve(scored, scorer, training.classes)
            self.best_threshold_, self.best_score_ = curve.best_threshold, curve.best_score
            if self.store_cv_results:
                self.cv_results_ = {"thresholds": curve.thresholds, "scores": curve.scores}
            self.certificate_ = self._certificate(watch.seconds)
        return self

    def predict(self, X: Any) -> Array:
        """The positive class where its score reaches the threshold (with a point: exceeds it)."""
        check_is_fitted(self, "estimator_")
        scores = self._scores(self.estimator_, self._table(X), self._positive)
        # As the curve decides: equal but for rounding is equal.
        reached = at_least(scores, self.best_threshold_)
        if self.point is not None:
            reached = ~at_least(self.best_threshold_, scores)
        return labels_at(reached, np.asarray(self.classes_), self._positive)

    def _check_state(self) -> None:
        super()._check_state()
        if self._positive not in (0, 1):
            raise ModelFileError("The positive class of the model is none of its two.")

    # Steps of a fit

    def _scorer(self) -> Any:
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        if not callable(scorer):
            raise InputError(f"scoring is one name or one function here, got {self.scoring!r}.")
        return scorer

    def _positive_of(self, scorer: Any, training: TrainingRows) -> int:
        if self.point is None:
            return positive_code(scorer_positive(scorer), training.classes)
        if len(self.point.classes) != 2:
            raise InputError(
                f"A threshold serves two classes; the point has {len(self.point.classes)}. Use "
                "model.at(point) for more."
            )
        # Says so if the point is for other classes than y.
        self.point.ordered(training.classes.tolist())
        return positive_code(self.point.classes[1], training.classes)

    def _folds(self, training: TrainingRows, split_params: Mapping[str, Any]) -> Folds:
        if isinstance(self.cv, str):
            if self.refit:
                raise InputError("When cv='prefit', refit cannot be True.")
            try:
                check_is_fitted(self.estimator, "classes_")
            except NotFittedError as error:
                raise NotFittedError("When cv='prefit', `estimator` must be fitted.") from error
            return [(np.empty(0, np.intp), np.arange(training.n_rows))]
        cv = self.cv
        if isinstance(cv, Real) and not isinstance(cv, Integral):
            cv = StratifiedShuffleSplit(
                n_splits=1, test_size=float(cv), random_state=self.random_state
            )
        folds = training.folds(cv, split_params)
        if not self.refit and len(folds) > 1:
            raise InputError("When cv has several folds, refit cannot be False.")
        return folds

    def _scored_folds(
        self, training: TrainingRows, folds: Folds, given: Mapping[str, Any]
    ) -> list[ScoredFold]:
        prefit = isinstance(self.cv, str)

        def scored(task: tuple[int, tuple[Positions, Positions]]) -> ScoredFold:
            number, (train, test) = task
            try:
                model = self.estimator if prefit else self._fitted(training, train, given)
                table = rows_of(training.table, test)
                self._refuse_other_classes(model, training)
                scores = self._scores(model, table, self._positive)
            except Exception as error:
                error.add_note(f"This happened in fold {number} (counted from 0).")
                raise
            params = training.cut(given["scorer"], test)
            return ScoredFold(scores, table, training.labels[test], params)

        return run_tasks(scored, list(enumerate(folds)), self.n_jobs)

    @staticmethod
    def _refuse_other_classes(model: Any, training: TrainingRows) -> None:
        if not np.array_equal(model.classes_, training.classes):
            raise InputError(
                f"A classifier knows the classes {np.asarray(model.classes_).tolist()}, but y has "
                f"{training.classes.tolist()}. Use folds in which both classes are trained on."
            )

    def _fitted(self, training: TrainingRows, rows: Positions, given: Mapping[str, Any]) -> Any:
        params = training.cut(given["estimator"], rows)
        table = rows_of(training.table, rows)
        return fitted_model(clone(self.estimator), table, training.labels[rows], **params)

    def _final(self, training: TrainingRows, folds: Folds, params: Mapping[str, Any]) -> Any:
        if isinstance(self.cv, str):
            return self.estimator
        rows = np.arange(training.n_rows) if self.refit else folds[0][0]
        return self._fitted(training, rows, {"estimator": params})

    def _curve(self, scored: list[ScoredFold], scorer: Any, classes: Array) -> ThresholdCurve:
        if self.point is not None:
            return cost_curve(scored, self.point)
        return mean_curve(scored, scorer, self.thresholds, classes, self._positive)

    def _certificate(self, seconds: float) -> Any:
        what = "any threshold" if self.point is not None else "the given thresholds"
        name = self.scoring if isinstance(self.scoring, str) else "score"
        measure = "normalized detection cost" if self.point is not None else name
        return certify(
            f"{measure} at {what}, on rows held out",
            Verdict.PROVED,
            [self.estimator_],
            value=-self.best_score_ if self.point is not None else self.best_score_,
            seconds=seconds,
        )

    # What others ask of a model

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the classifier, the splitter and the scorer."""
        router = MetadataRouter(owner=self).add(
            estimator=self.estimator,
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )
        router.add(
            splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
        )
        scores = MethodMapping().add(caller="fit", callee="score")
        return router.add(scorer=self._scorer(), method_mapping=scores)


# --- Curves of thresholds -------------------------------------------------------------------------
# A score against the threshold, averaged over folds; and costs of pooled folds.
#
# Two ways to judge thresholds on rows that a classifier has not been trained on:
#
# - any scorer: each fold is scored at evenly spaced thresholds between its extreme scores, the
# curves are interpolated at common thresholds and averaged;
# - a working point: the scores of all folds are sorted together, and the cost of *every* threshold
# follows from that one sort (`decisions.error_rates`).


@dataclass(frozen=True, eq=False)
class ScoredFold:
    """Scores of the rows that a fold left out.

    Attributes
    ----------
    scores : array of shape (m,)
        Of the positive class.
    table, labels : rows and labels of the fold
    params : dict
        Further arguments of a scorer, cut to these rows.
    """

    scores: Floats
    table: Any
    labels: Array
    params: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """A score at many thresholds; the largest is best.

    Attributes
    ----------
    thresholds, scores : arrays of shape (m,)
    best_threshold, best_score : float
    """

    thresholds: Floats
    scores: Floats
    best_threshold: float
    best_score: float


def mean_curve(
    folds: list[ScoredFold], scorer: Any, thresholds: Any, classes: Array, positive: int
) -> ThresholdCurve:
    """Mean over the folds of a scorer at common thresholds.

    Parameters
    ----------
    folds : list of ScoredFold
    scorer : callable
        scikit-learn's, Novum's, or a function of estimator, rows and labels.
    thresholds : int or array
        How many, or which.
    classes, positive
        Labels of both classes, and the code of the positive one.
    """
    if all(np.isclose(fold.scores.min(), fold.scores.max()) for fold in folds):
        raise InputError(
            "The provided estimator makes constant predictions. Therefore, it is impossible to "
            "optimize the decision threshold."
        )
    curves = []
    for fold in folds:
        places = _places(thresholds, fold.scores.min(), fold.scores.max())
        if places[0] == places[-1]:
            # All rows of a fold may score alike: they are accepted up to there, and refused above.
            places = np.array([places[0], np.nextafter(places[0], np.inf)])
        curves.append((places, _fold_curve(fold, scorer, places, classes, positive)))
    low = min(places.min() for places, _ in curves)
    high = max(places.max() for places, _ in curves)
    common = _places(thresholds, low, high)
    mean = np.mean([np.interp(common, places, values) for places, values in curves], axis=0)
    best = best_of(mean)
    return ThresholdCurve(common, mean, float(common[best]), float(mean[best]))


def cost_curve(folds: list[ScoredFold], point: WorkingPoint) -> ThresholdCurve:
    """Minus the normalized detection cost of every threshold, over the rows of all folds."""
    scores = np.concatenate([fold.scores for fold in folds])
    labels = np.concatenate([fold.labels for fold in folds])
    weights = [fold.params.get("sample_weight") for fold in folds]
    given = [each for each in weights if each is not None]
    weight = np.concatenate(given) if len(given) == len(folds) else None
    best = minimum_detection_cost(labels, scores, point, sample_weight=weight)
    rates = ErrorRates.of(labels, scores, point.classes, weight)
    p = point.effective_prior
    costs = p * rates.false_negative + (1 - p) * rates.false_positive
    return ThresholdCurve(rates.edges, -costs / min(p, 1 - p), best.threshold, -best.value)


def scorer_positive(scorer: Any) -> Any:
    """The positive label that a scorer names, or None."""
    ask = getattr(scorer, "_get_pos_label", None)
    if ask is not None:
        return ask()
    measure = getattr(scorer, "measure", None)
    return None if measure is None else dict(getattr(measure, "settings", {})).get("positive")


class _Says(ClassifierMixin, Learner):
    """A classifier that says what it was told, for scorers that ask an estimator."""

    def __init__(self, labels: Any = None, classes: Any = None) -> None:
        self.labels = labels
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        del X
        return self.labels


def _fold_curve(
    fold: ScoredFold, scorer: Any, places: Floats, classes: Array, positive: int
) -> Floats:
    """The scorer at each threshold; those that accept the same rows are scored once."""
    lowest = np.append(np.unique(fold.scores), np.inf)
    first = np.searchsorted(lowest, places)
    # Evenly spaced thresholds meet decimal scores but for rounding.
    while (meets := (first > 0) & at_least(lowest[first - 1], places)).any():
        first = first - meets
    curve = {
        k: _score(scorer, labels_at(fold.scores >= lowest[k], classes, positive), fold, classes)
        for k in np.unique(first).tolist()
    }
    return np.array([curve[k] for k in first.tolist()])


def _score(scorer: Any, said: Array, fold: ScoredFold, classes: Array) -> float:
    function = getattr(scorer, "_score_func", None)
    if function is None:
        return float(scorer(_Says(said, classes), fold.table, fold.labels, **fold.params))
    return float(scorer._sign * function(fold.labels, said, **{**scorer._kwargs, **fold.params}))


def _places(thresholds: Any, low: float, high: float) -> Floats:
    if isinstance(thresholds, Integral):
        return np.linspace(low, high, int(thresholds))
    return np.asarray(thresholds, np.float64)
