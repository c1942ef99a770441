"""Training rows as exact growth reads them, and what a node knows of its own.

A node is a list of entries (row, weight): a row whose cell was missing at a split above is in
several nodes, with a part of its weight in each. The orders of the entries along all ordered
columns are made once for the root and dealt to the children, so that no node sorts anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from novum.core.tables import Kind, Schema
from novum.numerics import Array, Codes, Floats, Integers, Mask
from novum.trees.general.absolute_error import sorted_cost, sorted_median
from novum.trees.general.gain_ratio import TOLERANCE, GainRatio
from novum.trees.general.nominal_splits import scores_of
from novum.trees.general.rules import GeneralRules

# Places in the limits of a search for thresholds, and in its answer for one column.
LEAST, TENTH, SLACK, MARGIN, START, RESOLUTION, MISSING_RULE, MOST = range(8)
GAIN, THRESHOLD, TRIED, BELOW, ABOVE, TOWARDS = range(6)


@dataclass(frozen=True, eq=False)
class ExactTable:
    """The training rows, column by column.

    Attributes
    ----------
    schema : Schema
    ordered : int64 array, positions of the columns that are asked by threshold
    values : float64 array (n_ordered + n_ranked, n), ordered columns, then targets to be ranked
    levels : float64 array (n_nominal, n), codes; NaN where missing
    is_nominal : boolean array (n_columns,)
    place : int64 array (n_columns,), row of the column in `values` or `levels`
    n_levels : int64 array (n_columns,), 0 for ordered columns
    slot : int32 array (n, n_targets), amount : float64 array (n, n_targets)
        What a row adds to the sums, see `general.growing_kernels`.
    n_slots : int
    n_classes : tuple of int, or None for numbers
    weight : float64 array (n,)
    """

    schema: Schema
    ordered: Integers
    values: Floats
    levels: Floats
    is_nominal: Mask
    place: Integers
    n_levels: Integers
    slot: Codes
    amount: Floats
    n_slots: int
    n_classes: tuple[int, ...] | None
    weight: Floats

    @classmethod
    def of(
        cls,
        cells: Floats,
        targets: Array,
        weight: Floats,
        schema: Schema,
        classes: tuple[Array, ...] | None,
        ranked: bool,
    ) -> ExactTable:
        """The table in this form; `ranked` keeps the targets as columns that have an order."""
        nominal = np.array([column.kind is Kind.NOMINAL for column in schema.columns], bool)
        levels = np.ascontiguousarray(cells[:, nominal].T)
        # A level that the schema does not have tells as little as a missing cell.
        levels[levels < 0] = np.nan
        values = cells[:, ~nominal].T
        n_levels = [c.n_levels if c.kind is Kind.NOMINAL else 0 for c in schema.columns]
        n_classes = None if classes is None else tuple(len(labels) for labels in classes)
        n_targets = targets.shape[1]
        if n_classes is None:
            slot = np.broadcast_to(np.arange(n_targets), targets.shape)
            amount = np.asarray(targets, np.float64)
        else:
            slot = targets + np.cumsum([0, *n_classes[:-1]])
            amount = np.ones(targets.shape)
        return cls(
            schema,
            np.flatnonzero(~nominal),
            np.ascontiguousarray(np.vstack([values, targets.T]) if ranked else values, np.float64),
            levels,
            nominal,
            np.where(nominal, np.cumsum(nominal), np.cumsum(~nominal)) - 1,
            np.array(n_levels, np.int64),
            np.ascontiguousarray(slot, np.int32),
            np.ascontiguousarray(amount),
            n_targets if n_classes is None else sum(n_classes),
            n_classes,
            weight,
        )

    @property
    def n_targets(self) -> int:
        return self.slot.shape[1]


@dataclass(frozen=True, eq=False)
class Entries:
    """The rows of a node, in whole or in part.

    Attributes
    ----------
    rows : int32 array (m,)
    weight : float64 array (m,)
    order : int32 array (n_values, m)
        Places of the entries by rising value, for each of the table's `values`; missing last.
    """

    rows: Codes
    weight: Floats
    order: Codes

    @classmethod
    def of(cls, table: ExactTable) -> Entries:
        """All rows: the root."""
        n = len(table.weight)
        order = np.empty((len(table.values), n), np.int32)
        for place, values in enumerate(table.values):
            order[place] = np.argsort(values, kind="stable")
        return cls(np.arange(n, dtype=np.int32), table.weight, order)

    def children(self, branch: Codes, share: Floats) -> list[Entries]:
        """The entries of every branch; an entry of branch -1 goes down all by their shares."""
        from novum.trees.general.growing_kernels import deal

        n_missing = int((branch < 0).sum())
        sizes = np.bincount(branch[branch >= 0], minlength=share.size) + n_missing * (share > 0)
        starts = np.cumsum([0, *sizes])
        rows, weight = np.empty(starts[-1], np.int32), np.empty(starts[-1])
        order = np.empty(len(self.order) * int(starts[-1]), np.int32)
        deal(self.rows, self.weight, branch, share, self.order, starts, rows, weight, order)
        parts = []
        for start, stop in pairwise(starts):
            block = order[len(self.order) * start : len(self.order) * stop]
            # Copies, so that a child keeps only its own part in memory while it waits.
            own = block.reshape(len(self.order), stop - start).copy()
            parts.append(Entries(rows[start:stop].copy(), weight[start:stop].copy(), own))
        return parts


@dataclass(frozen=True, eq=False)
class NodeSums:
    """What is known of a node before it is split.

    Attributes
    ----------
    value : float64 array (n_values,), of the tree
    impurity, weight : float
    center : float64 array (n_targets,), subtracted from numbers before they are summed
    total : float64 array (n_slots + 1,), sums and weight
    pure : bool
        Whether all targets are equal.
    """

    value: Floats
    impurity: float
    weight: float
    center: Floats
    total: Floats
    pure: bool

    @classmethod
    def of(cls, table: ExactTable, entries: Entries, rules: GeneralRules) -> NodeSums:
        weight = float(entries.weight.sum())
        if table.n_classes is None:
            return _number_sums(table, entries, rules, weight)
        masses = np.zeros(table.n_slots)
        for slot in table.slot.T:
            masses += np.bincount(slot[entries.rows], entries.weight, table.n_slots)
        one = masses[np.newaxis], np.array([weight])
        score = float(scores_of(*one, table.n_targets, rules.in_bits)[0])
        constant = 0.0 if rules.in_bits else weight * table.n_targets
        impurity = max(constant - score, 0.0) / (weight * table.n_targets)
        # As many classes as targets: one of each. C4.5 overlooks what rounding may have made.
        slack = TOLERANCE if isinstance(rules.criterion, GainRatio) else 0.0
        pure = int((masses > slack).sum()) <= table.n_targets
        center, total = np.zeros(table.n_targets), np.append(masses, weight)
        return cls(masses, 0.0 if pure else impurity, weight, center, total, pure)


def _number_sums(
    table: ExactTable, entries: Entries, rules: GeneralRules, weight: float
) -> NodeSums:
    y = table.amount[entries.rows]
    pure = bool((y == y[0]).all())
    if rules.criterion == "absolute_error":
        ranks = entries.order[table.ordered.size :]
        sides = [(y[order, t], entries.weight[order]) for t, order in enumerate(ranks)]
        value = np.array([sorted_median(*side) for side in sides])
        impurity = sum(sorted_cost(*side) for side in sides) / (weight * len(sides))
    else:
        # From the first target on, so that a large common offset costs no digits.
        value = y[0] + entries.weight @ (y - y[0]) / weight
        squares = (y - value) ** 2
        impurity = float((entries.weight @ squares).sum()) / (weight * y.shape[1])
    if pure:
        value, impurity = y[0].copy(), 0.0
    sums = entries.weight @ (y - value)
    return NodeSums(value, float(impurity), weight, value, np.append(sums, weight), pure)
