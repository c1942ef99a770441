"""The linear models of a tree's nodes, each from the rows of its node.

    model(x) = base + sum_k coefficient_k (x_k - center_k)

minimizes the weighted squared error among the columns it keeps: `base` is the mean of the target in
the node and `center_k` that of the column, over the rows whose cell is known. A missing cell is
taken to be the node's mean of its column, its expectation there, and adds nothing to the sum, at
the fit and at prediction alike. Nominal and ordinal columns enter by 0/1 columns of their levels
without the first (`core.tables.coding`), whose means are the levels' shares.

Which columns: of those that may be used, the model is simplified greedily. Columns leave one by
one, the one that is missed least first, and of the models on this way the one with the least

    sqrt(SSE / n) (n + v) / (n - v)

stays, where n is the weight of the rows and v the number of parameters with the constant. Where no
line pays, none of the columns stays. Columns that others explain but for 1e-10 of their variance
never enter, and a parameter needs the weight of two rows: where there are more columns, those enter
that explain most.

Every node sums its own rows about its own means: O(n depth d^2), with d the columns that the node's
subtree asks for, few in the many small nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.tables import Kind, Schema
from novum.numerics import Codes, Floats, Integers, Mask, as_argument
from novum.trees.growth.conversion import TargetScale
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.routing import route
from novum.trees.training import CellRows
from novum.trees.tree import Question, Tree

# Nominal columns with more levels are left to the questions of the tree.
MOST_LEVELS = 32
# Products that a call of the kernel sums between two looks for Ctrl-C: some tenths of a second.
_SLICE = 2e8


@dataclass(frozen=True, eq=False)
class DesignColumns:
    """What the columns of the design are.

    Attributes
    ----------
    owner : int32 array (n_design,), the column of the schema
    level : int32 array (n_design,), the code that a column of zeros and ones is for; -1 for numbers
    """

    owner: Codes
    level: Codes

    @classmethod
    def of(cls, schema: Schema) -> DesignColumns:
        """The columns of a schema, levels without the first.

        Examples
        --------
        >>> from novum.core.tables import Column
        >>> schema = Schema((Column("age"), Column("color", Kind.NOMINAL, ("blue", "red"))))
        >>> design = DesignColumns.of(schema)
        >>> design.owner.tolist(), design.level.tolist()
        ([0, 1], [-1, 1])
        """
        owner, level = [], []
        for j, column in enumerate(schema.columns):
            if column.kind is Kind.NUMERIC:
                levels = [-1]
            else:
                levels = list(range(1, column.n_levels)) if column.n_levels <= MOST_LEVELS else []
            owner += [j] * len(levels)
            level += levels
        return cls(np.array(owner, np.int32), np.array(level, np.int32))


def columns_below(tree: Tree) -> Mask:
    """Which columns are asked for at each node or below it, (n_nodes, n_columns)."""
    asked = np.zeros((tree.n_nodes, tree.schema.n_columns), bool)
    inner = np.flatnonzero(tree.question != Question.LEAF)
    asked[inner, tree.column[inner]] = True
    for node in range(tree.n_nodes - 1, 0, -1):
        asked[tree.parent[node]] |= asked[node]
    return asked


def fitted_models(tree: Tree, usable: Mask, rows: CellRows) -> NodeModels:
    """The models of all nodes.

    Parameters
    ----------
    tree : Tree
    usable : boolean array (n_nodes, n_columns)
        Columns that the model of each node may have.
    rows : CellRows
        With numeric targets.
    """
    scale, unit = TargetScale.of(rows.targets, rows.weight), _units(rows)
    numbers, cells = scale.numbers(rows.targets), as_argument(rows.cells / unit)
    design, usable = DesignColumns.of(tree.schema), as_argument(usable, np.bool_)
    reached = route(tree, rows.cells).tocsc()
    reached.sort_indices()
    table = (
        cells,
        as_argument(numbers),
        as_argument(rows.weight),
        as_argument(reached.indices, np.int32),
        as_argument(reached.data),
        design.owner,
        design.level,
    )
    start = as_argument(reached.indptr, np.int64)
    parts = []
    for low, high in _slices(np.diff(start), usable, design):
        parts.append(_part(table, start, usable, design, low, high))
        check_cancelled()
    size, deviation, error, base, column, center, coefficient = (
        np.concatenate(pieces) for pieces in zip(*parts, strict=True)
    )
    owner = design.owner[column]
    return NodeModels(
        tree.schema,
        start=np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
        column=owner,
        level=design.level[column],
        coefficient=_in_units(coefficient, scale.unit, unit[owner], tree.schema, owner),
        center=center * unit[owner],
        base=scale.offset + scale.unit * base,
        error=scale.unit * error,
        deviation=scale.unit * deviation,
    )


def _part(
    table: tuple[Any, ...],
    start: Integers,
    usable: Mask,
    design: DesignColumns,
    low: int,
    high: int,
) -> tuple[NDArray[np.generic], ...]:
    """Models of nodes `low` to `high`: size, deviation, error, base; terms of all."""
    from novum.trees.model_trees.model_tree_lines_kernels import node_lines

    n_targets, marks = table[1].shape[1], as_argument(usable[low:high], np.bool_)
    room = int(_design_widths(marks, design).sum())
    size = np.empty(high - low, np.int64)
    deviation, error = np.empty(high - low), np.empty(high - low)
    base = np.empty((high - low, n_targets))
    column, center = np.empty(room, np.int32), np.empty(room)
    coefficient = np.empty((room, n_targets))
    results = (size, deviation, error, base, column, center, coefficient)
    n = node_lines(table, start, marks, low, high, results)
    return size, deviation, error, base, column[:n], center[:n], coefficient[:n]


def _units(rows: CellRows) -> Floats:
    """Powers of two that bring numeric columns to numbers of size one; 1 for levels."""
    unit = np.ones(rows.schema.n_columns)
    for j in rows.schema.numeric:
        known = np.abs(rows.cells[~np.isnan(rows.cells[:, j]), j])
        largest = float(known.max(initial=0.0))
        if largest > 0:
            unit[j] = 2.0 ** np.clip(np.floor(np.log2(largest)), -1000, 1000)
    return unit


def _in_units(
    coefficient: Floats, target: float, unit: Floats, schema: Schema, owner: Codes
) -> Floats:
    """Coefficients in the units of the table; a column too small for one is named."""
    with np.errstate(over="ignore"):
        coefficients = coefficient * (target / unit)[:, np.newaxis]
    wrong = np.flatnonzero(~np.isfinite(coefficients).all(axis=1))
    if wrong.size:
        name = schema.names[owner[wrong[0]]]
        raise InputError(
            f"The coefficient of column {name!r} leaves the range of double precision: its cells "
            "are too small beside the targets. Multiply the column by a power of ten."
        )
    return coefficients


def _design_widths(marks: Mask, design: DesignColumns) -> Integers:
    widths = np.bincount(design.owner, minlength=marks.shape[1]).astype(np.int64)
    return marks @ widths


def _slices(entries: Integers, usable: Mask, design: DesignColumns) -> Iterator[tuple[int, int]]:
    """Nodes in runs of bounded work, by the sizes of the input only."""
    widths = _design_widths(usable, design) + 1
    work = np.cumsum(entries * widths**2 + 4 * widths**3)
    low = 0
    while low < work.size:
        done = work[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(work, done + _SLICE)))
        yield low, high
        low = high
