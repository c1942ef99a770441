"""A curve that the report knows no picture for is drawn as it is, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import draw_curves, marks_in_words
from novum.apps.report.figures.style import SERIES, WIDE, picture, plain_ticks
from novum.apps.report.names import in_words, label


def other_figure(name: str, curves: Sequence[Curve], most: int, place: int) -> Figure:
    """The figure of curves by their name; `place` tells them apart."""
    shown = curves[: len(SERIES)]

    def draw(ax: Any) -> None:
        draw_curves(ax, shown, most)
        plain_ticks(ax.xaxis, 8)
        plain_ticks(ax.yaxis)

    title = label(in_words(name), 60)
    return picture(
        draw,
        key=f"other-{place}",
        title=title,
        alt=f"Curve of {title}. " + marks_in_words(shown),
        caption=f"The first {len(shown)} of {len(curves)} curves."
        if len(shown) < len(curves)
        else "",
        size=WIDE,
    )
