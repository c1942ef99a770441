"""Bayes-error plot: normalized detection cost over all working points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Curve
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.curves import draw_curves, marks_in_words, points
from novum.apps.report.figures.style import MUTED, WIDE, picture, plain_ticks

# Far from its calibration a model costs many times a blind decision; how many is no news.
_HIGHEST = 2.0


def bayes_error_figure(curves: Sequence[Curve], most: int) -> Figure:
    """The figure of curves with x the log odds of the effective prior and y the cost."""

    def draw(ax: Any) -> None:
        parts = [points(curve, 10**9) for curve in curves]
        x = np.concatenate([part.x for part in parts])
        top = max(float(part.y.max(initial=0.0)) for part in parts)
        if x.max() > x.min():
            ax.set_xlim(x.min(), x.max())
        ax.set_ylim(0, min(max(1.1, 1.05 * top), _HIGHEST))
        ax.axhline(1.0, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        draw_curves(ax, curves, most)
        plain_ticks(ax.xaxis, 9)
        plain_ticks(ax.yaxis)
        ax.set_xlabel("log odds of the effective prior")
        ax.set_ylabel("normalized cost")

    return picture(
        draw,
        key="bayes-error",
        title="Cost at every working point",
        alt="Normalized detection cost against the log odds of the effective prior. "
        + marks_in_words(curves),
        caption="Priors and costs together make one number, the effective prior; this is the cost "
        "at each of them. Where actual and minimum touch, the scores are well calibrated; above "
        "the dotted line a decision without looking at the row would be cheaper.",
        size=WIDE,
    )
