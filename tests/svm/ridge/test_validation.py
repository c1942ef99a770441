"""Rows left out by formula equal rows left out for real."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.ridge.solution import LeaveOneOut


def refitted(model: KernelRidge, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Predictions of every row by a model fitted without one copy of it."""
    found = []
    for i in range(len(X)):
        left = weight.copy()
        left[i] -= min(left[i], 1.0)
        found.append(model.fit(X, y, left).predict(X[i : i + 1])[0])
    return np.array(found)


@given(
    st.integers(3, 9),
    st.sampled_from([1, 2]),
    st.sampled_from(["linear", "rbf", "poly"]),
    st.floats(0.01, 10.0),
    st.integers(0, 10**6),
)
def test_formula_and_refits_agree(n: int, t: int, kernel: str, alpha: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=(n, t))
    y = y[:, 0] if t == 1 else y
    weight = rng.choice([0.5, 1.0, 2.0, 3.0], n)
    model = KernelRidge(alpha, kernel=kernel, gamma=0.5)
    found = model.leave_one_out(X, y, weight)
    np.testing.assert_allclose(
        found.predictions, refitted(model, X, y, weight), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(found.residuals, y - found.predictions, atol=1e-12)


def test_duplicates_are_left_out_one_by_one() -> None:
    X, y = np.array([[1.0], [1.0], [3.0], [2.0]]), np.array([1.0, 1.0, 2.0, 5.0])
    model = KernelRidge(0.3)
    found = model.leave_one_out(X, y).predictions
    expected = [
        model.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] for i in range(4)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_leverages_are_the_diagonal_of_the_hat_matrix() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    alpha = 0.7
    K = X @ X.T
    hat = K @ np.linalg.inv(K + alpha * np.eye(12))
    found = KernelRidge(alpha).leave_one_out(X, y)
    np.testing.assert_allclose(found.leverages, np.diagonal(hat), atol=1e-12)
    assert found.degrees_of_freedom == pytest.approx(np.trace(hat))
    assert found.mean_squared_error == pytest.approx(np.mean(found.residuals**2))


def test_rows_of_weight_zero_have_no_prediction() -> None:
    found = KernelRidge(1.0).leave_one_out([[1.0], [2.0], [9.0]], [1.0, 2.0, 0.0], [1.0, 1.0, 0.0])
    assert isinstance(found, LeaveOneOut)
    assert np.isnan(found.predictions).tolist() == [False, False, True]
    np.testing.assert_allclose(found.predictions[:2], [0.8, 1.0])


def test_interpolation_can_be_left_out_where_the_matrix_is_regular() -> None:
    x = np.array([[0.0], [1.0], [2.5], [4.0]])
    y = np.array([1.0, 2.0, 0.0, 1.0])
    model = KernelRidge(0.0, kernel="rbf", gamma=0.5)
    found = model.leave_one_out(x, y).predictions
    np.testing.assert_allclose(found, refitted(model, x, y, np.ones(4)), rtol=1e-8)


def test_a_singular_matrix_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match=r"alpha=0: the kernel matrix is singular.*larger alpha"):
        KernelRidge(0.0).leave_one_out([[1.0], [2.0], [3.0]], [1.0, 2.0, 0.0])


def test_strengths_of_each_target() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(8, 2)), rng.normal(size=(8, 2))
    both = KernelRidge([0.1, 5.0], kernel="rbf").leave_one_out(X, y)
    for t, alpha in enumerate((0.1, 5.0)):
        one = KernelRidge(alpha, kernel="rbf").leave_one_out(X, y[:, t])
        np.testing.assert_allclose(both.predictions[:, t], one.predictions, rtol=1e-9)
        assert both.degrees_of_freedom[t] == pytest.approx(one.degrees_of_freedom)
