"""Pictures of a comparison: differences with the region of equivalence, ranks, scores.

Matplotlib is imported when a picture is drawn (`pip install novum[plot]`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation.comparison.comparison import Comparison
from novum.evaluation.comparison.dataset_pairs import DatasetPair
from novum.evaluation.comparison.fold_pairs import FoldPair

_LONGEST = 30


def plot_comparison(comparison: Comparison, kind: str | None = None, ax: Any = None) -> Any:
    """The picture that `Comparison.plot` draws; returns the axes."""
    if kind is None:
        kind = "differences" if comparison.ranks is None else "ranks"
    if kind == "ranks":
        if comparison.ranks is None:
            raise InputError(
                "Ranks are over data sets, and this comparison has one. Compare on several, or "
                "plot 'differences' or 'scores'."
            )
        return comparison.ranks.diagram.plot(ax)
    draw = {"differences": _plot_differences, "scores": _plot_scores}.get(kind)
    if draw is None:
        raise InputError(f"kind is 'differences', 'ranks' or 'scores', got {kind!r}.")
    return draw(comparison, _axes(ax))


def _plot_differences(comparison: Comparison, ax: Any) -> Any:
    pairs: tuple[FoldPair | DatasetPair, ...] = comparison.pairs
    place = np.arange(len(pairs))[::-1]
    rope = comparison.question.rope
    if rope:
        ax.axvspan(-rope, rope, color="0.9", zorder=0, label=f"within {rope:g}")
        ax.legend(frameon=False)
    ax.axvline(0, color="0.5", lw=0.8, zorder=1)
    for y, pair in zip(place, pairs, strict=True):
        low, high = pair.difference
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [y, y], color="tab:blue", lw=2)
        else:
            # No level is reached with so few data sets: the interval is the whole line.
            ax.axhline(y, color="tab:blue", lw=1, ls=":")
        ax.plot(pair.difference.estimate, y, "o", color="tab:blue")
    ax.set_yticks(place, [f"{_name(pair.first)} - {_name(pair.second)}" for pair in pairs])
    ax.set_xlabel(f"difference of {_measured(comparison)}")
    ax.set_ylim(-0.6, len(pairs) - 0.4)
    return ax


def _plot_scores(comparison: Comparison, ax: Any) -> Any:
    """Scores fold by fold on one data set, means of the data sets on several."""
    if comparison.ranks is None:
        values = list(comparison.scores[comparison.datasets[0]].values())
    else:
        values = list(comparison.table.means(comparison.measure).T)
    ax.boxplot(values, tick_labels=[_name(model) for model in comparison.models])
    ax.set_ylabel(_measured(comparison))
    return ax


def _measured(comparison: Comparison) -> str:
    way = "" if comparison.greater_is_better else " (less is better)"
    return f"{_name(comparison.measure)}{way}"


def _name(name: str) -> str:
    # Dollar signs would start mathematics.
    return printable(name, _LONGEST).replace("$", r"\$")


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install novum with its plot extra."
        ) from error
    return plt.subplots(layout="constrained")[1]
