"""Diagnostics: scipy, formulas by regression, nominal level under noise, power where it counts."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from novum.evaluation.reports.residuals import autocorrelations, diagnose


def _named(true: Any, predicted: Any) -> Any:
    return {check.name: check for check in diagnose(true, predicted)}


def _noise(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 10, n)
    return p, rng.normal(size=n)


def test_bias_and_normality_are_scipys() -> None:
    p, e = _noise()
    found = _named(p + e, p)
    theirs = stats.ttest_1samp(p + e - p, 0)
    assert found["bias"].statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert found["bias"].p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    theirs = stats.normaltest(p + e - p)
    assert found["normality"].p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_slope_is_tested_against_one() -> None:
    p, e = _noise()
    found = _named(0.5 * p + e, p)["slope"]
    design = np.column_stack([np.ones_like(p), p])
    coef, rss, *_ = np.linalg.lstsq(design, 0.5 * p + e, rcond=None)
    error = np.sqrt(rss[0] / 298 * np.linalg.inv(design.T @ design)[1, 1])
    assert found.statistic == pytest.approx((coef[1] - 1) / error, rel=1e-9)
    assert found.verdict() == "a pattern"


def test_heteroscedasticity_is_n_times_r_squared() -> None:
    p, e = _noise()
    e = e * (0.2 + p)
    found = _named(p + e, p)["heteroscedasticity"]
    centered = e - e.mean()
    line = stats.linregress(p, centered**2)
    assert found.statistic == pytest.approx(300 * line.rvalue**2, rel=1e-6)
    assert found.p_value < 1e-6
    assert "grows" in found.detail


def test_autocorrelation_is_ljung_and_boxs() -> None:
    rng = np.random.default_rng(1)
    e = rng.normal(size=200)
    for row in range(1, 200):
        e[row] += 0.6 * e[row - 1]
    p = rng.normal(size=200)
    found = _named(p + e, p)["autocorrelation"]
    r = autocorrelations(e, 10)
    direct = [np.sum((e - e.mean())[k:] * (e - e.mean())[:-k]) for k in range(1, 11)]
    np.testing.assert_allclose(r, direct / np.sum((e - e.mean()) ** 2), rtol=1e-9)
    q = 200 * 202 * np.sum(r**2 / (200 - np.arange(1, 11)))
    assert found.statistic == pytest.approx(q, rel=1e-6)
    assert found.p_value < 1e-6


@pytest.mark.slow
def test_noise_is_called_a_pattern_at_the_nominal_rate() -> None:
    alarms, trials = (
        dict.fromkeys(("bias", "slope", "heteroscedasticity", "autocorrelation"), 0),
        400,
    )
    for seed in range(trials):
        p, e = _noise(200, seed)
        found = _named(p + e, p)
        for name in alarms:
            alarms[name] += found[name].verdict(0.95) == "a pattern"
    for name, count in alarms.items():
        # Four standard errors of a share of 400 trials are 0.044.
        assert abs(count / trials - 0.05) < 0.044, name


def test_too_few_or_constant_values_are_not_tested() -> None:
    for true, predicted in (
        (np.array([1.0, 2.0]), np.array([1.0, 2.0])),
        (np.full(30, 3.0), np.full(30, 2.9)),
    ):
        assert {check.verdict() for check in diagnose(true, predicted)} == {"not tested"}
