"""Margins that vanish: fits end, say so, and do not disturb those that do not vanish."""

from __future__ import annotations

import numpy as np
import pytest

from novum.kernels.vectors.linear import Linear
from novum.svm.solver.problem import Stopping
from novum.svm.solver.problems import nu_classification, one_class
from novum.svm.solver.vanishing import FLOOR, VANISHING, largest_value, solve_or_vanish
from tests.oracles.svm_definitions import interior_point

CACHE = 10**6


def rows(n: int = 40, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 2)) + shift


def test_origin_inside_the_hull_is_a_margin_of_zero() -> None:
    prepared, problem = Linear().prepare(rows()), one_class(np.ones(40), 0.3)
    found = solve_or_vanish(prepared, problem, Stopping(), cache_bytes=CACHE)
    assert found.stopped_by == VANISHING
    assert found.value <= FLOOR * largest_value(prepared, problem) + found.gap


def test_origin_outside_is_solved_as_ever() -> None:
    X = rows(shift=8.0)
    prepared, problem = Linear().prepare(X), one_class(np.ones(40), 0.3)
    found = solve_or_vanish(prepared, problem, Stopping(1e-9), cache_bytes=CACHE)
    assert found.stopped_by is None
    assert found.value == pytest.approx(interior_point(X @ X.T, problem).value, rel=1e-7)


def test_mixed_classes_have_no_nu_margin() -> None:
    X, sign = rows(), np.where(np.arange(40) % 2, 1.0, -1.0)
    prepared, problem = Linear().prepare(X), nu_classification(sign, np.ones(40), 0.1)
    found = solve_or_vanish(prepared, problem, Stopping(), cache_bytes=CACHE)
    assert found.stopped_by == VANISHING


def test_spread_does_not_count_the_distance_from_the_origin() -> None:
    sign, problem = np.array([1.0, -1.0]), None
    problem = nu_classification(sign, np.ones(2), 1.0)
    near = largest_value(Linear().prepare(np.array([[0.0], [2.0]])), problem)
    far = largest_value(Linear().prepare(np.array([[1e3], [1e3 + 2.0]])), problem)
    # (nu / 2)^2 times half of the squared distance.
    assert near == pytest.approx(0.5)
    assert far == pytest.approx(near)


@pytest.mark.parametrize(
    ("stopping", "reason"),
    [(Stopping(1e-12, max_iter=2), "max_iter"), (Stopping(1e-12, max_seconds=0.0), "max_seconds")],
)
def test_budgets_are_kept(stopping: Stopping, reason: str) -> None:
    prepared = Linear().prepare(rows(shift=8.0))
    found = solve_or_vanish(prepared, one_class(np.ones(40), 0.37), stopping, cache_bytes=CACHE)
    assert found.stopped_by == reason
    assert found.iterations <= 2
