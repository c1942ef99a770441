"""Costs of folds: the empirical Bayes risk, also where a class is absent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.job import cost_measure, risk_of_present
from novum.core import WorkingPoint
from novum.evaluation import empirical_bayes_risk

CLASSES = ["a", "b", "c"]
POINT = WorkingPoint(CLASSES, [0.5, 0.3, 0.2], [[0, 1, 4], [2, 0, 1], [9, 3, 0]], reject_cost=1.5)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_where_all_classes_occur_it_is_the_bayes_risk(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([*CLASSES, *rng.choice(CLASSES, 9)])
    posteriors = rng.dirichlet(np.ones(3), 12)
    weight = rng.random(12) + 0.1 if weighted else None
    found = risk_of_present(y, posteriors, point=POINT, classes=CLASSES, sample_weight=weight)
    expected = empirical_bayes_risk(y, posteriors, POINT, sample_weight=weight, normalized=False)
    assert found == pytest.approx(expected, rel=1e-12)


def test_absent_classes_leave_their_priors_to_the_others() -> None:
    posteriors = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = risk_of_present(["a", "b", "b"], posteriors, point=POINT, classes=CLASSES)
    # Rows of a cost 0; of b one costs 2 and one 0.
    assert found == pytest.approx(0.3 * 1.0 / 0.8)
    assert cost_measure().name == "bayes_risk"
    assert not cost_measure().greater_is_better
