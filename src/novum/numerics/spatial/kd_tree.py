"""A tree of boxes over rows of numbers: nearest rows and rows within a radius, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.types import Floats, Integers

# Rows of a leaf: fewer make the tree deeper, and each leaf a shorter loop.
_LEAF = 64


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
    def of(cls, rows: Floats) -> Self:
        """The tree of some rows.

        Examples
        --------
        >>> tree = KDTree.of(np.array([[0.0], [5.0], [2.0]]))
        >>> tree.nearest(np.array([[3.0]]), 2)
        (array([[1., 4.]]), array([[2, 1]]))
        """
        from novum.numerics.spatial import kd_tree_kernels as kernels

        n, p = rows.shape
        n_levels = max(1, int(np.ceil(np.log2(max(n, 1) / _LEAF))) + 1)
        n_nodes = 2**n_levels - 1
        order, starts = np.arange(n), np.zeros(n_nodes + 1, np.int64)
        low, high = np.empty((n_nodes, p)), np.empty((n_nodes, p))
        kernels.build(np.ascontiguousarray(rows.T), n_levels, order, starts, low, high)
        first = 2 ** (n_levels - 1) - 1
        ends = [*starts[first + 1 : n_nodes].tolist(), n]
        sorted_rows = rows[order]
        cells = np.concatenate(
            [
                sorted_rows[start:stop].T.ravel()
                for start, stop in zip(starts[first:n_nodes].tolist(), ends, strict=True)
            ]
        )
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
        from novum.numerics.spatial import kd_tree_kernels as kernels

        m = len(queries)
        own = np.full(m, -1, np.int64) if own is None else own
        # Queries that lie together ask the same leaves.
        turn = self._in_leaf_order(queries)
        near, rows = np.full((m, k), np.inf), np.full((m, k), len(self.order), np.int64)
        kernels.nearest(
            self._arrays,
            self.n_levels,
            np.ascontiguousarray(queries[turn]),
            own[turn],
            power,
            near,
            rows,
        )
        back = np.empty_like(turn)
        back[turn] = np.arange(m)
        return near[back], rows[back]

    def within(
        self, queries: Floats, radius: float, power: float = 2.0
    ) -> tuple[Integers, Integers, Floats]:
        """Rows whose sum of powers is at most `radius`: how many of each query, which, how far.

        Examples
        --------
        >>> tree = KDTree.of(np.array([[0.0], [5.0], [2.0]]))
        >>> counts, rows, powers = tree.within(np.array([[1.0], [9.0]]), 1.0)
        >>> counts.tolist(), sorted(rows.tolist())
        ([2, 0], [0, 2])
        """
        from novum.numerics.spatial import kd_tree_kernels as kernels

        queries = np.ascontiguousarray(queries)
        counts = np.zeros(len(queries), np.int64)
        room = 16 * len(queries) + 1024
        while True:
            rows, powers = np.empty(room, np.int64), np.empty(room)
            total = kernels.within(
                self._arrays, self.n_levels, queries, power, radius, counts, rows, powers
            )
            if total <= room:
                return counts, rows[:total], powers[:total]
            room = total

    @property
    def _arrays(self) -> tuple[Floats, Integers, Integers, Floats, Floats]:
        return self.cells, self.order, self.starts, self.low, self.high

    def _in_leaf_order(self, queries: Floats) -> Integers:
        if len(queries) < 256:
            return np.arange(len(queries))
        first = 2 ** (self.n_levels - 1) - 1
        node = np.zeros(len(queries), np.int64)
        middle = (self.low + self.high) / 2
        while node[0] < first:
            left = 2 * node + 1
            gaps = [
                np.maximum(np.maximum(self.low[c] - queries, queries - self.high[c]), 0.0).sum(
                    axis=1
                )
                for c in (left, left + 1)
            ]
            ties = np.abs(queries - middle[left]).sum(axis=1) <= np.abs(
                queries - middle[left + 1]
            ).sum(axis=1)
            goes_left = np.where(gaps[0] == gaps[1], ties, gaps[0] < gaps[1])
            node = np.where(goes_left, left, left + 1)
        return np.argsort(node, kind="stable")
