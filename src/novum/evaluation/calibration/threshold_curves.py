"""A score against the threshold, averaged over folds; and costs of pooled folds.

Two ways to judge thresholds on rows that a classifier has not been trained on:

- any scorer: each fold is scored at evenly spaced thresholds between its extreme scores, the curves
  are interpolated at common thresholds and averaged;
- a working point: the scores of all folds are sorted together, and the cost of *every* threshold
  follows from that one sort (`decisions.error_rates`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from novum.core.errors import InputError
from novum.core.working_point import WorkingPoint
from novum.evaluation.calibration.threshold_classifier import labels_at
from novum.evaluation.decisions.detection_cost import minimum_detection_cost
from novum.evaluation.decisions.error_rates import ErrorRates
from novum.numerics.ties import at_least, best_of

Floats = NDArray[np.float64]


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
    labels: NDArray[Any]
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
    folds: list[ScoredFold], scorer: Any, thresholds: Any, classes: NDArray[Any], positive: int
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


class _Says(ClassifierMixin, BaseEstimator):
    """A classifier that says what it was told, for scorers that ask an estimator."""

    def __init__(self, labels: Any = None, classes: Any = None) -> None:
        self.labels = labels
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: Any) -> Any:
        del X
        return self.labels


def _fold_curve(
    fold: ScoredFold, scorer: Any, places: Floats, classes: NDArray[Any], positive: int
) -> Floats:
    """The scorer at each threshold; those that accept the same rows are scored once."""
    known: dict[int, float] = {}
    values = np.empty(len(places))
    for k, place in enumerate(places):
        # Evenly spaced thresholds meet decimal scores but for rounding.
        accepted = at_least(fold.scores, place)
        count = int(accepted.sum())
        if count not in known:
            known[count] = _score(scorer, labels_at(accepted, classes, positive), fold, classes)
        values[k] = known[count]
    return values


def _score(scorer: Any, said: NDArray[Any], fold: ScoredFold, classes: NDArray[Any]) -> float:
    function = getattr(scorer, "_score_func", None)
    if function is None:
        return float(scorer(_Says(said, classes), fold.table, fold.labels, **fold.params))
    return float(scorer._sign * function(fold.labels, said, **{**scorer._kwargs, **fold.params}))


def _places(thresholds: Any, low: float, high: float) -> Floats:
    if isinstance(thresholds, Integral):
        return np.linspace(low, high, int(thresholds))
    return np.asarray(thresholds, np.float64)
