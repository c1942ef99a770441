"""Risks: definitions, Bayes actions no other actions beat, normalization, bad input."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.risk import (
    bayes_actions,
    blind_risk,
    conditional_risk,
    empirical_bayes_risk,
    risk_of_actions,
)
from tests.evaluation.decisions.definitions import empirical_risk

POINT = WorkingPoint(
    ["a", "b", "c"],
    [0.5, 0.3, 0.2],
    [[0, 1, 4, 1.5], [2, 0, 1, 1.5], [9, 3, 0, 1.5]],
    actions=["a", "b", "c", "wait"],
)
rows = st.lists(st.tuples(*[st.floats(0.01, 1)] * 3), min_size=1, max_size=6).map(
    lambda found: np.array(found) / np.sum(found, axis=1, keepdims=True)
)


@given(rows)
def test_conditional_risk_and_actions_by_enumeration(P: Any) -> None:
    risks = conditional_risk(P, POINT)
    for i, (k, a) in product(range(len(P)), product(range(3), range(4))):
        del k
        by_hand = sum(P[i, c] * POINT.cost[c, a] for c in range(3))
        assert risks[i, a] == pytest.approx(by_hand)
    chosen = bayes_actions(P, POINT)
    for i, name in enumerate(chosen):
        assert risks[i, POINT.action_names.index(name)] == risks[i].min()


def test_a_bare_matrix_has_numbered_actions() -> None:
    cost = [[0, 1, 0.3], [1, 0, 0.3]]
    assert bayes_actions([[0.9, 0.1], [0.5, 0.5]], cost).tolist() == [0, 2]
    np.testing.assert_allclose(conditional_risk([[0.5, 0.5]], cost), [[0.5, 0.5, 0.3]])


def test_posteriors_of_other_priors_are_moved() -> None:
    point = WorkingPoint([0, 1], [0.99, 0.01], [[0, 1], [1, 0]])
    assert bayes_actions([[0.2, 0.8]], point, training_priors=[0.5, 0.5]).tolist() == [0]
    assert bayes_actions([[0.2, 0.8]], point).tolist() == [1]


@given(rows, st.lists(st.sampled_from("abc"), min_size=6, max_size=6))
def test_empirical_risk_is_the_definition(P: Any, more: list[str]) -> None:
    P = np.vstack([P, np.eye(3)])
    y = [*more[: len(P) - 3], "a", "b", "c"]
    actions = bayes_actions(P, POINT).tolist()
    costs = {
        (label, name): POINT.cost[c, a]
        for (c, label), (a, name) in product(enumerate("abc"), enumerate(POINT.action_names))
    }
    expected = empirical_risk(y, actions, dict(zip("abc", POINT.priors, strict=True)), costs)
    assert empirical_bayes_risk(y, P, POINT) == pytest.approx(expected)
    assert risk_of_actions(y, actions, POINT) == pytest.approx(expected)


def test_normalized_risk_is_zero_when_right_and_one_when_blind() -> None:
    y = ["a", "b", "c"]
    right, blind = blind_risk(POINT)
    assert (right, blind) == (0.0, pytest.approx(1.1))
    assert risk_of_actions(y, y, POINT, normalized=True) == 0.0
    assert risk_of_actions(y, ["b"] * 3, POINT, normalized=True) == pytest.approx(1.0)
    # A number added to a class, and a common factor, change nothing.
    moved = WorkingPoint(
        POINT.classes,
        POINT.priors,
        3 * (POINT.cost + np.array([[1], [-2], [5]])),
        actions=POINT.actions,
    )
    actions = ["wait", "c", "b"]
    assert risk_of_actions(y, actions, moved, normalized=True) == pytest.approx(
        risk_of_actions(y, actions, POINT, normalized=True)
    )


def test_rejecting_costs_what_the_point_says() -> None:
    point = WorkingPoint([0, 1], [0.5, 0.5], [[0, 1], [1, 0]], reject_cost=0.1)
    P = [[0.8, 0.2], [0.01, 0.99]]
    assert bayes_actions(P, point).tolist() == ["reject", 1]
    assert empirical_bayes_risk([0, 1], P, point) == pytest.approx(0.05)


def test_weights_mean_repetition() -> None:
    one = risk_of_actions(["a", "a", "b", "c"], list("abcb"), POINT, sample_weight=[2, 1, 1, 3])
    two = risk_of_actions(["a", "a", "a", "b", "c"], list("aabcb"), POINT)
    assert one == pytest.approx(two)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="array of shape \\(3,\\)"):
        conditional_risk([[0.5, 0.5]], [1, 2, 3])
    with pytest.raises(InputError, match="one column for each of the 3 classes"):
        conditional_risk([[0.5, 0.5]], POINT)
    with pytest.raises(InputError, match="action 'x', which is not among"):
        risk_of_actions(["a", "b", "c"], ["a", "x", "b"], POINT)
    with pytest.raises(InputError, match="3 labels and 2 actions"):
        risk_of_actions(["a", "b", "c"], ["a", "b"], POINT)
    with pytest.raises(InputError, match="No case of class 'c' counts"):
        risk_of_actions(["a", "b"], ["a", "b"], POINT)
    one = WorkingPoint([0, 1], [0.5, 0.5], [[0, 1], [0, 1]])
    with pytest.raises(InputError, match="cannot be normalized"):
        risk_of_actions([0, 1], [0, 0], one, normalized=True)
