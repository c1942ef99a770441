"""The moving point: products, objective, gap and audit by definition; budgets."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.descent import Budget, Descent, relative
from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.problem import Stopping
from novum.svm.solver.row_cache import KernelRows
from tests.oracles.svm_definitions import objective
from tests.svm.quadratic_problems import MEMBERS, GramRows, cloud, gaussian, member


def begun(name: str) -> tuple[Descent, np.ndarray]:
    X, y, t = cloud(20, seed=5)
    K, problem = gaussian(X), member(name, y, t)
    b = feasible_start(problem, np.random.default_rng(1).normal(size=len(problem.linear)))
    reduction = reduced(problem, b)
    return Descent(reduction, KernelRows(GramRows(K)), b[reduction.order]), K


@pytest.mark.parametrize("name", MEMBERS)
def test_value_gradient_and_gap_are_the_definitions(name: str) -> None:
    descent, K = begun(name)
    problem = descent.reduction.problem
    b = descent.reduction.restored(descent.b)
    assert descent.value() == pytest.approx(objective(K, problem, b), rel=1e-12)
    Q = K[np.ix_(problem.rows, problem.rows)]
    g = (Q @ b + problem.linear)[descent.reduction.order]
    np.testing.assert_allclose(descent.gradient(), g, atol=1e-12)
    assert 0 <= descent.gap() <= descent.quick_gap(g) * (1 + 1e-12)


def test_an_audit_finds_errors_in_the_products() -> None:
    descent, _ = begun("classes")
    assert descent.allowance() == 0.0
    exact = descent.gap()
    descent.F = descent.F + 1e-3 * np.sin(np.arange(20.0))
    descent.is_fresh = False
    assert abs(descent.gap() - exact) <= descent.allowance()
    descent.recompute()
    assert descent.gap() == exact


def test_settling_returns_to_the_point_of_the_least_gap() -> None:
    descent, _ = begun("classes")
    best, gap = descent.b.copy(), descent.gap()
    assert not descent.settle()
    descent.b = np.where(descent.terms.upper > 0, descent.terms.upper, descent.terms.lower)
    descent.recompute()
    larger = descent.gap()
    assert larger > gap
    assert not descent.settle(slack=2 * larger / gap)
    assert descent.settle(slack=1.0)
    np.testing.assert_array_equal(descent.b, best)
    assert descent.gap() == gap


def test_gaps_are_relative_to_the_larger_objective() -> None:
    assert relative(0.0, 0.0) == 0.0
    assert relative(2.0, -1.0) == pytest.approx(2 / 3)
    assert relative(2.0, 4.0) == 0.5
    assert relative(np.inf, -1.0) == np.inf


def test_budgets_count() -> None:
    budget = Budget(Stopping(max_iter=10))
    assert budget.left(4) == 6
    assert budget.spent(9) is None
    assert budget.spent(10) == "max_iter"
    assert Budget(Stopping(max_seconds=0.0)).spent(0) == "max_seconds"
    assert Budget(Stopping()).spent(10**9) is None
