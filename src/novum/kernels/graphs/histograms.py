"""Histograms of labels: what a graph is made of, without how it is put together.

    vertex histogram   k(G, H) = sum over labels a            of n_G(a) n_H(a)
    edge histogram     k(G, H) = sum over (a, b, edge label)  of m_G(a, b, e) m_H(a, b, e)

where `n_G(a)` nodes of G have the label a, and `m_G(a, b, e)` edges labelled e join the labels a
and b, in either order where edges have no direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.kernels.graphs.graph_kernel import GraphKernel, Items
from novum.kernels.graphs.graph_sample import GraphSample
from novum.numerics import Codes, Mask


@dataclass(frozen=True)
class VertexHistogram(GraphKernel):
    """Pairs of nodes, one of each graph, that have the same label.

    Examples
    --------
    >>> water, hydroxide = ([(0, 1), (0, 2)], "OHH"), ([(0, 1)], "OH")
    >>> VertexHistogram().gram([water, hydroxide])
    array([[5., 3.],
           [3., 2.]])
    """

    def items(self, sample: GraphSample) -> Items:
        return Items(sample.node_starts, None)


@dataclass(frozen=True)
class EdgeHistogram(GraphKernel):
    """Pairs of edges, one of each graph, that have the same label and join the same labels.

    Examples
    --------
    >>> water, hydroxide = ([(0, 1), (0, 2)], "OHH"), ([(0, 1)], "HO")
    >>> EdgeHistogram().gram([water, hydroxide])
    array([[4., 2.],
           [2., 1.]])
    """

    def items(self, sample: GraphSample) -> Items:
        def keys(colors: Codes) -> Codes:
            a, b = colors[sample.first], colors[sample.second]
            return end_keys(a, b, sample.directed, sample.edges)

        return Items(sample.edge_starts, keys)


def end_keys(a: Codes, b: Codes, directed: Mask, third: Codes) -> Codes:
    """Two ends, in order where there is no direction, and what joins them."""
    low = np.where(directed, a, np.minimum(a, b))
    high = np.where(directed, b, np.maximum(a, b))
    return np.column_stack([low, high, third]).astype(np.int32)
