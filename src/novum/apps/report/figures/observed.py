"""Observed against predicted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.scatter import draw_scatter, of_all
from novum.apps.report.figures.style import HALF, MUTED, picture


def observed_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of points with x predicted and y observed."""

    def draw(ax: Any) -> None:
        draw_scatter(ax, curves, most)
        lowest = max(ax.get_xlim()[0], ax.get_ylim()[0])
        highest = min(ax.get_xlim()[1], ax.get_ylim()[1])
        ax.autoscale(False)
        if highest > lowest:
            ends = [lowest, highest]
            ax.plot(ends, ends, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        ax.set_xlabel("predicted")
        ax.set_ylabel("observed")

    return picture(
        draw,
        key="observed",
        title="Observed against predicted",
        alt="Scatter plot of observed against predicted values; the dotted line is where both are "
        "equal.",
        caption="Each dot is a row. On the dotted line prediction and truth agree; a cloud that "
        "leaves the line at the ends means that extremes are pulled to the middle."
        + of_all(curves, most),
        size=HALF,
    )
