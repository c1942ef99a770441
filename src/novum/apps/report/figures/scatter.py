"""Clouds of points: the first curve as dots, further ones as lines through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novum.apps.job.record import Curve
from novum.apps.report.figures.curves import points
from novum.apps.report.figures.style import INK, SERIES, plain_ticks
from novum.apps.report.names import label


def draw_scatter(ax: Any, curves: Sequence[Curve], most: int) -> None:
    """Dots of the first curve with its band, lines of the others, round numbers on both axes."""
    x, y, low, high = points(curves[0], most)
    if len(low):
        ax.fill_between(x, low, high, color=SERIES[0], alpha=0.16, linewidth=0)
    ax.plot(x, y, "o", color=SERIES[0], markersize=3.2, alpha=0.5, markeredgewidth=0)
    for curve, color in zip(curves[1:], SERIES[1:], strict=False):
        shown = points(curve, most)
        if len(shown.low):
            ax.fill_between(shown.x, shown.low, shown.high, color=color, alpha=0.2, linewidth=0)
        name = label(curve.label) if curve.label.strip() else None
        ax.plot(shown.x, shown.y, color=color, label=name)
    if any(curve.label.strip() for curve in curves[1:]):
        ax.legend(loc="best", labelcolor=INK)
    plain_ticks(ax.xaxis, 5)
    plain_ticks(ax.yaxis, 5)


def of_all(curves: Sequence[Curve], most: int) -> str:
    """A sentence on the dots that are not drawn."""
    n = len(points(curves[0], 10**9).x)
    return f" {most:,} of {n:,} rows are drawn, evenly taken." if n > most else ""
