"""Training rows as the binary engine reads them: codes, class labels or scaled numbers."""

from __future__ import annotations

import numpy as np

from novum.trees.growth.coding import TableCoding
from novum.trees.growth.growing import CodedTable
from novum.trees.growth.grown import TargetScale
from novum.trees.training import TrainingRows


def coded_table(rows: TrainingRows, max_bins: int | None) -> tuple[CodedTable, TargetScale | None]:
    """The rows in a coding of their own, and the scale of numeric targets."""
    return coded_rows(rows, table_coding(rows, max_bins))


def table_coding(rows: TrainingRows, max_bins: int | None) -> TableCoding:
    """The coding of the table; rows of one weight need none, which saves sorting by it."""
    weight = None if (rows.weight == rows.weight[0]).all() else rows.weight
    return TableCoding.of(rows.schema, rows.cells, weight, max_bins)


def coded_rows(rows: TrainingRows, coding: TableCoding) -> tuple[CodedTable, TargetScale | None]:
    """The rows in a given coding, and the scale of numeric targets."""
    codes = coding.codes(rows.cells)
    low, high = coding.ranges(codes, rows.cells)
    if rows.n_classes is None:
        scale = TargetScale.of(rows.targets, rows.weight)
        labels = np.empty((rows.n_rows, 0), np.int32)
        starts = np.zeros(rows.targets.shape[1] + 1, np.int64)
        numbers = scale.numbers(rows.targets)
        return CodedTable(coding, codes, labels, numbers, starts, low, high), scale
    starts = np.concatenate([[0], np.cumsum(rows.n_classes)]).astype(np.int64)
    labels = np.ascontiguousarray(rows.targets + starts[:-1], np.int32)
    nothing = np.empty((rows.n_rows, 0))
    return CodedTable(coding, codes, labels, nothing, starts, low, high), None
