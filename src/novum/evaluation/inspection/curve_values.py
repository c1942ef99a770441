"""What curves over folds share: intervals of points, a chart of lines with their bands.

A point of a curve is the mean of the folds' scores. Training parts overlap, so the scores are
correlated, and the interval is Nadeau and Bengio's corrected one (`validation.certainty`):

    mean +- t_{k-1} s sqrt(1/k + n_test / n_train)

where `n_train` is what the models of *that* point were trained on, cut to the range of the measure:
no share of wrong rows is below 0. A point with an undefined score,
or of one fold only, has no interval (NaN limits).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from novum.display import GRAY, Axis, Band, Chart, Line
from novum.evaluation.measures.interval import Interval
from novum.evaluation.validation.certainty import UNLIMITED, corrected_interval
from novum.numerics import Array, Floats


def fold_interval(
    scores: Floats,
    test_train_ratio: float,
    level: float = 0.95,
    limits: tuple[float, float] = UNLIMITED,
) -> Interval:
    """The corrected interval of a mean over folds; NaN limits where the scores allow none.

    Examples
    --------
    >>> fold_interval(np.array([0.5, 0.7, 0.9]), 0.5, 0.9)
    0.7 [0.2, 1.2]
    >>> fold_interval(np.array([0.5, np.nan]), 1.0).low
    nan
    """
    if scores.size < 2 or not np.isfinite(scores).all():
        why = "one fold has no spread" if scores.size < 2 else "a fold has no score"
        mean = float(scores.mean()) if scores.size else math.nan
        return Interval(mean, math.nan, math.nan, level, f"corrected t: {why}")
    return corrected_interval(scores, test_train_ratio, level, limits)


def intervals_of(
    scores: Floats, ratios: Floats, level: float, limits: tuple[float, float] = UNLIMITED
) -> tuple[Interval, ...]:
    """The interval of every row of an array of scores by points and folds, within the limits."""
    pairs = zip(scores, ratios, strict=True)
    return tuple(fold_interval(row, float(ratio), level, limits) for row, ratio in pairs)


def natural(intervals: Iterable[Interval], sign: float) -> tuple[Interval, ...]:
    """Intervals of scores as texts and pictures show them: losses are not turned round.

    Examples
    --------
    >>> natural([Interval(-5.0, -6.0, -4.0)], -1.0)
    (5 [4, 6],)
    """
    if sign > 0:
        return tuple(intervals)
    return tuple(
        Interval(-one.estimate, -one.high, -one.low, one.level, one.method) for one in intervals
    )


def curve_chart(
    x: Axis,
    name: str,
    places: Sequence[float] | Array,
    seen: Sequence[Interval],
    new: Sequence[Interval],
) -> Chart:
    """Scores of rows that were trained on and of others: lines through the means, and bands."""
    marks: list[Any] = []
    pairs = ((seen, GRAY, "training rows"), (new, 0, "rows not seen"))
    for intervals, color, label in pairs:
        middle = [interval.estimate for interval in intervals]
        limits = np.array([tuple(interval) for interval in intervals]).reshape(-1, 2)
        marks.append(Band(places, limits[:, 0], limits[:, 1], color=color))
        marks.append(Line(places, middle, label, color, dots=True))
    return Chart(x, Axis(name), marks)
