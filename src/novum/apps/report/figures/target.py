"""What is to be predicted: how often each class, or each range of numbers, occurs."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.apps.job.record import ColumnRecord
from novum.apps.report.blocks import Figure
from novum.apps.report.figures.style import SERIES, name_rows, picture, plain_ticks
from novum.apps.report.names import label
from novum.apps.report.numbers import number, percent

_MOST_CLASSES = 30


def target_figure(target: ColumnRecord) -> Figure | None:
    """The distribution of the target, or None where the record has none."""
    if len(target.histogram_counts) > 1:
        return _numbers(target)
    if target.levels:
        return _classes(target)
    return None


def _numbers(target: ColumnRecord) -> Figure:
    edges, counts = (
        np.array(target.histogram_edges, float),
        np.array(target.histogram_counts, float),
    )

    def draw(ax: Any) -> None:
        ax.stairs(counts, edges, fill=True, color=SERIES[0])
        plain_ticks(ax.xaxis, 8)
        plain_ticks(ax.yaxis, 5)
        ax.grid(visible=False, axis="x")
        ax.set_xlabel(label(target.name, 50))
        ax.set_ylabel("rows")

    return picture(
        draw,
        key="target",
        title="What is to be predicted",
        alt=f"Histogram from {number(float(edges[0]))} to {number(float(edges[-1]))}; the fullest "
        f"bar has {number(float(counts.max()))} rows.",
        caption="How the values of the target are spread over the table.",
        size=(7.4, 2.1),
    )


def _classes(target: ColumnRecord) -> Figure:
    shown = target.levels[:_MOST_CLASSES]
    total = sum(count for _, count in target.levels) + target.n_other_rows or 1

    def draw(ax: Any) -> None:
        ax.barh(range(len(shown)), [count for _, count in shown], 0.68, color=SERIES[0])
        for place, (_, count) in enumerate(shown):
            ax.annotate(
                f"{number(count)}  ({percent(count / total)})",
                (count, place),
                (5, 0),
                textcoords="offset points",
                va="center",
            )
        name_rows(ax, [label(name) for name, _ in shown])
        ax.set_xlim(0, 1.2 * max(count for _, count in shown) or 1)
        plain_ticks(ax.xaxis, 6)
        ax.set_xlabel("rows")

    words = "; ".join(f"{label(name)} {number(count)}" for name, count in shown)
    rest = len(target.levels) - len(shown) + target.n_other_levels
    return picture(
        draw,
        key="target",
        title="What is to be predicted",
        alt=f"Rows of each class: {words}.",
        caption="How many rows each class has."
        + (f" {rest:,} classes with fewer rows are not drawn." if rest else ""),
        size=(7.4, 0.65 + 0.24 * max(len(shown), 2)),
    )
