"""Shortest paths: closed forms of paths and cycles, directions, and what is not connected."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.shortest_path import ShortestPath
from tests.kernels.graphs.graph_examples import cycle, path


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_paths_have_n_minus_d_pairs_of_distance_d(n: int) -> None:
    K = ShortestPath().gram([(path(n), "a" * n)])
    assert K.tolist() == [[sum((n - d) ** 2 for d in range(1, n))]]


@pytest.mark.parametrize("n", [3, 5, 7])
def test_odd_cycles_have_n_pairs_of_each_distance(n: int) -> None:
    K = ShortestPath().gram([(cycle(n), "a" * n)])
    assert K.tolist() == [[n**2 * (n // 2)]]


def test_distances_follow_directions() -> None:
    arrow = Graph([(0, 1), (1, 2)], "abc", directed=True)
    back = Graph([(2, 1), (1, 0)], "abc", directed=True)
    assert ShortestPath().gram([arrow, back]).tolist() == [[3, 0], [0, 3]]


def test_pairs_without_a_path_are_not_counted() -> None:
    graph = ([(0, 1), (2, 3)], "aaaa")
    assert ShortestPath().gram([graph]).tolist() == [[4]]


def test_loops_and_parallel_edges_change_no_distance() -> None:
    plain, rich = ([(0, 1)], "ab"), ([(0, 1), (1, 0), (0, 0)], "ab")
    assert np.array_equal(ShortestPath().gram([plain, rich]), np.ones((2, 2)))


def test_labels_of_the_ends_count_in_any_order() -> None:
    graphs = [(path(3), "aab"), (path(3), "baa"), (path(3), "aba")]
    assert ShortestPath().gram(graphs).tolist() == [[3, 3, 2], [3, 3, 2], [2, 2, 5]]


def test_too_many_distances_are_refused_before_the_work() -> None:
    graph = Graph([(0, 1)], [0] * 10**6)
    with pytest.raises(MemoryLimitError, match=r"up to 1000000 nodes.*VertexHistogram"):
        ShortestPath().gram([graph])
