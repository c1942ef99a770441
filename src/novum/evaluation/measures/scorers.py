"""Scorers: measures that ask a fitted model for what they need.

    scorer(estimator, X, y, sample_weight=None)  ->  float, greater is better

The answer a measure needs decides which method is called: labels `predict`, scores
`decision_function` or else `predict_proba`, probabilities `predict_proba`, numbers `predict`. A
loss is turned round. At a working point labels are those of least expected cost there.

Scorers can be pickled and take part in scikit-learn's metadata routing, so that they go wherever
`make_scorer`'s go: `cross_validate`, `GridSearchCV`, `permutation_importance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.multiclass import type_of_target

from novum.core.decisions import RetargetedClassifier, WorkingPoint
from novum.core.errors import InputError
from novum.core.tables import plain_target
from novum.evaluation.measures.catalog import Measure, is_measure, measure, measure_names
from novum.numerics import Array

ScorerFunction = Callable[..., float]
_AT_A_POINT = ("detection_cost", "minimum_detection_cost", "bayes_risk")


class Scorer:
    """A measure as a scorer; see `scorer`, which makes them.

    Attributes
    ----------
    name : str
    measure : Measure
    point : WorkingPoint or None
    """

    def __init__(
        self, measure: Measure, point: WorkingPoint | None, name: str | None = None
    ) -> None:
        self.measure = measure
        self.point = point
        self.name = measure.name if name is None else name
        self._request: dict[str, Any] = {}

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The measure of `estimator` on rows `X` with targets `y`; greater is better."""
        if y is None:
            raise InputError(
                f"{self.name} compares predictions with y, but y is None. Pass y, or leave scoring "
                "out: then a learner without targets is judged by its own `score`."
            )
        theirs = self.measure.sklearn_name
        if not self.judges_rows(y):
            if theirs is None:
                raise InputError(
                    f"{self.name} judges one label for each row, y holds several. Score each label "
                    "by itself, or use a measure for sets such as 'f1_samples'."
                )
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            return float(get_scorer(theirs)(estimator, X, y, **weights))
        return self.judged(estimator, y, self.answers(estimator, X), sample_weight)

    def judges_rows(self, y: Any) -> bool:
        """Whether `judged` can be asked: not where targets are sets of labels."""
        return not (self.measure.target == "classes" and _holds_label_sets(y))

    def answers(self, estimator: Any, X: Any) -> Array:
        """What the measure needs, of every row."""
        return _answer(self.measure, self.point, estimator, X)

    def judged(self, estimator: Any, y: Any, given: Array, sample_weight: Any = None) -> float:
        """The measure of the answers `given` by `estimator`; greater is better."""
        if self.measure.name == "accuracy" and sample_weight is None and not self.measure.settings:
            hits = _share_of_hits(y, given)
            if hits is not None:
                return hits
        settings = _settings(self.measure, self.point, estimator, y)
        value = self.measure(y, given, sample_weight=sample_weight, **settings)
        if np.ndim(value):
            raise InputError(
                f"{self.name} gives {np.size(value)} numbers under its settings, and a score is "
                "one. Average them, or score each class or target by itself."
            )
        return value if self.measure.greater_is_better else -value

    # Metadata routing

    def set_score_request(self, **requests: Any) -> Scorer:
        """Ask meta-estimators for metadata, such as `sample_weight=True`."""
        unknown = sorted(set(requests) - {"sample_weight"})
        if unknown:
            raise InputError(f"A scorer takes sample_weight and no {', '.join(unknown)}.")
        self._request = {**self._request, **requests}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What this scorer asks for, as scikit-learn wants to know it."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=None)
        for parameter, alias in self._request.items():
            request.score.add_request(param=parameter, alias=alias)
        return request

    # Python

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scorer) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.name, self.measure.name, self.point))

    def __repr__(self) -> str:
        settings = "".join(f", {key}={value!r}" for key, value in self.measure.settings.items())
        point = "" if self.point is None else f", point={self.point!r}"
        return f"scorer({self.name!r}{settings}{point})"

    def _key(self) -> tuple[Any, ...]:
        known = self.measure
        return (self.name, known.name, known.needs, repr(known.settings), self.point)


