"""The L1 penalty: optimality conditions, scikit-learn's optimum, zeros, gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.svm import LinearSVC as Reference

from novum.svm.linear.lasso import objectives, solve_lasso
from novum.svm.linear.losses import hinge_losses
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping
from tests.oracles.linear_svm_definitions import lasso_objective
from tests.svm.linear_tables import design, overlapping, sided_tables, with_constant


def solved(X: object, side: np.ndarray, weight: np.ndarray, tol: float = 1e-9) -> LinearSolution:
    losses, stopping = hinge_losses(side, weight, squared=True), Stopping(tol, 50_000)
    rng = np.random.default_rng(0)
    return solve_lasso(design(X), losses, stopping, Budget(stopping), rng)


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0])
def test_the_optimum_is_scikit_learns(C: float) -> None:
    X, side = overlapping(80, 6)
    found = solved(X, side, np.full(80, C))
    other = Reference(penalty="l1", dual=False, C=C, tol=1e-8, max_iter=10**6).fit(X, side)
    u = np.append(other.coef_.ravel(), other.intercept_)
    value = lasso_objective(with_constant(X), side, np.full(80, C), u)
    assert found.primal <= value * (1 + 1e-9)
    np.testing.assert_allclose(found.vector, u, atol=1e-5)
    assert ((found.vector == 0) == (np.abs(u) < 1e-8)).all()


@given(sided_tables())
def test_optimality_conditions(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, side, weight = table
    found = solved(sparse.csr_matrix(X), side, weight)
    Z, u = with_constant(X), found.vector
    assert found.primal == pytest.approx(lasso_objective(Z, side, weight, u))
    slope = -Z.T @ (2 * weight * side * np.maximum(0, 1 - side * (Z @ u)))
    # The derivative is off by at most the root of the gap times the curvature.
    allowed = 1e-6 + 2 * np.sqrt(found.gap * 2 * (weight @ Z**2).max())
    assert (np.abs(slope[u == 0]) <= 1 + allowed).all()
    assert (np.abs(slope + np.sign(u))[u != 0] <= allowed).all()


@given(sided_tables())
def test_every_point_has_a_gap(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, side, weight = table
    losses, Z = hinge_losses(side, weight, squared=True), with_constant(X)
    rng = np.random.default_rng(0)
    best = solved(X, side, weight).primal
    for u in (np.zeros(Z.shape[1]), rng.standard_normal(Z.shape[1])):
        primal, dual = objectives(design(X), losses, u, 1 - side * (Z @ u))
        assert primal == pytest.approx(lasso_objective(Z, side, weight, u))
        assert dual <= best * (1 + 1e-9) + 1e-12


def test_zero_is_the_optimum_of_a_strong_penalty() -> None:
    X, side = overlapping(40)
    found = solved(X, side, np.full(40, 1e-4))
    assert not found.vector.any()
    assert found.primal == pytest.approx(40e-4)
    assert found.gap == pytest.approx(0.0, abs=1e-15)


def test_columns_of_zeros_stay_at_zero() -> None:
    X, side = overlapping(40)
    X[:, 1] = 0.0
    assert solved(X, side, np.ones(40)).vector[1] == 0.0
