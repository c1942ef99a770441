"""Feasible points: bounds and totals hold, projections are nearest, refusals are clear."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from novum.core.errors import InputError
from novum.svm.solver.feasibility import (
    check_problem,
    feasible_start,
    is_ungrouped,
    least_vertex,
    shifted,
    with_total,
)
from novum.svm.solver.problem import QuadraticProblem
from tests.svm.quadratic_problems import MEMBERS, classes, cloud, member

points = st.lists(
    st.tuples(st.floats(-9, 9), st.floats(-3, 0), st.floats(0, 3)), min_size=2, max_size=12
)


@given(points, st.floats(0, 1))
def test_shifting_gives_the_nearest_point(cells: list[tuple[float, ...]], part: float) -> None:
    x, lower, upper = np.array(cells).T
    total = float(lower.sum() + part * (upper - lower).sum())
    nearest = shifted(x, lower, upper, total)
    assert (nearest >= lower).all()
    assert (nearest <= upper).all()
    assert nearest.sum() == pytest.approx(total, abs=1e-12)
    # Nearest: moving weight from any variable to any other goes away from x (first order).
    pull = x - nearest
    rises, falls = nearest < upper - 1e-9, nearest > lower + 1e-9
    if rises.any() and falls.any():
        assert pull[rises].max() <= pull[falls].min() + 1e-9


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("given_point", [False, True])
def test_starts_are_feasible(name: str, given_point: bool) -> None:
    _, y, t = cloud(17, seed=3)
    problem = member(name, y, t)
    somewhere = np.random.default_rng(0).normal(size=len(problem.linear)) if given_point else None
    b = feasible_start(problem, somewhere)
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    for group, total in enumerate(problem.totals):
        assert b[problem.groups == group].sum() == pytest.approx(total, abs=1e-14)


def test_a_feasible_point_is_left_alone() -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0])
    there = np.array([0.5, -0.25, 0.0, -0.25])
    np.testing.assert_allclose(feasible_start(classes(y, 1.0), there), there, atol=1e-15)


def test_few_coefficients_are_raised() -> None:
    y = np.ones(100)
    b = feasible_start(member("one_class", y, y, nu=0.1))
    assert np.count_nonzero(b) in (10, 11)


def test_rounding_errors_of_a_sum_go_where_there_is_room() -> None:
    b = np.array([1.0, 0.3, 0.0])
    moved = with_total(b, np.zeros(3), np.ones(3), 1.3 + 1e-9)
    assert moved.tolist() == [1.0, 0.3 + (1.3 + 1e-9 - b.sum()), 0.0]


def test_programs_that_make_no_sense_are_refused() -> None:
    _, y, t = cloud(5)
    good = classes(y, 1.0)
    check_problem(good, 5)
    assert not is_ungrouped(good)
    assert is_ungrouped(member("ranking", y, t))
    crossed = QuadraticProblem(
        good.rows, good.linear, good.upper + 1, good.lower, good.groups, good.totals
    )
    with pytest.raises(InputError, match="crossed bounds"):
        check_problem(crossed, 5)
    short = QuadraticProblem(
        good.rows, good.linear[:2], good.lower, good.upper, good.groups, good.totals
    )
    with pytest.raises(InputError, match="5 rows but its 'linear' is of another length"):
        check_problem(short, 5)
    none = QuadraticProblem(
        good.rows[:0],
        good.linear[:0],
        good.lower[:0],
        good.upper[:0],
        good.groups[:0],
        np.zeros(0),
    )
    with pytest.raises(InputError, match="no variables"):
        check_problem(none, 5)


@pytest.mark.parametrize("name", MEMBERS)
def test_the_vertex_is_the_lowest_point_of_the_set(name: str) -> None:
    _, y, t = cloud(11, seed=5)
    problem = member(name, y, t)
    g = np.random.default_rng(1).normal(size=len(problem.linear))
    vertex = least_vertex(problem, g)
    # SciPy's linear programming as a second opinion.
    sums = (problem.groups[None, :] == np.arange(len(problem.totals))[:, None]).astype(float)
    best = linprog(
        g,
        A_eq=sums if len(sums) else None,
        b_eq=problem.totals if len(sums) else None,
        bounds=list(zip(problem.lower, problem.upper, strict=True)),
    )
    assert g @ vertex == pytest.approx(best.fun, abs=1e-9)


def test_what_is_shifted_next_to_a_bound_is_put_on_it() -> None:
    x = np.array([-1.0, 0.5, 0.0, 0.0])
    near = shifted(x, np.zeros(4), np.ones(4), 0.5 + 1e-15)
    assert near[[0, 2, 3]].tolist() == [0.0, 0.0, 0.0]
    assert near[1] == pytest.approx(0.5)
