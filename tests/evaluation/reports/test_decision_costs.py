"""Costs of actions from tables: the decisions package, classes without rows."""

import numpy as np
import pytest

from novum.core.decisions import WorkingPoint
from novum.evaluation.decisions.risk import risk_of_actions
from novum.evaluation.reports.classification_summary import risks_of_counts

POINT = WorkingPoint(["a", "b"], [0.2, 0.8], [[0, 5], [1, 0]], reject_cost=0.5)


def test_risks_are_those_of_the_actions() -> None:
    rng = np.random.default_rng(0)
    true, actions = rng.integers(0, 2, 30), rng.integers(0, 3, 30)
    weight, table = rng.random(30), np.zeros((2, 3))
    np.add.at(table, (true, actions), weight)
    (risk, normalized), again = risks_of_counts(np.stack([table, 3 * table]), POINT)
    assert (risk, normalized) == pytest.approx(tuple(again), rel=1e-12)
    y, names = np.array(["a", "b"])[true], np.array(POINT.action_names)[actions]
    expected = risk_of_actions(y, names, POINT, sample_weight=weight)
    assert risk == pytest.approx(expected, rel=1e-12)
    expected = risk_of_actions(y, names, POINT, sample_weight=weight, normalized=True)
    assert normalized == pytest.approx(expected, rel=1e-12)


def test_a_class_without_rows_makes_the_risk_unknown() -> None:
    risks = risks_of_counts(np.array([[[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]), POINT)
    assert np.isnan(risks[0, 0])
