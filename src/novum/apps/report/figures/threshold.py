"""What a threshold costs: expected cost, or a rate, against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import band_words, draw_curves, marks_in_words, points
from novum.apps.report.figures.style import WIDE, picture, plain_ticks
from novum.apps.report.numbers import number


def threshold_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the threshold and y what it costs."""

    def draw(ax: Any) -> None:
        _set_limits(ax, curves)
        draw_curves(ax, curves, most)
        plain_ticks(ax.xaxis, 9)
        plain_ticks(ax.yaxis)
        ax.set_xlabel("threshold: rows with a larger score are called positive")
        ax.set_ylabel(name)

    name = curves[0].label or "cost for each row"
    if "cost" not in name:
        return _measure_figure(curves, draw, name)
    x, y, *_ = points(curves[0], 10**9)
    best = int(np.argmin(y))
    return picture(
        draw,
        key="threshold",
        title="Cost of the decision at every threshold",
        alt=f"Cost against threshold. The least of the first curve is {number(float(y[best]))} at "
        f"{number(float(x[best]))}. " + marks_in_words(curves),
        caption="A low threshold gives false alarms, a high one misses; the curve is what both "
        "cost together, on rows the model has not seen. The ring is where the model decides. A "
        "flat valley means that the choice is not critical." + band_words(curves),
        size=WIDE,
    )


def _measure_figure(curves: Sequence[Curve], draw: Any, name: str) -> Figure:
    """A measure that is to be large, such as F1."""
    return picture(
        draw,
        key="threshold",
        title=f"{name} at every threshold",
        alt=f"{name} against threshold. " + marks_in_words(curves),
        caption="A low threshold gives false alarms, a high one misses. The ring is the best "
        "threshold on these rows; on others expect a little less. Give costs (--cost) to see what "
        "a decision costs instead." + band_words(curves),
        size=WIDE,
    )


def _set_limits(ax: Any, curves: Sequence[Curve]) -> None:
    """Limits before marks are drawn, which look for room."""
    parts = [points(curve, 10**9) for curve in curves]
    x = np.concatenate([part.x for part in parts])
    tops = [np.concatenate([part.y, part.high[np.isfinite(part.high)]]) for part in parts]
    top = float(np.concatenate(tops).max())
    bottom = min(0.0, float(min(part.y.min(initial=0.0) for part in parts)))
    room = 0.08 * (top - bottom) or 1.0
    if x.max() > x.min():
        ax.set_xlim(x.min(), x.max())
    ax.set_ylim(bottom, top + room)
