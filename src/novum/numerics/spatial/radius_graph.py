"""Which rows are within a radius of each other: how many of each, and what they connect.

The graph has too many edges to hold; it is gone over twice, pairs of leaves of a tree of boxes at a
time, first to count and then to connect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.numerics.spatial.kd_tree import KDTree
from novum.numerics.types import Floats, Integers, Mask

# Rows of a leaf: pairs of leaves are left out, or count whole, sooner than for queries alone.
_LEAF = 64
# Leaves gone over in one call, a fraction of a second.
_LEAVES = 16


@dataclass(frozen=True, eq=False)
class RadiusGraph:
    """Rows of numbers, and who is near to whom.

    Attributes
    ----------
    tree : KDTree
    rows : array (n, p)
        In the order of the leaves.
    power : float
        Of the Minkowski distance.
    radius : float
        The largest sum of powers that is near.
    """

    tree: KDTree
    rows: Floats
    power: float
    radius: float

    @classmethod
    def of(cls, X: Floats, power: float, radius: float) -> Self:
        tree = KDTree.of(X, _LEAF)
        return cls(tree, np.ascontiguousarray(X[tree.order]), power, radius)

    def weights_near(self, weights: Floats) -> Floats:
        """The weight of all rows that are near to each row, its own included.

        Examples
        --------
        >>> graph = RadiusGraph.of(np.array([[0.0], [1.0], [5.0]]), 2.0, 1.0)
        >>> graph.weights_near(np.ones(3))
        array([2., 2., 1.])
        """
        from novum.numerics.spatial import radius_graph_kernels as kernels

        order = self.tree.order
        sums = np.zeros(len(order))
        turned = np.ascontiguousarray(weights[order])
        for first, last in self._leaves():
            kernels.count_near(self._arrays, first, last, self.power, self.radius, turned, sums)
        out = np.empty(len(order))
        out[order] = sums
        return out

    def components(self, chosen: Mask) -> Integers:
        """For every chosen row the first row that it is connected with, over chosen rows.

        Rows that are not chosen stand for themselves.
        """
        from novum.numerics.spatial import radius_graph_kernels as kernels

        order, n = self.tree.order, len(self.tree.order)
        parent = np.arange(n)
        picked = np.ascontiguousarray(chosen[order])
        for first, last in self._leaves():
            kernels.connect_near(self._arrays, first, last, self.power, self.radius, picked, parent)
        kernels.flatten(parent)
        # Roots by their smallest row number, not by their place among the leaves.
        smallest = np.full(n, n, np.int64)
        np.minimum.at(smallest, parent, order)
        out = np.empty(n, np.int64)
        out[order] = smallest[parent]
        return out

    def least_near(self, asked: Mask, values: Integers, none: int) -> Integers:
        """For every asked row the least value of the rows near to it, values below 0 left out."""
        from novum.numerics.spatial import radius_graph_kernels as kernels

        order = self.tree.order
        least = np.full(len(order), none, np.int64)
        queries = np.flatnonzero(asked[order])
        given = np.ascontiguousarray(values[order])
        for start in range(0, len(queries), 4096):
            part = queries[start : start + 4096]
            kernels.least_near(self._arrays, part, self.power, self.radius, given, least)
        out = np.empty(len(order), np.int64)
        out[order] = least
        return out

    @property
    def _arrays(self) -> tuple[Floats, Floats, Integers, Floats, Floats, int]:
        tree = self.tree
        return self.rows, tree.cells, tree.starts, tree.low, tree.high, tree.n_levels

    def _leaves(self) -> list[tuple[int, int]]:
        n_leaves = 2 ** (self.tree.n_levels - 1)
        return [(i, min(i + _LEAVES, n_leaves)) for i in range(0, n_leaves, _LEAVES)]
