"""Growing binary trees on codes: the histogram engine of trees, forests and streams.

Greedy growth: a node takes the split of largest gain

    gain = W i(node) - W_left i(left) - W_right i(right),

over the rows whose cell is known, where i is the criterion and W sums of weights; its children do
the same until a rule stops them. For every column the rows of a node are summed by code once, and
all cuts between codes are read from these sums. Rows whose cell is missing go to both children with
the shares of the known weight, or all to the side that gains more (`missing="direction"`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from novum.core.runtime import check_cancelled
from novum.numerics import Array, Codes, Floats, Integers
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import TableCoding

CRITERIA = {"gini": 0, "entropy": 1, "log_loss": 1, "squared_error": 2}
NOMINAL_RULES = {"subset": 0, "single": 1, "auto": 2}

# Cells that a call of the kernel reads between two looks for Ctrl-C: about a tenth of a second.
SLICE = 20_000_000
# Room for the rows of a small node (`FEW_ROWS` of the kernels, or more).
FEWEST = 1024
_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class GrowthRules:
    """When and how nodes are split; limits are weights.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "squared_error"}
    max_depth, max_features, max_leaf_nodes, max_thresholds : int, optional
    min_split, min_leaf : float
        Least weight of a node that is split, and of the known rows of each child.
    min_gain : float
    random_cuts : bool
        Tries one random cut of each column.
    nominal : {"subset", "single", "auto"}
    missing : {"fractional", "direction", "auto"}
        Whether missing cells go to both sides in parts, all to the better side, or as gains more:
        in parts, to one side, or to a branch of their own.
    signs : tuple of -1, 0, 1
        Columns in which predictions must not rise, or fall.
    """

    criterion: str
    max_depth: int | None = None
    max_features: int | None = None
    max_leaf_nodes: int | None = None
    max_thresholds: int | None = None
    min_split: float = 0.0
    min_leaf: float = 0.0
    min_gain: float = 0.0
    random_cuts: bool = False
    nominal: str = "subset"
    missing: str = "fractional"
    signs: tuple[int, ...] = ()

    @property
    def draws(self) -> bool:
        """Whether columns or cuts are drawn at random."""
        return self.random_cuts or bool(self.max_features or self.max_thresholds)

    def scaled(self, factor: float) -> GrowthRules:
        """The rules for targets in other units, whose impurities are `factor` times as large."""
        return replace(self, min_gain=self.min_gain * factor)


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Rows as the engine reads them; one value serves many trees.

    Attributes
    ----------
    coding : TableCoding
    codes : array (n, n_columns)
    labels : int32 array (n, n_targets)
        Classes of all targets, counted through: those of the second follow those of the first.
    numbers : float64 array (n, n_targets)
        Numeric targets less their means; one of `labels` and `numbers` has no columns.
    target_start : int64 array (n_targets + 1,)
        Where the classes of each target begin.
    low, high : arrays (n_columns, n_codes)
        The least and the largest cell of every code.
    """

    coding: TableCoding
    codes: Array
    labels: Codes
    numbers: Floats
    target_start: Integers
    low: Floats
    high: Floats
    any_missing: bool = field(init=False)

    def __post_init__(self) -> None:
        missing = bool((self.codes == self.coding.missing).any())
        object.__setattr__(self, "any_missing", missing)

    @property
    def n_stats(self) -> int:
        """How many sums describe a set of rows."""
        return int(self.target_start[-1]) if self.labels.shape[1] else 1 + self.numbers.shape[1]


