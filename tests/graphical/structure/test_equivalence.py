"""Classes of equivalent graphs against the enumeration of all small graphs."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from novum.core.errors import InputError
from novum.graphical.structure.dag import Dag
from novum.graphical.structure.equivalence import PartialDag, are_equivalent


def all_dags(n: int) -> list[Dag]:
    """Every graph of n nodes, by brute force over the directions of all pairs."""
    names = [f"v{i}" for i in range(n)]
    pairs = list(itertools.combinations(names, 2))
    found = []
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        edges = [(a, b) if k == 1 else (b, a) for (a, b), k in zip(pairs, choice, strict=True) if k]
        try:
            found.append(Dag.from_edges(edges, names))
        except InputError:
            continue
    return found


def classes_of(n: int) -> list[list[Dag]]:
    """Graphs by the independences that they state, all of them."""
    found: dict[frozenset[str], list[Dag]] = {}
    for graph in all_dags(n):
        found.setdefault(frozenset(map(str, graph.independences())), []).append(graph)
    return list(found.values())


# The numbers of labelled graphs without cycles, and of their classes, are known (OEIS A003024,
# A007984).
@pytest.mark.parametrize(("n", "n_graphs", "n_classes"), [(2, 3, 2), (3, 25, 11), (4, 543, 185)])
def test_classes_are_those_of_equal_independences(n: int, n_graphs: int, n_classes: int) -> None:
    classes = classes_of(n)
    assert sum(map(len, classes)) == n_graphs
    assert len(classes) == n_classes
    for members in classes:
        patterns = {graph.pattern() for graph in members}
        assert len(patterns) == 1
        pattern = patterns.pop()
        common = set.intersection(*(set(graph.edges) for graph in members))
        assert pattern.directed == frozenset(common)
        assert pattern.size == len(members)
        assert {frozenset(graph.edges) for graph in pattern.members()} == {
            frozenset(graph.edges) for graph in members
        }
        assert all(are_equivalent(members[0], graph) for graph in members)


def test_graphs_of_different_classes_are_not_equivalent() -> None:
    firsts = [members[0] for members in classes_of(3)]
    for one, other in itertools.combinations(firsts, 2):
        assert not are_equivalent(one, other)


def test_members_are_drawn_with_equal_probability() -> None:
    # A triangle with a tail: 8 members.
    edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
    pattern = Dag.from_edges(edges).pattern()
    assert pattern.size == 8
    draws = Counter(frozenset(pattern.sample(seed).edges) for seed in range(4000))
    assert len(draws) == 8
    # Five standard deviations of a count with mean 500.
    assert max(abs(count - 500) for count in draws.values()) < 5 * (4000 * (1 / 8) * (7 / 8)) ** 0.5


def test_a_large_class_is_counted_and_not_listed() -> None:
    nodes = [f"v{i}" for i in range(12)]
    complete = Dag.from_edges(list(itertools.combinations(nodes, 2)))
    pattern = complete.pattern()
    assert pattern.size == 479001600
    with pytest.raises(InputError, match="479001600 members"):
        next(pattern.members())
    assert pattern.sample(1).is_equivalent(complete)


def test_patterns_are_values() -> None:
    one = Dag.from_edges([("a", "b"), ("b", "c")]).pattern()
    other = Dag.from_edges([("b", "a"), ("b", "c")], ["c", "b", "a"]).pattern()
    assert one == other
    assert hash(one) == hash(other)
    assert one != PartialDag(("a", "b", "c"), frozenset(), frozenset())


@pytest.mark.slow
def test_large_cliques_and_long_chains() -> None:
    nodes = [f"v{i}" for i in range(40)]
    pattern = Dag.from_edges(list(itertools.combinations(nodes, 2))).pattern()
    assert pattern.size == math.factorial(40)
    assert pattern.sample(0).pattern() == pattern
    with pytest.raises(InputError, match=r"about 10\^48 members"):
        next(pattern.members())
    names = [f"v{i}" for i in range(3000)]
    chain = Dag.from_edges(list(itertools.pairwise(names)))
    assert chain.pattern().size == 3000
    assert chain.pattern().sample(1).is_equivalent(chain)
    # A collider at the start directs all that follows.
    collider = Dag.from_edges([("a", "v0"), ("b", "v0"), *itertools.pairwise(names)])
    assert (collider.pattern().size, collider.pattern().undirected) == (1, frozenset())


def test_parts_are_directed_on_their_own() -> None:
    # A triangle, a path of three nodes and an edge that is compelled.
    edges = [("a", "b"), ("a", "c"), ("b", "c"), ("p", "q"), ("q", "r"), ("x", "z"), ("y", "z")]
    graph = Dag.from_edges(edges)
    found = list(graph.pattern().members())
    assert len({frozenset(member.edges) for member in found}) == len(found) == 6 * 3
    assert all(member.is_equivalent(graph) for member in found)


def test_a_square_cannot_be_directed() -> None:
    square = [frozenset(pair) for pair in ("ab", "bc", "cd", "da")]
    pattern = PartialDag(tuple("abcd"), frozenset(), frozenset(square))
    assert (pattern.size, list(pattern.members())) == (0, [])
    with pytest.raises(InputError, match="cycle of four or more nodes"):
        pattern.sample(0)


def test_notebooks_show_edges() -> None:
    shown = Dag.from_edges([("a", "c"), ("b", "c"), ("d<", "e")]).pattern()._repr_html_()
    assert "5 nodes; 2 members" in shown
    assert ">a -&gt; c</th>" in shown
    assert ">d&lt; - e</th>" in shown
