"""Shortest paths: which labels are how far apart.

    k(G, H) = sum over (a, b, d) of p_G(a, b, d) p_H(a, b, d)

where `p_G(a, b, d)` pairs of different nodes of G have the labels a and b and the distance d, the
number of edges of a shortest path between them. Pairs have no order, unless edges have a direction.
Pairs without a path are not counted. Labels of edges do not enter distances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from novum.core.runtime import check_memory
from novum.kernels.graphs.graph_kernel import GraphKernel, Items
from novum.kernels.graphs.graph_sample import GraphSample
from novum.kernels.graphs.histograms import end_keys
from novum.numerics import Codes, Integers


@dataclass(frozen=True)
class ShortestPath(GraphKernel):
    """Pairs of connected nodes that have the same labels and the same distance.

    Notes
    -----
    All distances of a graph of n nodes and m edges take time of order n m and memory of order n^2.

    References
    ----------
    Borgwardt and Kriegel (2005), Shortest-path kernels on graphs, ICDM.

    Examples
    --------
    >>> path, triangle = ([(0, 1), (1, 2)], "aaa"), ([(0, 1), (1, 2), (0, 2)], "aaa")
    >>> ShortestPath().gram([path, triangle])
    array([[5., 6.],
           [6., 9.]])
    """

    def items(self, sample: GraphSample) -> Items:
        starts, (first, second, length, directed) = _paths(sample)
        one_way = directed.astype(bool)
        # A distance along directions is not one between two nodes.
        kind = 2 * length + directed

        def keys(colors: Codes) -> Codes:
            return end_keys(colors[first], colors[second], one_way, kind)

        return Items(starts, keys)


def _paths(sample: GraphSample) -> tuple[Integers, tuple[Codes, Codes, Codes, Codes]]:
    """Connected pairs of nodes of each graph: both ends, the distance, whether it has direction."""
    sizes = np.diff(sample.node_starts)
    # Four numbers of each pair, and the distances of the largest graph.
    needed = 16 * int((sizes.astype(object) ** 2).sum()) + 8 * int(sizes.max(initial=0)) ** 2
    check_memory(
        needed,
        f"All distances in {len(sample)} graphs of up to {sizes.max(initial=0)} nodes",
        "Use VertexHistogram() or EdgeHistogram(), which need no distances, or smaller graphs.",
    )
    paths = [_paths_of(sample, g) for g in range(len(sample))]
    counts = np.array([pairs.shape[1] for pairs in paths], np.int64)
    together = np.concatenate([np.empty((4, 0), np.int32), *paths], axis=1)
    first, second, length, directed = together
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, (first, second, length, directed)


def _paths_of(sample: GraphSample, g: int) -> Codes:
    begin, end = int(sample.node_starts[g]), int(sample.node_starts[g + 1])
    edges = slice(int(sample.edge_starts[g]), int(sample.edge_starts[g + 1]))
    first, second = sample.first[edges] - begin, sample.second[edges] - begin
    if len(first) == 0:
        return np.empty((4, 0), np.int32)
    directed = bool(sample.directed[edges][0])
    A = sparse.csr_array((np.ones(len(first)), (first, second)), shape=(end - begin, end - begin))
    D = csgraph.shortest_path(A, method="D", directed=directed, unweighted=True)
    a, b = np.nonzero(np.isfinite(D) & (D > 0))
    if not directed:
        a, b = a[a < b], b[a < b]
    length = D[a, b].astype(np.int32)
    return np.stack([a + begin, b + begin, length, np.full(len(a), directed)]).astype(np.int32)
