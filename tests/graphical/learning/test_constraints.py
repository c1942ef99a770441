"""Constraints and the contradictions that they name."""

from __future__ import annotations

import pytest

from novum.core.errors import InputError
from novum.graphical import Dag
from novum.graphical.learning.constraints import Constraints

NAMES = ("a", "b", "c")


def test_tiers_allow_only_onwards() -> None:
    rules = Constraints(tiers=[["a"], ["b"]]).rules(NAMES)
    assert rules.allowed.tolist() == [[0, 0, 1], [1, 0, 1], [1, 1, 0]]
    assert not rules.is_symmetric
    assert Constraints(forbidden=[("a", "b"), ("b", "a")]).rules(NAMES).is_symmetric


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "required and forbidden"),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "against the order of the tiers"),
        ({"required": [("a", "b"), ("b", "a")]}, "cannot all be.*cycle: 'a'"),
        ({"required": [("a", "c"), ("b", "c")], "max_parents": 1}, "'c' has 2 required parents"),
        ({"required": [("a", "x")]}, "'x', which is no column"),
        ({"tiers": [["a"], ["a", "b"]]}, "'a' is in tier 1 and in tier 2"),
        ({"forbidden": ["ab"]}, "pairs"),
        ({"forbidden": [("a", "a")]}, "different nodes"),
        ({"max_parents": -1}, "at least 0"),
    ],
)
def test_contradictions_are_named(constraints: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Constraints(**constraints).rules(NAMES)


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (Constraints(forbidden=[("a", "b")]), "'a' -> 'b', which is not allowed"),
        (Constraints(required=[("c", "b")]), "lacks the required edge 'c' -> 'b'"),
        (Constraints(max_parents=0), "1 parents and max_parents is 0"),
    ],
)
def test_a_start_that_breaks_a_rule_is_refused(constraints: Constraints, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        constraints.rules(NAMES).check(Dag.from_edges([("a", "b")], NAMES))
