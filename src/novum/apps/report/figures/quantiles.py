"""Quantiles of residuals against those of a normal law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import points
from novum.apps.report.figures.scatter import draw_scatter
from novum.apps.report.figures.style import HALF, MUTED, picture


def quantiles_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of points with x normal quantiles and y ordered residuals."""
    x, y, *_ = points(curves[0], 10**9)

    def draw(ax: Any) -> None:
        slope, middle = _line(x, y)
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, middle + slope * ends, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        draw_scatter(ax, curves, most)
        ax.set_xlabel("quantile of the normal law")
        ax.set_ylabel("quantile of the residuals")

    return picture(
        draw,
        key="quantiles",
        title="Law of the residuals",
        alt="Ordered residuals against normal quantiles, with the line through both quartiles.",
        caption="Normal residuals lie on the dotted line, which goes through both quartiles. Ends "
        "that leave it upwards and downwards mean that large errors are more frequent than a "
        "normal law says.",
        size=HALF,
    )


def _line(x: Any, y: Any) -> tuple[float, float]:
    """Slope and height of the line through the quartiles, which outliers do not move."""
    x25, x75 = np.quantile(x, [0.25, 0.75])
    y25, y75 = np.quantile(y, [0.25, 0.75])
    slope = (y75 - y25) / (x75 - x25) if x75 > x25 else 0.0
    return float(slope), float(y25 - slope * x25)
