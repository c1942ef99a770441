"""Conditional tables: rules of probability in exact fractions, and refusal of what is none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.conditional_table import ConditionalTable
from novum.distributions.joint_table import ImpossibleEvidence, JointTable

YES = (True, False)


@pytest.fixture
def result_given_ill() -> ConditionalTable:
    return ConditionalTable([[0.98, 0.02], [0.03, 0.97]], {"positive": YES}, {"ill": YES})


def test_bayes_rule_on_a_rare_disease(result_given_ill: ConditionalTable) -> None:
    prior = JointTable([0.008, 0.992], ["ill"], [YES])
    found = result_given_ill.reverse(prior).at(positive=True).probability({"ill": True})
    ill, well = Fraction(8, 1000) * Fraction(98, 100), Fraction(992, 1000) * Fraction(3, 100)
    assert found == pytest.approx(float(ill / (ill + well)), rel=1e-14)
    # Mitchell 1997, 6.2.1: about 0.21, so "no disease" stays the better guess.
    assert round(found, 2) == 0.21


def test_states_are_matched_by_name_not_by_place(result_given_ill: ConditionalTable) -> None:
    prior = JointTable([0.992, 0.008], ["ill"], [(False, True)])
    joint = result_given_ill * prior
    assert joint.probability({"ill": True, "positive": True}) == pytest.approx(0.00784)
    assert (prior * result_given_ill).isclose(joint)


def test_other_variables_pass_through(result_given_ill: ConditionalTable) -> None:
    prior = JointTable([[0.1, 0.2], [0.3, 0.4]], ["sex", "ill"], [("f", "m"), YES])
    joint = result_given_ill * prior
    assert joint.names == ("sex", "ill", "positive")
    expected = 0.3 * 0.98
    state = {"sex": "m", "ill": True, "positive": True}
    assert joint.probability(state) == pytest.approx(expected, rel=1e-14)


def test_impossible_contexts_are_undefined_and_weigh_nothing() -> None:
    table = JointTable([[0.5, 0.5], [0.0, 0.0]], ["a", "b"], [(0, 1), (0, 1)])
    conditional = table.conditional("b", given="a")
    assert np.isnan(conditional.probabilities[1]).all()
    with pytest.raises(ImpossibleEvidence, match="a = 1 has probability 0"):
        conditional.at(a=1)
    assert (conditional * table.marginal("a")).isclose(table)


def test_several_given_variables_take_any_order() -> None:
    cells = np.arange(1, 13).reshape(2, 3, 2) / 78
    table = JointTable(cells, ["a", "b", "c"], [(0, 1), ("x", "y", "z"), YES])
    conditional = table.conditional("c", given=["b", "a"])
    assert conditional.probabilities.shape == (3, 2, 2)
    assert (conditional * table.marginal("a", "b")).isclose(table, tolerance=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda c: c.at(sick=True), "a state for each of ill; got sick"),
        (lambda c: c.at(), "got none"),
        (lambda c: c.at(ill="no"), "no state no"),
        (lambda c: c * JointTable([1.0], ["x"], [(0,)]), "no variable 'ill'"),
        (lambda c: c * JointTable([1.0], ["ill"], [(True,)]), "Give both the same states"),
        (lambda c: c.reverse(JointTable([1.0], ["x"], [(0,)])), "needs the distribution of ill"),
        (lambda _: ConditionalTable([0.5, 0.5], {"a": YES}, {"b": YES}), r"has shape \(2, 2\)"),
        (
            lambda _: ConditionalTable([[0.5, 0.4], [0.5, 0.5]], {"a": YES}, {"b": YES}),
            "Given b = True the probabilities sum to 0.9",
        ),
        (
            lambda _: ConditionalTable([[1.5, -0.5], [0.5, 0.5]], {"a": YES}, {"b": YES}),
            "a probability is -0.5",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    result_given_ill: ConditionalTable, make: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make(result_given_ill)


def test_it_multiplies_tables_only(result_given_ill: ConditionalTable) -> None:
    with pytest.raises(TypeError):
        result_given_ill * 3  # type: ignore[operator]


def test_text_names_the_question(result_given_ill: ConditionalTable) -> None:
    assert "P(positive | ill)" in repr(result_given_ill)
    assert "P(positive | ill)" in result_given_ill._repr_html_()
