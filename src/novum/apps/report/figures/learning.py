"""Learning curve: the score against the number of rows a model has learned from."""

from __future__ import annotations

from typing import Any

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import draw_curves, draw_mark, points
from novum.apps.report.figures.style import SERIES, WIDE, picture, plain_ticks
from novum.apps.report.names import in_words
from novum.apps.report.numbers import number


def learning_figure(curve: Curve, metric: str, most: int) -> Figure:
    """The figure of a curve with x the number of training rows and y the score."""
    x, y, low, high = points(curve, most)
    name = in_words(metric)

    def draw(ax: Any) -> None:
        lowest, highest = (low, high) if len(low) else (y, y)
        room = 0.12 * float(highest.max() - lowest.min()) or 1.0
        ax.set_xlim(0, 1.04 * float(x.max()))
        ax.set_ylim(float(lowest.min()) - room, float(highest.max()) + room)
        draw_curves(ax, [Curve(curve.x, curve.y, curve.low, curve.high)], most)
        ax.plot(x, y, "o", color=SERIES[0], markersize=4)
        for place in curve.marks:
            draw_mark(ax, *place)
        plain_ticks(ax.xaxis, 8)
        plain_ticks(ax.yaxis)
        ax.set_xlabel("training rows")
        ax.set_ylabel(name)

    return picture(
        draw,
        key="learning-curve",
        title="Learning curve",
        alt=f"The {name} goes from {number(float(y[0]), 3)} with {number(float(x[0]))} rows to "
        f"{number(float(y[-1]), 3)} with {number(float(x[-1]))}.",
        caption="The score on rows left out, for models that learned from fewer rows. A curve that "
        "still gets better at its right end asks for more rows; a flat one asks for other columns "
        "or another model. The band is the interval of the mean.",
        size=WIDE,
    )
