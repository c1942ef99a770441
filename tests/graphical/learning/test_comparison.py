"""Differences of two graphs."""

from __future__ import annotations

import pytest

from novum.core.errors import InputError
from novum.graphical import Dag, compare
from tests.graphical.textbook_networks import alarm


def test_edges_are_absent_extra_or_turned() -> None:
    names = ("a", "b", "c", "d")
    reference = Dag.from_edges([("a", "c"), ("b", "c"), ("c", "d")], names)
    graph = Dag.from_edges([("c", "a"), ("b", "c"), ("a", "d")], names)
    told = compare(graph, reference)
    assert told.absent == (("c", "d"),)
    assert told.extra == (("a", "d"),)
    assert told.turned == (("a", "c"),)
    assert told.distance == 3
    assert told.class_distance == 4
    assert "turned: a -> c" in repr(told)


def test_equivalent_graphs_differ_for_no_table() -> None:
    told = compare(Dag.from_edges([("a", "b")]), Dag.from_edges([("b", "a")]))
    assert told.distance == 1
    assert told.are_equivalent
    assert compare(alarm(), alarm().graph).distance == 0


def test_other_nodes_are_refused() -> None:
    with pytest.raises(InputError, match="'c' are in one only"):
        compare(Dag.from_edges([("a", "b")]), Dag.from_edges([("a", "b"), ("b", "c")]))
    with pytest.raises(InputError, match="two graphs or networks"):
        compare("a", alarm())  # type: ignore[arg-type]
