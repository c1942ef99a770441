"""Reading graphs: every form gives the same graph, and mistakes are named."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from novum.core.errors import InputError
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_forms import (
    as_graph,
    from_adjacency,
    from_neighbors,
    from_networkx,
)
from tests.kernels.graphs.graph_examples import labelled_graphs
from tests.oracles.graph_kernel_definitions import are_isomorphic

TRIANGLE = Graph([(0, 1), (0, 2), (1, 2)], "abc")
MATRIX = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


class Attributed:
    """As much of networkx's graphs as is read: nodes, edges, their data, the direction."""

    def __init__(self, nodes: Any, edges: Any, directed: bool = False) -> None:
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def nodes(self, data: bool) -> Any:
        assert data
        return self._nodes

    def edges(self, data: bool) -> Any:
        assert data
        return self._edges

    def is_directed(self) -> bool:
        return self._directed


@pytest.mark.parametrize(
    "form",
    [
        TRIANGLE,
        ([(0, 1), (0, 2), (1, 2)], "abc"),
        (np.array([[0, 1], [0, 2], [1, 2]]), np.array(["a", "b", "c"])),
        ([(0, 1), (0, 2), (1, 2)], {0: "a", 1: "b", 2: "c"}),
        (((0, 1), (0, 2), (1, 2)), "abc"),
        ({0: [1, 2], 1: [0, 2], 2: [0, 1]}, "abc"),
        ({"x": ["y", "z"], "y": ["x", "z"], "z": ["x", "y"]}, {"z": "c", "y": "b", "x": "a"}),
        (sparse.csr_array(MATRIX), "abc"),
        (sparse.csc_matrix(MATRIX), ["a", "b", "c"]),
        (TRIANGLE, None),
        (Graph([(0, 1), (0, 2), (1, 2)]), "abc"),
        Attributed(
            [("p", {"label": "a"}), ("q", {"label": "b"}), ("r", {"label": "c"})],
            [("p", "q", {}), ("p", "r", {}), ("q", "r", {})],
        ),
    ],
    ids=lambda form: type(form).__name__,
)
def test_every_form_is_the_same_graph(form: Any) -> None:
    assert as_graph(form) == TRIANGLE


def test_a_list_is_a_list_of_edges() -> None:
    assert as_graph([(0, 1), (1, 2)]) == Graph([(0, 1), (1, 2)])
    assert as_graph(np.array([[0, 1], [1, 2]])) == Graph([(0, 1), (1, 2)])
    assert as_graph([]) == Graph([])


@pytest.mark.parametrize(
    "form",
    [
        ([(0, 1, "s"), (1, 2, "d")], "abc"),
        ([[0, 1, "s"], [1, 2, "d"]], "abc"),
        ([(0, 1), (1, 2)], "abc", ["s", "d"]),
        ({0: {1: "s"}, 1: {0: "s", 2: "d"}, 2: {1: "d"}}, "abc"),
        (Graph([(0, 1), (1, 2)]), "abc", ["s", "d"]),
        Attributed(
            [(v, {"label": "abc"[v]}) for v in range(3)],
            [(0, 1, {"label": "s"}), (1, 2, {"label": "d"})],
        ),
    ],
    ids=lambda form: type(form).__name__,
)
def test_labels_of_edges(form: Any) -> None:
    assert as_graph(form) == Graph([(0, 1), (1, 2)], "abc", ["s", "d"])


@given(labelled_graphs())
def test_matrix_and_dict_give_an_isomorphic_graph(graph: Graph) -> None:
    simple = Graph(sorted({tuple(sorted(e)) for e in graph.edges.tolist()}), graph.labels)
    A = np.zeros((graph.n_nodes, graph.n_nodes), int)
    for u, v in simple.edges.tolist():
        A[u, v] = A[v, u] = 1
    near = {u: np.flatnonzero(A[u]).tolist() for u in range(graph.n_nodes)}
    assert from_adjacency(A, graph.labels) == from_neighbors(near, graph.labels)
    assert are_isomorphic(from_adjacency(A, graph.labels), simple)


