"""Concept spaces: their numbers, their order, and their truth tables."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from novum.bayes.hypotheses import (
    ConjunctiveConcept,
    ListedConcept,
    all_concepts,
    conjunctive_concepts,
)
from novum.core.errors import InputError

SPORT = {
    "sky": ["sunny", "cloudy", "rainy"],
    "air": ["warm", "cold"],
    "humidity": ["normal", "high"],
    "wind": ["strong", "weak"],
    "water": ["warm", "cool"],
    "forecast": ["same", "change"],
}


def test_the_sport_example_has_973_conjunctions() -> None:
    # Mitchell 1997, 2.3: 1 + 4 * 3 * 3 * 3 * 3 * 3 semantically different hypotheses.
    assert len(conjunctive_concepts(SPORT)) == 973


def test_conjunctions_are_all_different_functions() -> None:
    attributes = {"a": [0, 1], "b": ["x", "y", "z"]}
    days = [dict(zip(attributes, v, strict=True)) for v in itertools.product(*attributes.values())]
    concepts = conjunctive_concepts(attributes)
    tables = {tuple(concept(day) for day in days) for concept in concepts.values()}
    assert len(tables) == len(concepts) == 13


def test_special_concepts_come_first() -> None:
    names = list(conjunctive_concepts({"a": [0, 1], "b": [0, 1]}))
    assert names[0] == "never"
    assert names[1] == "a=0 & b=0"
    assert names[-1] == "always"


def test_all_concepts_are_all_functions() -> None:
    instances = [(0, 0), (0, 1), (1, 0), (1, 1)]
    concepts = all_concepts(instances)
    tables = {tuple(concept(i) for i in instances) for concept in concepts.values()}
    assert len(tables) == 16


def test_concepts_say_what_they_are() -> None:
    assert str(ConjunctiveConcept(None)) == "never"
    assert str(ConjunctiveConcept(())) == "always"
    assert not ConjunctiveConcept(None)({"a": 1})
    assert str(ListedConcept(frozenset({2, 1}))) == "{1, 2}"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: all_concepts(range(200)), r"about 2\^200 concepts; the limit"),
        (lambda: conjunctive_concepts({f"a{i}": [0, 1] for i in range(20)}), "3486784402 conj"),
        (lambda: all_concepts(["a", "a"]), "listed twice"),
        (lambda: conjunctive_concepts({"a": [1, "1"]}), "written alike"),
    ],
)
def test_spaces_that_cannot_be_listed_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
