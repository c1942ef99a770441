"""The graph value: what it is built from, what it refuses, and that it can be saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.core.files.registry import registered
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.kernels.graphs.graph import Graph
from tests.kernels.graphs.graph_examples import labelled_graphs


def test_labels_say_how_many_nodes_there_are() -> None:
    graph = Graph([(0, 1)], ["a", "b", "c"])
    assert (graph.n_nodes, graph.n_edges) == (3, 1)
    assert graph.edges.dtype == np.int64
    assert not graph.edges.flags.writeable


def test_without_labels_nodes_are_those_of_the_edges_and_all_alike() -> None:
    graph = Graph([(0, 4)])
    assert graph.labels == (0,) * 5


@pytest.mark.parametrize("edges", [[], np.empty((0, 2)), np.empty((0, 2), int), ()])
def test_a_graph_may_have_no_edges_and_no_nodes(edges: Any) -> None:
    assert Graph(edges).n_nodes == 0
    assert Graph(edges, ["a"]).n_edges == 0


def test_numpy_labels_become_plain_ones() -> None:
    graph = Graph([], np.array([3, 5]), None)
    assert [type(label) for label in graph.labels] == [int, int]
    assert [type(label) for label in Graph([], [np.str_("x")]).labels] == [str]


def test_equality_is_of_the_parts_in_order() -> None:
    graph = Graph([(0, 1), (1, 2)], "abc", ["x", "y"])
    same = Graph(np.array([[0, 1], [1, 2]]), ["a", "b", "c"], ("x", "y"))
    assert graph == same
    assert hash(graph) == hash(same)
    others = [
        Graph([(1, 0), (1, 2)], "abc", ["x", "y"]),
        Graph([(0, 1), (1, 2)], "abd", ["x", "y"]),
        Graph([(0, 1), (1, 2)], "abc"),
        Graph([(0, 1), (1, 2)], "abc", ["x", "y"], directed=True),
    ]
    assert all(graph != other for other in others)
    assert graph != "graph"


def test_a_graph_cannot_be_changed() -> None:
    graph = Graph([(0, 1)])
    with pytest.raises(AttributeError):
        graph.directed = True  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        graph.edges[0, 0] = 1


def test_the_array_of_the_caller_is_not_kept() -> None:
    edges = np.array([[0, 1]])
    graph = Graph(edges)
    edges[:] = 7
    assert graph.edges.tolist() == [[0, 1]]


def test_it_says_what_it_is() -> None:
    assert repr(Graph([(0, 1)], "ab", directed=True)) == "Graph(2 nodes, 1 directed edge)"
    assert repr(Graph([], "a")) == "Graph(1 node, 0 edges)"


@given(labelled_graphs())
def test_a_graph_can_be_saved(graph: Graph) -> None:
    with registered(values={"SavedGraph": Graph}):
        encoder = StateEncoder()
        coded = encoder.encode(graph, "graph")
        decoder = StateDecoder(encoder.arrays.__getitem__, len(encoder.arrays), 10**6)
        assert decoder.decode(coded, "graph", 0) == graph


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(0, 1), (1, 3)], "abc"), r"Edge 1 is \(1, 3\), but the graph has nodes 0 to 2\. Number"),
        (([(-1, 1)], "abc"), r"Edge 0 is \(-1, 1\)"),
        (([(-1, -1)],), r"Edge 0 is \(-1, -1\), but the graph has no nodes"),
        (([(0, 1, 2), (1, 2)], "abc"), r"not pairs of nodes; edge 0 is \(0, 1, 2\)"),
        (([0, 1], "ab"), "not pairs of nodes; edge 0 is 0"),
        ((7, "ab"), "not pairs of nodes"),
        (([(0, 1.5)], "ab"), r"edges have the node 0\.0"),
        (([("a", "b")], "ab"), "edges have the node 'a'.*dict of neighbors"),
        (([(0, 1)], [1.0, float("nan")]), r"The label of node 1 is missing \(nan\)\. Give"),
        (([(0, 1)], ["a", None]), r"The label of node 1 is missing \(None\)"),
        (([(0, 1)], ["a", []]), r"The label of node 1 is \[\], which cannot be a label"),
        (([(0, 1)], 5), "node labels are 5; give a sequence"),
        (([(0, 1)], {0: "a", 1: "b"}), "give a sequence, one for each node"),
        (([(0, 1)], "ab", ["x", "y"]), "2 edge labels for 1 edges; give one for each"),
        (([(0, 1)], "ab", [None]), "The label of edge 0 is missing"),
        (([(0, 1)], "ab", None, "yes"), "directed is True or False, got 'yes'"),
    ],
)
def test_what_is_no_graph_is_told(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph(*arguments)
