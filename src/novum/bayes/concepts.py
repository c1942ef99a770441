"""Concept spaces for brute-force learning: conjunctions, and all functions of a few instances.

A *concept* is a function from instances to {True, False}. Two spaces are listed in full:

    conjunctions   every attribute is fixed to one of its values or free, plus "never":
                   1 + prod_j (k_j + 1) concepts
    all concepts   one for every set of positive instances: 2^|X| concepts, without any bias

The number is computed with Python's integers and refused beyond a limit before anything is listed.
With equal priors and no noise the posterior of `HypothesisSpace` is uniform over the concepts that
agree with the data: the version space.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novum.core.errors import InputError
from novum.core.text import printable

MAX_CONCEPTS = 10**5


@dataclass(frozen=True)
class ConjunctiveConcept:
    """True where every fixed attribute has its value; `fixed` is None for "never".

    Examples
    --------
    >>> warm = ConjunctiveConcept((("sky", "sunny"), ("air", "warm")))
    >>> warm({"sky": "sunny", "air": "warm", "wind": "strong"})
    True
    """

    fixed: tuple[tuple[str, Hashable], ...] | None = ()

    def __call__(self, instance: Mapping[str, Any]) -> bool:
        return self.fixed is not None and all(instance[name] == v for name, v in self.fixed)

    def __str__(self) -> str:
        if self.fixed is None:
            return "never"
        text = " & ".join(f"{name}={value}" for name, value in self.fixed)
        return printable(text) if text else "always"


@dataclass(frozen=True)
class ListedConcept:
    """True at the listed instances only.

    Examples
    --------
    >>> ListedConcept(frozenset({(0, 1)}))((0, 1))
    True
    """

    positive: frozenset[Hashable]

    def __call__(self, instance: Hashable) -> bool:
        return instance in self.positive

    def __str__(self) -> str:
        inside = ", ".join(sorted(map(repr, self.positive)))
        return printable(f"{{{inside}}}")


def conjunctive_concepts(
    attributes: Mapping[str, Sequence[Hashable]],
) -> dict[str, ConjunctiveConcept]:
    """All conjunctions over attributes with those values, the most special first.

    Examples
    --------
    >>> list(conjunctive_concepts({"sky": ["sunny", "rainy"]}))
    ['never', 'sky=sunny', 'sky=rainy', 'always']
    """
    _check_number(1 + math.prod(len(values) + 1 for values in attributes.values()), "conjunctions")
    choices = [[*((name, v) for v in values), None] for name, values in attributes.items()]
    found = [ConjunctiveConcept(None)]
    for picks in itertools.product(*choices):
        found.append(ConjunctiveConcept(tuple(pick for pick in picks if pick is not None)))
    # A stable sort: those with more conditions first, in the order of the attributes.
    found[1:] = sorted(found[1:], key=lambda concept: -len(concept.fixed or ()))
    return _named(found)


def all_concepts(instances: Sequence[Hashable]) -> dict[str, ListedConcept]:
    """Every function from the instances to {True, False}.

    Examples
    --------
    >>> list(all_concepts(["a", "b"]))
    ['{}', "{'a'}", "{'b'}", "{'a', 'b'}"]
    """
    if len(set(instances)) != len(instances):
        raise InputError("An instance is listed twice. List every instance once.")
    _check_number(2 ** len(instances), "concepts")
    sizes = range(len(instances) + 1)
    sets = itertools.chain.from_iterable(itertools.combinations(instances, k) for k in sizes)
    return _named([ListedConcept(frozenset(positive)) for positive in sets])


def _named(concepts: Sequence[Any]) -> dict[str, Any]:
    named = {str(concept): concept for concept in concepts}
    if len(named) != len(concepts):
        raise InputError(
            "Two different concepts are written alike. Give attributes and instances values whose "
            "text differs."
        )
    return named


def _check_number(number: int, what: str) -> None:
    if number > MAX_CONCEPTS:
        size = str(number) if number < 10**15 else f"about 2^{number.bit_length() - 1}"
        raise InputError(
            f"There are {size} {what}; the limit for brute force is {MAX_CONCEPTS}. Use fewer "
            "attributes, values or instances, or another learner."
        )
