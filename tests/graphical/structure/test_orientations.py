"""Orientations without immoralities: counted, listed and drawn, against brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import networkx
import numpy as np
import pytest
from scipy import stats

from novum.graphical.structure.orientations import Orientations, below, orders_without
from tests.graphical.structure.test_chordal import near_of, small_graphs

Edges = frozenset[tuple[int, int]]


def by_brute_force(graph: networkx.Graph) -> set[Edges]:
    """All orders in which the earlier neighbors of each node are joined, as directed edges."""
    found: set[Edges] = set()
    near = near_of(graph)

    def extend(order: list[int], left: frozenset[int], edges: list[tuple[int, int]]) -> None:
        if not left:
            found.add(frozenset(edges))
        for node in left:
            before = [other for other in order if other in near[node]]
            if all(a in near[b] for a, b in itertools.combinations(before, 2)):
                extend([*order, node], left - {node}, edges + [(other, node) for other in before])

    extend([], frozenset(graph), [])
    return found


def directed(graph: networkx.Graph, order: list[int]) -> Edges:
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order) == len(graph)
    return frozenset((a, b) if place[a] < place[b] else (b, a) for a, b in graph.edges)


@pytest.mark.parametrize("most_nodes", [5, pytest.param(7, marks=pytest.mark.slow)])
def test_all_small_graphs(most_nodes: int) -> None:
    rng = np.random.default_rng(0)
    for graph in small_graphs(most_nodes):
        found = Orientations(near_of(graph), list(graph))
        if not networkx.is_chordal(graph):
            assert (found.size, list(found)) == (0, [])
            continue
        wanted = by_brute_force(graph)
        listed = [directed(graph, order) for order in found]
        assert found.size == len(listed) == len(wanted)
        assert set(listed) == wanted
        assert directed(graph, found.draw(rng)) in wanted


def test_trees_have_one_for_each_root() -> None:
    star, path = networkx.star_graph(600), networkx.path_graph(600)
    tree = networkx.random_labeled_tree(600, seed=1)
    for graph in (star, path, tree):
        assert Orientations(near_of(graph), list(graph)).size == len(graph)


def test_cliques_have_all_orders() -> None:
    for n in (1, 2, 40):
        graph = networkx.complete_graph(n)
        assert Orientations(near_of(graph), list(graph)).size == math.factorial(n)


def test_two_cliques_that_share_nodes() -> None:
    # Of sizes m and n, s shared: orders of one and what is left of the other, less those counted
    # twice, which begin with what is shared.
    for m, n, s in ((5, 7, 2), (20, 30, 11)):
        graph = networkx.complete_graph(m)
        second = [*range(s), *range(m, m + n - s)]
        graph.add_edges_from(itertools.combinations(second, 2))
        wanted = (
            math.factorial(m) * math.factorial(n - s)
            + math.factorial(n) * math.factorial(m - s)
            - math.factorial(s) * math.factorial(m - s) * math.factorial(n - s)
        )
        assert Orientations(near_of(graph), list(graph)).size == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (1, 4), (4, 5)],
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (0, 5), (1, 5)],
        [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)],
    ],
)
def test_draws_are_uniform(edges: list[tuple[int, int]]) -> None:
    graph = networkx.Graph(edges)
    found = Orientations(near_of(graph), sorted(graph))
    rng = np.random.default_rng(7)
    n = 200 * found.size
    counts = Counter(directed(graph, found.draw(rng)) for _ in range(n))
    assert len(counts) == found.size
    # The seed is fixed: a wrong weight would be far below this level.
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_draws_of_large_graphs_have_no_immoralities() -> None:
    edges = [(i, j) for i in range(400) for j in range(i + 1, min(i + 5, 400))]
    graph = networkx.Graph([*edges, *((1000, i) for i in range(400))])
    found = Orientations(near_of(graph), sorted(graph))
    order = found.draw(np.random.default_rng(0))
    place = {node: i for i, node in enumerate(order)}
    for node in graph:
        before = [other for other in graph[node] if place[other] < place[node]]
        assert all(graph.has_edge(a, b) for a, b in itertools.combinations(before, 2))


@pytest.mark.parametrize("sizes", [[], [1], [2, 3], [1, 2, 3, 4], [3], [4]])
def test_orders_without_beginnings(sizes: list[int]) -> None:
    good = sum(
        all(set(order[:size]) != set(range(size)) for size in sizes)
        for order in itertools.permutations(range(5))
    )
    assert orders_without(5, sizes) == good


def test_large_numbers_are_drawn_evenly() -> None:
    rng = np.random.default_rng(3)
    end = 3 * 2**200
    thirds = Counter(below(end, rng) // 2**200 for _ in range(3000))
    assert stats.chisquare([thirds[k] for k in range(3)]).pvalue > 1e-3
    assert {below(1, rng) for _ in range(5)} == {0}
