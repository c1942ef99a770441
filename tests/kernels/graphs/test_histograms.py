"""Histograms: products counted by hand."""

from __future__ import annotations

import pickle

from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.histograms import EdgeHistogram, VertexHistogram


def test_nodes_of_equal_labels_are_paired() -> None:
    graphs = [([], "aab"), ([], "abbc"), ([], "c")]
    assert VertexHistogram().gram(graphs).tolist() == [[5, 4, 0], [4, 6, 1], [0, 1, 1]]


def test_edges_count_by_both_ends_in_any_order() -> None:
    graphs = [([(0, 1), (1, 2)], "abb"), ([(1, 0)], "ab"), ([(0, 1)], "bb")]
    assert EdgeHistogram().gram(graphs).tolist() == [[2, 1, 1], [1, 1, 0], [1, 0, 1]]


def test_directed_edges_count_in_their_order() -> None:
    graphs = [Graph([edge], "ab", directed=True) for edge in ((0, 1), (1, 0))]
    assert EdgeHistogram().gram(graphs).tolist() == [[1, 0], [0, 1]]


def test_labels_of_edges_count() -> None:
    graphs = [([(0, 1, kind)], "ab") for kind in ("single", "double", "single")]
    assert EdgeHistogram().gram(graphs).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_parallel_edges_and_loops_count_each() -> None:
    graph = ([(0, 1), (1, 0), (0, 0)], "ab")
    # Two edges a-b, one a-a.
    assert EdgeHistogram().gram([graph]).tolist() == [[5]]


def test_kernels_are_values() -> None:
    assert VertexHistogram() == VertexHistogram()
    assert VertexHistogram() != EdgeHistogram()
    assert len({VertexHistogram(), VertexHistogram(), EdgeHistogram()}) == 2
    assert pickle.loads(pickle.dumps(EdgeHistogram())) == EdgeHistogram()
    assert VertexHistogram().takes == "objects"
