"""Numbers with intervals, one below the other: standings of models, and terms of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novum.apps.job.record import Estimate, Standing
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.style import MUTED, SERIES, name_rows, picture, plain_ticks
from novum.apps.report.names import in_words, label
from novum.apps.report.numbers import estimate

_ROW = 0.30
_EDGES = 0.75
MOST_TERMS = 25


def standings_figure(standings: Sequence[Standing], metric: str, *, greater: bool) -> Figure:
    """Scores of models with their intervals, and the scores of the folds behind them."""
    shown = [s for s in standings if s.score.value is not None]
    names = [label(s.title or s.family) for s in shown]

    def draw(ax: Any) -> None:
        for place, standing in enumerate(shown):
            folds = np.array(standing.fold_scores, float)
            folds = folds[np.isfinite(folds)]
            ax.plot(folds, np.full(len(folds), place), "|", color=MUTED, alpha=0.55, markersize=8)
            color = SERIES[0] if standing.is_chosen else SERIES[5]
            _draw_interval(ax, standing.score, place, color)
        name_rows(ax, names)
        plain_ticks(ax.xaxis, 7)
        ax.set_xlabel(f"{in_words(metric)} ({'greater' if greater else 'smaller'} is better)")

    words = "; ".join(f"{name} {_words(s.score)}" for name, s in zip(names, shown, strict=True))
    return picture(
        draw,
        key="standings",
        title="Scores with their intervals",
        alt=f"{in_words(metric)}: {words}.",
        caption="The dot is the mean over the folds, the bar its 95 % interval, corrected because "
        "folds share training rows; thin strokes are single folds. Bars that overlap do not mean "
        "that models are equal: the paired tests below decide that.",
        size=(7.4, _EDGES + _ROW * max(len(shown), 2)),
    )


def terms_figure(
    terms: Sequence[tuple[str, Estimate]], *, key: str, title: str, caption: str
) -> Figure:
    """Coefficients, log-odds or importances with their intervals."""
    shown = [(name, value) for name, value in terms if value.value is not None][:MOST_TERMS]
    names = [label(name) for name, _ in shown]

    def draw(ax: Any) -> None:
        ax.axvline(0.0, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)))
        for place, (_, value) in enumerate(shown):
            _draw_interval(ax, value, place, SERIES[0])
        name_rows(ax, names)
        plain_ticks(ax.xaxis, 7)
        ax.set_xlabel(label(title, 60))

    words = "; ".join(
        f"{name} {_words(value)}" for name, (_, value) in zip(names[:10], shown, strict=False)
    )
    return picture(
        draw,
        key=key,
        title=title,
        alt=f"The largest: {words}.",
        caption=caption,
        size=(7.4, _EDGES + _ROW * max(len(shown), 2)),
    )


def _draw_interval(ax: Any, given: Estimate, place: float, color: str) -> None:
    if (
        given.low is not None
        and given.high is not None
        and np.isfinite([given.low, given.high]).all()
    ):
        ax.hlines(place, given.low, given.high, color=color, linewidth=4.5, alpha=0.45)
    if given.value is not None and np.isfinite(given.value):
        ax.plot([given.value], [place], "o", color=color, markersize=6.5)


def _words(given: Estimate) -> str:
    return " ".join(estimate(given)).strip()
