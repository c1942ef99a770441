"""Measures as their definitions say, one row or pair at a time: slow, and easy to check.

The tests compare the fast functions with these; so may anyone who doubts a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def confusion(
    y: Sequence[Any], predictions: Sequence[Any], classes: Sequence[Any], weight: Sequence[float]
) -> list[list[float]]:
    """`[true][predicted]` sums of weights."""
    table = [[0.0] * len(classes) for _ in classes]
    for true, predicted, w in zip(y, predictions, weight, strict=True):
        table[classes.index(true)][classes.index(predicted)] += w
    return table


def rate(
    y: Sequence[Any], predictions: Sequence[Any], weight: Sequence[float], positive: Any, name: str
) -> float:
    """A rate of one class against the rest; 0/0 is 0, and 1 in rates of errors.

    Examples
    --------
    >>> rate([0, 1, 1], [1, 1, 1], [1, 1, 1], 1, "false_positive_rate")
    1.0
    """
    tp = fp = fn = tn = 0.0
    for true, predicted, w in zip(y, predictions, weight, strict=True):
        if true == positive:
            tp, fn = (tp + w, fn) if predicted == positive else (tp, fn + w)
        else:
            fp, tn = (fp + w, tn) if predicted == positive else (fp, tn + w)
    above, below = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "negative_predictive_value": (tn, tn + fn),
        "false_positive_rate": (fp, fp + tn),
        "false_negative_rate": (fn, fn + tp),
        "f1": (2 * tp, 2 * tp + fn + fp),
        "f_beta": (5 * tp, 5 * tp + 4 * fn + fp),
        "jaccard": (tp, tp + fp + fn),
    }[name]
    undefined = float(name in ("false_positive_rate", "false_negative_rate"))
    return above / below if below else undefined


def roc_area(y: Sequence[bool], scores: Sequence[float], weight: Sequence[float]) -> float:
    """Share of pairs in which the positive row scores higher, ties half, by weight."""
    won = total = 0.0
    for i, is_positive in enumerate(y):
        for j, other in enumerate(y):
            if is_positive and not other:
                pair = weight[i] * weight[j]
                total += pair
                won += pair * ((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
    return won / total


def accepted_rates(
    y: Sequence[bool], scores: Sequence[float], weight: Sequence[float], threshold: float
) -> tuple[float, float]:
    """Miss rate and false-alarm rate of accepting rows that score above the threshold."""
    positives = sum(w for true, w in zip(y, weight, strict=True) if true)
    negatives = sum(w for true, w in zip(y, weight, strict=True) if not true)
    rows = list(zip(y, scores, weight, strict=True))
    missed = sum(w for true, score, w in rows if true and not score > threshold)
    alarms = sum(w for true, score, w in rows if not true and score > threshold)
    return missed / positives, alarms / negatives


def pair_error(
    y: Sequence[float], scores: Sequence[float], groups: Sequence[Any], weight: Sequence[float]
) -> float:
    """Weight of wrongly ordered pairs of a group, ties half, over that of all that differ in y.

    Examples
    --------
    >>> pair_error([1, 2, 3], [0.1, 0.5, 0.4], [0, 0, 0], [1, 1, 1])
    0.3333333333333333
    """
    wrong = total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if groups[i] == groups[j] and y[i] > y[j]:
                pair = weight[i] * weight[j]
                total += pair
                wrong += pair * ((scores[i] < scores[j]) + 0.5 * (scores[i] == scores[j]))
    return wrong / total


def cllr(y: Sequence[bool], ratios: Sequence[float], weight: Sequence[float]) -> float:
    """Mean cost in bits of ratios, half from each class."""
    sides = []
    for wanted in (True, False):
        rows = [
            (w, math.log2(1 + math.exp(-ratio if true else ratio)))
            for true, ratio, w in zip(y, ratios, weight, strict=True)
            if true == wanted
        ]
        sides.append(sum(w * cost for w, cost in rows) / sum(w for w, _ in rows))
    return sum(sides) / 2


def calibration_error(
    happened: Sequence[bool], probability: Sequence[float], weight: Sequence[float], n_bins: int
) -> float:
    """Weighted mean over bins `((b - 1)/n, b/n]` of |frequency - mean probability|."""
    total = sum(weight)
    error = 0.0
    for b in range(n_bins):
        rows = [
            (w, hit, p)
            for hit, p, w in zip(happened, probability, weight, strict=True)
            if (p > b / n_bins or b == 0) and (p <= (b + 1) / n_bins or b == n_bins - 1)
        ]
        inside = sum(w for w, _, _ in rows)
        if inside:
            frequency = sum(w * hit for w, hit, _ in rows) / inside
            mean = sum(w * p for w, _, p in rows) / inside
            error += inside / total * abs(frequency - mean)
    return error


def correlation_of_classes(table: Sequence[Sequence[float]]) -> float:
    """Matthews' coefficient: covariance of the class indicators over their spreads (Gorodkin)."""
    size = range(len(table))
    total = sum(map(sum, table))
    true = [sum(table[k]) / total for k in size]
    predicted = [sum(table[i][k] for i in size) / total for k in size]
    together = sum(table[k][k] / total - true[k] * predicted[k] for k in size)
    spread = sum(t * (1 - t) for t in true) * sum(p * (1 - p) for p in predicted)
    return together / math.sqrt(spread) if spread > 0 else 0.0
