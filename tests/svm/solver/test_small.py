"""Small programs: each against the solver proper, plain steps against compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.svm.solver import problems, small
from novum.svm.solver.problem import QuadraticProblem, Stopping
from novum.svm.solver.small import UNFINISHED, is_small, solve_small
from novum.svm.solver.small_kernels import program_steps
from tests.oracles.svm_definitions import interior_point
from tests.svm.quadratic_problems import MEMBERS, cloud, gaussian, member

EXACT = Stopping(1e-10)


def programs(kind: str, seed: int = 0) -> tuple[Any, list[QuadraticProblem], list[Any]]:
    """A Gram matrix of all objects, programs of 2 to 20 of them, and which these are."""
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 20, 7, 11, 5)
    rows = [np.sort(rng.choice(30, m, replace=False)) for m in sizes]
    sign = np.where(rng.permutation(30) % 2, 1.0, -1.0)
    X = rng.normal(size=(30, 3)) + 0.8 * sign[:, np.newaxis]
    K = np.exp(-0.5 * ((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    given = []
    for chosen in rows:
        side, weight = sign[chosen], rng.uniform(0.5, 2.0, len(chosen))
        side[0], side[1] = 1.0, -1.0
        if kind == "soft":
            given.append(problems.classification(side, 3.0 * weight))
        else:
            nu = 0.7 * problems.feasible_nu(side, weight)
            given.append(problems.nu_classification(side, weight, nu))
    return K, given, rows


@pytest.mark.parametrize("kind", ["soft", "nu"])
@pytest.mark.parametrize("variables", [1, 2**14])
def test_each_is_solved_as_by_itself(
    kind: str, variables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "_CALL_VARIABLES", variables)
    K, given, rows = programs(kind)
    solutions = solve_small(K, given, EXACT, rows)
    assert len(solutions) == len(given)
    for problem, chosen, ours in zip(given, rows, solutions, strict=True):
        Q = K[np.ix_(chosen, chosen)]
        [alone] = solve_small(Q, [problem], EXACT)
        assert np.array_equal(ours.coefficients, alone.coefficients)
        assert ours.value == pytest.approx(_least(Q, problem), rel=1e-6)
        assert ours.stopped_by is None
        assert 0 <= ours.gap <= 1e-10 * abs(ours.value) * (1 + 1e-9)
        np.testing.assert_allclose(
            ours.gradient, Q @ ours.coefficients + problem.linear, atol=1e-14
        )
        assert ((problem.lower <= ours.coefficients) & (ours.coefficients <= problem.upper)).all()
        sums = np.bincount(problem.groups, ours.coefficients, len(problem.totals))
        np.testing.assert_allclose(sums, problem.totals, atol=1e-14)


def _least(K: Any, problem: QuadraticProblem) -> float:
    b = interior_point(K, problem).coefficients
    return float(b @ K @ b / 2 + problem.linear @ b)


@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "ranking"])
def test_plain_and_compiled_steps_have_the_same_bits(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, t = cloud(60, seed=6)
    K, problem = gaussian(X), member(name, y, t)
    if not is_small(problem):
        pytest.skip("hard margins are not small")
    monkeypatch.setattr(small, "_compiled", lambda: None)
    [plain] = solve_small(K, [problem], Stopping(1e-6))
    monkeypatch.setattr(small, "_compiled", lambda: program_steps)
    [compiled] = solve_small(K, [problem], Stopping(1e-6))
    assert plain.iterations == compiled.iterations > 0
    assert np.array_equal(plain.coefficients, compiled.coefficients)
    assert np.array_equal(plain.gradient, compiled.gradient)


def test_what_is_large_hard_or_slow_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sign = np.array([-1.0, 1.0])
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    soft = problems.classification(sign, np.full(2, 9.0))
    assert not is_small(problems.classification(sign, np.full(2, np.inf)))
    assert is_small(soft)
    [solution] = solve_small(K, [soft], EXACT)
    assert (solution.iterations, solution.stopped_by) == (1, None)
    [stopped] = solve_small(K, [soft], Stopping(1e-10, max_iter=0))
    assert (stopped.iterations, stopped.stopped_by) == (0, UNFINISHED)
    monkeypatch.setattr(small, "MOST_VARIABLES", 1)
    assert not is_small(soft)


def test_a_compiler_is_loaded_when_plain_steps_have_taken_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(small, "sys", type("sys", (), {"modules": {}}))
    monkeypatch.setattr(small._patience, "spent", 0.0)
    assert small._compiled() is None
    monkeypatch.setattr(small._patience, "spent", 1e9)
    assert small._compiled() is program_steps
