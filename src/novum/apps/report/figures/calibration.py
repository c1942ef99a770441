"""Calibration: how often what got probability p happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import hardest, left_out, points
from novum.apps.report.figures.style import DASHES, HALF, INK, MUTED, SERIES, picture
from novum.apps.report.names import label
from novum.apps.report.numbers import number


def calibration_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the mean probability and y the observed share of each bin."""
    shown = hardest(curves, _distance)

    def draw(ax: Any) -> None:
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        for curve, color, dash in zip(shown, SERIES, DASHES, strict=False):
            x, y, low, high = points(curve, most)
            # Intervals of many classes would hide each other.
            if len(low) and len(shown) == 1:
                ax.vlines(x, low, high, color=color, alpha=0.45, linewidth=1.6)
            name = label(curve.label) if curve.label.strip() else None
            ax.plot(x, y, "o", linestyle=dash, color=color, markersize=4, linewidth=1.2, label=name)
        if len(shown) > 1:
            ax.legend(loc="best", labelcolor=INK)
        ax.set_xlabel("mean predicted probability")
        ax.set_ylabel("observed share")

    worst = max(_gap(curve) for curve in shown)
    return picture(
        draw,
        key="calibration",
        title="Calibration",
        alt="Observed share against mean predicted probability. The largest distance from the "
        f"diagonal is {number(worst, 2)}.",
        caption="Rows with like probabilities are put together; a dot shows how often the class "
        "came true among them. On the diagonal a probability means what it says; below it the "
        "model is too sure." + left_out(len(shown), len(curves)),
        size=HALF,
    )


def _distance(x: Any, y: Any) -> float:
    return float(np.mean(np.abs(y - x))) if len(x) else 0.0


def _gap(curve: Curve) -> float:
    x, y, *_ = points(curve, 10**9)
    return float(np.max(np.abs(y - x), initial=0.0))
