"""A minimum spanning tree of rows of numbers, by Borůvka's algorithm over a tree of boxes.

    length(i, j) = max(c_i, c_j, d(i, j))

with a least length c_i of the edges of each row, 0 for plain distances; a row whose distances to
its k-th neighbor is c_i has the mutual reachability of density clustering. In every round each
component finds the shortest edge that leaves it; boxes that lie in the component or beyond the best
edge so far are not opened.
"""

from __future__ import annotations

import numpy as np

from novum.numerics.spatial.kd_tree import KDTree
from novum.numerics.types import Floats, Integers

# Rows of a leaf: one of a single component is left out.
_LEAF = 64
# Rows whose edges are looked for in one call.
_ROWS = 2048


def minimum_spanning_tree(
    X: Floats, power: float = 2.0, least: Floats | None = None, scale: float = 1.0
) -> tuple[Integers, Floats]:
    """Edges (n - 1, 2) and their lengths, as sums of powers.

    Parameters
    ----------
    X : array (n, p)
    power : float
        Of the Minkowski distance; infinite is Chebyshev's.
    least : array (n,), optional
        The least length of the edges of each row, as a sum of powers.
    scale : float
        Sums of powers between rows are divided by this.

    Notes
    -----
    Where no finite edge is left, infinite ones complete the tree.

    Examples
    --------
    >>> edges, lengths = minimum_spanning_tree(np.array([[0.0], [5.0], [1.0]]))
    >>> np.sort(lengths)
    array([ 1., 16.])
    """
    from novum.numerics.spatial import spanning_tree_kernels as kernels

    n = len(X)
    tree = KDTree.of(X, _LEAF)
    order = tree.order
    rows = np.ascontiguousarray(X[order])
    floor = np.zeros(n) if least is None else np.ascontiguousarray(least[order])
    # The nearest few of every row give first bounds, which leave most rows nothing to search.
    near_powers, near_rows = tree.nearest(rows, min(8, n), power)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    lists = np.ascontiguousarray(place[near_rows]), np.ascontiguousarray(near_powers)
    arrays = rows, tree.cells, tree.starts, tree.low, tree.high, tree.n_levels
    parent, n_edges = np.arange(n), 0
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    nodes = np.empty(len(tree.low), np.int64), np.empty(len(tree.low))
    while n_edges < n - 1:
        best = np.full(n, np.inf), np.full((n, 2), -1, np.int64)
        kernels.prepare_round(arrays, floor, parent, nodes[0], nodes[1])
        kernels.first_bounds(lists, floor, scale, parent, best)
        for start in range(0, n, _ROWS):
            stop = min(start + _ROWS, n)
            kernels.shorten(arrays, start, stop, power, scale, floor, parent, nodes, best)
        n_before = n_edges
        n_edges = kernels.join(parent, best, edges, lengths, n_edges)
        if n_edges == n_before:
            # No edge is finite any more.
            roots = np.unique(parent[parent])
            edges[n_edges:, 0], edges[n_edges:, 1], lengths[n_edges:] = roots[0], roots[1:], np.inf
            break
    return np.asarray(order[edges]), lengths
