"""Which classes are taken for which: confusion matrix, and the most frequent errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.apps.job.record import HoldoutRecord, TaskRecord
from novum.apps.report.blocks import Block, Column, Heading, Table, Text
from novum.apps.report.detail import Detail
from novum.apps.report.figures.confusion import MOST_CLASSES, confusion_figure
from novum.apps.report.numbers import number, percent

_MOST_ERRORS = 12
_FEW = 5


def error_blocks(task: TaskRecord, holdout: HoldoutRecord, detail: Detail) -> list[Block]:
    """The matrix as a picture where it has room, as a table where it is small, its peaks else."""
    if not holdout.confusion or not task.classes:
        return []
    counts = np.array(holdout.confusion, float)
    columns = holdout.confusion_columns or task.actions or task.classes
    if counts.shape != (len(task.classes), len(columns)):
        return [Text("The confusion matrix does not fit the classes and is not shown.", "quiet")]
    blocks: list[Block] = [Heading("What is taken for what")]
    if detail.pictures and max(counts.shape) <= MOST_CLASSES:
        blocks.append(confusion_figure(holdout.confusion, task.classes, columns))
    if max(counts.shape) <= _FEW:
        blocks.append(_matrix(counts, task.classes, columns))
    else:
        blocks += _peaks(counts, task.classes, columns)
    return blocks


def _matrix(
    counts: NDArray[np.float64], classes: tuple[str, ...], columns: tuple[str, ...]
) -> Table:
    heads = (Column("true class"), *(Column(f"decided {name}", True) for name in columns))
    rows = []
    for name, row in zip(classes, counts, strict=True):
        total = row.sum()
        cells = (f"{number(n)} ({percent(n / total if total else None)})" for n in row.tolist())
        rows.append((name, *cells))
    return Table("Rows by true class and decision, with shares of the true class", heads, rows)


def _peaks(
    counts: NDArray[np.float64], classes: tuple[str, ...], columns: tuple[str, ...]
) -> list[Block]:
    """The largest entries off the diagonal."""
    errors = counts.copy()
    for place, name in enumerate(classes):
        if name in columns:
            errors[place, columns.index(name)] = 0
    order = np.argsort(-errors, axis=None, kind="stable")[:_MOST_ERRORS]
    rows = []
    for true, decided in zip(*np.unravel_index(order, errors.shape), strict=True):
        n = float(errors[true, decided])
        if n > 0:
            share = percent(n / counts[true].sum())
            rows.append((classes[true], columns[decided], number(n), share))
    if not rows:
        return [Text("No row was taken for another class.")]
    heads = (
        Column("true class"),
        Column("taken for"),
        Column("rows", True),
        Column("share of the class", True),
    )
    return [Table("The most frequent errors", heads, rows)]
