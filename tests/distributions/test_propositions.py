"""Propositions: truth in every joint state, by plain Python over all of them."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis, StateSpace
from novum.distributions.propositions import Proposition, Variable, proposition_of, variable

SPACE = StateSpace(
    [
        StateAxis("wet", (True, False)),
        StateAxis("n", (3, 1, 2)),
        StateAxis("size", ("small", "medium", "large"), ordered=True),
    ]
)
ORDER = {"small": 0, "medium": 1, "large": 2}


class State(NamedTuple):
    wet: bool
    n: int
    size: str


def truth(proposition: Proposition) -> list[bool]:
    mask = np.broadcast_to(proposition.holds(SPACE), SPACE.shape)
    return [bool(value) for value in mask.ravel()]


def by_hand(function: Any) -> list[bool]:
    states = itertools.product(*(axis.states for axis in SPACE))
    return [bool(function(State(*joint))) for joint in states]


wet, n, size = variable("wet"), variable("n"), variable("size")


@pytest.mark.parametrize(
    ("proposition", "function"),
    [
        (wet, lambda s: s.wet),
        (wet == False, lambda s: not s.wet),  # noqa: E712
        (wet != True, lambda s: not s.wet),  # noqa: E712
        (n >= 2, lambda s: s.n >= 2),
        (n < 2.5, lambda s: s.n < 2.5),
        (n.isin([1, 3]), lambda s: s.n in (1, 3)),
        (n.isin([]), lambda _: False),
        (size > "small", lambda s: ORDER[s.size] > 0),
        (size <= "medium", lambda s: ORDER[s.size] <= 1),
        (wet & (n == 1), lambda s: s.wet and s.n == 1),
        (wet | ~(size == "large"), lambda s: s.wet or s.size != "large"),
        (
            ~(wet | (n == 1)) & (size != "small"),
            lambda s: not s.wet and s.n != 1 and s.size != "small",
        ),
    ],
)
def test_truth_is_that_of_the_formula(proposition: Proposition, function: Any) -> None:
    assert truth(proposition) == by_hand(function)


leaves = st.sampled_from([wet, n >= 2, n == 1, size < "large", size == "small"])
formulas = st.recursive(
    leaves,
    lambda parts: st.one_of(
        parts.map(lambda a: ~a),
        st.tuples(parts, parts).map(lambda pair: pair[0] & pair[1]),
        st.tuples(parts, parts).map(lambda pair: pair[0] | pair[1]),
    ),
    max_leaves=6,
)


@given(formulas, formulas)
def test_de_morgan_and_double_negation(a: Proposition, b: Proposition) -> None:
    assert truth(~(a & b)) == truth(~a | ~b)
    assert truth(~(a | b)) == truth(~a & ~b)
    assert truth(~~a) == truth(a)


def test_names_are_listed_once_in_order_of_mention() -> None:
    assert ((n == 1) & wet | ~(n == 2)).names == ("n", "wet")


def test_text_can_be_read() -> None:
    assert repr(wet & (n >= 2)) == "(wet & n >= 2)"
    assert repr(~(size == "large")) == "~(size = large)"
    assert repr(n.isin([1, 2]) | wet) == "(n in {1, 2} | wet)"


def test_a_mapping_is_a_conjunction() -> None:
    both = proposition_of({"wet": True, "n": 1})
    assert truth(both) == truth(wet & (n == 1))


def test_variables_can_be_collected() -> None:
    assert hash(variable("a")) == hash(Variable("a"))


def test_python_logic_is_refused_instead_of_misread() -> None:
    with pytest.raises(TypeError, match="Combine propositions with &"):
        bool(wet)
    with pytest.raises(TypeError, match="chained comparisons"):
        1 < n < 3  # noqa: B015
    with pytest.raises(TypeError, match="not with and"):
        _ = wet and (n == 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: (wet == 1).holds(SPACE), "no state 1; its states are True, False"),
        (lambda: (n == 7).holds(SPACE), "no state 7"),
        (lambda: n.holds(SPACE), "not truth values"),
        (lambda: (wet < True).holds(SPACE), "have no order"),
        (lambda: (n < "many").holds(SPACE), "compared with 'many'"),
        (lambda: (size < "huge").holds(SPACE), "no state huge"),
        (lambda: (variable("fog") == 1).holds(SPACE), "no variable 'fog'"),
        (lambda: n.isin("12"), "got the text '12'"),
        (lambda: wet & True, "Put comparisons in parentheses"),
        (lambda: wet == n, "compared with n"),
        (lambda: variable(3), "is text, got 3"),  # type: ignore[arg-type]
        (lambda: proposition_of({}), "An event is a proposition"),
        (lambda: proposition_of("rain"), "got 'rain'"),  # type: ignore[arg-type]
    ],
)
def test_what_has_no_meaning_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
