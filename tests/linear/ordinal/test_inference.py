"""Inference: Wald and likelihood-ratio tests by hand, odds by definition, and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.linear.ordinal.inference import OrdinalInference
from novum.linear.ordinal.regression import OrdinalRegression

FOUND = OrdinalInference(
    names=("age", "size", "a|b", "b|c"),
    n_coefs=2,
    values=np.array([0.5, -1.0, -0.2, 1.0]),
    standard_errors=np.array([0.25, 0.5, 0.1, 0.2]),
    log_likelihood=-90.0,
    null_log_likelihood=-100.0,
    rank=2,
    weight=80.0,
    link="logit",
)


def test_numbers_by_hand() -> None:
    np.testing.assert_allclose(FOUND.z_values, [2, -2, -2, 5])
    np.testing.assert_allclose(FOUND.p_values, 2 * stats.norm.sf([2, 2, 2, 5]), rtol=1e-12)
    np.testing.assert_allclose(FOUND.coef, [0.5, -1.0])
    np.testing.assert_allclose(FOUND.thresholds, [-0.2, 1.0])
    reach = stats.norm.ppf(0.975) * FOUND.standard_errors
    np.testing.assert_allclose(FOUND.intervals()[:, 0], FOUND.values - reach)
    np.testing.assert_allclose(FOUND.intervals(0.5)[:, 1] - FOUND.values,
                               stats.norm.ppf(0.75) * FOUND.standard_errors)  # fmt: skip
    np.testing.assert_allclose(FOUND.odds_ratios, np.exp([0.5, -1.0]))
    np.testing.assert_allclose(FOUND.odds_ratio_intervals(), np.exp(FOUND.intervals()[:2]))
    assert FOUND.likelihood_ratio == 20
    assert FOUND.likelihood_ratio_p_value == pytest.approx(stats.chi2.sf(20, 2))
    assert FOUND.pseudo_r_squared == pytest.approx(0.1)
    assert FOUND.aic == 2 * 4 + 180
    assert FOUND.bic == pytest.approx(4 * np.log(80) + 180)


def test_text_names_every_value() -> None:
    text = repr(FOUND)
    assert all(name in text for name in FOUND.names)
    assert "likelihood ratio 20 on 2 degrees" in text
    assert "a|b" in FOUND._repr_html_()


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        FOUND.intervals(1.5)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 1)), np.arange(60) % 3
    with pytest.raises(InputError, match="Odds ratios belong to the logit link"):
        _ = OrdinalRegression("probit").fit(X, y).inference().odds_ratios


def test_odds_ratios_are_ratios_of_odds() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0] + rng.logistic(size=200), [-1, 1])
    model = OrdinalRegression().fit(X, y)
    above = 1 - model.predict_cumulative(np.array([[0.3, 0.1], [1.3, 0.1]]))[:, :-1]
    odds = above / (1 - above)
    # The same factor at every threshold: the odds are proportional.
    np.testing.assert_allclose(odds[1] / odds[0], model.inference().odds_ratios[0], rtol=1e-9)


def test_the_null_likelihood_is_that_of_the_shares() -> None:
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(50, 2)), np.arange(50) % 3, rng.uniform(1, 2, 50)
    found = OrdinalRegression().fit(X, y, weight).inference()
    null = OrdinalRegression().fit(np.zeros((50, 1)), y, weight).inference()
    assert found.null_log_likelihood == pytest.approx(null.log_likelihood, rel=1e-12)
    assert found.weight == pytest.approx(weight.sum())
    assert null.likelihood_ratio == pytest.approx(0, abs=1e-9)
    assert np.isnan(null.likelihood_ratio_p_value)


@pytest.mark.slow
def test_intervals_cover_and_p_values_are_uniform() -> None:
    """300 tables without an effect: 95 % of intervals hold 0, and the tests are not off."""
    p_values, covered, joint = [], 0, []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 2)), rng.integers(0, 3, 150)
        found = OrdinalRegression().fit(X, y).inference()
        p_values.append(found.p_values[0])
        joint.append(found.likelihood_ratio_p_value)
        low, high = found.intervals()[0]
        covered += low <= 0 <= high
    # Four standard deviations of a share of 0.95 among 300 are 0.05.
    assert abs(covered / 300 - 0.95) < 0.05
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3
    assert stats.kstest(joint, "uniform").pvalue > 1e-3
