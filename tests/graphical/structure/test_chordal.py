"""Trees of cliques against networkx, and flowers against their definition."""

from __future__ import annotations

import itertools

import networkx
import pytest

from novum.graphical.structure.orientations import Flower, chordal_tree


def small_graphs(most: int = 7) -> list[networkx.Graph]:
    """Every connected graph of up to seven nodes, up to renaming them."""
    return [
        graph
        for graph in networkx.graph_atlas_g()
        if 0 < len(graph) <= most and networkx.is_connected(graph)
    ]


def near_of(graph: networkx.Graph) -> dict[int, set[int]]:
    return {node: set(graph[node]) for node in graph}


def test_cliques_of_all_small_graphs() -> None:
    for graph in small_graphs():
        tree = chordal_tree(near_of(graph), list(graph))
        if not networkx.is_chordal(graph):
            assert tree is None
            continue
        assert tree is not None
        assert sorted(map(sorted, tree.cliques)) == sorted(
            map(sorted, networkx.find_cliques(graph))
        )
        assert tree.parents[0] == -1
        for clique, parent in enumerate(tree.parents[1:], 1):
            assert parent < clique
            assert tree.separators[clique] == tree.cliques[clique] & tree.cliques[parent]
        # Cliques that share a node hang together: as many links as cliques, less one.
        for node in graph:
            holders = sum(node in clique for clique in tree.cliques)
            assert sum(node in separator for separator in tree.separators) == holders - 1


def flower_by_definition(
    cliques: list[frozenset[int]], separator: frozenset[int], start: int
) -> set[int]:
    found = {start}
    while True:
        more = {
            other
            for one, other in itertools.product(found, range(len(cliques)))
            if cliques[one] & cliques[other] > separator
        }
        if more <= found:
            return found
        found |= more


def test_flowers_of_all_small_graphs() -> None:
    for graph in small_graphs(6):
        tree = chordal_tree(near_of(graph), list(graph))
        if tree is None:
            continue
        flowers, into = tree.flowers()
        assert flowers[0] == Flower(frozenset(), tuple(range(len(tree.cliques))), ())
        assert len(into) == 2 * (len(tree.cliques) - 1)
        for (start, end), place in into.items():
            separator = tree.cliques[start] & tree.cliques[end]
            flower = flowers[place]
            assert flower.separator == separator
            assert set(flower.cliques) == flower_by_definition(tree.cliques, separator, end)
            assert (end, start) in flower.steps


@pytest.mark.parametrize("n", [1, 2, 500])
def test_a_path_has_its_edges_as_cliques(n: int) -> None:
    tree = chordal_tree(near_of(networkx.path_graph(n)), range(n))
    assert tree is not None
    assert len(tree.cliques) == max(n - 1, 1)
