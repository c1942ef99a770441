"""Starts from a sample: feasible, at the bounds, lower than the default, none where useless."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.feasibility import feasible_start
from novum.svm.solver.problem import QuadraticProblem, Stopping
from novum.svm.solver.sampled_start import sampled_start
from novum.svm.solver.solving import solve
from tests.oracles.svm_definitions import objective
from tests.svm.quadratic_problems import MEMBERS, GramRows, classes, cloud, gaussian, member


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("novum.svm.solver.sampled_start.LEAST_OBJECTS", 500)


@pytest.mark.parametrize("name", MEMBERS)
def test_a_start_is_feasible_and_the_optimum_does_not_depend_on_it(name: str) -> None:
    X, y, t = cloud(600, seed=1)
    K, problem = gaussian(X, 0.5), member(name, y, t, C=0.02, nu=0.8)
    start = sampled_start(GramRows(K), problem, solve)
    assert start is not None
    assert (start >= problem.lower).all()
    assert (start <= problem.upper).all()
    for group, total in enumerate(problem.totals):
        inside = start[problem.groups == group]
        assert inside.sum() == pytest.approx(total, abs=1e-12 * np.abs(inside).sum())
    unbound = (start > problem.lower) & (start < problem.upper)
    # One of each group, and one more that takes the rounding error of the sum.
    assert unbound.sum() <= 2 * len(problem.totals)
    sampled = solve(GramRows(K), problem, Stopping(tol=1e-6))
    plain = solve(GramRows(K), problem, Stopping(tol=1e-6), start=feasible_start(problem))
    assert sampled.stopped_by is plain.stopped_by is None
    assert sampled.value == pytest.approx(plain.value, rel=2e-6)
    again = sampled_start(GramRows(K), problem, solve)
    np.testing.assert_array_equal(start, again)


def test_a_start_is_lower_than_none_and_saves_steps() -> None:
    X, y, t = cloud(1500, seed=2)
    K, problem = gaussian(X), member("one_class", y, t, nu=0.3)
    start = sampled_start(GramRows(K), problem, solve)
    assert start is not None
    usual = feasible_start(problem)
    assert objective(K, problem, start) < objective(K, problem, usual)
    with_it = solve(GramRows(K), problem, Stopping(tol=1e-3))
    without = solve(GramRows(K), problem, Stopping(tol=1e-3), start=usual)
    assert with_it.iterations < without.iterations


def test_there_is_no_start_where_a_sample_does_not_tell() -> None:
    X, y, _ = cloud(600, seed=3)
    rows = GramRows(gaussian(X, 0.2))
    assert sampled_start(rows, classes(y, np.inf), solve) is None
    # Almost all coefficients are unbound.
    assert sampled_start(rows, classes(y, 1e4), solve) is None
    few = GramRows(gaussian(X[:400]))
    assert sampled_start(few, classes(y[:400], 1.0), solve) is None


def test_a_sample_that_misses_a_group_gives_no_start() -> None:
    X, _, _ = cloud(600, seed=4)
    lower, upper = np.zeros(600), np.ones(600)
    groups = np.zeros(600, np.intp)
    taken = np.random.default_rng(0).permutation(600)[:120]
    missed = int(np.setdiff1d(np.arange(600), taken)[0])
    groups[missed] = 1
    problem = QuadraticProblem(
        np.arange(600), np.zeros(600), lower, upper, groups, np.array([5.0, 0.5])
    )
    assert sampled_start(GramRows(gaussian(X)), problem, solve) is None
