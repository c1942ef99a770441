"""Reductions: sorted by group, without what is fixed, and back again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.problem import QuadraticProblem
from tests.svm.quadratic_problems import MEMBERS, GramRows, cloud, gaussian, member


@given(st.sampled_from(MEMBERS), st.integers(0, 10**6))
def test_there_and_back(name: str, seed: int) -> None:
    X, y, t = cloud(9, seed)
    K, problem = gaussian(X), member(name, y, t)
    b = feasible_start(problem, np.random.default_rng(seed).normal(size=len(problem.linear)))
    reduction = reduced(problem, b)
    np.testing.assert_allclose(reduction.restored(b[reduction.order]), b, atol=1e-14)
    groups = problem.groups[reduction.order]
    assert (np.diff(groups) >= 0).all()
    # The expansion is the same, object by object.
    full = np.bincount(problem.rows, weights=b, minlength=9)
    small = reduction.by_object(b[reduction.order])
    np.testing.assert_allclose(
        (K @ full)[reduction.objects],
        K[np.ix_(reduction.objects, reduction.objects)] @ small,
        atol=1e-12,
    )


def test_fixed_variables_leave_their_coefficients_behind() -> None:
    problem = QuadraticProblem(
        np.array([0, 2, 2, 4]),
        np.zeros(4),
        np.array([0.0, 0.5, 0.0, 0.0]),
        np.array([1.0, 0.5, 1.0, 0.0]),
        np.zeros(4, int),
        np.ones(1),
    )
    reduction = reduced(problem, np.array([0.25, 0.5, 0.25, 0.0]))
    assert reduction.order.tolist() == [0, 2]
    assert reduction.objects.tolist() == [0, 2]
    assert reduction.terms.totals.tolist() == [0.5]
    assert reduction.fixed_by_object.tolist() == [0.0, 0.5]
    assert len(reduction.prepared(GramRows(np.eye(5)))) == 2
    assert reduction.restored(np.array([0.25, 0.25])).tolist() == [0.25, 0.5, 0.25, 0.0]
    assert reduction.multipliers(np.array([3.0])).tolist() == [3.0]
