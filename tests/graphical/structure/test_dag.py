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


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (["ab", "c"], "number 0 from 0 is 'ab'"),
        ([("a", "b"), ("a", "b", "c")], "An edge is a pair .* number 1 from 0"),
        ([("a",)], "An edge is a pair"),
        ("ab", "edges are .* pairs in a list, got 'ab'"),
        (5, "edges are .* pairs in a list, got 5"),
        ([(1, 2)], "A node has a name that is text and not empty, got 1"),
        ([("a", "")], "not empty, got ''"),
    ],
)
def test_wrong_edges_are_refused_in_words(edges: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Dag.from_edges(edges)  # type: ignore[arg-type]


def test_wrong_numbers_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="from 0 to 1; node 'a' has 5"):
        Dag(("a", "b"), ((5,), ()))
    with pytest.raises(InputError, match="node 'b' has 'a'"):
        Dag(("a", "b"), ((), ("a",)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2 nodes need a tuple of parents each, got 1"):
        Dag(("a", "b"), ((),))
    with pytest.raises(InputError, match="'a' has a parent twice"):
        Dag(("a", "b"), ((1, 1), ()))
    with pytest.raises(InputError, match="text and not empty, got 3"):
        Dag((3,), ((),))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="text and not empty, got 3"):
        Dag.from_edges([("a", "b")], [3])  # type: ignore[list-item]


def test_notebooks_show_families() -> None:
    shown = ALARM._repr_html_()
    assert "6 nodes and 5 edges" in shown
    assert '<th scope="row">A</th><td data-label="parents">B, E</td>' in shown
    many = Dag.from_edges([], [f"<{i}>" for i in range(100)])._repr_html_()
    assert "&lt;59&gt;" in many
    assert "60" not in many.partition("tbody")[2]
