"""What curves over folds share: intervals of points, a table as text, a line with its band.

A point of a curve is the mean of the folds' scores. Training parts overlap, so the scores are
correlated, and the interval is Nadeau and Bengio's corrected one (`validation.certainty`):

    mean +- t_{k-1} s sqrt(1/k + n_test / n_train)

where `n_train` is what the models of *that* point were trained on. A point with an undefined score,
or of one fold only, has no interval (NaN limits).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.evaluation.measures.interval import Interval
from novum.evaluation.validation.certainty import corrected_interval

Floats = NDArray[np.float64]


def fold_interval(scores: Floats, test_train_ratio: float, level: float = 0.95) -> Interval:
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
    return corrected_interval(scores, test_train_ratio, level)


def intervals_of(scores: Floats, ratios: Floats, level: float) -> tuple[Interval, ...]:
    """The interval of every row of an array of scores by points and folds."""
    pairs = zip(scores, ratios, strict=True)
    return tuple(fold_interval(row, float(ratio), level) for row, ratio in pairs)


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


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell; the first flush left, others right.

    Examples
    --------
    >>> print(text_table(["rows", "test"], [["10", "0.5"], ["200", "0.75"]]))
    rows  test
    10     0.5
    200   0.75
    """
    widths = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


# --- Pictures -------------------------------------------------------------------------------------


def axes_of(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install novum with its plot extra."
        ) from error
    return plt.subplots()[1]


def draw_band(ax: Any, x: Any, intervals: Sequence[Interval], color: str, label: str) -> None:
    """A line through the estimates, and a band between the limits."""
    middle = [interval.estimate for interval in intervals]
    ax.plot(x, middle, "o-", color=color, ms=4, label=label)
    low, high = (np.array([tuple(interval)[end] for interval in intervals]) for end in (0, 1))
    known = np.isfinite(low) & np.isfinite(high)
    if known.any():
        ax.fill_between(x, low, high, where=known, color=color, alpha=0.2, lw=0)
