"""Costs of actions by weights: the decisions package, repeated rows, classes without rows."""

import numpy as np
import pytest

from novum.core.decisions import WorkingPoint
from novum.evaluation.decisions.risk import risk_of_actions
from novum.evaluation.reports.classification_summary import costs_of_actions

POINT = WorkingPoint(["a", "b"], [0.2, 0.8], [[0, 5], [1, 0]], reject_cost=0.5)


def test_risks_are_those_of_the_actions() -> None:
    rng = np.random.default_rng(0)
    true, actions = rng.integers(0, 2, 30), rng.integers(0, 3, 30)
    weight = rng.random((4, 30))
    risk, normalized = costs_of_actions(true, actions, POINT).of_weights(weight)
    y, names = np.array(["a", "b"])[true], np.array(POINT.action_names)[actions]
    for row in range(4):
        expected = risk_of_actions(y, names, POINT, sample_weight=weight[row])
        assert risk[row] == pytest.approx(expected, rel=1e-12)
        expected = risk_of_actions(y, names, POINT, sample_weight=weight[row], normalized=True)
        assert normalized[row] == pytest.approx(expected, rel=1e-12)


def test_a_class_without_rows_makes_the_risk_unknown() -> None:
    risk, _ = costs_of_actions(np.array([0, 0]), np.array([0, 1]), POINT).of_weights(
        np.ones((1, 2))
    )
    assert np.isnan(risk[0])
