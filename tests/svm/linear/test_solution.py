"""Budgets: what has run out, and what an interrupted task does."""

from __future__ import annotations

import numpy as np

from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping


def test_iterations_and_seconds_run_out() -> None:
    budget = Budget(Stopping(max_iter=2))
    assert budget.spent is None
    budget.step()
    assert budget.spent is None
    budget.step()
    assert budget.spent == "max_iter"
    assert budget.restarted().spent is None
    late = Budget(Stopping(max_iter=None, max_seconds=0.0))
    assert late.spent == "max_seconds"
    assert late.restarted().spent == "max_seconds"


def test_relative_gaps() -> None:
    assert relative(1.0, 4.0, 2.0) == 0.25
    assert relative(0.0, 0.0, 0.0) == 0.0
    found = LinearSolution(np.zeros(1), 2.0, -4.0, 6.0, 0.0, 1, "newton")
    assert found.relative_gap == 1.5
