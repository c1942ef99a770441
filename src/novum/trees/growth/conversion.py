"""From training rows to codes, which the engine reads, and from the nodes it has grown to a `Tree`.

A threshold lies between two neighboring codes a < b of the node. A single tree puts it halfway
between the largest value of a and the least of b. A forest keeps to the edges of the coding and
takes the one nearest to that point, so that rows can be sent down by their codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.numerics import Array, Floats, Integers
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import TableCoding, midpoints
from novum.trees.growth.growing import CodedTable, GrownNodes
from novum.trees.training import CellRows
from novum.trees.tree import Question, Tree

# Squares of targets of this size, times the weight of many rows, are still numbers.
MOST_DOUBLINGS = 480


@dataclass(frozen=True)
class TargetScale:
    """How numeric targets were brought to numbers of size one: y = offset + unit * number."""

    offset: Floats
    unit: float

    @classmethod
    def of(cls, targets: Floats, weight: Floats) -> TargetScale:
        """The scale of targets (n, n_targets): about their means, and a power of two."""
        if (targets == targets[0]).all():
            return cls(targets[0].astype(np.float64), 1.0)
        size = np.floor(np.log2(np.abs(targets).max()))
        unit = 2.0**size
        scaled = targets / unit
        offset = unit * (weight @ scaled) / weight.sum()
        spread = size + np.floor(np.log2(np.abs(scaled - offset / unit).max()))
        if abs(spread) > MOST_DOUBLINGS:
            raise InputError(
                f"y differs by about 1e{spread * np.log10(2):.0f}, and the squares of such "
                "differences are no floating-point numbers. Give y in other units."
            )
        return cls.around(offset, float(2.0**spread))

    @classmethod
    def around(cls, mean: Floats, unit: float) -> TargetScale:
        """The scale with an offset of few digits near the mean, within 2^-11 of the unit.

        Whole numbers less such an offset have no rounding, so that leaves give them back exactly.
        """
        step = unit * 2.0**-10
        return cls(step * np.round(mean / step), unit)

    def numbers(self, targets: Floats) -> Floats:
        return np.ascontiguousarray((targets - self.offset) / self.unit)


# --- Rows as codes --------------------------------------------------------------------------------


def coded_table(rows: CellRows, max_bins: int | None) -> tuple[CodedTable, TargetScale | None]:
    """The rows in a coding of their own, and the scale of numeric targets."""
    return coded_rows(rows, table_coding(rows, max_bins))


def table_coding(rows: CellRows, max_bins: int | None) -> TableCoding:
    """The coding of the table; rows of one weight need none, which saves sorting by it."""
    weight = None if (rows.weight == rows.weight[0]).all() else rows.weight
    return TableCoding.of(rows.schema, rows.cells, weight, max_bins)


def coded_rows(rows: CellRows, coding: TableCoding) -> tuple[CodedTable, TargetScale | None]:
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


# --- Trees ----------------------------------------------------------------------------------------


def tree_of(
    grown: GrownNodes,
    table: CodedTable,
    schema: Schema,
    classes: tuple[Array, ...] | None,
    scale: TargetScale | None = None,
    *,
    on_edges: bool = False,
) -> Tree:
    """The tree of the grown nodes."""
    integers = np.ascontiguousarray(grown.integers.T, np.int32)
    numbers = grown.numbers
    question = integers[at.QUESTION]
    inner = question != Question.LEAF
    start, branch = _level_branches(grown, table)
    squared_unit = 1.0 if scale is None else scale.unit**2
    return Tree(
        schema,
        classes,
        question=question,
        column=np.where(inner, integers[at.COLUMN], np.int32(-1)),
        threshold=thresholds(grown, table, on_edges=on_edges),
        first_child=integers[at.CHILD],
        n_children=2 * inner.astype(np.int32),
        parent=integers[at.PARENT],
        share=numbers[:, at.SHARE],
        missing_branch=np.where(inner, integers[at.MISSING_BRANCH], np.int32(-1)),
        level_start=start,
        level_branch=branch,
        value=_values(grown, classes, scale),
        weight=numbers[:, at.WEIGHT],
        rows=grown.integers[:, at.ROWS],
        impurity=numbers[:, at.IMPURITY] * squared_unit,
        gain=numbers[:, at.GAIN] * squared_unit,
    )


def thresholds(grown: GrownNodes, table: CodedTable, *, on_edges: bool) -> Floats:
    """The threshold of every node; NaN where none is asked, infinite for missing against known."""
    thresholds = np.full(len(grown.integers), np.nan)
    asked = np.flatnonzero(grown.integers[:, at.QUESTION] == Question.THRESHOLD)
    if asked.size == 0:
        return thresholds
    column = grown.integers[asked, at.COLUMN]
    code, after = grown.integers[asked, at.CODE], grown.integers[asked, at.NEXT_CODE]
    middle = midpoints(table.high[column, code], table.low[column, np.maximum(after, 0)])
    if on_edges:
        place = edge_places(table, column, code, after, middle)
        edges = table.coding.edges
        middle = np.array(
            [
                edges[j][b] if b < edges[j].size else np.inf
                for j, b in zip(column, place, strict=True)
            ]
        )
    thresholds[asked] = np.where(after < 0, np.inf, middle)
    return thresholds


def edge_places(
    table: CodedTable,
    column: Integers,
    code: Integers,
    after: Integers,
    middle: Floats,
) -> Integers:
    """The edge nearest to `middle` of those between two codes; the last code where none follows."""
    place = code.copy()
    for j in np.unique(column):
        here = np.flatnonzero((column == j) & (after > code + 1))
        edges = table.coding.edges[j]
        near = np.searchsorted(edges, middle[here])
        below = np.clip(near - 1, code[here], after[here] - 1)
        above = np.clip(near, code[here], after[here] - 1)
        nearer = middle[here] - edges[below] <= edges[above] - middle[here]
        place[here] = np.where(nearer, below, above)
    return place


def _level_branches(grown: GrownNodes, table: CodedTable) -> tuple[Any, Any]:
    """Where the branches of every nominal node begin, and the branches one after the other."""
    start = np.full(len(grown.integers), -1, np.int32)
    asked = np.flatnonzero(grown.integers[:, at.QUESTION] == Question.SUBSET)
    if asked.size == 0:
        return start, np.empty(0, np.int32)
    n_levels = table.coding.n_codes[grown.integers[asked, at.COLUMN]]
    rows = grown.branches[grown.integers[asked, at.LEVEL_AT]]
    start[asked] = np.cumsum(n_levels) - n_levels
    within = np.arange(rows.shape[1]) < n_levels[:, np.newaxis]
    return start, rows[within].astype(np.int32)


def _values(
    grown: GrownNodes, classes: tuple[Array, ...] | None, scale: TargetScale | None
) -> Floats:
    """Class weights, or means; within the bounds of monotone columns where there are any."""
    lower, upper = grown.numbers[:, [at.LOWER]], grown.numbers[:, [at.UPPER]]
    bounded = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
    if classes is None:
        assert scale is not None
        means = grown.sums[:, 1:] / grown.sums[:, :1]
        if bounded:
            means = np.clip(means, lower, upper)
        return scale.offset + scale.unit * means
    if not bounded:
        return grown.sums
    weight = grown.sums.sum(axis=1, keepdims=True)
    positive = np.clip(grown.sums[:, [1]] / weight, lower, upper)
    return np.hstack([1.0 - positive, positive]) * weight
