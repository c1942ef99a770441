"""Leverages and leave-one-out: the hat matrix, refitting in rational arithmetic, unsafe rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut

from novum.core.errors import NotAdditiveError
from novum.core.sums import exact_cross_val_predict
from novum.linear import LinearRegression, Ridge
from novum.linear.least_squares.inference import leave_one_out, leverages, penalized_inverse
from novum.linear.least_squares.solution import Design, solve
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.numerics import Floats
from tests.linear.tables import integer_tables, normal_table, sample_of
from tests.oracles.rational_least_squares import predictions_without


def one_by_one(n: int) -> list[list[int]]:
    return [[i] for i in range(n)]


def left_out(model: LinearRegression, X: object, y: Floats, weight: object = None) -> Floats:
    return exact_cross_val_predict(model, X, y, LeaveOneOut(), sample_weight=weight)


def hat_matrix(X: Floats, weight: Floats, alpha: float, intercept: bool) -> Floats:
    Z = np.column_stack([np.ones(len(X)), X]) if intercept else X
    penalty = alpha * np.eye(Z.shape[1])
    if intercept:
        penalty[0, 0] = 0.0
    return Z @ np.linalg.solve((Z.T * weight) @ Z + penalty, Z.T * weight)


# --- Leverage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("intercept", [True, False])
def test_leverages_are_the_diagonal_of_the_hat_matrix(alpha: float, intercept: bool) -> None:
    X, y = normal_table(20, 3)
    weight = np.random.default_rng(0).uniform(0.5, 3.0, 20)
    sample = sample_of(X, y, weight)
    design = Design.of(LeastSquaresStatistics.of(sample), intercept)
    found = leverages(sample, design, alpha, intercept)
    hat = hat_matrix(X, weight, alpha, intercept)
    np.testing.assert_allclose(found, np.diag(hat), rtol=1e-12)
    found_inverse = penalized_inverse(design, alpha) @ np.eye(3)
    x = X - np.average(X, axis=0, weights=weight) if intercept else X
    inverse = np.linalg.inv((x.T * weight) @ x + alpha * np.eye(3))
    np.testing.assert_allclose(found_inverse, inverse, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_inverse_of_a_wide_table_is_kept_by_its_rows(intercept: bool) -> None:
    X, y = normal_table(6, 15)
    sample = sample_of(X, y)
    design = Design.of(LeastSquaresStatistics.of(sample), intercept)
    x = X - X.mean(axis=0) if intercept else X
    inverse = np.linalg.inv(x.T @ x + 0.7 * np.eye(15))
    found = penalized_inverse(design, 0.7)
    assert found.root.shape[1] < 15
    others = np.random.default_rng(5).normal(size=(4, 15))
    np.testing.assert_allclose(found @ others.T, inverse @ others.T, rtol=1e-10)
    expected = np.einsum("ij,jk,ik->i", others, inverse, others)
    np.testing.assert_allclose(found.squares(others), expected, rtol=1e-11)
    plain = penalized_inverse(design, 0.0)
    np.testing.assert_allclose(plain @ np.eye(15), np.linalg.pinv(x.T @ x), atol=1e-12)


def test_leverages_sum_to_the_number_of_coefficients() -> None:
    X, y = normal_table(5000, 4)
    sample = sample_of(X + 1e8, y)
    design = Design.of(LeastSquaresStatistics.of(sample), True)
    found = leverages(sample, design, 0.0, True)
    assert found.sum() == pytest.approx(5.0, rel=1e-7)
    assert (found >= 1 / 5000).all()


def test_each_target_has_its_own_penalty() -> None:
    X, y = normal_table(15, 2)
    sample = sample_of(X, np.column_stack([y, y]))
    design = Design.of(LeastSquaresStatistics.of(sample), True)
    solution = solve(design, np.array([0.0, 5.0]))
    found, remainder = leave_one_out(sample, design, solution, True)
    for t, alpha in enumerate((0.0, 5.0)):
        slow = predictions_without(X, y, one_by_one(15), alpha=alpha)
        np.testing.assert_allclose(found[:, t], slow, rtol=1e-11)
    assert (remainder[:, 1] > remainder[:, 0]).all()


# --- Leave-one-out --------------------------------------------------------------------------------


@given(integer_tables(max_columns=2, max_rows=7), st.booleans(), st.sampled_from([0.0, 0.5]))
def test_leaving_out_is_refitting(
    table: tuple[Floats, Floats, Floats], intercept: bool, alpha: float
) -> None:
    """Small integer tables: rows of leverage 1 and missing rank are common here."""
    X, y, weight = table
    if len(X) < 2:
        return
    model = Ridge(alpha=alpha, fit_intercept=intercept)
    fast = left_out(model, X, y, weight)
    slow = predictions_without(X, y, one_by_one(len(X)), weight, intercept=intercept, alpha=alpha)
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10 * (1 + np.abs(slow).max()))


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X,
        lambda X: np.column_stack([X, np.eye(len(X))[:, 0]]),
        lambda X: np.column_stack([X, np.r_[1e4, np.cos(7 * X[1:, 0])]]),
        lambda X: np.column_stack([X, X[:, 0]]),
        lambda X: np.round(np.random.default_rng(0).normal(size=(len(X), 16)), 2),
    ],
    ids=["plain", "leverage 1", "leverage 1 - 1e-8", "collinear", "wide"],
)
def test_unsafe_rows_are_left_out_for_real(change: object) -> None:
    X, y = normal_table(14, 2)
    X = change(X)  # type: ignore[operator]
    fast = left_out(LinearRegression(), X, y)
    slow = predictions_without(X, y, one_by_one(14))
    np.testing.assert_allclose(fast, slow, rtol=1e-10)


def test_rows_of_weight_zero_are_predicted_from_the_others() -> None:
    X, y = normal_table(14, 2)
    weight = np.r_[0.0, 2.0, 0.0, np.ones(11)]
    fast = left_out(LinearRegression(), X, y, weight)
    slow = predictions_without(X, y, one_by_one(14), weight)
    np.testing.assert_allclose(fast, slow, rtol=1e-11)


def colored(n: int = 20) -> tuple[pd.DataFrame, Floats, Floats]:
    """A table whose level `z` occurs once, its targets, and its design by hand."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"color": (["a", "b", "c"] * n)[:n], "x": rng.normal(size=n)})
    frame.loc[3, "color"] = "z"
    levels = [(frame["color"] == level).to_numpy(float) for level in "bcz"]
    return frame, rng.normal(size=n), np.column_stack([*levels, frame["x"]])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_categorical_columns_are_left_out_alike(alpha: float) -> None:
    frame, y, design = colored()
    fast = left_out(Ridge(alpha=alpha), frame, y)
    slow = predictions_without(design, y, one_by_one(20), alpha=alpha)
    np.testing.assert_allclose(fast, slow, rtol=1e-10)


