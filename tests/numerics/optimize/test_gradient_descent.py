"""Gradient descent: Nesterov's rate, closed-form optima, proved bounds, and checked constants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from novum.numerics import Floats, gradient_descent
from novum.numerics.optimize.line_search import ValueAndGradient


def quadratic(curvature: Floats, optimum: Floats, turn: Floats | None = None) -> ValueAndGradient:
    """(w - optimum)' H (w - optimum) / 2 with eigenvalues `curvature`."""
    turn = np.eye(curvature.size) if turn is None else turn
    hessian = turn @ np.diag(curvature) @ turn.T

    def function(w: Floats) -> tuple[float, Floats]:
        gradient = hessian @ (w - optimum)
        return 0.5 * float((w - optimum) @ gradient), gradient

    return function


def rotation(seed: int, size: int) -> Floats:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


@given(st.integers(0, 1000), st.floats(1.5, 50.0))
@settings(max_examples=25)
def test_distance_shrinks_by_the_proved_rate(seed: int, kappa: float) -> None:
    rng = np.random.default_rng(seed)
    curvature = np.concatenate([[1.0, kappa], rng.uniform(1.0, kappa, 2)])
    optimum = rng.normal(size=4)
    function = quadratic(curvature, optimum, rotation(seed, 4))
    points = [rng.normal(size=4)]
    for steps in range(1, 9):
        outcome = gradient_descent(
            function, points[0], lipschitz=kappa, strong_convexity=1.0, tol=0.0, max_iter=steps
        )
        points.append(outcome.params)
    distances = np.linalg.norm(np.array(points) - optimum, axis=1)
    rate = (kappa - 1) / (kappa + 1)
    assert (distances[1:] <= rate * distances[:-1] * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("lipschitz", [None, 30.0])
def test_the_optimum_of_least_squares_is_found(lipschitz: float | None) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    eigenvalues = np.linalg.eigvalsh(X.T @ X)

    def squared_error(w: Floats) -> tuple[float, Floats]:
        residual = X @ w - y
        return 0.5 * float(residual @ residual), X.T @ residual

    outcome = gradient_descent(
        squared_error,
        np.zeros(3),
        lipschitz=None if lipschitz is None else float(eigenvalues[-1]),
        strong_convexity=float(eigenvalues[0]),
        tol=1e-10,
    )
    truth = np.linalg.lstsq(X, y)[0]
    assert outcome.converged
    assert outcome.stopped_by == "tol"
    distance = float(np.linalg.norm(outcome.params - truth))
    assert outcome.distance_bound is not None
    # Both sides are about 1e-9 here; the reference itself is good to 1e-14.
    assert distance <= outcome.distance_bound + 1e-13
    assert outcome.lower_bound is not None
    minimum = squared_error(truth)[0]
    assert outcome.lower_bound <= minimum * (1 + 1e-14)
    assert minimum <= outcome.value * (1 + 1e-14)


@given(st.integers(0, 10_000), st.integers(0, 30))
@settings(max_examples=30)
def test_bounds_hold_wherever_it_stops(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    curvature, optimum = rng.uniform(0.5, 20.0, 3), rng.normal(size=3)
    function = quadratic(curvature, optimum, rotation(seed, 3))
    outcome = gradient_descent(
        function, rng.normal(size=3), strong_convexity=float(curvature.min()), max_iter=steps
    )
    assert outcome.distance_bound is not None
    assert outcome.lower_bound is not None
    assert np.linalg.norm(outcome.params - optimum) <= outcome.distance_bound * (1 + 1e-9) + 1e-14
    assert outcome.lower_bound <= 1e-14
    # The start's value bounds the rounding of all later ones.
    assert all(np.diff(outcome.trace) <= 1e-13 * outcome.trace[0])
    assert outcome.iterations == len(outcome.trace) - 1 <= steps


def test_a_curved_valley_is_followed() -> None:
    def rosen(w: Floats) -> tuple[float, Floats]:
        return float(optimize.rosen(w)), optimize.rosen_der(w)

    outcome = gradient_descent(rosen, [-1.2, 1.0], tol=1e-6, max_iter=50_000)
    assert outcome.converged
    # The smallest curvature at the optimum is 0.4, and the gradient starts at norm 233.
    np.testing.assert_allclose(outcome.params, 1.0, atol=2 * 233e-6 / 0.4)


def test_a_lipschitz_constant_that_is_too_small_is_an_error() -> None:
    function = quadratic(np.array([1.0, 10.0]), np.zeros(2))
    with pytest.raises(ValueError, match=r"Lipschitz constant 3 is too small. Give a larger one"):
        gradient_descent(function, [1.0, 1.0], lipschitz=3.0)


def test_every_reason_to_stop_is_named() -> None:
    function = quadratic(np.array([1.0, 10.0]), np.zeros(2))
    assert gradient_descent(function, [0.0, 0.0]).stopped_by == "tol"
    assert gradient_descent(function, [1.0, 1.0], max_iter=2).stopped_by == "max_iter"
    assert gradient_descent(function, [1.0, 1.0], max_seconds=0.0).stopped_by == "max_seconds"
    seen: list[int] = []

    def third(iteration: int, value: float) -> bool:
        assert value > 0
        seen.append(iteration)
        return iteration == 3

    stopped = gradient_descent(function, [1.0, 1.0], callback=third)
    assert (stopped.stopped_by, stopped.iterations, seen) == ("callback", 3, [1, 2, 3])
    assert not stopped.converged


@pytest.mark.parametrize("lipschitz", [None, 10.0])
def test_with_no_tolerance_it_ends_at_rounding(lipschitz: float | None) -> None:
    def offset(w: Floats) -> tuple[float, Floats]:
        gradient = np.array([1.0, 10.0]) * (w - 1)
        return 7.0 + 0.5 * float((w - 1) @ gradient), gradient

    outcome = gradient_descent(offset, [3.0, 3.0], lipschitz=lipschitz, tol=0.0, max_iter=10_000)
    assert outcome.stopped_by in ("rounding", "tol")
    assert outcome.converged
    # The value stops changing at a distance of 1e-8; the gradient leads on to full accuracy.
    np.testing.assert_allclose(outcome.params, 1.0, atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": [[1.0]]}, "must be a vector, got an array of shape"),
        ({"start": [np.nan]}, "no finite value and gradient at the start"),
        ({"start": [1.0], "lipschitz": 0.0}, "lipschitz must be a finite number above 0"),
        ({"start": [1.0], "strong_convexity": np.inf}, "strong_convexity must be a finite"),
        ({"start": [1.0], "lipschitz": 1.0, "strong_convexity": 2.0}, "exceeds lipschitz"),
    ],
)
def test_impossible_input_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gradient_descent(quadratic(np.ones(1), np.zeros(1)), **arguments)
