"""Every measure by name: what it needs of a model, which way is better, and how it is computed.

    needs            given to the measure                              y holds
    labels           predicted classes, shape (n,)                     classes
    scores           one score, shape (n,), or one for each class      classes, or relevances
    probabilities    of each class, shape (n, K), or of the positive   classes
    numbers          predicted numbers, shape (n,)                     numbers

Measures of labels are functions of the confusion matrix alone and work on any stack of such
matrices (`of_counts`), which is how they are resampled and drawn against the threshold at no cost.
Values have their natural sign; `novum.evaluation.measures.scorers` turns losses round.

Names of scikit-learn's scorers are known too: `neg_log_loss` is the measure `log_loss`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.measures import numbers, probability_scores, ranking, rates, separation
from novum.evaluation.measures.confusion import from_labels, rate_from_labels
from novum.numerics import Floats

Needs = Literal["labels", "scores", "probabilities", "numbers"]
Target = Literal["classes", "numbers", "relevances"]


@dataclass(frozen=True)
class Measure:
    """A way to say how good predictions are.

    Parameters
    ----------
    name : str
    needs : "labels", "scores", "probabilities" or "numbers"
        What the second argument of a call holds.
    greater_is_better : bool
    function : callable
        `function(y, given, *, sample_weight=None, **settings)` gives a number, or an array where
        a setting asks for one of each class or target.
    target : "classes", "numbers" or "relevances"
        What `y` holds.
    limits : pair of float
        Least and largest possible value.
    of_counts : callable, optional
        Only for labels: the same measure of confusion matrices of shape (..., K, K), vectorized.
    settings : mapping
        Keyword arguments of every call.
    sklearn_name : str, optional
        scikit-learn's scorer of the same number.
    ratios : bool
        Whether the scores must be log-likelihood ratios, and not just rise.

    Examples
    --------
    >>> measure("accuracy")(["a", "b", "a"], ["a", "b", "b"])
    0.6666666666666666
    >>> measure("f_beta", beta=2.0)([0, 1, 1], [0, 1, 0]) < measure("f1")([0, 1, 1], [0, 1, 0])
    True
    """

    name: str
    needs: Needs
    greater_is_better: bool
    function: Callable[..., Any]
    target: Target = "classes"
    limits: tuple[float, float] = (0.0, 1.0)
    of_counts: Callable[..., Floats] | None = field(default=None, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    sklearn_name: str | None = None
    ratios: bool = False

    def __call__(self, y: Any, given: Any, *, sample_weight: Any = None, **settings: Any) -> Any:
        """The value for targets `y` and what a model gave for them.

        A number; an array under `average=None` or `multioutput="raw_values"`.
        """
        asked = {**self.settings, **settings}
        value = self.function(y, given, sample_weight=sample_weight, **asked)
        return float(value) if np.ndim(value) == 0 else value

    def having(self, **settings: Any) -> Measure:
        """The same measure with other settings, such as `beta=2` or `average="macro"`."""
        return replace(self, settings={**self.settings, **settings})

    @property
    def label(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")


def measure(name: str | Measure, **settings: Any) -> Measure:
    """The measure of that name, Novum's or that of scikit-learn's scorer of the same number.

    Parameters
    ----------
    name : str or Measure
    **settings
        Such as `beta=2`, `average="macro"`, `labels=["a", "b"]`, `zero_division=1.0`,
        `positive="ill"`, `multioutput="raw_values"`, `priors=[0.9, 0.1]`, `n_bins=15`.

    Examples
    --------
    >>> measure("log_loss").greater_is_better
    False
    >>> measure("neg_log_loss").name
    'log_loss'
    """
    if isinstance(name, Measure):
        return name.having(**settings) if settings else name
    known = _CATALOG.get(_ALIASES.get(name, name))
    if known is None:
        near = difflib.get_close_matches(str(name), [*_CATALOG, *_ALIASES], n=3)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(
            f"There is no measure {name!r}.{hint} `measure_names()` lists all of them."
        )
    return known.having(**settings) if settings else known


def measure_names(needs: Needs | None = None) -> tuple[str, ...]:
    """Names of all measures, or of those that need labels, scores, probabilities or numbers.

    Examples
    --------
    >>> measure_names("probabilities")[:3]
    ('log_loss', 'brier_score', 'calibration_error')
    """
    return tuple(name for name, known in _CATALOG.items() if needs in (None, known.needs))


def is_measure(name: object) -> bool:
    """Whether `name` is the name of a measure, or of scikit-learn's scorer of the same number."""
    return isinstance(name, str) and (name in _CATALOG or name in _ALIASES)


