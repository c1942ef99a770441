"""Weights of a known mixture: the proved gap, brute force on a grid, profile intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.evaluation.decisions.prior_shift import Mixture

tables = st.lists(st.tuples(*[st.floats(0.01, 5)] * 3), min_size=1, max_size=12).map(np.array)


@given(tables)
def test_no_other_weights_are_likelier(densities: Any) -> None:
    mixture = Mixture(densities, np.ones(len(densities)))
    found = mixture.fit()
    assert found.converged
    assert found.weights.sum() == pytest.approx(1)
    assert (np.diff(found.trace) >= -1e-9 * max(1, abs(found.log_likelihood))).all()
    grid = [(i / 20, j / 20, 1 - (i + j) / 20) for i in range(21) for j in range(21 - i)]
    best = max(float(np.log(densities @ np.array(weights)).sum()) for weights in grid)
    # The certificate bounds what any other weights could gain.
    assert best <= found.log_likelihood + found.gap + 1e-9


def test_two_components_in_closed_form() -> None:
    found = Mixture(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([30.0, 70.0])).fit()
    # Shares (0.3, 0.7) = A pi has the solution pi = (1/6, 5/6).
    np.testing.assert_allclose(found.weights, [1 / 6, 5 / 6], atol=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_of_pure_components_are_those_of_a_share(level: float) -> None:
    counts = np.array([30.0, 70.0])
    low, high = Mixture(np.eye(2), counts).profile_interval(0, level)

    def loss(p: float) -> float:
        return 2 * float(counts @ (np.log([0.3, 0.7]) - np.log([p, 1 - p])))

    for end in (low, high):
        assert loss(end) == pytest.approx(stats.chi2(1).ppf(level), rel=1e-5)


def test_intervals_end_at_the_border() -> None:
    low, high = Mixture(np.eye(3), np.array([1e-9, 40.0, 60.0])).profile_interval(0, 0.95)
    assert low < 1e-9
    assert 0.005 < high < 0.05
    assert Mixture(np.ones((4, 2)), np.ones(4)).profile_interval(0, 0.95) == (0.0, 1.0)


def test_profile_holds_one_weight_and_maximizes_the_others() -> None:
    rng = np.random.default_rng(0)
    mixture = Mixture(rng.random((40, 3)) + 0.05, np.ones(40))
    start = np.array([0.5, 0.3, 0.2])
    found = mixture.fit(start, held=0)
    assert found.weights[0] == 0.5
    tried = [
        float(np.log(mixture.densities @ np.array([0.5, q, 0.5 - q])).sum())
        for q in np.linspace(0, 0.5, 501)
    ]
    assert found.log_likelihood == pytest.approx(max(tried), abs=1e-4)
    assert found.log_likelihood >= max(tried) - 1e-8
