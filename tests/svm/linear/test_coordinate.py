"""Dual coordinate descent: the compiled visits agree with Newton's method and with plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from novum.svm.linear.coordinate import solve_coordinates
from novum.svm.linear.losses import RowLosses, hinge_losses, tube_losses
from novum.svm.linear.proximal import solve_newton
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping
from tests.oracles.linear_svm_definitions import dual_coordinate_descent, hinge_objective
from tests.svm.linear_tables import design, line, overlapping, sided_tables, with_constant


def solved(X: object, losses: RowLosses, **more: float) -> LinearSolution:
    stopping = Stopping(more.get("tol", 1e-8), int(more.get("max_iter", 20_000)))
    rng = np.random.default_rng(int(more.get("seed", 0)))
    table = design(X, more.get("constant", 1.0))
    return solve_coordinates(table, losses, stopping, Budget(stopping), rng)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("constant", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["hinge", "squared hinge", "tube", "squared tube"])
def test_the_optimum_is_that_of_newton(kind: str, constant: float, make: object) -> None:
    squared, weight = kind.startswith("squared"), np.linspace(0.1, 1, 40)
    if kind.endswith("tube"):
        X, y = line(40)
        losses = tube_losses(y, weight, 0.2, squared=squared)
    else:
        X, side = overlapping(40)
        losses = hinge_losses(side, weight, squared=squared)
    found = solved(make(X), losses, constant=constant)  # type: ignore[operator]
    stopping = Stopping(1e-10, 1000)
    best = solve_newton(design(X, constant), losses, stopping, Budget(stopping))
    assert found.stopped_by is None
    assert best.primal <= found.primal * (1 + 1e-12)
    assert found.primal - best.primal <= found.gap + 1e-12
    # The distance is at most the root of twice the gap.
    assert np.linalg.norm(found.vector - best.vector) <= np.sqrt(2 * found.gap) + 1e-9


@settings(max_examples=25, deadline=None)
@given(sided_tables())
def test_gaps_are_true_on_any_table(table: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, side, weight = table
    for squared in (False, True):
        losses = hinge_losses(side, weight, squared=squared)
        found = solved(sparse.csr_matrix(X), losses, tol=1e-3, max_iter=50)
        Z = with_constant(X)
        value = hinge_objective(Z, side, weight, found.vector, squared=squared)
        assert value == pytest.approx(found.primal)
        plain = dual_coordinate_descent(Z, side, weight, squared=squared, passes=60)
        other = hinge_objective(Z, side, weight, plain, squared=squared)
        assert found.dual <= other * (1 + 1e-12)


def test_a_seed_gives_the_same_bits_and_others_the_same_optimum() -> None:
    X, side = overlapping(80)
    losses = hinge_losses(side, np.ones(80), squared=False)
    first, again, other = (solved(X, losses, seed=s) for s in (1, 1, 2))
    assert first.vector.tobytes() == again.vector.tobytes()
    assert first.vector.tobytes() != other.vector.tobytes()
    np.testing.assert_allclose(first.vector, other.vector, atol=1e-3)


def test_a_spent_budget_is_told() -> None:
    X, side = overlapping(80)
    found = solved(X, hinge_losses(side, np.ones(80), squared=False), max_iter=2)
    assert (found.stopped_by, found.iterations) == ("max_iter", 2)
    assert found.gap > 0


def test_a_tolerance_beyond_doubles_ends_by_precision() -> None:
    X, side = overlapping(300)
    losses = hinge_losses(side, np.ones(300), squared=True)
    found = solved(X, losses, tol=1e-40, max_iter=10**6)
    assert found.stopped_by == "precision"
    assert found.relative_gap < 1e-12


def test_rows_of_zeros_go_to_their_bound() -> None:
    losses = hinge_losses(np.array([1.0, -1.0]), np.array([2.0, 3.0]), squared=False)
    found = solved(np.zeros((2, 1)), losses, constant=0.0)
    assert (found.primal, found.dual) == (5.0, 5.0)
