"""Hard margins: proofs in both directions, on textbook points and on clouds."""

from __future__ import annotations

import numpy as np
import pytest

from novum.kernels.vectors.linear import Linear
from novum.svm.solver.hard_margin import direction_of, hull_problem, needs_proof, verdict
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem, Stopping
from novum.svm.solver.solving import solve
from tests.oracles.svm_definitions import interior_point
from tests.svm.quadratic_problems import GramRows, classes, cloud, gaussian


def test_the_margin_of_a_line_is_found() -> None:
    X = np.array([[3.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [-1.0, 5.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    solution = solve(GramRows(X @ X.T), classes(y, np.inf), Stopping(tol=1e-9))
    assert solution.stopped_by is None
    w = solution.coefficients @ X
    # The nearest points of the hulls, by a grid over both segments.
    share = np.linspace(0, 1, 201)[:, None]
    one = share * X[0] + (1 - share) * X[1]
    two = share * X[2] + (1 - share) * X[3]
    distance = np.sqrt(((one[:, None] - two[None]) ** 2).sum(axis=2)).min()
    assert 2 / np.linalg.norm(w) == pytest.approx(distance, rel=1e-4)


@pytest.mark.parametrize("n", [40, 700])
def test_classes_that_overlap_are_proved_to(n: int) -> None:
    X, y, _ = cloud(n, seed=1)
    K = X @ X.T
    solution = solve(Linear().prepare(X), classes(y, np.inf), Stopping(tol=1e-3))
    assert solution.stopped_by == "infeasible"
    assert solution.gap == np.inf
    b = solution.coefficients
    # The proof: a direction of no length in the kernel's space along which the dual grows.
    assert ((b * y) >= 0).all()
    assert b.sum() == pytest.approx(0.0, abs=1e-12)
    assert b @ y == pytest.approx(2.0)
    assert b @ K @ b <= 1e-12 * np.diag(K).max()


@pytest.mark.parametrize("n", [40, 700])
def test_separable_classes_agree_with_a_finite_bound(n: int) -> None:
    X, _, _ = cloud(n, seed=2)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[:, 0] += 5 * y
    K = gaussian(X)
    hard = solve(GramRows(K), classes(y, np.inf), Stopping(tol=1e-8))
    assert hard.stopped_by is None
    soft = solve(GramRows(K), classes(y, 1e6), Stopping(tol=1e-8))
    assert hard.value == pytest.approx(soft.value, rel=1e-7)
    margins = (hard.gradient - hard.multipliers[0]) * y
    assert margins.min() >= -1e-3


def test_equal_points_with_different_labels_are_infeasible() -> None:
    K = gaussian(np.array([[0.0], [1.0], [1.0], [4.0]]))
    solution = solve(GramRows(K), classes(np.array([1.0, 1.0, -1.0, -1.0]), np.inf))
    assert solution.stopped_by == "infeasible"
    np.testing.assert_array_equal(solution.coefficients != 0, [False, True, True, False])


def test_hard_ranking_is_decided_by_one_hull() -> None:
    def ranking(n: int) -> QuadraticProblem:
        upper, groups = np.full(n, np.inf), np.full(n, UNGROUPED)
        return QuadraticProblem(np.arange(n), -np.ones(n), np.zeros(n), upper, groups, np.zeros(0))

    along = np.array([[1.0, 0.2], [1.0, -0.3], [2.0, 0.1]])
    solution = solve(GramRows(along @ along.T), ranking(3), Stopping(tol=1e-8))
    assert solution.stopped_by is None
    w = solution.coefficients @ along
    assert (along @ w).min() == pytest.approx(1.0, abs=1e-6)
    against = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert solve(Linear().prepare(against), ranking(2)).stopped_by == "infeasible"


def test_hulls_are_the_family_s_own_program() -> None:
    X, y, _ = cloud(12, seed=3)
    problem = classes(y, np.inf)
    assert needs_proof(problem)
    assert not needs_proof(classes(y, 1.0))
    hulls = hull_problem(problem)
    assert hulls.totals.tolist() == [1.0, -1.0]
    best = interior_point(gaussian(X), hulls)
    direction = direction_of(problem, best.coefficients)
    assert direction[y > 0].sum() == pytest.approx(1.0)
    assert verdict(best.value, 0.0, 1.0) == "apart"
    assert verdict(best.value, 2 * best.value, 1.0) is None
    assert verdict(0.0, 0.0, 1.0) == "near"
