"""Many graphs as arrays: the quick way and the careful one agree, and mistakes have a position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.graph_sample import PLAIN_EDGE, GraphSample, read_sample
from tests.kernels.graphs.graph_examples import random_pairs, samples


def rebuilt(sample: GraphSample) -> list[Graph]:
    """The graphs that the arrays describe."""
    labels, kinds = list(sample.node_codes), list(sample.edge_codes)
    graphs = []
    for g in range(len(sample)):
        nodes = slice(*sample.node_starts[g : g + 2])
        edges = slice(*sample.edge_starts[g : g + 2])
        ends = np.stack([sample.first[edges], sample.second[edges]], axis=1) - nodes.start
        on_edges = [kinds[code] for code in sample.edges[edges]]
        has_labels = any(label is not None for _, label in on_edges)
        directed = sample.directed[edges]
        assert [way for way, _ in on_edges] == directed.tolist()
        graphs.append(
            Graph(
                ends,
                [labels[code] for code in sample.nodes[nodes]],
                [label for _, label in on_edges] if has_labels else None,
                bool(directed.any()),
            )
        )
    return graphs


@given(samples())
def test_nothing_is_lost(graphs: list[Graph]) -> None:
    for given_graph, graph in zip(graphs, rebuilt(read_sample(graphs)), strict=True):
        # A graph without edges keeps neither their labels nor their direction.
        if given_graph.n_edges:
            assert graph == given_graph
        assert graph.labels == given_graph.labels


@pytest.mark.parametrize("nodes", [20, 300])
def test_pairs_of_lists_are_read_as_graphs_are(nodes: int) -> None:
    pairs = random_pairs(6, nodes, 3)
    quick = read_sample(pairs)
    careful = read_sample([Graph(*pair) for pair in pairs])
    for name in ("node_starts", "edge_starts", "nodes", "first", "second", "edges", "directed"):
        mine, other = getattr(quick, name), getattr(careful, name)
        assert mine.dtype == other.dtype
        assert np.array_equal(mine, other), name
    assert quick.node_codes == careful.node_codes
    assert quick.edge_codes == careful.edge_codes == {PLAIN_EDGE: 0}
    assert quick.size == len(quick.nodes) + len(quick.edges)


def test_known_labels_keep_their_codes_and_the_known_are_not_changed() -> None:
    first = read_sample([([], "ba")])
    assert first.node_codes == {"b": 0, "a": 1}
    second = read_sample([([], "ca")], first.node_codes, first.edge_codes)
    assert second.nodes.tolist() == [2, 1]
    assert first.node_codes == {"b": 0, "a": 1}


def test_labels_are_equal_as_python_says() -> None:
    assert read_sample([([], [1, 1.0, True, "1", (1,)])]).nodes.tolist() == [0, 0, 0, 1, 2]


def test_empty_graphs_and_samples() -> None:
    assert len(read_sample([])) == 0
    sample = read_sample([([], []), ([], "a"), ([], [])])
    assert sample.node_starts.tolist() == [0, 0, 1, 1]
    assert sample.edge_starts.tolist() == [0, 0, 0, 0]


def test_any_iterable_of_graphs() -> None:
    graphs = np.empty(2, object)
    graphs[:] = [([], "a"), ([(0, 1)], "ab")]
    assert read_sample(graphs).nodes.tolist() == [0, 0, 1]
    assert read_sample(iter(graphs)).nodes.tolist() == [0, 0, 1]


GOOD = ([(0, 1)], "ab")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (([(0, 2)], "ab"), r"Graph 1: Edge 0 is \(0, 2\), but the graph has nodes 0 to 1"),
        (([(0, -1)], "ab"), r"Graph 1: Edge 0 is \(0, -1\)"),
        (([(0, 300)], "ab"), r"Graph 1: Edge 0 is \(0, 300\)"),
        (([(0, 0.5)], "ab"), r"Graph 1: Nodes are numbered .* node 0\.0"),
        (([(0, "x")], "ab"), "Graph 1: Nodes are numbered"),
        (([(0, 1), (1,)], "ab"), r"Graph 1: The edges are not pairs of nodes; edge 1 is \(1,\)"),
        (([(0, 1, 1), (1,)], "ab"), "Graph 1: The edges are not pairs"),
        (([(0, 1)], ["a", float("nan")]), r"Graph 1: The label of node 1 is missing \(nan\)"),
        (([(0, 1)], ["a", None]), "Graph 1: The label of node 1 is missing"),
        (([(0, 1)], ["a", ["b"]]), "Graph 1: The label of node 1 is .* can change"),
        (None, "Graph 1: None is no graph"),
        ("ab", "Graph 1: 'ab' is no graph"),
    ],
)
def test_a_mistake_has_the_position_of_its_graph(bad: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_sample([GOOD, bad, GOOD])


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (Graph([(0, 1)]), "Put a single graph into a list"),
        ({0: [1], 1: [0]}, "Put a single graph into a list"),
        ("ab", "A sequence of graphs is needed, got 'ab'"),
        (3, "A sequence of graphs is needed, got 3"),
        (np.zeros((3, 2)), r"array of float64 of shape \(3, 2\)"),
    ],
)
def test_what_is_no_sample_is_told(graphs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_sample(graphs)
