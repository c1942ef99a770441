"""Newton steps: exact where the bounds are known, never worse, sane on singular matrices."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.optimality import Terms
from novum.svm.solver.polishing import candidates, one_at_a_time, polish
from novum.svm.solver.problem import QuadraticProblem
from novum.svm.solver.row_cache import KernelRows
from tests.oracles.svm_definitions import interior_point, textbook_smo
from tests.svm.quadratic_problems import MEMBERS, GramRows, classes, cloud, gaussian, member


def descent_at(problem: QuadraticProblem, K: np.ndarray, b: np.ndarray) -> Descent:
    reduction = reduced(problem, b)
    return Descent(reduction, KernelRows(GramRows(K)), b[reduction.order])


@pytest.mark.parametrize("name", ["classes", "regression", "one_class", "ranking"])
def test_near_the_optimum_one_step_reaches_it(name: str) -> None:
    X, y, t = cloud(60, seed=8)
    K, problem = gaussian(X, 0.5), member(name, y, t)
    rough = textbook_smo(K, problem, feasible_start(problem), tol=1e-2)
    descent = descent_at(problem, K, rough.coefficients)
    before = descent.gap()
    assert before > 1e-6 * abs(rough.value)
    for _ in range(4):
        if not polish(descent):
            break
        descent.recompute()
    assert descent.value() == pytest.approx(interior_point(K, problem).value, rel=1e-9)
    assert descent.gap() < 1e-6 * before + 1e-13 * abs(rough.value)


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("seed", range(4))
def test_no_step_makes_it_worse(name: str, seed: int) -> None:
    X, y, t = cloud(25, seed)
    K, problem = gaussian(X), member(name, y, t)
    somewhere = np.random.default_rng(seed).normal(size=len(problem.linear))
    descent = descent_at(problem, K, feasible_start(problem, somewhere))
    value = descent.value()
    moved = polish(descent)
    descent.recompute()
    assert descent.value() <= value + 1e-12 * abs(value)
    assert moved == (descent.value() != value)
    assert (descent.b >= descent.terms.lower).all()
    assert (descent.b <= descent.terms.upper).all()


def test_too_many_variables_are_left_alone() -> None:
    X, y, _ = cloud(25)
    descent = descent_at(classes(y, 1.0), gaussian(X), np.zeros(25))
    assert not polish(descent, most=3)
    assert (descent.b == 0).all()


def test_candidates_are_unbound_or_want_to_move() -> None:
    terms = Terms(np.zeros(4), np.zeros(4), np.ones(4), np.array([0, 4]), np.zeros(1), True)
    b = np.array([0.5, 0.0, 0.0, 1.0])
    g = np.array([0.0, -1.0, 1.0, 1.0])
    assert candidates(terms, b, g).tolist() == [0, 1, 3]


def test_one_at_a_time_solves_a_nearly_singular_block() -> None:
    X, y, t = cloud(30, seed=9)
    K, problem = gaussian(X, 3.0), member("one_class", y, t, nu=0.5)
    assert np.linalg.eigvalsh(K)[0] < 1e-10
    start = feasible_start(problem, np.full(30, 1 / 30))
    terms = reduced(problem, start).terms
    x = one_at_a_time(K, terms, start, K @ start)
    assert x.sum() == pytest.approx(1.0, abs=1e-9)
    assert x @ K @ x / 2 == pytest.approx(interior_point(K, problem).value, rel=1e-7)
