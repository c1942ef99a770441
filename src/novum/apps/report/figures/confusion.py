"""Confusion matrix: what rows of each class were taken for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.apps.report.blocks import Figure
from novum.apps.report.figures.style import INK, SERIES, picture
from novum.apps.report.names import label
from novum.apps.report.numbers import number

MOST_CLASSES = 40
_MOST_NUMBERS = 15
# Text on the darkest cell keeps its contrast on light and on dark pages.
_DARKEST = 0.5


def confusion_figure(
    counts: Sequence[Sequence[float]], classes: Sequence[str], columns: Sequence[str]
) -> Figure:
    """The figure of `counts[true][predicted]`; shades are shares of the true class."""
    matrix = np.array(counts, float)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    side = min(0.55, 5.2 / max(matrix.shape))
    shown = min(label_length(classes), label_length(columns))

    def draw(ax: Any) -> None:
        _draw_cells(ax, matrix, shares)
        font = 9 if len(classes) <= 20 else 7.5
        ax.set_xticks(range(len(columns)), [label(c, shown) for c in columns], fontsize=font)
        ax.set_yticks(range(len(classes)), [label(c, shown) for c in classes], fontsize=font)
        if max(map(len, columns), default=0) > 4:
            for tick in ax.get_xticklabels():
                tick.set(rotation=40, rotation_mode="anchor", ha="right", va="top")
        ax.tick_params(colors=INK)
        ax.set_xlabel("decided")
        ax.set_ylabel("true")

    right = float(np.trace(matrix)) if matrix.shape[0] == matrix.shape[1] else None
    hit = "" if right is None else f" {number(right)} of {number(float(matrix.sum()))} are right."
    return picture(
        draw,
        key="confusion",
        title="Confusion matrix",
        alt=f"Rows of {len(classes)} true classes by what was decided.{hit}",
        caption="Each row is a true class, each column what was decided; on the diagonal the "
        "decision is right. Shades grow with the share of the true class, so that rare classes "
        "count as much as frequent ones."
        + ("" if _has_numbers(matrix) else " The most frequent errors are listed below."),
        size=(1.9 + side * len(columns), 1.1 + side * len(classes)),
    )


def label_length(names: Sequence[str]) -> int:
    """Letters that fit beside a matrix of so many classes."""
    return 18 if len(names) <= 20 else 10


def _has_numbers(matrix: NDArray[np.float64]) -> bool:
    return max(matrix.shape) <= _MOST_NUMBERS


def _draw_cells(ax: Any, matrix: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
    from matplotlib.patches import Rectangle

    n_true, n_decided = matrix.shape
    for true, decided in np.argwhere(shares > 0).tolist():
        is_right = true == decided and n_true == n_decided
        color = SERIES[0] if is_right or n_true != n_decided else SERIES[1]
        # By the square root a share of a hundredth can still be seen.
        alpha = _DARKEST * float(shares[true, decided]) ** 0.5
        ax.add_patch(
            Rectangle((decided - 0.47, true - 0.47), 0.94, 0.94, color=color, alpha=alpha, lw=0)
        )
    if _has_numbers(matrix):
        for (true, decided), count in np.ndenumerate(matrix):
            ax.text(decided, true, number(count), ha="center", va="center", color=INK)
    ax.set_xlim(-0.5, n_decided - 0.5)
    ax.set_ylim(n_true - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
