"""Inference: rational standard errors, closed forms of tails, coverage and uniform p values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError, NotAdditiveError
from novum.linear import LinearInference, LinearRegression
from novum.linear.least_squares.inference import inverse_root
from novum.linear.least_squares.solution import Design
from novum.numerics import Floats
from tests.linear.tables import integer_tables, normal_table
from tests.oracles.rational_least_squares import (
    exact_least_squares,
    exact_residual_squares,
    exact_standard_errors,
)


def inferred(X: object, y: object, weight: object = None, **params: bool) -> LinearInference:
    return LinearRegression(**params).fit(X, y, weight).inference()


# --- Truth ----------------------------------------------------------------------------------------


@given(integer_tables(max_columns=2, max_rows=9), st.booleans())
def test_standard_errors_are_the_rational_ones(
    table: tuple[Floats, Floats, Floats], intercept: bool
) -> None:
    X, y, weight = table
    found = inferred(X, y, weight, fit_intercept=intercept)
    Z = np.column_stack([np.ones(len(X)), X]) if intercept else X
    rank = np.linalg.matrix_rank(Z)
    assert found.degrees_of_freedom == weight.sum() - rank
    if rank < Z.shape[1]:
        assert np.isnan(found.standard_errors).any()
        return
    if found.degrees_of_freedom == 0:
        assert np.isnan(found.standard_errors).all()
        return
    rows, targets, w = X.tolist(), y.tolist(), weight.tolist()
    exact = exact_standard_errors(rows, targets, w, intercept=intercept)
    constant, coef = exact_least_squares(rows, targets, w, intercept=intercept)
    rss = exact_residual_squares(rows, targets, constant, coef, w)
    size = np.sqrt((weight * y**2).sum()) + 1e-300
    # A residual is what remains of targets that carry rounding errors of their own size.
    deviation = math.sqrt(rss / (weight.sum() - rank))
    assert found.residual_deviation == pytest.approx(deviation, rel=1e-11, abs=1e-13 * size)
    if deviation > 1e-6 * size:
        np.testing.assert_allclose(found.standard_errors, exact, rtol=1e-10)


def test_the_formulas_on_a_line() -> None:
    """Montgomery, Peck and Vining, eq. 2.18 to 2.25, by hand for x = 0..3, y = 1 2 2 3."""
    found = inferred([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 3.0])
    assert found.names == ("intercept", "x0")
    np.testing.assert_allclose(found.coef, [1.1, 0.6], rtol=1e-14)
    # RSS 0.2 on 2 degrees of freedom; Sxx 5, mean 1.5; total 2.
    sigma = math.sqrt(0.1)
    assert found.residual_deviation == pytest.approx(sigma, rel=1e-13)
    errors = [sigma * math.sqrt(1 / 4 + 1.5**2 / 5), sigma / math.sqrt(5)]
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-13)
    assert found.r_squared == pytest.approx(0.9, rel=1e-13)
    assert found.adjusted_r_squared == pytest.approx(0.85, rel=1e-13)
    assert found.f_value == pytest.approx(18.0, rel=1e-12)
    # On two degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
    t = found.t_values
    np.testing.assert_allclose(t, [1.1 / errors[0], 0.6 / errors[1]], rtol=1e-13)
    np.testing.assert_allclose(found.p_values, 1 - t / np.sqrt(2 + t**2), rtol=1e-12)
    assert found.f_p_value == pytest.approx(found.p_values[1], rel=1e-12)


def test_one_degree_of_freedom_is_cauchy() -> None:
    found = inferred([[0.0], [1.0], [2.0]], [0.0, 2.0, 3.0])
    assert found.degrees_of_freedom == 1
    p = 1 - 2 / math.pi * np.arctan(np.abs(found.t_values))
    np.testing.assert_allclose(found.p_values, p, rtol=1e-12)
    # The 75 % point of Cauchy's law is 1, so a 50 % interval reaches one standard error.
    ends = found.intervals(0.5)
    np.testing.assert_allclose(ends[:, 1] - found.coef, found.standard_errors, rtol=1e-12)
    np.testing.assert_allclose(found.coef - ends[:, 0], found.standard_errors, rtol=1e-12)


def test_tails_agree_with_another_implementation() -> None:
    X, y = normal_table(30, 3, noise=4.0)
    found = inferred(X, y)
    np.testing.assert_allclose(
        found.p_values, 2 * stats.t.sf(np.abs(found.t_values), 26), rtol=1e-11
    )
    assert found.f_p_value == pytest.approx(stats.f.sf(float(found.f_value), 3, 26), rel=1e-10)
    half = stats.t.ppf(0.95, 26) * found.standard_errors
    np.testing.assert_allclose(found.intervals(0.9)[:, 0], found.coef - half, rtol=1e-11)


def test_tiny_tails_do_not_round_to_zero() -> None:
    X, y = normal_table(30, 1, noise=1e-4)
    found = inferred(X, y)
    assert 0 < found.p_values[1] < 1e-100
    assert 0 < found.f_p_value < 1e-100


def test_root_of_the_inverse() -> None:
    X, y = normal_table(20, 3)
    design = Design.of(LinearRegression().statistics(X, y), False)
    root = inverse_root(design)
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(X.T @ X), rtol=1e-12)
    twice = Design.of(LinearRegression().statistics(np.column_stack([X, X[:, 0]]), y), False)
    root = inverse_root(twice)
    Z = np.column_stack([X, X[:, 0]])
    np.testing.assert_allclose(root @ root.T, np.linalg.pinv(Z.T @ Z), rtol=1e-9, atol=1e-12)


# --- Weights, targets, units ----------------------------------------------------------------------


def assert_same(a: LinearInference, b: LinearInference, rtol: float = 1e-11) -> None:
    for name in ("coef", "standard_errors", "t_values", "p_values", "residual_deviation"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)
    for name in ("r_squared", "adjusted_r_squared", "f_value", "f_p_value", "degrees_of_freedom"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_repetitions(intercept: bool) -> None:
    X, y = normal_table(25, 2)
    weight = np.random.default_rng(0).integers(0, 4, 25)
    weighted = inferred(X, y, weight.astype(float), fit_intercept=intercept)
    repeated = inferred(np.repeat(X, weight, 0), np.repeat(y, weight), fit_intercept=intercept)
    assert_same(weighted, repeated)


def test_several_targets_are_inferred_one_by_one() -> None:
    X, y = normal_table(25, 2)
    Y = np.column_stack([y, np.cos(y)])
    both = inferred(X, Y)
    assert both.coef.shape == both.standard_errors.shape == both.p_values.shape == (2, 3)
    assert both.intervals().shape == (2, 3, 2)
    for t in range(2):
        one = inferred(X, Y[:, t])
        np.testing.assert_allclose(both.standard_errors[t], one.standard_errors, rtol=1e-12)
        np.testing.assert_allclose(both.p_values[t], one.p_values, rtol=1e-11)
        assert both.r_squared[t] == pytest.approx(one.r_squared, rel=1e-13)
    text = repr(both)
    assert "target 0" in text
    assert "target 1" in text


def test_units_and_offsets_do_not_matter() -> None:
    X, y = normal_table(25, 2)
    plain = inferred(X, y)
    moved = inferred((X + 1e6) * [2.0**27, 2.0**-27], y)
    np.testing.assert_allclose(moved.t_values[1:], plain.t_values[1:], rtol=1e-8)
    assert moved.r_squared == pytest.approx(plain.r_squared, rel=1e-9)
    for size in (1e150, 1e-150, 1e-200):
        scaled = inferred(X, y * size)
        np.testing.assert_allclose(scaled.t_values, plain.t_values, rtol=1e-11)
        assert scaled.r_squared == pytest.approx(plain.r_squared, rel=1e-12)
        assert scaled.f_value == pytest.approx(plain.f_value, rel=1e-11)
        other = inferred(X * size, y)
        np.testing.assert_allclose(other.t_values, plain.t_values, rtol=1e-11)


def test_r_squared_is_relative_to_zero_without_an_intercept() -> None:
    X, y = normal_table(25, 2)
    found = inferred(X, y, fit_intercept=False)
    rss = float(((y - X @ found.coef) ** 2).sum())
    assert found.r_squared == pytest.approx(1 - rss / float((y**2).sum()), rel=1e-12)
    assert found.names == ("x0", "x1")
    assert found.degrees_of_freedom == 23


# --- What is not determined -----------------------------------------------------------------------


def test_coefficients_that_are_not_determined_have_no_standard_error() -> None:
    X, y = normal_table(25, 2)
    found = inferred(np.column_stack([X, X[:, 0]]), y)
    assert np.isnan(found.standard_errors).tolist() == [False, True, False, True]
    plain = inferred(X, y)
    assert found.standard_errors[2] == pytest.approx(plain.standard_errors[2], rel=1e-10)
    assert found.degrees_of_freedom == plain.degrees_of_freedom == 22
    assert found.r_squared == pytest.approx(plain.r_squared, rel=1e-12)
    # A column equal to a level plus its complement takes the intercept with it.
    color = pd.DataFrame({"color": ["a", "b"] * 5, "same": [0.0, 1.0] * 5})
    assert np.isnan(inferred(color, np.arange(10.0)).standard_errors).tolist() == [
        False,
        True,
        True,
    ]
    offset = pd.DataFrame({"color": ["a", "b"] * 5, "same": [5.0, 6.0] * 5})
    assert np.isnan(inferred(offset, np.arange(10.0)).standard_errors).all()


@pytest.mark.parametrize("seed", range(20))
def test_collinear_standardized_columns_leave_the_intercept_its_error(seed: int) -> None:
    """Means of 1e-17 are rounding errors: they say nothing about the intercept, in any units."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(30, 3)).astype(float)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), rng.normal(size=30)
    expected = np.sqrt(((y - inferred_mean(X, y)) ** 2).sum() / 26 / 30)
    for unit in (np.ones(4), np.array([1e6, 1.0, 1e-6, 1e3])):
        errors = inferred(X * unit, y).standard_errors
        assert errors[0] == pytest.approx(expected, rel=1e-9)
        assert np.isnan(errors).tolist() == [False, True, True, False, True]
        robust = LinearRegression().fit(X * unit, y).inference(X * unit, y, covariance="HC0")
        assert np.isfinite(robust.standard_errors[0])


