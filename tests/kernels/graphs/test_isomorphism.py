"""The isomorphism test: sound on all graphs, complete on trees, silent on known hard pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from novum.kernels.graphs.graph import Graph
from novum.kernels.graphs.isomorphism import LONGEST_TEXT, isomorphism_test
from tests.kernels.graphs.graph_examples import cycle, labelled_graphs, path, renamed
from tests.oracles.graph_kernel_definitions import are_isomorphic


def rook(n: int = 4) -> list[tuple[int, int]]:
    """Squares of a board, joined along rows and columns."""
    cells = [(i, j) for i in range(n) for j in range(n)]
    return [
        (a, b)
        for a, b in combinations(range(n * n), 2)
        if cells[a][0] == cells[b][0] or cells[a][1] == cells[b][1]
    ]


def shrikhande() -> list[tuple[int, int]]:
    """Points of a 4 by 4 torus, joined along rows, columns and one diagonal."""
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    cells = [(i, j) for i in range(4) for j in range(4)]
    return [
        (a, b)
        for a, b in combinations(range(16), 2)
        if ((cells[a][0] - cells[b][0]) % 4, (cells[a][1] - cells[b][1]) % 4) in steps
    ]


@given(labelled_graphs(most=5), st.data())
def test_isomorphic_graphs_are_never_separated(graph: Graph, data: st.DataObject) -> None:
    other = renamed(graph, data.draw(st.permutations(range(graph.n_nodes))))
    assert are_isomorphic(graph, other)
    assert not isomorphism_test(graph, other).separated


@given(labelled_graphs(directed=False, most=5), labelled_graphs(directed=False, most=5))
def test_what_is_separated_is_different(G: Graph, H: Graph) -> None:
    result = isomorphism_test(G, H)
    if result.separated:
        assert not are_isomorphic(G, H)
        assert result.differences
        assert all(d.first != d.second for d in result.differences)


@st.composite
def trees(draw: st.DrawFn, n: int) -> Graph:
    edges = [(draw(st.integers(0, i - 1)), i) for i in range(1, n)]
    return Graph(edges, draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n)))


@given(st.data(), st.integers(1, 6))
def test_trees_are_always_decided(data: st.DataObject, n: int) -> None:
    G, H = data.draw(trees(n)), data.draw(trees(n))
    assert isomorphism_test(G, H).separated == (not are_isomorphic(G, H))


@given(labelled_graphs(directed=False), labelled_graphs(directed=False))
def test_networkx_agrees_in_the_sound_direction(G: Graph, H: Graph) -> None:
    assume(G.edge_labels is None and H.edge_labels is None)

    def converted(graph: Graph) -> Any:
        made = networkx.Graph()
        for v, label in enumerate(graph.labels):
            made.add_node(v, label=label)
        made.add_edges_from(graph.edges.tolist())
        return made

    def simple(graph: Graph) -> Graph:
        return Graph(sorted({tuple(sorted(e)) for e in graph.edges.tolist()}), graph.labels)

    def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
        return bool(a["label"] == b["label"])

    if isomorphism_test(simple(G), simple(H)).separated:
        assert not networkx.is_isomorphic(converted(G), converted(H), node_match=same)
    if networkx.is_isomorphic(converted(G), converted(H), node_match=same):
        assert networkx.could_be_isomorphic(converted(G), converted(H))


@pytest.mark.parametrize(
    ("G", "H"),
    [
        (cycle(6), [*cycle(3), *cycle(3, 3)]),
        (rook(), shrikhande()),
        ([(a, a + 1) for a in range(0, 8, 2)], [(a, (a + 4) % 8) for a in range(4)]),
    ],
    ids=["hexagon and triangles", "strongly regular", "matchings, which are isomorphic"],
)
def test_regular_graphs_of_one_size_are_not_separated(G: Any, H: Any) -> None:
    result = isomorphism_test(G, H)
    assert result.verdict == "not separated"
    assert result.iteration is None
    assert result.differences == ()
    assert repr(result).startswith("not separated: the colors are stable after 0 iterations")


def test_the_strongly_regular_pair_is_one() -> None:
    # Both have 16 nodes of degree 6, and two nodes always have two neighbors in common; yet the
    # neighbors of a node are two triangles in one and a hexagon in the other.
    for edges in (rook(), shrikhande()):
        A = np.zeros((16, 16), int)
        A[tuple(np.transpose(edges))] = 1
        A = A + A.T
        assert np.array_equal(A @ A, 2 * np.ones((16, 16)) + 4 * np.eye(16))
    near = [b if a == 0 else a for a, b in rook() if 0 in (a, b)]
    other = [b if a == 0 else a for a, b in shrikhande() if 0 in (a, b)]
    triangles = [
        sum(1 for c in combinations(nodes, 3) if {*combinations(sorted(c), 2)} <= {*edges})
        for nodes, edges in ((near, rook()), (other, shrikhande()))
    ]
    assert triangles == [2, 0]


def test_neighbors_as_sets_would_not_separate_these() -> None:
    one = ([*path(4), *path(4, 4), *cycle(4, 8)], "a" * 12)
    other = ([*path(4), *cycle(4, 4), *cycle(4, 8)], "a" * 12)
    result = isomorphism_test(one, other)
    assert result.verdict == "different at iteration 1"
    shown = [(d.color, d.first, d.second) for d in result.differences]
    assert shown == [("'a'('a')", 4, 2), ("'a'('a' 'a')", 8, 10)]


@pytest.mark.parametrize("n", [2, 6, 20])
def test_the_iteration_is_the_depth_that_is_needed(n: int) -> None:
    even = ([*path(n), *path(n, n)], "a" * 2 * n)
    uneven = ([*path(n + 1), *path(n - 1, n + 1)], "a" * 2 * n)
    assert isomorphism_test(even, uneven).iteration == n // 2


@pytest.mark.parametrize(
    ("G", "H", "text"),
    [
        (([], "CCO"), ([], "CC"), "different at iteration 0: 'O': 1 and 0 nodes"),
        (
            ([(0, 1, "s")], "ab"),
            ([(0, 1, "d")], "ab"),
            "different at iteration 1: 'a'('s':'b'): 1 and 0 nodes; 'b'('s':'a'): 1 and 0 nodes; "
            "'a'('d':'b'): 0 and 1 nodes; and 1 more",
        ),
        (
            Graph([(0, 1), (1, 2)], "aba", directed=True),
            Graph([(0, 1), (2, 1)], "aba", directed=True),
            "different at iteration 1: 'a'(->:'b'): 1 and 2 nodes; 'b'(->:'a' <-:'a'): 1 and 0 "
            "nodes; 'a'(<-:'b'): 1 and 0 nodes; and 1 more",
        ),
        (([(0, 1)], "aa"), ([], "aa"), None),
    ],
)
def test_what_parted_them_is_told(G: Any, H: Any, text: str | None) -> None:
    result = isomorphism_test(G, H)
    expected = text or "different at iteration 1: 'a'('a'): 2 and 0 nodes; 'a'(): 0 and 2 nodes"
    assert repr(result) == expected


def test_colors_of_late_iterations_are_cut() -> None:
    # Two paths of n nodes against one a node longer and one shorter: only the middles differ.
    n = 300
    even = ([*path(n), *path(n, n)], "a" * 2 * n)
    uneven = ([*path(n + 1), *path(n - 1, n + 1)], "a" * 2 * n)
    late = isomorphism_test(even, uneven)
    assert late.iteration == n // 2
    assert all(len(d.color) <= LONGEST_TEXT for d in late.differences)
    assert late.differences[0].color.endswith("...")


def test_empty_graphs_are_not_separated() -> None:
    assert isomorphism_test([], []).verdict == "not separated"


def test_the_answer_is_no_truth_value() -> None:
    result = isomorphism_test([(0, 1)], [(1, 0)])
    with pytest.raises(TypeError, match=r"not separated, which is neither.*Ask for \.separated"):
        bool(result)
