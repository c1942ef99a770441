"""Training of Pegasos: draws by weight, and bounds that hold whatever was drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.linear.perceptron.training import visits_of
from novum.svm.linear.losses import hinge_losses
from novum.svm.linear.proximal import solve_newton
from novum.svm.linear.solution import Budget
from novum.svm.online.pegasos_training import PegasosRule, RowMachine, drawing, judged, train
from novum.svm.solver.problem import Stopping
from tests.oracles.linear_svm_definitions import hinge_objective
from tests.svm.linear_tables import design, overlapping, sided_tables, with_constant


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_whole_weights_are_drawn_exactly(weights: list[int]) -> None:
    draw = drawing(np.array(weights, float), np.random.default_rng(0))
    for _ in range(3):
        assert np.bincount(draw(), minlength=len(weights)).tolist() == weights


@given(st.lists(st.floats(0.1, 5), min_size=2, max_size=8))
def test_other_weights_are_drawn_to_the_next_whole_number(weights: list[float]) -> None:
    weight = np.array([*weights, 0.35])
    draw = drawing(weight, np.random.default_rng(0))
    expected = len(weight) * weight / weight.sum()
    for _ in range(5):
        counts = np.bincount(draw(), minlength=len(weight))
        assert (np.abs(counts - expected) < 1 + 1e-9).all()
        assert abs(counts.sum() - len(weight)) <= 1


def test_fractions_are_met_on_average() -> None:
    weight = np.array([0.5, 1.0, 2.25])
    draw = drawing(weight, np.random.default_rng(0))
    counts = sum(np.bincount(draw(), minlength=3) for _ in range(4000)) / 4000
    # A draw is off by less than 1; four standard errors of 4000 are below 0.04.
    np.testing.assert_allclose(counts, 3 * weight / weight.sum(), atol=0.04)


@settings(max_examples=30, deadline=None)
@given(sided_tables(), st.sampled_from([1, 3]), st.booleans(), st.booleans())
def test_bounds_hold(table: tuple, batch: int, projection: bool, average: bool) -> None:
    X, side, weight = table
    penalty = 0.2
    visits = visits_of(X, side > 0, weight, True, True)
    rule, stopping = PegasosRule(penalty, batch, projection, average), Stopping(1e-3, 20)
    machine = RowMachine(visits, rule)
    rng = np.random.default_rng(0)
    run = train(machine, visits.weight, rule, stopping, Budget(stopping), rng)
    share = weight / weight.sum()
    losses, exact = hinge_losses(side, share / penalty, squared=False), Stopping(1e-10, 1000)
    best = penalty * solve_newton(design(X), losses, exact, Budget(exact)).primal
    assert run.solution.dual <= best + 1e-9
    assert run.solution.primal >= best - 1e-9
    w = machine.vector(run.a)
    value = penalty * hinge_objective(with_constant(X), side, share / penalty, w)
    assert value == pytest.approx(run.solution.primal)


def test_the_gap_falls_to_the_tolerance() -> None:
    X, side = overlapping(100)
    visits = visits_of(X, side > 0, None, True, True)
    rule, stopping = PegasosRule(0.1, 1, True, False), Stopping(5e-3, 2000)
    rng = np.random.default_rng(0)
    run = train(RowMachine(visits, rule), visits.weight, rule, stopping, Budget(stopping), rng)
    assert run.solution.relative_gap <= 5e-3
    assert run.solution.stopped_by is None
    assert run.solution.trace[-1] < run.solution.trace[0]


def test_shares_above_the_weight_are_cut_for_the_bound() -> None:
    X, side = overlapping(10)
    visits = visits_of(X, side > 0, None, True, True)
    machine = RowMachine(visits, PegasosRule(0.1, 1, False, False))
    share = np.full(10, 0.1)
    primal, dual = judged(machine, np.full(10, 0.5), share, 0.1)
    assert dual == judged(machine, share, share, 0.1)[1]
    assert dual <= primal