def inferred_mean(X: Floats, y: Floats) -> Floats:
    return LinearRegression().fit(X, y).predict(X)


def test_units_of_other_columns_do_not_hide_an_open_intercept() -> None:
    rng = np.random.default_rng(0)
    twice = rng.normal(size=25)
    X = np.column_stack([1e12 + 1e11 * rng.normal(size=25), twice, twice + 3.0])
    assert np.isnan(inferred(X, rng.normal(size=25)).standard_errors).tolist() == [
        True,
        False,
        True,
        True,
    ]


def test_no_freedom_no_errors() -> None:
    found = inferred([[0.0], [1.0]], [1.0, 3.0])
    assert found.degrees_of_freedom == 0
    np.testing.assert_allclose(found.coef, [1.0, 2.0], rtol=1e-14)
    for values in (found.standard_errors, found.p_values, found.intervals()):
        assert np.isnan(values).all()
    assert math.isnan(found.residual_deviation)
    assert found.r_squared == pytest.approx(1.0)
    one = inferred([[2.0]], [5.0])
    assert np.isnan(one.standard_errors).all()
    assert math.isnan(one.r_squared)


def test_perfect_and_constant_targets() -> None:
    X, _ = normal_table(20, 2)
    perfect = inferred(X, X @ [1.0, 2.0] + 3)
    assert perfect.r_squared == pytest.approx(1.0, abs=1e-15)
    assert perfect.residual_deviation < 1e-13
    assert (perfect.p_values < 1e-100).all()
    constant = inferred(X, np.full(20, 0.1))
    assert math.isnan(constant.r_squared)
    assert constant.residual_deviation == 0.0
    no_column = inferred(pd.DataFrame({"color": ["red"] * 4}), [1.0, 2.0, 3.0, 4.0])
    assert no_column.r_squared == 0.0
    # The mean alone: its standard error is the deviation over the root of n.
    assert no_column.standard_errors[0] == pytest.approx(math.sqrt(5 / 3 / 4), rel=1e-13)