@pytest.mark.parametrize("cv", [KFold(4), KFold(5, shuffle=True, random_state=0), KFold(20)])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_folds_are_left_out_alike(cv: KFold, alpha: float) -> None:
    frame, y, design = colored()
    weight = np.random.default_rng(5).integers(1, 4, 20).astype(float)
    fast = exact_cross_val_predict(Ridge(alpha=alpha), frame, y, cv, sample_weight=weight)
    folds = [test.tolist() for _, test in cv.split(design)]
    slow = predictions_without(design, y, folds, weight, alpha=alpha)
    np.testing.assert_allclose(fast, slow, rtol=1e-10)


@pytest.mark.parametrize(
    "model",
    [LinearRegression(positive=True), LinearRegression(solver="gradient")],
    ids=["positive", "gradient"],
)
def test_fits_without_a_formula_are_refitted(model: LinearRegression) -> None:
    X, y = normal_table(12, 3)
    X[:, 1] *= -1  # its slope would be negative
    fast = left_out(model, X, y)
    slow = [
        model.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] for i in range(12)
    ]
    np.testing.assert_allclose(fast, slow, rtol=1e-10)


def test_fits_that_are_no_function_of_sums_are_refused() -> None:
    X, y = normal_table(12, 3)
    with pytest.raises(NotAdditiveError, match="cross_val_predict"):
        left_out(LinearRegression(solver="lsqr"), X, y)