# --- Entries --------------------------------------------------------------------------------------

_LESS_IS_BETTER = ("error_rate", "mean_level_error", *rates.ERROR_RATES)
# Measures of classes whose order is that of the setting `classes`.
OF_LEVELS = ("mean_level_error", "quadratic_kappa")
_AVERAGES = ("micro", "macro", "weighted")


def _of_labels(name: str, of_counts: Callable[..., Floats], **more: Any) -> Measure:
    function = partial(from_labels, of_counts=of_counts)
    better = name not in _LESS_IS_BETTER
    return Measure(name, "labels", better, function, of_counts=of_counts, **more)


def _label_measures() -> Iterator[Measure]:
    yield _of_labels("accuracy", rates.accuracy, sklearn_name="accuracy")
    yield _of_labels("error_rate", rates.error_rate)
    name = "balanced_accuracy"
    yield _of_labels(name, rates.balanced_accuracy, sklearn_name=name)
    yield _of_labels("rebalanced_accuracy", rates.rebalanced_accuracy)
    signed = {"limits": (-1.0, 1.0)}
    yield _of_labels("matthews", rates.matthews, sklearn_name="matthews_corrcoef", **signed)
    yield _of_labels("kappa", rates.kappa, **signed)
    yield _of_labels("quadratic_kappa", rates.quadratic_kappa, **signed)
    yield _of_labels("mean_level_error", rates.mean_level_error, limits=(0.0, np.inf))


def _rate_measures() -> Iterator[Measure]:
    """Precision and its kin: of the positive class, and averaged over classes."""
    named_by_sklearn = ("precision", "recall", "f1", "jaccard")
    for name in rates.RATES:
        of_counts = partial(rates.averaged_rate, rate=name)
        better = name not in _LESS_IS_BETTER
        function = partial(rate_from_labels, of_counts=of_counts)
        theirs = name if name in named_by_sklearn else None
        one = Measure(name, "labels", better, function, of_counts=of_counts, sklearn_name=theirs)
        yield one
        for average in _AVERAGES:
            full = f"{name}_{average}"
            theirs = full if name in named_by_sklearn else None
            averaged = one.having(average=average)
            yield replace(averaged, name=full, sklearn_name=theirs)


def _score_measures() -> Iterator[Measure]:
    area = Measure("roc_auc", "scores", True, separation.roc_area, sklearn_name="roc_auc")
    yield area
    for scheme in ("ovr", "ovo"):
        for suffix, average in (("", "macro"), ("_weighted", "weighted")):
            name = f"roc_auc_{scheme}{suffix}"
            # scikit-learn takes probabilities here, which one-vs-one needs on a common scale.
            averaged = area.having(multi_class=scheme, average=average)
            yield replace(averaged, name=name, sklearn_name=name, needs="probabilities")
    name = "average_precision"
    yield Measure(name, "scores", True, separation.average_precision, sklearn_name=name)
    yield Measure("equal_error_rate", "scores", False, separation.equal_error_rate)
    ratios = {"limits": (0.0, np.inf), "ratios": True}
    yield Measure("cllr", "scores", False, probability_scores.cllr, **ratios)  # type: ignore[arg-type]


