"""Residuals against predicted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import points
from novum.apps.report.figures.scatter import draw_scatter, of_all
from novum.apps.report.figures.style import HALF, MUTED, picture
from novum.apps.report.numbers import number


def residuals_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of points with x predicted and y observed minus predicted."""

    def draw(ax: Any) -> None:
        ax.axhline(0.0, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        draw_scatter(ax, curves, most)
        ax.set_xlabel("predicted")
        ax.set_ylabel("observed − predicted")

    y = points(curves[0], 10**9).y
    return picture(
        draw,
        key="residuals",
        title="Residuals",
        alt=f"Residuals against predicted values; half of them lie between "
        f"{number(float(np.quantile(y, 0.25)), 3)} and {number(float(np.quantile(y, 0.75)), 3)}.",
        caption="What is left when the prediction is taken away. An even band around zero is "
        "good; a bend means that the model misses a shape, a funnel that errors grow."
        + of_all(curves, most),
        size=HALF,
    )
