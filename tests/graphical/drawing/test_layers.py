"""Layers, bends and crossings against their definitions."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from novum.graphical.drawing import layers as module
from novum.graphical.drawing.layers import layered, ranks_of


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(1, 9))
    return [
        draw(st.lists(st.integers(0, v - 1), unique=True, max_size=3)) if v else []
        for v in range(n)
    ]


def crossings(rows: list[list[int]], below: list[list[int]]) -> int:
    """Pairs of edges between two layers whose ends are in opposite orders."""
    total = 0
    for upper, lower in itertools.pairwise(rows):
        edges = [(upper.index(a), lower.index(b)) for a in upper for b in below[a]]
        pairs = itertools.combinations(edges, 2)
        total += sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    return total


@given(graphs())
def test_parents_stand_above_children(parents: list[list[int]]) -> None:
    ranks = ranks_of(parents, range(len(parents)))
    assert min(ranks) >= 0
    assert all(ranks[p] < ranks[v] for v, up in enumerate(parents) for p in up)


@given(graphs())
def test_every_edge_becomes_a_chain_through_all_layers_between(parents: list[list[int]]) -> None:
    n = len(parents)
    found = layered(parents, range(n))
    rank = {node: place for place, row in enumerate(found.rows) for node in row}
    assert sorted(v for v in rank if v < n) == list(range(n))
    assert set(found.paths) == {(p, v) for v, up in enumerate(parents) for p in up}
    for (p, v), path in found.paths.items():
        chain = [p, *path, v]
        assert [rank[node] for node in chain] == list(range(rank[p], rank[v] + 1))
        assert all(b in found.below[a] for a, b in itertools.pairwise(chain))


@given(graphs())
def test_crossings_are_counted_right_and_never_grow(parents: list[list[int]]) -> None:
    n = len(parents)
    found = layered(parents, range(n))
    assert found.n_crossings == crossings(found.rows, found.below)
    # The order in which nodes and bends were put into their layers.
    first = [sorted(row) for row in found.rows]
    assert found.n_crossings <= crossings(first, found.below)


def test_two_crossed_edges_are_uncrossed() -> None:
    assert layered([[], [], [1], [0]], range(4)).n_crossings == 0


def test_a_tree_has_no_crossings() -> None:
    parents = [[], *([(v - 1) // 2] for v in range(1, 31))]
    assert layered(parents, range(31)).n_crossings == 0


def test_roots_stand_next_to_their_children() -> None:
    # 0 -> 1 -> 2 -> 3 and a root 4 of 3 alone.
    assert ranks_of([[], [0], [1], [2, 4], []], [4, 0, 1, 2, 3]) == [0, 1, 2, 3, 2]


def test_too_many_bends_are_left_out(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "MAX_BENDS", 1)
    found = layered([[], [0], [1], [2, 0]], range(4))
    assert found.paths[0, 3] == []
    assert found.n_crossings == 0