def _decision_measures() -> Iterator[Measure]:
    """Costs at a working point, which is their setting `point`."""
    wide = {"limits": (0.0, np.inf)}
    for name in ("detection_cost", "minimum_detection_cost"):
        function = partial(decision_cost, kind=name)
        yield Measure(name, "scores", False, function, ratios=True, **wide)  # type: ignore[arg-type]
    function = partial(decision_cost, kind="bayes_risk")
    yield Measure("bayes_risk", "probabilities", False, function, limits=(-np.inf, np.inf))


def decision_cost(
    y: Any,
    given: Any,
    *,
    kind: str,
    point: WorkingPoint | None = None,
    sample_weight: Any = None,
    classes: Any = None,
    **settings: Any,
) -> float:
    """Detection cost, its minimum over thresholds, or the Bayes risk, at a working point."""
    from novum.evaluation.decisions.detection_cost import detection_cost, minimum_detection_cost
    from novum.evaluation.decisions.risk import empirical_bayes_risk

    if point is None:
        raise InputError(f"{kind} is a cost at a working point. Pass one as `point`.")
    if kind == "detection_cost":
        return detection_cost(y, given, point, sample_weight=sample_weight, **settings)
    if kind == "minimum_detection_cost":
        cost = minimum_detection_cost(y, given, point, sample_weight=sample_weight, **settings)
        return cost.value
    ordered = point if classes is None else point.ordered(classes)
    return empirical_bayes_risk(y, given, ordered, sample_weight=sample_weight, **settings)


def _probability_measures() -> Iterator[Measure]:
    wide = {"limits": (0.0, np.inf), "sklearn_name": "neg_log_loss"}
    yield Measure("log_loss", "probabilities", False, probability_scores.log_loss, **wide)  # type: ignore[arg-type]
    score = probability_scores.brier_score
    more = {"limits": (0.0, 2.0), "sklearn_name": "neg_brier_score"}
    yield Measure("brier_score", "probabilities", False, score, **more)  # type: ignore[arg-type]
    error = probability_scores.calibration_error
    yield Measure("calibration_error", "probabilities", False, error)


def _ranking_measures() -> Iterator[Measure]:
    yield Measure("ndcg", "scores", True, ranking.ndcg, target="relevances")
    yield Measure("pair_error", "scores", False, ranking.pair_error, target="relevances")


def _number_measures() -> Iterator[Measure]:
    infinity = np.inf
    for name, function, better, limits, theirs in (
        ("rmse", numbers.rmse, False, (0.0, infinity), "neg_root_mean_squared_error"),
        ("mse", numbers.mse, False, (0.0, infinity), "neg_mean_squared_error"),
        ("mae", numbers.mae, False, (0.0, infinity), "neg_mean_absolute_error"),
        (
            "median_absolute_error",
            numbers.median_absolute_error,
            False,
            (0.0, infinity),
            "neg_median_absolute_error",
        ),
        ("max_error", numbers.max_error, False, (0.0, infinity), "neg_max_error"),
        (
            "poisson_deviance",
            numbers.poisson_deviance,
            False,
            (0.0, infinity),
            "neg_mean_poisson_deviance",
        ),
        ("r2", numbers.r2, True, (-infinity, 1.0), "r2"),
        (
            "explained_variance",
            numbers.explained_variance,
            True,
            (-infinity, 1.0),
            "explained_variance",
        ),
        ("pearson", numbers.pearson, True, (-1.0, 1.0), None),
        ("spearman", numbers.spearman, True, (-1.0, 1.0), None),
    ):
        yield Measure(name, "numbers", better, function, "numbers", limits, sklearn_name=theirs)


_CATALOG: dict[str, Measure] = {
    entry.name: entry
    for entries in (
        _label_measures,
        _rate_measures,
        _probability_measures,
        _score_measures,
        _decision_measures,
        _ranking_measures,
        _number_measures,
    )
    for entry in entries()
}
_ALIASES: dict[str, str] = {
    entry.sklearn_name: name
    for name, entry in _CATALOG.items()
    if entry.sklearn_name is not None and entry.sklearn_name != name
}
