"""A tree of boxes over rows of numbers: nearest rows and rows within a radius, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.jit import as_argument
from novum.numerics.shared_state import cached_property
from novum.numerics.types import Array, Floats, Integers

# Rows of a leaf at most: fewer make the tree deeper, and each leaf a shorter loop.
_LEAF = 128
# From so many queries on they are asked in the order of the leaves.
_MANY = 64
# Cells that one call of a kernel looks at, at most.
_CELLS = 200_000_000


@dataclass(frozen=True, eq=False)
class KDTree:
    """Rows ordered by the leaves of a tree of boxes.

    Attributes
    ----------
    cells : array (n p,)
        Of the rows, leaf by leaf, column by column within a leaf.
    order : int array (n,)
        Row numbers in the order of the leaves.
    starts : int array
        First row of every node.
    low, high : arrays (n_nodes, p)
        Corners of the boxes.
    n_levels : int
    n_columns : int
    """

    cells: Floats
    order: Integers
    starts: Integers
    low: Floats
    high: Floats
    n_levels: int
    n_columns: int

    @classmethod
    def of(cls, rows: Floats, leaf_size: int = _LEAF) -> Self:
        """The tree of some rows, of which a leaf has at most so many.

        Examples
        --------
        >>> tree = KDTree.of(np.array([[0.0], [5.0], [2.0]]))
        >>> tree.nearest(np.array([[3.0]]), 2)
        (array([[1., 4.]]), array([[2, 1]]))
        """
        from novum.numerics.spatial import kd_tree_kernels as kernels

        rows = as_argument(rows)
        n, p = rows.shape
        n_levels = max(1, int(np.ceil(np.log2(max(n, 1) / leaf_size))) + 1)
        n_nodes = 2**n_levels - 1
        order, starts = np.arange(n), np.zeros(n_nodes + 1, np.int64)
        low, high = np.empty((n_nodes, p)), np.empty((n_nodes, p))
        values, cells = np.empty(n), np.empty(n * p)
        for level in range(n_levels - 1):
            kernels.part_level(rows, level, order, starts, values)
        kernels.fill_leaves(rows, order, starts, n_levels, low, high, cells)
        return cls(cells, order, starts, low, high, n_levels, p)

    def nearest(
        self, queries: Floats, k: int, power: float = 2.0, own: Integers | None = None
    ) -> tuple[Floats, Integers]:
        """Sums of powers and row numbers of the k nearest rows, the nearest first.

        Parameters
        ----------
        queries : array (m, p)
        k : int
        power : float
            Of the Minkowski distance; infinite is Chebyshev's.
        own : int array (m,), optional
            The row that a query is itself, which is not among its neighbors.
        """
        m = len(queries)
        own = np.full(m, -1, np.int64) if own is None else own
        near, rows = np.full((m, k), np.inf), np.full((m, k), len(self.order), np.int64)
        if m < _MANY:
            self._search(queries, own, power, near, rows)
            return near, rows
        # Queries that lie together ask the same leaves.
        turn = self._in_leaf_order(queries)
        for start in range(0, m, self._step):
            lines = turn[start : start + self._step]
            heaps = near[lines], rows[lines]
            self._search(queries[lines], own[lines], power, *heaps)
            near[lines], rows[lines] = heaps
        return near, rows

    def share_looked_at(self, queries: Floats, k: int, power: float = 2.0) -> float:
        """Which share of the rows a search looks at, of some queries: the price of the tree.

        Examples
        --------
        >>> rows = np.arange(1000.0)[:, np.newaxis]
        >>> KDTree.of(rows).share_looked_at(rows[:10], 1) < 0.2
        True
        """
        m, n = len(queries), len(self.order)
        near, rows = np.full((m, k), np.inf), np.full((m, k), n, np.int64)
        looked_at = self._search(queries, np.full(m, -1, np.int64), power, near, rows)
        return looked_at / max(1, m * n)

    def _search(
        self, queries: Floats, own: Integers, power: float, near: Floats, rows: Integers
    ) -> int:
        """Takes the nearest rows into heaps; how many rows were looked at."""
        from novum.numerics.spatial import coarse_tree_kernels as kernels

        # What a search writes on, its own in every thread.
        p, width = self.n_columns, self._coarse[0].shape[1] // self.n_columns
        size = kernels.GROUP * (self.n_levels // kernels.LEVELS + 2)
        stack, bounds = np.empty(size, np.int64), np.empty(size, np.float32)
        scratch = stack, bounds, np.empty(p, np.float32), np.empty(width, np.float32)
        tree, asked = (self.cells, self.order, self._leaf_starts), as_argument(queries)
        return int(kernels.nearest(*tree, self._coarse, asked, own, power, near, rows, scratch))

    def within(
        self, queries: Floats, radius: float | Floats, power: float = 2.0
    ) -> tuple[Integers, Integers, Floats]:
        """Rows whose sum of powers is at most `radius`: how many of each query, which, how far.

        One radius is that of all queries.

        Examples
        --------
        >>> tree = KDTree.of(np.array([[0.0], [5.0], [2.0]]))
        >>> counts, rows, powers = tree.within(np.array([[1.0], [9.0]]), 1.0)
        >>> counts.tolist(), sorted(rows.tolist())
        ([2, 0], [0, 2])
        """
        from novum.numerics.spatial import kd_tree_kernels as kernels

        queries, counts = as_argument(queries), np.zeros(len(queries), np.int64)
        radii = np.empty(len(queries))
        radii[:] = radius
        blocks: list[tuple[Integers, Floats]] = []
        for start in range(0, len(queries), self._step):
            lines = slice(start, start + self._step)
            asked, room = queries[lines], 16 * self._step
            while True:
                rows, powers = np.empty(room, np.int64), np.empty(room)
                total = kernels.within(
                    self._arrays, self.n_levels, asked, power, radii[lines], counts[lines],
                    rows, powers,
                )  # fmt: skip
                if total <= room:
                    break
                room = total
            blocks.append((rows[:total], powers[:total]))
        if not blocks:
            return counts, np.empty(0, np.int64), np.empty(0)
        rows, powers = (np.concatenate(one) for one in zip(*blocks, strict=True))
        return counts, rows, powers

    @cached_property
    def _leaf_starts(self) -> Integers:
        """The first row of every leaf, and the end."""
        first_leaf = 2 ** (self.n_levels - 1) - 1
        return np.append(self.starts[first_leaf : 2 * first_leaf + 1], len(self.order))

    @cached_property
    def _coarse(self) -> tuple[Array, Array, Floats, float, int]:
        """Leaves and boxes in single precision, for `coarse_tree_kernels`."""
        from novum.numerics.spatial import coarse_tree_kernels as kernels

        p, starts, group = self.n_columns, self._leaf_starts, kernels.GROUP
        center = self.low[0] / 2 + self.high[0] / 2
        half = float((self.high[0] / 2 - self.low[0] / 2).max(initial=0.0))
        # A power of two, so that nothing is rounded twice.
        scale = float(np.ldexp(0.5, min(int(np.frexp(half)[1]), 1023) + 1))
        width = -(-int(np.diff(starts).max()) // group) * group
        leaves = np.full((len(starts) - 1, p * width), np.inf, np.float32)
        kernels.fill_coarse(self.cells, starts, center, scale, leaves)
        corners = np.tile(center, (max(group, 2**self.n_levels), 2, 1))
        corners[1 : len(self.low) + 1] = np.stack([self.low, self.high], axis=1)
        boxes = (corners - center) / scale
        boxes = boxes.reshape(-1, group, 2, p).transpose(0, 2, 3, 1).astype(np.float32, order="C")
        return leaves, boxes, center, scale, (self.n_levels - 2) % kernels.LEVELS + 1

    @property
    def _step(self) -> int:
        """Queries of one call, which ends soon even where it looks at every row."""
        return min(4096, max(16, _CELLS // max(1, self.cells.size)))

    @property
    def _arrays(self) -> tuple[Floats, Integers, Integers, Floats, Floats]:
        return self.cells, self.order, self.starts, self.low, self.high

    def _in_leaf_order(self, queries: Floats) -> Integers:
        """Queries such that neighbors in the order are neighbors in space."""
        return KDTree.of(queries).order
