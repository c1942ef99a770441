"""Curves with bands and marked points, as all pictures of curves draw them.

Many classes give many curves, and no reader follows more than a few: the hardest are drawn, and the
caption counts the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import Curve
from novum.apps.report.figures.style import DASHES, INK, SERIES
from novum.apps.report.names import label
from novum.apps.report.numbers import number

Floats = NDArray[np.float64]

MOST_CURVES = 5
# Bands of more curves than this hide each other.
_MOST_BANDS = 2


class Points(NamedTuple):
    """Coordinates of a curve, finite, and its band (empty where there is none)."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


def points(curve: Curve, most: int) -> Points:
    """At most `most` points of a curve, ends included; points that are not finite are left out.

    Examples
    --------
    >>> points(Curve((0, 1, 2, 3, 4), (0, 1, 2, None, 4), (), ()), 3).x.tolist()
    [0.0, 2.0, 4.0]
    """
    n = min(len(curve.x), len(curve.y))
    x, y = (np.array(values[:n], float) for values in (curve.x, curve.y))
    has_band = len(curve.low) == len(curve.high) == n
    low, high = (np.array(v if has_band else [np.nan] * n, float) for v in (curve.low, curve.high))
    kept = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(kept) > most:
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, max(most, 2)).round().astype(int))]
    if not has_band or not np.isfinite(low[kept]).any():
        return Points(x[kept], y[kept], np.empty(0), np.empty(0))
    return Points(x[kept], y[kept], low[kept], high[kept])


def is_drawable(curves: Sequence[Curve]) -> bool:
    """Whether any of the curves has two points or more."""
    return any(len(points(curve, 10**9).x) > 1 for curve in curves)


def hardest(curves: Sequence[Curve], badness: Callable[[Floats, Floats], float]) -> list[Curve]:
    """The curves of largest badness, in their order."""
    values = [badness(*points(curve, 10**9)[:2]) for curve in curves]
    order = sorted(range(len(curves)), key=lambda place: (-values[place], place))
    return [curves[place] for place in sorted(order[:MOST_CURVES])]


def area_below(x: Floats, y: Floats) -> float:
    """Area between the curve and the axis, whichever way it is traversed."""
    return abs(float(np.trapezoid(y, x)))


def draw_curves(
    ax: Any,
    curves: Sequence[Curve],
    most: int,
    *,
    to_place: Callable[[Floats], Floats] = lambda values: values,
) -> None:
    """Lines with bands, marks, and a legend of several; `to_place` bends the axes."""
    for curve, color, dash in zip(curves, SERIES, DASHES, strict=False):
        shown = points(curve, most)
        x, y, low, high = (to_place(values) for values in shown)
        if len(low) and len(curves) <= _MOST_BANDS:
            ax.fill_between(x, low, high, color=color, alpha=0.16, linewidth=0)
        name = label(curve.label) if curve.label.strip() else None
        ax.plot(x, y, color=color, linestyle=dash, label=name)
        for mark in curve.marks:
            place = to_place(np.array(mark[:2], float))
            if np.isfinite(place).all():
                draw_mark(ax, float(place[0]), float(place[1]), mark[2])
    if sum(bool(curve.label.strip()) for curve in curves) > 1:
        ax.legend(loc="best", labelcolor=INK)


def draw_mark(ax: Any, x: float, y: float, words: str) -> None:
    """A ringed point with its words beside it, on the side with more room."""
    ax.plot([x], [y], "o", markersize=7, markerfacecolor="none", markeredgecolor=INK, zorder=5)
    left, right = sorted(ax.get_xlim())
    bottom, top = sorted(ax.get_ylim())
    is_left = x <= (left + right) / 2
    is_low = y <= (bottom + top) / 2
    ax.annotate(
        label(words, 34) if words.strip() else "",
        (x, y),
        (9 if is_left else -9, 9 if is_low else -14),
        textcoords="offset points",
        color=INK,
        ha="left" if is_left else "right",
        parse_math=False,
    )


def marks_in_words(curves: Sequence[Curve]) -> str:
    """The marked points as sentences, for a reader who cannot see them."""
    found = [
        f"{label(words, 60) if words.strip() else 'A mark'} at {number(x)}, {number(y)}."
        for curve in curves
        for x, y, words in curve.marks[:5]
    ]
    return " ".join(found)


def band_words(curves: Sequence[Curve]) -> str:
    """A sentence on the band, where one is drawn."""
    if len(curves) > _MOST_BANDS or not any(len(points(curve, 10**9).low) for curve in curves):
        return ""
    return " The band holds the curve at each place with the confidence of 95 %."


def left_out(n_drawn: int, n_all: int) -> str:
    """A sentence on the curves that are not drawn."""
    if n_drawn == n_all:
        return ""
    return f" Of {n_all} classes the {n_drawn} hardest are drawn."
