"""From the nodes that the engine has grown to a `Tree`.

A threshold lies between two neighboring codes a < b of the node. A single tree puts it halfway
between the largest value of a and the least of b. A forest keeps to the edges of the coding and
takes the one nearest to that point, so that rows can be sent down by their codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import Schema
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import midpoints
from novum.trees.growth.growing import CodedTable, GrownNodes
from novum.trees.tree import Question, Tree

Floats = NDArray[np.float64]

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
        offset = unit * (weight @ (targets / unit)) / weight.sum()
        spread = size + np.floor(np.log2(np.abs(targets / unit - offset / unit).max()))
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


def tree_of(
    grown: GrownNodes,
    table: CodedTable,
    schema: Schema,
    classes: tuple[NDArray[Any], ...] | None,
    scale: TargetScale | None = None,
    *,
    on_edges: bool = False,
) -> Tree:
    """The tree of the grown nodes."""
    integers, numbers = grown.integers, grown.numbers
    question = integers[:, at.QUESTION].astype(np.int32)
    inner = question != Question.LEAF
    start, branch = _level_branches(grown, table)
    squared_unit = 1.0 if scale is None else scale.unit**2
    return Tree(
        schema,
        classes,
        question=question,
        column=np.where(inner, integers[:, at.COLUMN], -1).astype(np.int32),
        threshold=thresholds(grown, table, on_edges=on_edges),
        first_child=integers[:, at.CHILD].astype(np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        parent=integers[:, at.PARENT].astype(np.int32),
        share=numbers[:, at.SHARE],
        missing_branch=np.where(inner, integers[:, at.MISSING_BRANCH], -1).astype(np.int32),
        level_start=start,
        level_branch=branch,
        value=_values(grown, classes, scale),
        weight=numbers[:, at.WEIGHT],
        rows=integers[:, at.ROWS],
        impurity=numbers[:, at.IMPURITY] * squared_unit,
        gain=numbers[:, at.GAIN] * squared_unit,
    )


def thresholds(grown: GrownNodes, table: CodedTable, *, on_edges: bool) -> Floats:
    """The threshold of every node; NaN where none is asked, infinite for missing against known."""
    found = np.full(len(grown.integers), np.nan)
    asked = np.flatnonzero(grown.integers[:, at.QUESTION] == Question.THRESHOLD)
    if asked.size == 0:
        return found
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
    found[asked] = np.where(after < 0, np.inf, middle)
    return found


def edge_places(
    table: CodedTable,
    column: NDArray[np.int64],
    code: NDArray[np.int64],
    after: NDArray[np.int64],
    middle: Floats,
) -> NDArray[np.int64]:
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
    grown: GrownNodes, classes: tuple[NDArray[Any], ...] | None, scale: TargetScale | None
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