class ForeignScorer:
    """A scorer from elsewhere under a name: a function, or one of scikit-learn's.

    Attributes
    ----------
    name : str
    function : callable
    measure : None
    """

    measure = None

    def __init__(self, name: str, function: ScorerFunction) -> None:
        self.name = name
        self.function = function

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
        """What the function says, which gets no `y` where there is none."""
        given = {name: value for name, value in params.items() if value is not None}
        if y is None:
            return self.function(estimator, X, **given)
        return self.function(estimator, X, y, **given)

    def get_metadata_routing(self) -> Any:
        """What the function asks for; a plain function asks for nothing."""
        ask = getattr(self.function, "get_metadata_routing", None)
        return MetadataRequest(owner=self) if ask is None else ask()

    def __repr__(self) -> str:
        return f"ForeignScorer({self.name!r}, {self.function!r})"


class OwnScore(ForeignScorer):
    """A model's own `score`.

    Where that is the one scikit-learn gives to classifiers and regressors, and targets and
    predictions are plain arrays without weights, its number is computed here: on a fold of thirty
    rows scikit-learn's checks take twenty times as long.
    """

    def __call__(self, estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
        """What `estimator.score` says."""
        score = getattr(type(estimator), "score", None)
        if params or type(y) is not np.ndarray or y.ndim != 1 or len(y) < 2:
            return super().__call__(estimator, X, y, **params)
        if score is ClassifierMixin.score and y.dtype.kind in "iuU":
            hits = _share_of_hits(y, estimator.predict(X))
            if hits is not None:
                return hits
        elif score is RegressorMixin.score and y.dtype == np.float64:
            predicted = estimator.predict(X)
            if (
                type(predicted) is np.ndarray
                and predicted.shape == y.shape
                and predicted.dtype == np.float64
            ):
                # Columns, as scikit-learn sums them, so that the last bit is the same.
                errors = ((y[:, None] - predicted[:, None]) ** 2).sum(axis=0)
                spread = ((y[:, None] - np.average(y[:, None], axis=0)) ** 2).sum(axis=0)
                if np.isfinite(errors[0]) and spread[0] > 0:
                    return float(1 - errors[0] / spread[0])
        return super().__call__(estimator, X, y)


# --- Making scorers -------------------------------------------------------------------------------


def scorer(
    measure_or_name: str | Measure,
    *,
    point: WorkingPoint | None = None,
    positive: Any = None,
    name: str | None = None,
    **settings: Any,
) -> Scorer:
    """A scorer from a measure.

    Parameters
    ----------
    measure_or_name : str or Measure
    point : WorkingPoint, optional
        Measures of labels judge the decisions at this point, those of probabilities the
        posteriors under its priors. The model needs its training priors (`class_prior_`).
    positive : label, optional
        The positive class of a binary measure. Default: the last of the model's classes.
    name : str, optional
        Default: that of the measure.
    **settings
        Of the measure, such as `beta=2`.

    Returns
    -------
    Scorer
        Called as `scorer(estimator, X, y, sample_weight=None)`; greater is better.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier(strategy="prior").fit([[0], [0], [0]], ["no", "yes", "yes"])
    >>> scorer("brier_score")(model, [[0], [0]], ["yes", "no"])
    -0.2777777777777778
    >>> scorer("recall", positive="no")(model, [[0], [0]], ["yes", "no"])
    0.0
    """
    if positive is not None:
        settings["positive"] = positive
    known = measure(measure_or_name, **settings)
    if point is not None and known.target != "classes":
        raise InputError(f"A working point is about classes; {known.name} takes no point.")
    return Scorer(known, point, name)


def natural_form(scorer: Any) -> tuple[str, float]:
    """The name of what a scorer measures, and the sign that gives a score its natural value.

    Scorers turn losses round, so that greater is better; people read them as they are.

    Examples
    --------
    >>> natural_form(resolve_scoring(None, "neg_log_loss")["neg_log_loss"])
    ('log_loss', -1.0)
    >>> natural_form(scorer("accuracy"))
    ('accuracy', 1.0)
    """
    name, known = str(getattr(scorer, "name", "score")), getattr(scorer, "measure", None)
    if known is None:
        # scikit-learn's own scorers keep the sign that they were made with.
        is_loss = getattr(getattr(scorer, "function", None), "_sign", 1) < 0
    else:
        is_loss = not known.greater_is_better
    return (name.removeprefix("neg_"), -1.0) if is_loss else (name, 1.0)


def score_limits(scorer: Any) -> tuple[float, float]:
    """Between which numbers the scores of a scorer lie, as far as that is known of it.

    Known are Novum's measures, and the `score` of classifiers and regressors that have
    scikit-learn's, also at the end of a pipeline.

    Examples
    --------
    >>> score_limits(scorer("accuracy")), score_limits(scorer("rmse"))
    ((0.0, 1.0), (-inf, -0.0))
    """
    judged = getattr(scorer, "measure", None)
    if judged is not None:
        low, high = judged.limits
        return (low, high) if judged.greater_is_better else (-high, -low)
    model = getattr(getattr(scorer, "function", scorer), "_estimator", None)
    while model is not None and getattr(model, "steps", None):
        model = model.steps[-1][1]
    score = getattr(type(model), "score", None)
    if score is ClassifierMixin.score:
        return (0.0, 1.0)
    if score is RegressorMixin.score:
        return (-np.inf, 1.0)
    return (-np.inf, np.inf)


def resolve_scoring(model: Any, scoring: Any = None) -> dict[str, Any]:
    """Scorers by name from whatever a user may pass as `scoring`.

    Parameters
    ----------
    model : estimator
    scoring : None, str, callable, list of str, or dict
        None: the model's own `score`. A name: Novum's, or scikit-learn's, which mean the number
        they mean there. A callable takes `(estimator, X, y)`. A dict gives names to any of these.

    Returns
    -------
    dict
        From names to callables `(estimator, X, y, sample_weight=None)`; greater is better.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> list(resolve_scoring(Ridge()))
    ['score']
    >>> resolve_scoring(Ridge(), ["rmse", "neg_mean_absolute_error"])["neg_mean_absolute_error"]
    scorer('neg_mean_absolute_error')
    """
    if scoring is None:
        return {"score": OwnScore("score", check_scoring(model))}
    if isinstance(scoring, Mapping):
        return {str(name): _one_scorer(entry, str(name)) for name, entry in scoring.items()}
    if isinstance(scoring, str | Measure) or callable(scoring):
        one = _one_scorer(scoring)
        return {one.name: one}
    if isinstance(scoring, Iterable):
        scorers = [_one_scorer(entry) for entry in scoring]
        scorers_by_name = {one.name: one for one in scorers}
        if scorers and len(scorers_by_name) == len(scorers):
            return scorers_by_name
    raise InputError(
        "scoring is None, a name, a callable, a list of different names (they must be unique "
        f"strings) or a dict, got {scoring!r}."
    )


def _one_scorer(entry: Any, name: str | None = None) -> Any:
    if isinstance(entry, Scorer | ForeignScorer):
        return entry
    if is_measure(entry):
        return scorer(entry, name=name or entry)
    # Measures are callable too, but of targets and predictions.
    if isinstance(entry, Measure):
        return scorer(entry, name=name)
    if isinstance(entry, str):
        if entry in get_scorer_names():
            return ForeignScorer(entry if name is None else name, get_scorer(entry))
        raise InputError(
            f"There is no scorer {entry!r}. Names are {', '.join(measure_names()[:6])}, ...; "
            "`measure_names()` lists Novum's, `sklearn.metrics.get_scorer_names()` those of "
            "scikit-learn, which are known as well."
        )
    if callable(entry):
        return ForeignScorer(name or str(getattr(entry, "__name__", "score")), entry)
    raise InputError(f"A scorer is a name, a measure or a callable, got {entry!r}.")


# --- Asking the model -----------------------------------------------------------------------------


def _answer(known: Measure, point: WorkingPoint | None, estimator: Any, X: Any) -> Array:
    """What the measure needs, from the estimator."""
    if known.ratios:
        from novum.evaluation.decisions.ratios import log_likelihood_ratios

        return _toward_positive(known, estimator, log_likelihood_ratios(estimator, X))
    if point is not None and known.needs in ("labels", "probabilities"):
        estimator = RetargetedClassifier(estimator, point)
    if known.needs in ("labels", "numbers"):
        return np.asarray(_method(known, estimator, "predict")(X))
    if known.needs == "probabilities":
        return np.asarray(_method(known, estimator, "predict_proba")(X))
    if known.target == "relevances":
        method = "decision_function" if hasattr(estimator, "decision_function") else "predict"
        return np.asarray(_method(known, estimator, method)(X))
    if hasattr(estimator, "decision_function"):
        return _toward_positive(known, estimator, np.asarray(estimator.decision_function(X)))
    probabilities = np.asarray(_method(known, estimator, "predict_proba")(X))
    if probabilities.ndim != 2 or probabilities.shape[1] != 2:
        return probabilities
    return probabilities[:, _positive_place(known, estimator)]


def _settings(known: Measure, point: WorkingPoint | None, estimator: Any, y: Any) -> dict[str, Any]:
    """The model's classes, and the working point where the measure is a cost at it."""
    settings: dict[str, Any] = {}
    if point is not None and known.name in _AT_A_POINT:
        settings["point"] = point
    if known.target != "classes" or not hasattr(estimator, "classes_") or known.ratios:
        return settings
    if "classes" in known.settings:
        # Levels in their order, which the classes that a model met are only some of.
        return settings
    classes = np.asarray(estimator.classes_).tolist()
    if known.needs == "labels":
        # A label the model never saw is an error of the model, not of the question.
        unseen = set(plain_target(y).ravel().tolist()) - set(classes)
        classes = [*classes, *sorted(unseen)] if unseen else classes
    settings["classes"] = classes
    return settings


def _share_of_hits(y: Any, predicted: Any) -> float | None:
    """The accuracy of labels in plain arrays, which need no codes; None where they are not."""
    if (
        type(y) is np.ndarray
        and type(predicted) is np.ndarray
        and y.ndim == 1
        and predicted.shape == y.shape
        and y.size > 0
        and y.dtype.kind in "iuU"
        and predicted.dtype.kind in "iuU"
        and (predicted.dtype.kind == "U") is (y.dtype.kind == "U")
    ):
        return float(np.mean(predicted == y))
    return None


def _toward_positive(known: Measure, estimator: Any, scores: Array) -> Array:
    """Decision values of two classes favor the last; turned round for the first."""
    return -scores if scores.ndim == 1 and _positive_place(known, estimator) == 0 else scores


def _positive_place(known: Measure, estimator: Any) -> int:
    positive = known.settings.get("positive")
    classes = list(getattr(estimator, "classes_", []))
    if positive is None:
        return len(classes) - 1
    if positive not in classes:
        shown = ", ".join(repr(label) for label in np.asarray(classes).tolist())
        raise InputError(
            f"positive={positive!r} is none of the model's classes {shown}. Name one of them."
        )
    return classes.index(positive)


def _method(known: Measure, estimator: Any, name: str) -> Any:
    method = getattr(estimator, name, None)
    if method is None:
        raise InputError(
            f"{known.name} needs {name}, and {type(estimator).__name__} has none. Calibrate the "
            f"model, or choose a measure of labels such as 'balanced_accuracy'."
        )
    return method


def _holds_label_sets(y: Any) -> bool:
    if isinstance(y, np.ndarray) and y.ndim == 1:
        return False
    try:
        return bool(type_of_target(plain_target(y)).startswith("multilabel"))
    except (InputError, ValueError):
        # Not a target at all: the measure says what is wrong with it.
        return False
