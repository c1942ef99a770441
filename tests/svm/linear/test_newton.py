"""Newton steps: the optimum of smoothed losses, and when they end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from novum.svm.linear.losses import RowLosses, hinge_losses, tube_losses
from novum.svm.linear.newton import Point, newton, system_of
from novum.svm.linear.solution import Budget
from novum.svm.solver.problem import Stopping
from tests.svm.linear_tables import design, overlapping, with_constant


def run(
    losses: RowLosses, X: np.ndarray, m: float, center: np.ndarray | None, **more: float
) -> Point:
    table = design(X)
    limit = int(more.pop("max_iter", 100))
    return newton(
        table,
        losses,
        system_of(table, losses.weight),
        (np.zeros(table.width), np.zeros(len(X))),
        smoothing=m,
        center=center,
        goal=more.get("goal", 0.0),
        budget=Budget(Stopping(max_iter=limit)),
    )


@pytest.mark.parametrize("m", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("kind", ["hinge", "squared", "tube"])
def test_the_smoothed_problem_is_solved(kind: str, m: float) -> None:
    X, side = overlapping(40)
    weight, center = np.linspace(0.5, 2, 40), np.zeros(40)
    if kind == "tube":
        losses = tube_losses(X[:, 0] * 2, weight, 0.2, squared=False)
        center = np.linspace(-1, 1, 40)
    else:
        losses = hinge_losses(side, weight, squared=kind == "squared")
    point = run(losses, X, m, center)
    Z = with_constant(X)

    def value(u: np.ndarray) -> float:
        r = losses.target - Z @ u
        b = losses.coefficients(r, m, center)
        terms = r * b - losses.zone * np.abs(b) - m / 2 * (b - center) ** 2
        return float(u @ u / 2 + weight @ terms)

    best = optimize.minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    # A quasi-Newton method ends at the rounding of the values.
    assert value(point.vector) <= best.fun + 1e-9
    assert point.exact
    np.testing.assert_allclose(point.gradient, 0, atol=1e-10)


def test_steps_end_at_the_goal_and_at_the_budget() -> None:
    X, side = overlapping(60)
    losses = hinge_losses(side, np.ones(60), squared=True)
    early = run(losses, X, 0.5, None, max_iter=1)
    assert early.steps == 1
    assert not early.exact
    loose = run(losses, X, 0.5, None, goal=1.0)
    assert loose.half_square <= 1.0
    assert loose.steps < run(losses, X, 0.5, None).steps


def test_the_gap_of_squared_losses_is_half_the_squared_gradient() -> None:
    X, side = overlapping(60)
    losses = hinge_losses(side, np.ones(60), squared=True)
    point = run(losses, X, 0.5, None, max_iter=1)
    Z = with_constant(X)
    primal = losses.primal(point.vector, losses.target - Z @ point.vector)
    u = Z.T @ point.b
    dual = float(losses.terms(losses.target, point.b).sum() - u @ u / 2)
    assert primal - dual == pytest.approx(point.half_square)
