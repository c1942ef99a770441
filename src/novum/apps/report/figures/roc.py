"""Receiver operating characteristic: recall against false alarms, for all thresholds."""

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
from novum.apps.report.figures.style import HALF, MUTED, picture
from novum.apps.report.numbers import number


def roc_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the false positive rate and y the recall."""
    shown = hardest(curves, lambda x, y: -area_below(x, y))

    def draw(ax: Any) -> None:
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal")
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        draw_curves(ax, shown, most)
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("recall (true positive rate)")

    area = area_below(*points(shown[0], 10**9)[:2])
    return picture(
        draw,
        key="roc",
        title="ROC curve",
        alt=f"Recall against false positive rate. Area below the first curve {number(area, 3)}. "
        + marks_in_words(shown),
        caption="How many positives are found for how many false alarms, at every threshold. The "
        "dotted diagonal is guessing; the closer to the upper left corner, the better."
        + band_words(shown)
        + left_out(len(shown), len(curves)),
        size=HALF,
    )
