"""Newton: closed forms, a second implementation, quadratic convergence, escape from saddles."""

import numpy as np
import pytest
from scipy import optimize

from novum.numerics import Floats, LogisticLoss
from novum.numerics.optimize import newton


def rosen(w: Floats) -> tuple[float, Floats]:
    return float(optimize.rosen(w)), optimize.rosen_der(w)


def test_a_quadratic_takes_one_step() -> None:
    hessian = np.array([[4.0, 1.0], [1.0, 3.0]])
    target = np.array([1.0, 2.0])
    outcome = newton(
        lambda w: (0.5 * float(w @ hessian @ w) - float(target @ w), hessian @ w - target),
        lambda _: hessian,
        np.zeros(2),
        strong_convexity=float(np.linalg.eigvalsh(hessian)[0]),
    )
    assert outcome.iterations == 1
    np.testing.assert_allclose(outcome.params, [1 / 11, 7 / 11], rtol=1e-14)
    assert outcome.distance_bound is not None
    assert outcome.distance_bound < 1e-14


@pytest.mark.parametrize("start", [[-1.2, 1.0], [-3.0, -4.0], [5.0, 5.0]])
def test_rosenbrock(start: list[float]) -> None:
    outcome = newton(rosen, optimize.rosen_hess, start, tol=1e-12)
    np.testing.assert_allclose(outcome.params, 1.0, atol=1e-9)
    assert outcome.iterations < 60
    assert all(np.diff(outcome.trace) < 0)


def test_digits_double_at_the_end() -> None:
    errors = [
        abs(newton(np_cosh, np_cosh_hessian, [1.0], tol=0.0, max_iter=steps).params[0])
        for steps in range(1, 4)
    ]
    # For log cosh the error is even cubed: w - sinh(w) cosh(w) = -2/3 w^3 + ...
    assert errors[0] < 1
    assert errors[1] < errors[0] ** 2
    assert errors[2] < errors[1] ** 2


def np_cosh(w: Floats) -> tuple[float, Floats]:
    return float(np.log(np.cosh(w[0]))), np.tanh(w)


def np_cosh_hessian(w: Floats) -> Floats:
    return np.array([[1 / np.cosh(w[0]) ** 2]])


def test_a_full_step_that_overshoots_is_damped() -> None:
    # From 2 the full step for log cosh leads to -11.6, and undamped Newton diverges from there.
    outcome = newton(np_cosh, np_cosh_hessian, [2.0], tol=1e-12)
    assert outcome.converged
    assert dict(outcome.details)["halvings"] > 0
    assert abs(outcome.params[0]) < 1e-9


def test_outside_the_convex_region_it_follows_the_gradient() -> None:
    def double_well(w: Floats) -> tuple[float, Floats]:
        value = w[0] ** 4 / 4 - w[0] ** 2 / 2 + w[1] ** 2
        return float(value), np.array([w[0] ** 3 - w[0], 2 * w[1]])

    def hessian(w: Floats) -> Floats:
        return np.diag([3 * w[0] ** 2 - 1, 2.0])

    # Plain Newton would go to the saddle at 0, where the gradient vanishes as well.
    outcome = newton(double_well, hessian, [0.1, 1.0])
    assert dict(outcome.details)["gradient_steps"] > 0
    np.testing.assert_allclose(outcome.params, [1.0, 0.0], atol=1e-6)
    assert outcome.value == pytest.approx(-0.25)


@pytest.mark.parametrize("bad", [np.full((1, 1), np.nan), np.zeros((1, 1)), -np.ones((1, 1))])
def test_a_useless_hessian_costs_speed_not_the_result(bad: Floats) -> None:
    outcome = newton(lambda w: (float(w @ w) / 2, w), lambda _: bad, [1.0])
    assert outcome.params[0] == 0.0
    assert dict(outcome.details)["gradient_steps"] == outcome.iterations


def test_logistic_regression_agrees_with_a_second_implementation() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + rng.logistic(size=80) > 0, 1.0, -1.0)
    loss = LogisticLoss()

    def penalized(w: Floats) -> tuple[float, Floats]:
        score = X @ w
        value = float(loss.value(score, y).sum() + 0.5 * w @ w)
        return value, X.T @ loss.gradient(score, y) + w

    def hessian(w: Floats) -> Floats:
        return X.T @ (loss.curvature(X @ w, y)[:, None] * X) + np.eye(3)

    outcome = newton(penalized, hessian, np.zeros(3), strong_convexity=1.0, tol=1e-12)
    reference = optimize.minimize(penalized, np.zeros(3), jac=True, method="BFGS", tol=1e-9)
    np.testing.assert_allclose(outcome.params, reference.x, atol=1e-7)
    assert outcome.iterations < 10


def test_limits_and_wishes_end_it() -> None:
    assert newton(rosen, optimize.rosen_hess, [-1.2, 1.0], max_iter=3).stopped_by == "max_iter"
    assert newton(rosen, optimize.rosen_hess, [-1.2, 1.0], max_iter=0).iterations == 0
    timed = newton(rosen, optimize.rosen_hess, [-1.2, 1.0], max_seconds=0.0)
    assert (timed.stopped_by, timed.iterations) == ("max_seconds", 0)
    wished = newton(rosen, optimize.rosen_hess, [-1.2, 1.0], callback=lambda i, _: i == 2)
    assert (wished.stopped_by, wished.iterations) == ("callback", 2)


def test_a_start_outside_the_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="Choose a start inside its domain"):
        newton(lambda w: (np.inf, w), lambda _: np.eye(1), [1.0])