@dataclass(frozen=True, eq=False)
class Roots:
    """What several trees begin with; one after the other is grown from its root.

    Attributes
    ----------
    rows, weight : arrays (n_entries,)
        The rows of each tree, each once, and their positive weights. Those of the first tree come
        last: parts of rows with missing cells are written behind the rows of the tree that grows.
    bounds : int64 array (n_trees + 1,)
        Tree t has the entries `bounds[t + 1]` to `bounds[t]`.
    seeds : uint64 array (n_trees,)
        Positive; each begins the random choices of one tree.
    """

    rows: Codes
    weight: Floats
    bounds: Integers
    seeds: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class GrownNodes:
    """The nodes of trees as the kernels leave them; `growing_columns` names their columns.

    All roots come first, then the other nodes of one tree after the other.
    """

    integers: Integers
    numbers: Floats
    sums: Floats
    branches: NDArray[np.int8]

    def by_tree(self, n_trees: int) -> tuple[GrownNodes, Integers]:
        """The same nodes, each tree's together; and where each tree begins, (n_trees + 1,)."""
        n_nodes = len(self.integers)
        if n_trees == 1:
            return self, np.array([0, n_nodes], np.int64)
        first = self.integers[:n_trees, at.CHILD]
        # A root that stayed a leaf has its other nodes, none, before those of the next tree.
        first = np.minimum.accumulate(np.where(first < 0, n_nodes, first)[::-1])[::-1]
        others = np.diff(first, append=n_nodes)
        start = np.concatenate([[0], np.cumsum(others + 1)])
        moved = np.arange(n_nodes)
        moved[:n_trees] = start[:-1]
        moved[n_trees:] += np.repeat(np.arange(1 - n_trees, 1), others)
        order = np.empty(n_nodes, np.int64)
        order[moved] = np.arange(n_nodes)
        integers = self.integers[order]
        for link in (at.CHILD, at.PARENT):
            integers[:, link] = np.where(
                integers[:, link] < 0, -1, moved[np.maximum(integers[:, link], 0)]
            )
        return GrownNodes(integers, self.numbers[order], self.sums[order], self.branches), start


def grow(
    table: CodedTable,
    rules: GrowthRules,
    weight: Floats,
    rng: np.random.Generator | None = None,
    rows: Codes | None = None,
) -> GrownNodes:
    """Grows one tree.

    Parameters
    ----------
    table : CodedTable
    rules : GrowthRules
    weight : array
        Positive weights of the rows.
    rng : Generator, optional
        For random choices of columns and cuts.
    rows : int32 array, optional
        The rows to learn from, each once; all by default.
    """
    return growth_of(table, rules).planted(weight, rng, rows).run()


def growth_of(table: CodedTable, rules: GrowthRules, last: Growth | None = None) -> Growth:
    """What grows a tree of that table: what has grown the tree before, where it serves again."""
    kind = PlainGrowth if is_plain(table, rules) else Growth
    if (
        last is None
        or type(last) is not kind
        or last.table is not table
        or last.rules.max_features != rules.max_features
    ):
        return kind(table, rules)
    if last.rules is not rules and last.rules != rules:
        last.fix(rules)
    return last


def is_plain(table: CodedTable, rules: GrowthRules) -> bool:
    """Whether the kernel of the common case suffices; it grows the same tree, faster.

    A random cut of each column is such a case too.
    """
    return (
        table.coding.is_narrow
        and not table.any_missing
        and not table.coding.nominal.any()
        and table.labels.shape[1] + table.numbers.shape[1] == 1
        and table.n_stats > 1
        and not any(rules.signs)
        and rules.max_thresholds is None
        and rules.max_leaf_nodes is None
    )


