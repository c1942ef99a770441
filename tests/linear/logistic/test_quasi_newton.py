"""L-BFGS from a subsample's Hessian: the same optimum, and a bound that holds."""

from __future__ import annotations

import numpy as np
import pytest

from novum.linear.logistic.newton import newton
from novum.linear.logistic.quasi_newton import kronecker_solve, lbfgs, sketched, steepest
from tests.linear.logistic_tables import logistic_table, loss_of


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_it_finds_newtons_optimum(K: int, intercept: bool) -> None:
    X, y = logistic_table(3000, 5, K)
    loss = loss_of(X, y, fit_intercept=intercept)
    expected = newton(loss, loss.start(), tol=1e-6, max_iter=50)
    found = sketched(loss, loss.start(), tol=1e-9, max_iter=100)
    assert found.stopped_by in ("tol", "rounding")
    # A gap of tol^2 of the objective moves the parameters by about tol in the norm of the Hessian.
    np.testing.assert_allclose(found.vector, expected.vector, atol=1e-7)
    assert (np.diff(found.trace) <= 1e-12 * found.trace[0]).all()


def test_a_subsample_bounds_the_curvature_from_below() -> None:
    X, y = logistic_table(4000, 3)
    loss = loss_of(X, y)
    found = sketched(loss, loss.start(), tol=1e-8, max_iter=100)
    assert found.hessian is None
    assert found.factor is not None
    whole = loss.evaluate(found.vector, hessian=True).hessian
    assert whole is not None
    lower = np.linalg.inv(found.factor.inverse)
    assert np.linalg.eigvalsh(whole - lower)[0] > 0


@pytest.mark.parametrize("K", [2, 3])
def test_the_kronecker_guess_is_the_inverse_at_the_null_model(K: int) -> None:
    X, y = logistic_table(100, 3, K)
    loss = loss_of(X, y, penalty=0.5)
    hessian = loss.evaluate(loss.start(), hessian=True).hessian
    assert hessian is not None
    v = np.random.default_rng(0).normal(size=loss.shape.size)
    np.testing.assert_allclose(kronecker_solve(loss)(hessian @ v), v, rtol=1e-9, atol=1e-10)


def test_any_guess_serves() -> None:
    X, y = logistic_table(200, 4)
    loss = loss_of(X, y)
    expected = newton(loss, loss.start(), tol=1e-6, max_iter=50).vector
    found = lbfgs(loss, loss.start(), lambda v: v / 50.0, tol=1e-8, max_iter=200)
    np.testing.assert_allclose(found.vector, expected, atol=1e-6)
    cut = lbfgs(loss, loss.start(), lambda v: v / 50.0, tol=1e-8, max_iter=2)
    assert cut.stopped_by == "max_iter"


@pytest.mark.parametrize("K", [2, 3])
def test_gradient_descent_gets_there_too(K: int) -> None:
    X, y = logistic_table(100, 2, K)
    loss = loss_of(X, y)
    expected = newton(loss, loss.start(), tol=1e-6, max_iter=50).vector
    found = steepest(loss, loss.start(), tol=1e-8, max_iter=20_000)
    assert found.stopped_by == "tol"
    np.testing.assert_allclose(found.vector, expected, atol=1e-6)
