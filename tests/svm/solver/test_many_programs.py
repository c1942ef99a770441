"""Stacked programs: each against the solver proper, sizes mixed, and what is left over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.kernels.precomputed import Precomputed
from novum.svm.definitions import interior_point
from novum.svm.solver import many_programs, problems
from novum.svm.solver.many_programs import solve_many
from novum.svm.solver.problem import QuadraticProblem, Stopping
from novum.svm.solver.solving import solve

EXACT = Stopping(1e-10)


def programs(kind: str, seed: int = 0) -> tuple[list[Any], list[QuadraticProblem]]:
    """Gram matrices and programs of 2 to 20 objects."""
    rng = np.random.default_rng(seed)
    grams, found = [], []
    for m in (2, 3, 20, 7, 11, 5):
        sign = np.where(np.arange(m) % 2, 1.0, -1.0)
        X = rng.normal(size=(m, 3)) + 0.8 * sign[:, np.newaxis]
        grams.append(np.exp(-0.5 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2)))
        weight = rng.uniform(0.5, 2.0, m)
        if kind == "soft":
            found.append(problems.classification(sign, 3.0 * weight))
        else:
            nu = 0.7 * problems.feasible_nu(sign, weight)
            found.append(problems.nu_classification(sign, weight, nu))
    return grams, found


@pytest.mark.parametrize("kind", ["soft", "nu"])
@pytest.mark.parametrize("entries", [1, 2**20])
def test_each_is_solved_as_by_itself(
    kind: str, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_programs, "_STACK_ENTRIES", entries)
    grams, given = programs(kind)
    for K, problem, ours in zip(
        grams, given, solve_many(grams.__getitem__, given, EXACT), strict=True
    ):
        assert ours is not None
        alone = solve(Precomputed().prepare(K), problem, EXACT)
        assert ours.value == pytest.approx(alone.value, rel=1e-9)
        assert ours.value == pytest.approx(_least(K, problem), rel=1e-6)
        assert 0 <= ours.gap <= 1e-10 * abs(ours.value) * (1 + 1e-9)
        np.testing.assert_allclose(ours.coefficients, alone.coefficients, atol=1e-4)
        np.testing.assert_allclose(ours.multipliers, alone.multipliers, atol=1e-4)
        np.testing.assert_allclose(ours.gradient, K @ ours.coefficients + problem.linear)
        assert ((problem.lower <= ours.coefficients) & (ours.coefficients <= problem.upper)).all()
        sums = np.bincount(problem.groups, ours.coefficients, len(problem.totals))
        np.testing.assert_allclose(sums, problem.totals, atol=1e-14)


def _least(K: Any, problem: QuadraticProblem) -> float:
    b = interior_point(K, problem).coefficients
    return float(b @ K @ b / 2 + problem.linear @ b)


def test_what_is_large_hard_or_slow_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sign = np.array([-1.0, 1.0])
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    hard = problems.classification(sign, np.full(2, np.inf))
    soft = problems.classification(sign, np.full(2, 9.0))
    found = solve_many(lambda _: K, [hard, soft], EXACT)
    assert found[0] is None
    assert found[1] is not None
    assert found[1].iterations == 1
    assert solve_many(lambda _: K, [soft], Stopping(1e-10, max_iter=0)) == [None]
    monkeypatch.setattr(many_programs, "MOST_VARIABLES", 1)
    assert solve_many(lambda _: K, [soft], EXACT) == [None]
