"""The gap: the formula, the best multipliers by search, stretching, and that it is a bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.optimality import (
    Terms,
    best_multipliers,
    decision_scale,
    duality_gap,
    gap_at,
    largest_violation,
    middle_multipliers,
)
from tests.oracles.svm_definitions import interior_point, objective
from tests.svm.quadratic_problems import MEMBERS, classes, cloud, gaussian, member


def terms_of(lower: list[float], upper: list[float], grouped: bool = True) -> Terms:
    n = len(lower)
    starts = np.array([0, n])
    return Terms(np.zeros(n), np.array(lower), np.array(upper), starts, np.zeros(1), grouped)


bounded = st.tuples(st.floats(-5, 5), st.floats(0, 3), st.floats(0, 1))


@given(st.lists(bounded, min_size=1, max_size=12))
def test_the_median_is_no_worse_than_any_kink(cells: list[tuple[float, float, float]]) -> None:
    g = np.array([cell[0] for cell in cells])
    upper = np.array([cell[1] for cell in cells])
    b = upper * np.array([cell[2] for cell in cells])
    terms = terms_of([0.0] * len(g), upper.tolist())
    best = gap_at(terms, b, g, best_multipliers(terms, b, g))
    # The gap is convex and piecewise linear, so its minimum is at a kink.
    kinks = [gap_at(terms, b, g, np.array([kink])) for kink in g]
    assert best <= min(kinks) + 1e-12


@pytest.mark.parametrize("name", MEMBERS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_gap_bounds_the_distance_to_the_optimum(name: str, seed: int) -> None:
    X, y, t = cloud(15, seed)
    K, problem = gaussian(X), member(name, y, t)
    rng = np.random.default_rng(seed)
    somewhere = feasible_start(problem, rng.normal(size=len(problem.linear)))
    reduction = reduced(problem, somewhere)
    b = somewhere[reduction.order]
    F = (K @ reduction.by_object(b))[reduction.rows]
    gap = duality_gap(reduction.terms, b, F, float(b @ F))
    distance = objective(K, problem, somewhere) - interior_point(K, problem).value
    assert -1e-9 <= distance <= gap + 1e-9


def test_a_hard_margin_is_stretched_to_feasibility() -> None:
    X = np.array([[2.0], [1.0], [-1.0], [-3.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    K = X @ X.T
    terms = reduced(classes(y, np.inf), np.zeros(4)).terms
    b = 0.3 * y
    F = K @ b
    # By hand: w = 0.3 * 7, the margin |w| of the nearest points is stretched to 1.
    w = 2.1
    value = w**2 / 2 - 1.2
    assert duality_gap(terms, b, F, w**2) == pytest.approx(
        gap_by_definition(terms, F, value, w), abs=1e-12
    )
    optimum = np.array([0.0, 0.5, -0.5, 0.0])
    assert duality_gap(terms, optimum, K @ optimum, 1.0) == pytest.approx(0.0, abs=1e-12)
    # Where the classes lie the wrong way round no stretching helps.
    assert duality_gap(terms, b, -F, w**2) == np.inf


def gap_by_definition(terms: Terms, F: np.ndarray, value: float, w: float) -> float:
    """Objective minus D at w, which breaks no margin here: every minimum over c is at zero."""
    g = F + terms.linear
    assert g[:2].min() >= g[2:].max()
    return value + w**2 / 2


def test_multipliers_without_unbound_variables_are_the_middle() -> None:
    terms = terms_of([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    g = np.array([1.0, 4.0, 6.0])
    assert middle_multipliers(terms, np.array([1.0, 0.0, 0.0]), g).tolist() == [2.5]
    assert middle_multipliers(terms, np.array([1.0, 0.5, 0.0]), g).tolist() == [4.0]
    assert middle_multipliers(terms, np.zeros(3), g).tolist() == [1.0]
    assert middle_multipliers(terms, np.ones(3), g).tolist() == [6.0]
    assert middle_multipliers(terms._replace(is_grouped=False), np.ones(3), g).tolist() == [0.0]


def test_violations_are_those_of_the_conditions() -> None:
    terms = terms_of([0.0, 0.0], [1.0, 1.0])
    g = np.array([1.0, 4.0])
    assert largest_violation(terms, np.array([1.0, 0.0]), g, np.array([2.0])) == 0.0
    assert largest_violation(terms, np.array([0.5, 0.0]), g, np.array([2.0])) == 1.0
    assert largest_violation(terms, np.array([0.0, 1.0]), g, np.array([2.0])) == 2.0


def test_violations_are_judged_in_units_of_the_decisions() -> None:
    labels = np.array([-1.0, 1.0, 1.0, -1.0])
    assert decision_scale(labels, np.array([7.0])) == 1.0
    targets = np.array([10.0, 20.0, 40.0])
    assert decision_scale(1024 * targets, np.zeros(1)) == 1024 * targets.std()
    # Without linear terms: half the distance of two multipliers, or the size of one.
    assert decision_scale(np.zeros(3), np.array([5.0, -1.0])) == 3.0
    assert decision_scale(np.zeros(3), np.array([-2.0])) == 2.0
