"""Crammer and Singer: scikit-learn's optimum, the dual's constraints, gaps, equal rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.svm import LinearSVC as Reference

from novum.svm.linear.multiclass import solve_multiclass
from novum.svm.linear.multiclass_kernels import level
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping
from tests.oracles.linear_svm_definitions import multiclass_objective
from tests.svm.linear_tables import design, overlapping, three_classes, with_constant


def solved(X: object, y: np.ndarray, weight: np.ndarray, **more: float) -> LinearSolution:
    stopping = Stopping(more.get("tol", 1e-6), int(more.get("max_iter", 100_000)))
    rng, table = np.random.default_rng(0), design(X, more.get("constant", 1.0))
    codes = np.asarray(y, np.int64)
    n_classes = int(codes.max()) + 1
    return solve_multiclass(table, codes, weight, n_classes, stopping, Budget(stopping), rng)


@pytest.mark.parametrize("C", [0.01, 0.3])
def test_the_optimum_is_scikit_learns(C: float) -> None:
    X, y = three_classes()
    found = solved(X, y, np.full(90, C))
    other = Reference(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=10**6).fit(X, y)
    W = np.column_stack([other.coef_, other.intercept_]).T
    value = multiclass_objective(with_constant(X), y, np.full(90, C), W)
    mine = multiclass_objective(with_constant(X), y, np.full(90, C), found.vector)
    assert mine == pytest.approx(found.primal)
    assert found.primal <= value * (1 + 1e-6)
    assert found.dual <= value
    assert np.linalg.norm(found.vector - W) <= np.sqrt(2 * found.gap) + 1e-3


def test_sparse_rows_and_weights() -> None:
    X, y = three_classes(60)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    twice = np.repeat(np.arange(60), weight.astype(int))
    dense = solved(X, y, weight / 10)
    repeated = solved(sparse.csr_matrix(X[twice]), y[twice], np.full(len(twice), 0.1))
    np.testing.assert_allclose(dense.vector, repeated.vector, atol=1e-10)


def test_two_classes_are_a_hinge_of_their_difference() -> None:
    X, side = overlapping(40)
    found = solved(X, (side > 0).astype(int), np.full(40, 0.2))
    W = found.vector
    # Both vectors share the difference alike, and its margin counts from 1.
    np.testing.assert_allclose(W.sum(axis=1), 0, atol=1e-12)
    Z = with_constant(X)

    def value(v: np.ndarray) -> float:
        return float(v @ v / 4 + 0.2 * np.maximum(0, 1 - side * (Z @ v)).sum())

    assert value(W[:, 1] - W[:, 0]) == pytest.approx(found.primal)
    best = optimize.minimize(value, np.zeros(4), method="Nelder-Mead", options={"maxiter": 4000})
    assert found.primal <= best.fun + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_level_of_a_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, total = rng.standard_normal(6), float(rng.uniform(0.1, 3))
    t = level(values, total, np.zeros(6))
    assert np.maximum(values - t, 0).sum() == pytest.approx(total)


def test_rows_without_cells_have_a_constant_loss() -> None:
    X, y = (
        np.vstack([three_classes(30)[0], np.zeros((3, 2))]),
        np.append(np.arange(30) % 3, [0, 1, 2]),
    )
    found = solved(X, y, np.full(33, 0.1), constant=0.0)
    short = solved(X[:30], y[:30], np.full(30, 0.1), constant=0.0)
    assert found.primal == pytest.approx(short.primal + 0.3, rel=1e-5)
    assert found.stopped_by is None


def test_a_spent_budget_is_told() -> None:
    X, y = three_classes()
    found = solved(X, y, np.ones(90), max_iter=3)
    assert (found.stopped_by, found.iterations) == ("max_iter", 3)
    assert found.residual > 0
