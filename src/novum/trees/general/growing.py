"""Growing a tree on exact values, for all criteria and kinds of splits.

Every node is split by the question that removes most impurity,

    gain = W I(node) - sum_b W_b I(branch b)        over the rows whose cell is known,

until its targets are equal, a rule forbids more, or no question is left. A question that removes
nothing is asked all the same: two columns that are worthless alone can decide together.

A nominal column split `"multiway"` has a branch for each level that occurs in the node. Levels that
do not occur there share one more branch: an empty leaf, without weight, that answers what the node
itself would (ID3's and C4.5's rule).

Each level of the tree costs O(columns x entries), and a logarithm more for absolute error; ordered
columns are sorted once.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.tables import Schema
from novum.numerics import Array, Codes, Floats
from novum.trees.general.exact_table import Entries, ExactTable, NodeSums
from novum.trees.general.gain_ratio import TOLERANCE, GainRatio
from novum.trees.general.rules import GeneralRules
from novum.trees.general.splits import Split, SplitSearch
from novum.trees.tree import Question, Tree

# Gains and weights that differ by less, relatively, are equal.
_TIE = 1e-10
_EPSILON = float(np.finfo(np.float64).eps)


def grow_general(
    cells: Floats,
    targets: Array,
    weight: Floats,
    schema: Schema,
    classes: tuple[Array, ...] | None,
    rules: GeneralRules,
    rng: np.random.Generator | None = None,
) -> Tree:
    """Grow a tree.

    Parameters
    ----------
    cells : float64 array (n, n_columns)
        Numbers and codes of levels in the order of the schema; NaN where missing.
    targets : array (n,) or (n, n_targets)
        Codes into `classes`, or numbers.
    weight : float64 array (n,)
        Positive.
    schema : Schema
    classes : tuple of label arrays, one for each target, or None for numbers
    rules : GeneralRules
    rng : Generator, optional
        Needed where the rules draw columns, thresholds or sets of levels.

    Examples
    --------
    >>> xor = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> labels = (np.array(["no", "yes"]),)
    >>> schema, rules = Schema.of_array(2), GeneralRules("entropy")
    >>> tree = grow_general(xor, np.array([0, 1, 1, 0]), np.ones(4), schema, labels, rules)
    >>> tree.n_leaves, tree.column.tolist()
    (4, [0, 1, 1, -1, -1, -1, -1])
    """
    targets = targets[:, np.newaxis] if targets.ndim == 1 else targets
    _check(cells, targets, weight, schema, classes, rules, rng)
    ranked = rules.criterion == "absolute_error"
    table = ExactTable.of(cells, targets, np.asarray(weight, float), schema, classes, ranked)
    generator = np.random.default_rng(0) if rng is None else rng
    growth = ExactGrowth(table, rules, SplitSearch(table, rules, generator))
    growth.run(Entries.of(table))
    return growth.tree(schema, classes)


# --- Growth ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Node:
    """A node while the tree grows; `entries` are let go once it is split or a leaf."""

    sums: NodeSums
    rows: int
    depth: int
    parent: int
    share: float
    entries: Entries | None
    split: Split | None = None
    first_child: int = -1


class NodeSearch(Protocol):
    """The rule by which nodes are split."""

    def best(self, entries: Entries, sums: NodeSums) -> Split | None:
        """The split of a node; None where there is none."""


@dataclass(eq=False)
class ExactGrowth:
    """The nodes of a tree in the order in which they were made.

    Attributes
    ----------
    table : ExactTable
    rules : GeneralRules
        When nodes are split; how is what `search` says.
    search : NodeSearch
    """

    table: ExactTable
    rules: GeneralRules
    search: NodeSearch
    nodes: list[_Node] = field(default_factory=list)

    def run(self, root: Entries) -> None:
        """Grows the tree of the entries of its root."""
        sums = NodeSums.of(self.table, root, self.rules)
        self.nodes.append(_Node(sums, len(root.rows), 0, -1, 1.0, root))
        if self.rules.max_leaf_nodes is None:
            self._grow_depth_first()
        else:
            self._grow_best_first(self.rules.max_leaf_nodes)

    def _grow_depth_first(self) -> None:
        waiting = [0]
        while waiting:
            check_cancelled()
            number = waiting.pop()
            split = self._split_of(number)
            if split is not None:
                waiting.extend(reversed(self._divide(number, split)))
            self.nodes[number].entries = None

    def _grow_best_first(self, most: int) -> None:
        """Always split the node whose split removes most; of equal ones the one made first."""
        slack = _TIE * self.nodes[0].sums.impurity * self.nodes[0].sums.weight
        heap: list[tuple[float, int, Split]] = []
        waiting, n_leaves = [0], 1
        while True:
            for number in waiting:
                split = self._split_of(number)
                if split is not None:
                    heapq.heappush(heap, (-split.gain, number, split))
                else:
                    self.nodes[number].entries = None
            if not heap:
                return
            number, split = _first_of_equals(heap, slack)
            waiting = []
            if n_leaves + split.n_branches - 1 <= most:
                waiting = self._divide(number, split)
                n_leaves += split.n_branches - 1
            self.nodes[number].entries = None

    def _split_of(self, number: int) -> Split | None:
        """The split of a node; None where the rules or the rows allow none."""
        node, rules = self.nodes[number], self.rules
        if node.entries is None or not len(node.entries.rows) or node.sums.pure:
            return None
        if rules.max_depth is not None and node.depth >= rules.max_depth:
            return None
        least = max(rules.min_samples_split, 2 * rules.least_weight)
        slack = TOLERANCE if isinstance(rules.criterion, GainRatio) else _TIE * least
        if node.sums.weight < least - slack:
            return None
        split = self.search.best(node.entries, node.sums)
        if split is None:
            return None
        decrease = split.gain / self.nodes[0].sums.weight
        return split if decrease >= rules.min_impurity_decrease - _EPSILON else None

    def _divide(self, number: int, split: Split) -> list[int]:
        """Make the children of a node; their numbers."""
        node = self.nodes[number]
        assert node.entries is not None
        branch = _answers(self.table, node.entries, split)
        known = branch >= 0
        weights = np.bincount(branch[known], node.entries.weight[known], split.n_branches)
        share = weights / weights.sum()
        if split.missing_branch >= 0:
            branch = np.where(known, branch, np.int32(split.missing_branch))
        node.split, node.first_child = split, len(self.nodes)
        for part, entries in zip(share, node.entries.children(branch, share), strict=True):
            n_rows = len(entries.rows)
            if n_rows:
                sums = NodeSums.of(self.table, entries, self.rules)
            else:
                sums = _empty(node.sums)
            child = _Node(sums, n_rows, node.depth + 1, number, float(part), entries)
            self.nodes.append(child)
        return list(range(node.first_child, len(self.nodes)))

    def tree(self, schema: Schema, classes: tuple[Array, ...] | None) -> Tree:
        """The nodes as arrays."""
        splits = [node.split for node in self.nodes]
        nominal = [s.level_branch for s in splits if s is not None and s.level_branch is not None]
        sizes = np.array([_n_levels(split) for split in splits], np.int64)
        starts = np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
        return Tree(
            schema,
            classes,
            question=_integers([Question.LEAF if s is None else s.question for s in splits]),
            column=_integers([-1 if s is None else s.column for s in splits]),
            threshold=np.array([np.nan if s is None else s.threshold for s in splits]),
            first_child=_integers([node.first_child for node in self.nodes]),
            n_children=_integers([0 if s is None else s.n_branches for s in splits]),
            parent=_integers([node.parent for node in self.nodes]),
            share=np.array([node.share for node in self.nodes]),
            missing_branch=_integers([-1 if s is None else s.missing_branch for s in splits]),
            level_start=starts.astype(np.int32),
            level_branch=np.concatenate(nominal) if nominal else np.empty(0, np.int32),
            value=np.array([node.sums.value for node in self.nodes]),
            weight=np.array([node.sums.weight for node in self.nodes]),
            rows=np.array([node.rows for node in self.nodes], np.int64),
            impurity=np.array([node.sums.impurity for node in self.nodes]),
            gain=np.array([0.0 if s is None else s.gain for s in splits]),
        )


def _first_of_equals(heap: list[tuple[float, int, Split]], slack: float) -> tuple[int, Split]:
    """Take the oldest of the nodes whose gain is the largest but for rounding."""
    equals = [heapq.heappop(heap)]
    while heap and heap[0][0] <= equals[0][0] + slack:
        equals.append(heapq.heappop(heap))
    chosen = min(equals, key=lambda item: item[1])
    for item in equals:
        if item is not chosen:
            heapq.heappush(heap, item)
    return chosen[1], chosen[2]


def _answers(table: ExactTable, entries: Entries, split: Split) -> Codes:
    """The branch of every entry; -1 where the cell is missing."""
    place = table.place[split.column]
    if split.question is Question.THRESHOLD:
        cells = table.values[place, entries.rows]
        above = (cells > split.threshold).astype(np.int32)
        above[np.isnan(cells)] = -1
        return above
    assert split.level_branch is not None
    cells = table.levels[place, entries.rows]
    missing = np.isnan(cells)
    codes = np.where(missing, 0, cells).astype(np.int64)
    return np.where(missing, np.int32(-1), split.level_branch[codes])


def _empty(above: NodeSums) -> NodeSums:
    """What an empty branch says: what its parent would."""
    return NodeSums(above.value, above.impurity, 0.0, above.center, above.total, pure=True)


def _n_levels(split: Split | None) -> int:
    return 0 if split is None or split.level_branch is None else len(split.level_branch)


def _integers(values: list[Any]) -> Codes:
    return np.array(values, np.int32)


# --- Checks ---------------------------------------------------------------------------------------


def _check(
    cells: Floats,
    targets: Array,
    weight: Floats,
    schema: Schema,
    classes: tuple[Array, ...] | None,
    rules: GeneralRules,
    rng: np.random.Generator | None,
) -> None:
    n = len(cells)
    if cells.shape != (n, schema.n_columns) or targets.shape[:1] != (n,) or weight.shape != (n,):
        raise InputError(
            f"Cells {cells.shape}, targets {targets.shape} and weights {weight.shape} do not fit a "
            f"schema of {schema.n_columns} columns: give one row, target and weight for each case."
        )
    if n == 0:
        raise InputError("A tree cannot be grown from no rows. Give at least one.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight > 0)))
    if bad.size:
        raise InputError(
            f"Weights of rows are positive numbers, the one of row {bad[0]} is {weight[bad[0]]}. "
            "Leave rows of weight 0 out."
        )
    infinite = np.argwhere(np.isinf(cells))
    if infinite.size:
        row, column = infinite[0]
        raise InputError(
            f"Column {schema.names[column]!r} is infinite in row {row}: nothing lies in the middle "
            "between it and a number. Make it missing, or a large number."
        )
    if (classes is not None) != rules.for_classes:
        kind = "classes" if classes is not None else "numbers"
        raise InputError(f"criterion={rules.criterion!r} does not fit targets that are {kind}.")
    if classes is not None and len(classes) != targets.shape[1]:
        raise InputError(
            f"{targets.shape[1]} targets with {len(classes)} lists of classes: give one for each."
        )
    drawn = rules.splitter == "random" or rules.max_thresholds or rules.max_features
    if drawn and rng is None:
        raise InputError("These rules draw at random: give `rng`, a numpy Generator.")
