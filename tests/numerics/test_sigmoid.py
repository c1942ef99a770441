"""Sigmoid fits: scikit-learn's, closed forms, weights, separation, one class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special
from sklearn.calibration import _sigmoid_calibration
from sklearn.linear_model import LogisticRegression

from novum.numerics import fit_sigmoid
from novum.numerics.calibration_maps import fit_prior_weighted, smoothed_targets

cases = st.lists(st.tuples(st.floats(-9, 9), st.booleans()), min_size=2, max_size=20)


@pytest.mark.parametrize("seed", range(4))
def test_platts_fit_is_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, w = rng.normal(size=80) * 10**seed, rng.random(80)
    t = (rng.random(80) < special.expit(s / 10**seed)).astype(float)
    found = fit_sigmoid(s, t, w)
    slope, intercept = _sigmoid_calibration(s, t, w)
    np.testing.assert_allclose(found.predict(s), special.expit(-(slope * s + intercept)), atol=1e-5)


@example([(0.0, True), (2e-243, False)])
@example([(0.0, True), (1e-301, False)])
@example([(1e-310, True), (0.0, False)])
@given(cases)
def test_the_gradient_vanishes(rows: Any) -> None:
    s, positive = (np.array(column) for column in zip(*rows, strict=True))
    found = fit_sigmoid(s, positive)
    excess = found.predict(s) - smoothed_targets(positive, np.ones(len(s)))
    assert abs(excess.sum()) < 1e-6 * len(s)
    assert abs(excess @ s) < 1e-5 * max(np.abs(s).sum(), 1e-300)
    assert found.converged


def test_separated_and_single_classes_stay_finite() -> None:
    found = fit_sigmoid([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1])
    assert 0 < found.predict([1.0])[0] < found.predict([4.0])[0] < 1
    alone = fit_sigmoid([1.0, 5.0], [1, 1])
    np.testing.assert_allclose(alone.predict([1.0, 5.0, 99.0]), 0.75)
    flat = fit_sigmoid([3.0, 3.0], [0, 1])
    assert (flat.slope, flat.predict([3.0])[0]) == (0.0, pytest.approx(0.5))


@given(cases, st.lists(st.integers(0, 3), min_size=20, max_size=20))
def test_weight_two_is_the_case_twice(rows: Any, counts: list[int]) -> None:
    s, positive = (np.array(column) for column in zip(*rows, strict=True))
    weight = np.array([1, *counts])[: len(s)]
    one = fit_sigmoid(s, positive, weight)
    two = fit_sigmoid(np.repeat(s, weight), np.repeat(positive, weight))
    np.testing.assert_allclose(one.predict(s), two.predict(s), atol=1e-6)


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.75])
def test_prior_weighted_fit_is_weighted_logistic_regression(prior: float) -> None:
    rng = np.random.default_rng(0)
    t = np.arange(200) % 4 == 0
    s = rng.normal(size=200) + t
    found = fit_prior_weighted(s, t, prior)
    weight = np.where(t, prior / t.sum(), (1 - prior) / (~t).sum())
    line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(
        s[:, None], t, sample_weight=200 * weight
    )
    assert found.slope == pytest.approx(line.coef_[0, 0], rel=1e-4)
    assert found.intercept == pytest.approx(line.intercept_[0] - special.logit(prior), abs=1e-4)


def test_ratios_do_not_depend_on_the_shares_of_the_classes() -> None:
    rng = np.random.default_rng(0)
    t = np.arange(200) % 2 == 0
    s = rng.normal(size=200) + t
    one = fit_prior_weighted(s, t, 0.3)
    two = fit_prior_weighted(s, t, 0.3, np.where(t, 5.0, 1.0))
    assert (one.slope, one.intercept) == pytest.approx((two.slope, two.intercept), rel=1e-7)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="prior lies between 0 and 1"):
        fit_prior_weighted([0.0, 1.0], [0, 1], 1.0)
    with pytest.raises(ValueError, match="both classes"):
        fit_prior_weighted([0.0, 1.0], [1, 1])
    with pytest.raises(ValueError, match="Row 0 has the score inf"):
        fit_sigmoid([np.inf, 1.0], [0, 1])
