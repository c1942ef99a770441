"""Inference: values of another implementation, closed forms, and calibrated errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError, ModelFileError
from novum.linear.logistic.regression import LogisticRegression
from tests.linear.logistic_tables import SMALL_X, SMALL_Y, SMALL_Y3, logistic_table

INF = float("inf")


def test_values_of_statsmodels() -> None:
    found = LogisticRegression(C=INF).fit(SMALL_X, SMALL_Y).inference()
    assert found.names == ("intercept", "x0", "x1")
    np.testing.assert_allclose(
        found.coef, [-2.668090313870614, 0.7498365695826523, 2.0170914797214925], rtol=1e-10
    )
    np.testing.assert_allclose(
        found.standard_errors, [1.7601859986000903, 0.6922004157754056, 1.4716217868887933],
        rtol=1e-9,
    )  # fmt: skip
    np.testing.assert_allclose(
        found.p_values, [0.12956987786883162, 0.27869076056509323, 0.17048131686165013], rtol=1e-9
    )
    assert found.log_likelihood == pytest.approx(-6.003537440632753, rel=1e-12)
    assert found.null_log_likelihood == pytest.approx(-8.317766166719343, rel=1e-12)
    test = found.likelihood_ratio
    assert test.statistic == pytest.approx(4.62845745217318, rel=1e-11)
    assert test.p_value == pytest.approx(0.09884238916712972, rel=1e-10)
    assert found.aic == pytest.approx(18.007074881265506, rel=1e-11)
    assert found.bic == pytest.approx(19.461794830629508, rel=1e-11)
    assert found.pseudo_r_squared == pytest.approx(0.2782271922173256, rel=1e-10)


def test_values_of_statsmodels_for_three_classes() -> None:
    model = LogisticRegression(C=INF).fit(SMALL_X, SMALL_Y3)
    found = model.inference()
    assert (found.classes, found.reference) == ((1, 2), 0)
    coef = [
        [-0.9363727097556097, 0.1673669898094466, 1.25360551287689],
        [-0.3691796604549205, 0.24754211510231644, -0.8942524821342062],
    ]
    errors = [
        [1.5289409302917043, 0.6207826004082556, 1.5729872012978419],
        [1.4812592138484058, 0.7262816787681666, 1.708876386934022],
    ]
    np.testing.assert_allclose(found.coef, coef, rtol=1e-9)
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-9)
    test = found.likelihood_ratio
    assert test.degrees_of_freedom == 4
    assert test.p_value == pytest.approx(0.7232605602545271, rel=1e-9)
    other = model.inference(reference=2)
    np.testing.assert_allclose(other.coef[0], -found.coef[1], rtol=1e-9)
    np.testing.assert_allclose(other.standard_errors[0], found.standard_errors[1], rtol=1e-9)


def test_a_two_by_two_table_has_a_closed_form() -> None:
    # Odds ratio ad / bc, variance of its logarithm 1/a + 1/b + 1/c + 1/d.
    a, b, c, d = 12, 5, 7, 20
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y, weight = np.array([0, 1, 0, 1]), np.array([a, b, c, d], float)
    found = LogisticRegression(C=INF).fit(X, y, weight).inference()
    assert found.odds_ratios[1] == pytest.approx(a * d / (b * c), rel=1e-10)
    error = math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    assert found.standard_errors[1] == pytest.approx(error, rel=1e-9)
    assert found.standard_errors[0] == pytest.approx(math.sqrt(1 / a + 1 / b), rel=1e-9)
    reach = stats.norm.ppf(0.95) * error
    ends = found.odds_ratio_intervals(0.9)[1]
    middle = math.log(a * d / (b * c))
    assert ends == pytest.approx(np.exp([middle - reach, middle + reach]), rel=1e-8)
    observed = np.array([[a, b], [c, d]])
    g, p, *_ = stats.chi2_contingency(observed, correction=False, lambda_="log-likelihood")
    assert found.likelihood_ratio.statistic == pytest.approx(g, rel=1e-9)
    assert found.likelihood_ratio.p_value == pytest.approx(p, rel=1e-9)


def test_wald_tests_of_several_names() -> None:
    X, y = logistic_table(300, 3, 3)
    found = LogisticRegression(C=INF).fit(X, y).inference()
    at = [1, 3, 5, 7]
    b, V = found.coef.ravel()[at], found.covariance_matrix[np.ix_(at, at)]
    test = found.wald_test("x0", "x2")
    assert test.statistic == pytest.approx(b @ np.linalg.inv(V) @ b, rel=1e-10)
    assert test.p_value == pytest.approx(stats.chi2.sf(test.statistic, 4), rel=1e-10)
    one = LogisticRegression(C=INF).fit(X, y > 0).inference()
    assert one.wald_test("x1").p_value == pytest.approx(float(one.p_values[2]), rel=1e-9)
    with pytest.raises(InputError, match="is not among the names"):
        found.wald_test("x9")


def test_units_change_errors_as_they_change_coefficients() -> None:
    X, y = logistic_table(100, 2)
    units = np.array([1e8, 1e-8])
    a = LogisticRegression(C=INF).fit(X, y).inference()
    b = LogisticRegression(C=INF).fit(X * units + 3 * units, y).inference()
    np.testing.assert_allclose(b.standard_errors[1:] * units, a.standard_errors[1:], rtol=1e-8)
    np.testing.assert_allclose(b.z_values[1:], a.z_values[1:], rtol=1e-8)


@pytest.mark.slow
def test_intervals_cover_and_p_values_are_uniform() -> None:
    # 400 tables of 300 rows: coverage of 95 % has a standard error of 1.1 %.
    truth, covered, tests = np.array([0.3, 0.8, 0.0]), np.zeros(3), []
    rng = np.random.default_rng(0)
    for _ in range(400):
        X = rng.normal(size=(300, 2))
        y = (truth[0] + X @ truth[1:] + rng.logistic(size=300) > 0).astype(int)
        found = LogisticRegression(C=INF).fit(X, y).inference()
        ends = found.intervals()
        covered += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        tests.append(float(found.p_values[2]))
    assert (np.abs(covered / 400 - 0.95) < 0.044).all()
    assert stats.kstest(tests, "uniform").pvalue > 1e-3


def test_text_and_damaged_summaries() -> None:
    model = LogisticRegression(C=INF).fit(SMALL_X, SMALL_Y3)
    found = model.inference()
    assert "1 against 0" in repr(found)
    assert found._repr_html_().startswith("<pre>")
    with pytest.raises(InputError, match="between 0 and 1"):
        found.intervals(95)
    summary = model.summary_
    summary.check(3, 2)
    with pytest.raises(ModelFileError, match="does not fit"):
        summary.check(4, 2)
