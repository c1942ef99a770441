"""The program behind the family: its gap is the one of primal and dual, by the formula alone."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.problem import UNGROUPED, QuadraticProblem, Solution, Stopping


def test_the_gap_of_the_formula_is_primal_minus_dual() -> None:
    """Classification by hand: hinge losses and the dual, at any feasible point and any bias."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    K, C, bias = X @ X.T, 0.7, 0.3
    b = y * rng.random(12) * C
    # Made feasible: the coefficients of both classes sum to the same.
    b[y > 0] *= -b[y < 0].sum() / b[y > 0].sum()
    if np.abs(b).max() > C:
        b *= C / np.abs(b).max()
    problem = QuadraticProblem(
        rows=np.arange(12),
        linear=-y,
        lower=np.minimum(0.0, y * C),
        upper=np.maximum(0.0, y * C),
        groups=np.zeros(12, np.intp),
        totals=np.zeros(1),
    )
    scores = K @ b
    primal = scores @ b / 2 + C * np.maximum(0.0, 1 - y * (scores + bias)).sum()
    dual = np.abs(b).sum() - scores @ b / 2
    slope = scores + problem.linear + bias
    least = np.minimum(slope * problem.lower, slope * problem.upper)
    assert (slope * b - least).sum() == pytest.approx(primal - dual, rel=1e-12)


def test_values_are_frozen_and_have_the_documented_defaults() -> None:
    assert Stopping() == Stopping(tol=1e-3, max_iter=None, max_seconds=None)
    solution = Solution(np.zeros(1), np.zeros(1), np.zeros(0), 0.0, 0.0, 0.0, 0)
    assert solution.stopped_by is None
    assert solution.trace == ()
    with pytest.raises(AttributeError):
        solution.gap = 1.0  # type: ignore[misc]
    assert UNGROUPED == -1
