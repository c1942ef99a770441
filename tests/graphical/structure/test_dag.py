"""Directed graphs: neighborhoods, orders, and what is refused."""

from __future__ import annotations

import itertools

import pytest

from novum.core.errors import InputError
from novum.graphical.structure.dag import CyclicGraphError, Dag

ALARM = Dag.from_edges(
    [("B", "A"), ("E", "A"), ("A", "J"), ("A", "M"), ("E", "Radio")], ["B", "E", "A", "J", "M"]
)


def test_families() -> None:
    assert ALARM.ancestors("J") == ("B", "E", "A")
    assert ALARM.descendants(["B", "E"]) == ("A", "J", "M", "Radio")
    assert ALARM.markov_blanket("E") == ("B", "A", "Radio")
    assert ALARM.immoralities == {(frozenset("BE"), "A")}
    assert len(ALARM.skeleton) == 5


def test_parents_come_before_children() -> None:
    place = {node: i for i, node in enumerate(ALARM.order)}
    assert len(place) == len(ALARM.names)
    for parent, child in ALARM.edges:
        assert place[ALARM.place(parent)] < place[ALARM.place(child)]


def test_joined_parents_are_moral() -> None:
    graph = Dag.from_edges([("a", "c"), ("b", "c"), ("a", "b")])
    assert graph.immoralities == frozenset()


def test_a_cycle_is_shown_along_its_arrows() -> None:
    with pytest.raises(InputError, match="cycle") as caught:
        Dag.from_edges([("root", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "leaf")])
    shown = str(caught.value).split(": ")[1].split(".")[0].replace("'", "").split(" -> ")
    assert shown[0] == shown[-1]
    assert set(itertools.pairwise(shown)) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_long_cycles_are_cut_and_found_quickly() -> None:
    names = [f"v{i}" for i in range(20_000)]
    with pytest.raises(CyclicGraphError) as caught:
        Dag.from_edges([*itertools.pairwise(names), (names[-1], names[0])])
    assert len(caught.value.variables) == 20_000
    assert str(caught.value).endswith("-> ... (20000 nodes) -> 'v0'. Remove one of them.")
    with pytest.raises(CyclicGraphError, match=r"cycle: 'a' -> 'a'\."):
        Dag.from_edges([("a", "a")])


def test_names_are_checked() -> None:
    with pytest.raises(InputError, match="did you mean 'Radio'"):
        ALARM.markov_blanket("Radi")
    with pytest.raises(InputError, match="occurs twice"):
        Dag(("a", "a"), ((), ()))


def test_long_chains_need_no_recursion() -> None:
    names = [f"v{i}" for i in range(20_000)]
    chain = Dag.from_edges(list(itertools.pairwise(names)))
    assert len(chain.ancestors(names[-1])) == len(names) - 1
    assert bool(chain.d_separated(names[0], names[-1], given=names[500]))