def test_directed_graphs_are_asked_for() -> None:
    A = sparse.csr_array([[0, 1], [0, 1]])
    expected = Graph([(0, 1), (1, 1)], "ab", directed=True)
    assert from_adjacency(A, "ab", directed=True) == expected
    assert from_neighbors({"u": ["v"], "v": ["v"]}, "ab", directed=True) == expected
    nodes = [(0, {"label": "a"}), (1, {"label": "b"})]
    assert from_networkx(Attributed(nodes, [(0, 1, {}), (1, 1, {})], True)) == expected


def test_entries_can_be_labels() -> None:
    graph = from_adjacency([[0, 2], [2, 5]], entries="labels")
    assert graph.edges.tolist() == [[0, 1], [1, 1]]
    assert graph.edge_labels == (2, 5)


def test_networkx_graphs_of_all_kinds() -> None:
    graph = networkx.MultiGraph()
    graph.add_node("p", label="a", color=1)
    graph.add_node("q", label="b", color=2)
    graph.add_edge("p", "q", bond="s")
    graph.add_edge("q", "p", bond="d")
    graph.add_edge("q", "q", bond="s")
    read = from_networkx(graph, label="color", edge_label="bond")
    assert read == Graph([(0, 1), (0, 1), (1, 1)], [1, 2], ["s", "d", "s"])
    assert as_graph(networkx.DiGraph([(1, 0)])) == Graph([(0, 1)], directed=True)
    assert as_graph(networkx.empty_graph(3)) == Graph([], [0, 0, 0])


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (7, "7 is no graph. Give"),
        ("abc", "'abc' is no graph"),
        (([],), "tuple of 1 items is no graph"),
        (([(0, 1)], "ab", ["s"], 4), "tuple of 4 items"),
        (([(0, 1, "s")], "ab", ["s"]), "have labels already"),
        (({0: [1], 1: [0]}, "ab", ["s"]), "dict have no order"),
        ({0: [1], 1: []}, "1 is a neighbor of 0, but not the other way round. Use"),
        ({0: {1: "s"}, 1: {0: "d"}}, "1 is a neighbor of 0 by an edge 's', but not"),
        ({0: [1]}, "1 is a neighbor of 0, but is no key"),
        ({0: {1: "s"}, 1: [0]}, "Label all edges or none"),
        (({0: [1], 1: [0]}, {0: "a"}), "Node 1 has no label"),
        (({0: [1], 1: [0]}, {0: "a", 1: "b", 2: "c"}), "label of 2, which is no node"),
        (({0: [1], 1: [0]}, "abc"), "3 node labels for 2 nodes"),
        (([(0, 1)], {0: "a", 2: "b"}), "Node 1 has no label"),
        ((sparse.csr_array(MATRIX), "ab"), r"Edge 1 is \(0, 2\)|2 node labels for 3 nodes"),
        ((sparse.csr_array((3, 3)), "ab"), "2 node labels for 3 nodes"),
        (sparse.csr_array([[0, 1], [0, 0]]), r"not symmetric: entry \(0, 1\) is 1, entry \(1, 0\)"),
        (sparse.csr_array([[0, 2], [2, 0]]), r"Entry \(0, 1\) of the adjacency matrix is 2"),
        (sparse.csr_array((2, 3)), r"square, this one has shape \(2, 3\)"),
        (Attributed([(0, {"label": 1}), (1, {})], []), "Node 1 has no attribute 'label'"),
        (
            Attributed([(0, {}), (1, {})], [(0, 1, {"label": 1}), (1, 1, {})]),
            r"Edge \(1, 1\) has no attribute 'label'",
        ),
    ],
)
def test_what_is_no_graph_is_told(form: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_graph(form)


def test_entries_are_named() -> None:
    with pytest.raises(InputError, match="entries is 'edges' or 'labels', got 'weights'"):
        from_adjacency([[0]], entries="weights")
