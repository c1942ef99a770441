"""Newton's method with proximal rounds: optima, proofs, starts from every tenth row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import optimize, sparse

from novum.svm.linear.losses import RowLosses, hinge_losses, tube_losses
from novum.svm.linear.proximal import solve_newton
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping
from tests.oracles.linear_svm_definitions import (
    dual_coordinate_descent,
    hinge_objective,
    tube_objective,
)
from tests.svm.linear_tables import design, line, overlapping, sided_tables, with_constant


def solved(X: np.ndarray, losses: RowLosses, **more: float) -> LinearSolution:
    stopping = Stopping(more.get("tol", 1e-3), int(more.get("max_iter", 1000)))
    return solve_newton(design(X, more.get("constant", 1.0)), losses, stopping, Budget(stopping))


@given(sided_tables())
def test_the_optimum_of_the_hinge(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, side, weight = table
    Z = with_constant(X)
    for squared in (False, True):
        found = solved(X, hinge_losses(side, weight, squared=squared))
        value = hinge_objective(Z, side, weight, found.vector, squared=squared)
        assert value == pytest.approx(found.primal, rel=1e-9)
        assert found.relative_gap <= 1e-9
        assert found.stopped_by is None
        # Any other point is worse by what strong convexity says.
        other = dual_coordinate_descent(Z, side, weight, squared=squared, passes=30)
        excess = hinge_objective(Z, side, weight, other, squared=squared) - value
        distance = float(((other - found.vector) ** 2).sum())
        assert excess >= distance / 2 - 1e-6 * max(1.0, value)


@pytest.mark.parametrize("squared", [False, True])
def test_plain_coordinate_descent_comes_to_the_same_vector(squared: bool) -> None:
    X, side = overlapping(30)
    weight = np.linspace(0.2, 1, 30)
    found = solved(X, hinge_losses(side, weight, squared=squared))
    other = dual_coordinate_descent(with_constant(X), side, weight, squared=squared, passes=3000)
    np.testing.assert_allclose(found.vector, other, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("squared", [False, True])
def test_the_optimum_of_the_tube(epsilon: float, squared: bool) -> None:
    X, y = line(25)
    weight = np.linspace(0.2, 2, 25)
    found = solved(X, tube_losses(y, weight, epsilon, squared=squared))
    Z = with_constant(X)

    def value(u: np.ndarray) -> float:
        return tube_objective(Z, y, weight, u, epsilon, squared=squared)

    assert value(found.vector) == pytest.approx(found.primal)
    assert found.relative_gap < 1e-12
    rng = np.random.default_rng(0)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            assert value(found.vector + scale * rng.standard_normal(4)) > found.primal
    best = optimize.minimize(value, found.vector, method="Nelder-Mead")
    assert best.fun >= found.primal * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("squared", [False, True])
def test_the_gap_bounds_the_distance_on_tall_tables(tol: float, squared: bool) -> None:
    X, side = overlapping(20_000, 4)
    losses = hinge_losses(side, np.ones(len(side)), squared=squared)
    best = solved(X, losses, tol=1e-10)
    found = solved(X, losses, tol=tol)
    assert found.relative_gap <= tol
    assert best.dual - 1e-6 <= best.primal <= found.primal
    assert found.dual <= best.primal
    assert found.primal - best.primal <= found.gap + 1e-9 * found.primal
    assert np.linalg.norm(found.vector - best.vector) <= np.sqrt(2 * found.gap) + 1e-7


def test_a_start_that_misleads_is_left() -> None:
    X, side = overlapping(5000, 2)
    # Every tenth row says the opposite of all others.
    side[::10] *= -1
    losses = hinge_losses(side, np.full(5000, 10.0), squared=True)
    found = solved(X, losses, tol=1e-9)
    order = np.random.default_rng(0).permutation(5000)
    other = solved(X[order], losses.rows(order), tol=1e-9)
    np.testing.assert_allclose(found.vector, other.vector, atol=1e-9)


@pytest.mark.parametrize("squared", [False, True])
def test_wide_sparse_and_dense_agree(squared: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 100)) * (rng.random((40, 100)) < 0.1)
    losses = hinge_losses(np.where(rng.random(40) < 0.5, 1.0, -1.0), np.ones(40), squared=squared)
    dense, compressed = solved(X, losses), solved(sparse.csr_matrix(X), losses)
    np.testing.assert_allclose(dense.vector, compressed.vector, atol=1e-10)
    assert dense.relative_gap < 1e-10


@pytest.mark.parametrize("weight", [1e-8, 1e8])
@pytest.mark.parametrize("squared", [False, True])
def test_extreme_weights_keep_their_proof(weight: float, squared: bool) -> None:
    X, side = overlapping(50)
    found = solved(X, hinge_losses(side, np.full(50, weight), squared=squared))
    assert found.relative_gap <= 1e-3
    assert found.stopped_by is None


def test_columns_of_unlike_size_keep_their_proof() -> None:
    X, side = overlapping(200, 4)
    found = solved(
        X * np.array([1e6, 1.0, 1e-6, 1e3]), hinge_losses(side, np.ones(200), squared=True)
    )
    assert found.stopped_by is None


def test_a_spent_budget_is_told() -> None:
    X, side = overlapping(300)
    for squared in (False, True):
        found = solved(X, hinge_losses(side, np.ones(300), squared=squared), max_iter=1)
        assert found.stopped_by == "max_iter"
        assert found.iterations == 1
        assert found.gap > 0


def test_rows_of_zeros_have_a_constant_loss() -> None:
    losses = hinge_losses(np.array([1.0, -1.0]), np.array([2.0, 3.0]), squared=False)
    found = solved(np.zeros((2, 1)), losses, constant=0.0)
    assert found.primal == pytest.approx(5.0)
    assert found.gap == pytest.approx(0.0)
    assert found.vector.tolist() == [0.0]
