"""Detection error trade-off: misses against false alarms, on axes of normal deviates.

On these axes the curve of two normal laws of scores is a straight line, and rare errors get as much
room as common ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import (
    area_below,
    band_words,
    draw_curves,
    hardest,
    left_out,
    marks_in_words,
)
from novum.apps.report.figures.style import HALF, MUTED, picture

_TICKS = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95])
# Rates of 0 and 1 are infinitely far away; they are drawn at the edge.
_EDGE = 5e-4


def det_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the false positive rate and y the miss rate."""
    shown = hardest(curves, area_below)

    def draw(ax: Any) -> None:
        ends = _deviates(np.array([_EDGE, 0.995]))
        ax.set_xlim(*ends)
        ax.set_ylim(*ends)
        ax.set_aspect("equal")
        ax.plot(ends, ends, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        draw_curves(ax, shown, most, to_place=_deviates)
        names = [f"{100 * rate:g} %" for rate in _TICKS]
        ax.set_xticks(_deviates(_TICKS), names, fontsize=8)
        ax.set_yticks(_deviates(_TICKS), names, fontsize=8)
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("miss rate")

    return picture(
        draw,
        key="det",
        title="Detection error trade-off",
        alt="Miss rate against false positive rate on normal-deviate axes. "
        + marks_in_words(shown),
        caption="The two kinds of error against each other, on axes that stretch small rates. "
        "Lower is better. On the dotted diagonal both rates are equal."
        + band_words(shown)
        + left_out(len(shown), len(curves)),
        size=HALF,
    )


def _deviates(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(special.ndtri(np.clip(rates, _EDGE, 1 - _EDGE)))