# --- Simulation -----------------------------------------------------------------------------------


def simulated(n_simulations: int, covariates: int) -> LinearInference:
    """Many targets on one design, none of which depends on it: one fit for all."""
    rng = np.random.default_rng(20240501)
    X = rng.normal(size=(15, covariates)) ** 3
    return inferred(X, 7.0 + 2.0 * rng.normal(size=(15, n_simulations)))


def test_p_values_are_uniform_under_the_null() -> None:
    found = simulated(2000, 3)
    for p in (*found.p_values[:, 1:].T, found.f_p_value):
        # Kolmogorov's distance on 2000 values exceeds 0.0436 once in 1000 (alpha = 1e-3, n = 2000).
        assert stats.kstest(p, "uniform").statistic < 0.0436


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_cover_as_often_as_they_say(confidence: float) -> None:
    found = simulated(2000, 2)
    ends, truth = found.intervals(confidence), np.array([7.0, 0.0, 0.0])
    covered = ((ends[..., 0] <= truth) & (truth <= ends[..., 1])).mean(axis=0)
    # Four standard deviations of a share of 2000: false alarms once in 16,000 shares.
    assert (
        np.abs(covered - confidence) < 4 * math.sqrt(confidence * (1 - confidence) / 2000)
    ).all()


# --- The report, the rules ------------------------------------------------------------------------


def test_report_is_readable() -> None:
    X = pd.DataFrame({"<b>dose</b>": [0.0, 1.0, 2.0, 3.0]})
    found = inferred(X, [1.0, 2.0, 2.0, 3.0])
    text = repr(found)
    for part in ("intercept", "<b>dose</b>", "95 % interval", "R2 0.9000 (adjusted 0.8500)",
                 "on 2 degrees of freedom, classical covariance"):  # fmt: skip
        assert part in text
    assert "&lt;b&gt;dose" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    hostile = inferred(pd.DataFrame({"x\x1b[2J": [0.0, 1.0, 2.0]}), [1.0, 2.0, 2.0])
    assert "\x1b" not in repr(hostile)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
def test_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1, got"):
        inferred(*normal_table(10, 1)).intervals(confidence)


def test_inference_is_refused_where_it_would_be_wrong() -> None:
    X, y = normal_table(20, 2)
    with pytest.raises(InputError, match="cut off at 0"):
        inferred(X, y, positive=True)
    with pytest.raises(NotAdditiveError, match=r"solver='auto'"):
        LinearRegression(solver="lsqr").fit(X, y).inference()
    with pytest.raises(InputError, match=r"'HC9' is not known; choose one of \('classical', 'HC0'"):
        LinearRegression().fit(X, y).inference(X, y, covariance="HC9")  # type: ignore[arg-type]
