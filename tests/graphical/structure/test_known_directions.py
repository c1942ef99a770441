"""Graphs with some known directions: members against listing all graphs."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.graphical.structure import equivalence
from novum.graphical.structure.dag import CyclicGraphError, Dag
from novum.graphical.structure.equivalence import Directions, PartialDag


def by_definition(partial: PartialDag) -> set[frozenset[tuple[str, str]]]:
    """All acyclic graphs with the edges and directions, and no immoralities but the given ones."""
    pairs = [tuple(sorted(pair)) for pair in partial.undirected]
    joined = {frozenset(edge) for edge in partial.directed} | partial.undirected

    def immoralities(edges: set[tuple[str, str]]) -> set[tuple[frozenset[str], str]]:
        return {
            (frozenset((a, b)), c)
            for (a, c), (b, d) in itertools.combinations(edges, 2)
            if c == d and frozenset((a, b)) not in joined
        }

    found = set()
    for turns in itertools.product([False, True], repeat=len(pairs)):
        edges = set(partial.directed)
        edges |= {(b, a) if turn else (a, b) for (a, b), turn in zip(pairs, turns, strict=True)}
        try:
            Dag.from_edges(sorted(edges), partial.names)
        except CyclicGraphError:
            continue
        if immoralities(edges) == immoralities(set(partial.directed)):
            found.add(frozenset(edges))
    return found


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_members_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = tuple("abcde")
    kinds = rng.choice(4, size=10, p=[0.3, 0.45, 0.15, 0.1])
    directed, undirected = set(), set()
    for (a, b), kind in zip(itertools.combinations(names, 2), kinds, strict=True):
        if kind == 1:
            undirected.add(frozenset((a, b)))
        elif kind > 1:
            directed.add((a, b) if kind == 2 else (b, a))
    partial = PartialDag(names, frozenset(directed), frozenset(undirected))
    truth = by_definition(partial)
    listed = [frozenset(member.edges) for member in partial.members()]
    assert (partial.size, len(listed), set(listed)) == (len(truth), len(truth), truth)
    if truth:
        assert frozenset(partial.sample(seed).edges) in truth


def test_what_the_rules_direct_has_one_member() -> None:
    # a -> b - c: the other direction of b - c would be an immorality.
    partial = PartialDag(tuple("abc"), frozenset({("a", "b")}), frozenset({frozenset("bc")}))
    assert partial.size == 1
    assert [set(member.edges) for member in partial.members()] == [{("a", "b"), ("b", "c")}]


def test_members_with_known_directions_are_drawn_alike() -> None:
    pairs = list(itertools.combinations("abcd", 2))
    partial = PartialDag(
        tuple("abcd"), frozenset({("a", "b"), ("c", "d")}), frozenset(map(frozenset, pairs[1:5]))
    )
    assert partial.size == 6
    draws = Counter(frozenset(partial.sample(seed).edges) for seed in range(1200))
    assert len(draws) == 6
    # Five standard deviations of a count with mean 200.
    assert max(abs(count - 200) for count in draws.values()) < 5 * (1200 / 6 * 5 / 6) ** 0.5


def test_contradictions_have_no_members() -> None:
    both = PartialDag(tuple("ab"), frozenset({("a", "b"), ("b", "a")}), frozenset())
    assert (both.size, list(both.members())) == (0, [])
    with pytest.raises(InputError, match="has no members"):
        both.sample(0)
    with pytest.raises(InputError, match="joins two of its nodes, got 'a', 'x'"):
        PartialDag(tuple("ab"), frozenset({("a", "x")}), frozenset())


def test_endless_counts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "MOST_SPLITS", 3)
    near = {node: set(range(8)) - {node} for node in range(8)}
    into: dict[int, set[int]] = {node: set() for node in near}
    into[1], into[3] = {0}, {2}
    with pytest.raises(InputError, match="takes more than 3 cases"):
        Directions(near, into)
