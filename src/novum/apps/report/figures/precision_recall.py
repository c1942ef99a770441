"""Precision against recall, for all thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import (
    area_below,
    band_words,
    draw_curves,
    hardest,
    left_out,
    marks_in_words,
    points,
)
from novum.apps.report.figures.style import HALF, picture
from novum.apps.report.numbers import number


def precision_recall_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the recall and y the precision."""
    shown = hardest(curves, lambda x, y: -area_below(x, y))

    def draw(ax: Any) -> None:
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        draw_curves(ax, shown, most)
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")

    area = area_below(*points(shown[0], 10**9)[:2])
    return picture(
        draw,
        key="precision-recall",
        title="Precision and recall",
        alt=f"Precision against recall. Area below the first curve {number(area, 3)}. "
        + marks_in_words(shown),
        caption="Of the rows called positive, how many are (precision), against how many of the "
        "positives are found (recall). It tells more than the ROC curve where positives are rare."
        + band_words(shown)
        + left_out(len(shown), len(curves)),
        size=HALF,
    )