class WorkingMemory:
    """Arrays by name that one tree after the other works in; for one thread at a time.

    New memory costs time when it is first touched, a tenth of the time of a tree in a forest. A
    worker that grows many trees keeps their arrays here. What an array holds at first is whatever
    was left.

    Examples
    --------
    >>> memory = WorkingMemory()
    >>> first = memory.array("rows", (100,), np.int32)
    >>> np.shares_memory(first, memory.array("rows", (40,), np.int32))
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> Array:
        """An array of that shape and type, with the memory that the name had before if it fits."""
        size = prod(shape)
        kept = self._arrays.get(name)
        if kept is None or kept.size < size or kept.dtype != np.dtype(dtype):
            kept = np.empty(size, dtype)
            self._arrays[name] = kept
        return kept[:size].reshape(shape)

    def keep(self, name: str, array: Array) -> None:
        """Replaces the memory of a name by a larger array."""
        self._arrays[name] = array.reshape(-1)


class Growth:
    """The arrays of a tree that is being grown, and the kernels that grow it.

    Parameters
    ----------
    table : CodedTable
    rules : GrowthRules
    """

    integers: Integers
    numbers: Floats
    sums: Floats
    branches: NDArray[np.int8]
    waiting: Integers
    state: Integers
    work: tuple[Any, ...]

    def __init__(self, table: CodedTable, rules: GrowthRules) -> None:
        self.table, self.memory = table, WorkingMemory()
        self.fix(rules)
        self._allocate()

    def planted(self, weight: Floats, rng: np.random.Generator | None, rows: Codes | None) -> Self:
        """With the root of a tree, which waits; arguments as of `grow`."""
        chosen = np.arange(len(self.table.codes), dtype=np.int32) if rows is None else rows
        seed = 1 if rng is None else rng.integers(1, 2**64, dtype=np.uint64)
        bounds = np.array([chosen.size, 0], np.int64)
        return self.planted_all(Roots(chosen, weight, bounds, np.array([seed], np.uint64)))

    def planted_all(self, roots: Roots) -> Self:
        """With the roots of several trees, which wait; best first there can be but one."""
        n_entries = roots.rows.size
        self.n_rows = int((roots.bounds[:-1] - roots.bounds[1:]).max())
        room = n_entries + int(0.5 * self.n_rows) + 16 if self.table.any_missing else n_entries
        self.rows = self.memory.array("rows", (room,), np.int32)
        self.weight = self.memory.array("weight", (room,))
        self.rows[:n_entries], self.weight[:n_entries] = roots.rows, roots.weight
        self._take_row_arrays()
        # The state of the tree that grows, and the first ones of all trees.
        self.chance = np.concatenate([roots.seeds[:1], roots.seeds])
        self.work = (*self.work[:2], self.chance, *self.work[3:])
        self._plant(roots)
        return self

    def run(self) -> GrownNodes:
        """Grows the tree, in slices between which Ctrl-C is heard."""
        while True:
            self._go_on()
            status = self.state[at.STATUS]
            if status == at.DONE:
                break
            check_cancelled()
            if status == at.NEEDS_ENTRIES:
                self.rows, self.weight = _doubled(self.rows), _doubled(self.weight)
            elif status == at.NEEDS_NODES:
                for name in ("integers", "numbers", "sums", "waiting", "branches"):
                    larger = _doubled(getattr(self, name))
                    setattr(self, name, larger)
                    self.memory.keep(name, larger)
        # Best first, nodes may be left that have found a split and stay leaves all the same.
        left = self.waiting[: self.state[at.WAITING]]
        self.integers[left, at.QUESTION] = 0
        self.numbers[left, at.GAIN] = 0.0
        n_nodes, n_branches = self.state[at.NODES], self.state[at.LEVELS]
        return GrownNodes(
            self.integers[:n_nodes].copy(),
            self.numbers[:n_nodes].copy(),
            self.sums[:n_nodes].copy(),
            self.branches[:n_branches].copy(),
        )

    def fix(self, rules: GrowthRules) -> None:
        """Takes rules, of as many columns for a node as before."""
        self.rules, coding = rules, self.table.coding
        n_columns = len(coding.edges)
        options = [
            CRITERIA[rules.criterion],
            _NO_LIMIT if rules.max_depth is None else rules.max_depth,
            n_columns if rules.max_features is None else rules.max_features,
            NOMINAL_RULES[rules.nominal],
            at.MissingRule[rules.missing.upper()],
            rules.random_cuts,
            rules.max_thresholds or 0,
            rules.max_leaf_nodes or 0,
            coding.missing,
            self.table.any_missing,
        ]
        self.options = np.array(options, np.int64)
        self.limits = np.array([rules.min_split, rules.min_leaf, rules.min_gain])
        signs = np.array(rules.signs or [0] * n_columns, np.int64)
        high = self.table.high
        if rules.random_cuts:
            # A code that no row has keeps the largest cell of those before it.
            high = np.maximum.accumulate(high, axis=1)
        self.columns = (coding.n_codes, coding.nominal, signs, self.table.low, high)

    def _allocate(self) -> None:
        """Scratch of the kernels, which they leave as they found it."""
        table, n_stats = self.table, self.table.n_stats
        n_columns = len(table.coding.edges)
        width = table.coding.missing + 1
        batch = min(int(self.options[at.MAX_FEATURES]), n_columns) if table.coding.is_narrow else 1
        words = width // 64 + 1
        self.permutation, self.chance = np.arange(n_columns), np.ones(1, np.uint64)
        self.heads = np.full(width, -1, np.int32)
        self.histograms = np.zeros((batch, width * n_stats))
        self.bits = np.zeros(words + words // 64 + 1 + words // 4096 + 4, np.uint64)
        self.work = (
            self.permutation,
            np.empty(n_columns, np.int64),
            self.chance,
            self.heads,
            np.empty(FEWEST, np.int32),
            self.histograms,
            self.bits,
            np.empty(4 + n_stats),
        )
        self.scratch = np.zeros((6, n_stats))
        self.search = (
            np.empty(width + 2, np.int64),
            np.empty(width + 2, np.int64),
            np.zeros(width + 2, bool),
            np.empty(width + 2),
            np.empty(width, np.int8),
            self.scratch,
        )
        self.best = (np.empty(1), np.empty(5, np.int64), np.empty(width, np.int8))

    def _take_row_arrays(self) -> None:
        """Room for what a node does with its rows."""
        from novum.trees.growth.growing_kernels import LOCAL_ROWS

        table = self.table
        near = min(LOCAL_ROWS, self.n_rows)
        self.near_table = tuple(
            self.memory.array(f"near {name}", (near, array.shape[1]), array.dtype)
            for name, array in (
                ("codes", table.codes),
                ("labels", table.labels),
                ("numbers", table.numbers),
            )
        )
        spare = (2, self.n_rows)
        self.spare = (
            self.memory.array("spare rows", spare, np.int32),
            self.memory.array("spare weight", spare),
            np.empty(2),
        )

    def _plant(self, roots: Roots) -> None:
        bounds, n_trees = roots.bounds, len(roots.seeds)
        room = 2 * n_trees + self._room(len(roots.rows))
        self.integers = self.memory.array("integers", (room, 12), np.int64)
        self.numbers = self.memory.array("numbers", (room, 6))
        self.sums = self.memory.array("sums", (room, self.table.n_stats))
        self.waiting = self.memory.array("waiting", (room + 2,), np.int64)
        nominal = self.table.coding.n_codes[self.table.coding.nominal]
        most_levels = int(nominal.max()) if nominal.size else 1
        self.branches = self.memory.array("branches", (16, most_levels), np.int8)
        # The first tree is on top.
        self.waiting[:n_trees] = np.arange(n_trees - 1, -1, -1)
        integers = self.integers[:n_trees]
        integers[:] = -1
        integers[:, [at.QUESTION, at.DEPTH]] = 0
        integers[:, at.START], integers[:, at.STOP] = bounds[1:], bounds[:-1]
        self.numbers[:n_trees] = [1.0, 0.0, 0.0, 0.0, -np.inf, np.inf]
        self.state = np.zeros(7, np.int64)
        self.state[[at.WAITING, at.NODES, at.LEAVES]] = n_trees
        self.state[at.ARENA], self.state[at.LOCAL_AT] = len(roots.rows), -1

    def _room(self, n_entries: int) -> int:
        """Nodes that there is room for: as many as rows of this number usually need."""
        return 256 + n_entries // 4

    @property
    def _kernel(self) -> Any:
        from novum.trees.growth import growing_kernels as kernels

        depth_first = self.rules.max_leaf_nodes is None
        return kernels.grow_depth_first if depth_first else kernels.grow_best_first

    def _go_on(self) -> None:
        table = self.table
        self._kernel(
            self.near_table,
            (table.codes, table.labels, table.numbers),
            (self.rows, self.weight),
            self.columns,
            (table.target_start, self.options, self.limits),
            self.work,
            self.search,
            self.best,
            self.spare,
            (self.integers, self.numbers, self.sums, self.branches),
            self.waiting,
            self.state,
            SLICE,
        )


class PlainGrowth(Growth):
    """The same in the case that `is_plain`, by a kernel of its own."""

    @property
    def _kernel(self) -> Any:
        from novum.trees.growth.plain_kernels import grow_plain

        return grow_plain

    def _plant(self, roots: Roots) -> None:
        from novum.trees.growth.plain_kernels import plant

        super()._plant(roots)
        table, n_trees = self.table, len(roots.seeds)
        square = np.zeros(n_trees)
        if table.numbers.shape[1]:
            for tree in range(n_trees):
                own = slice(roots.bounds[tree + 1], roots.bounds[tree])
                y = table.numbers[self.rows[own], 0]
                square[tree] = self.weight[own] @ y**2 if (y != y[0]).any() else -1.0
        plant(
            (table.codes, table.labels, table.numbers),
            (self.rows, self.weight),
            square,
            (table.target_start, self.options, self.limits),
            (self.integers, self.numbers, self.sums, self.branches),
            self.waiting,
            self.state,
        )


def _doubled(array: Array) -> Array:
    """The array with as much room again; what is new is not set."""
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
