"""The objective as a function of a vector: gauge, penalty, factor."""

from __future__ import annotations

import numpy as np
import pytest

from novum.linear.logistic.objective import Factor, Shape
from tests.linear.logistic_tables import logistic_table, loss_of


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_vectors_and_coefficients_are_two_ways_to_say_the_same(K: int, intercept: bool) -> None:
    shape = Shape(K, 4, intercept, 1.0)
    vector = np.random.default_rng(0).normal(size=shape.size)
    W = shape.coefficients(vector)
    assert W.shape == (1 if K == 2 else K, 5)
    np.testing.assert_allclose(shape.vector(W), vector, atol=1e-14)
    if K > 2:
        np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-14)
        assert np.linalg.norm(W) == pytest.approx(np.linalg.norm(vector), rel=1e-14)
    assert intercept or not W[:, -1].any()


@pytest.mark.parametrize("K", [2, 3])
def test_the_penalty_leaves_the_intercept_alone(K: int) -> None:
    X, y = logistic_table(30, 2, K)
    free, bound = loss_of(X, y, penalty=0.0), loss_of(X, y, penalty=3.0)
    vector = np.random.default_rng(0).normal(size=free.shape.size)
    W = free.shape.coefficients(vector)
    a, b = free.evaluate(vector, hessian=True), bound.evaluate(vector, hessian=True)
    assert b.value - a.value == pytest.approx(1.5 * (W[:, :-1] ** 2).sum(), rel=1e-12)
    added = np.tile([3.0, 3.0, 0.0], K - 1)
    np.testing.assert_allclose(b.gradient - a.gradient, added * vector, atol=1e-12)
    assert a.hessian is not None
    np.testing.assert_allclose(b.hessian - a.hessian, np.diag(added), atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_local_products_are_those_of_the_hessian(K: int) -> None:
    X, y = logistic_table(30, 2, K)
    loss = loss_of(X, y)
    vector = np.random.default_rng(0).normal(size=loss.shape.size)
    here, local = loss.local(vector)
    whole = loss.evaluate(vector, hessian=True)
    v = np.random.default_rng(1).normal(size=vector.size)
    np.testing.assert_allclose(local.product(v), whole.hessian @ v, rtol=1e-11, atol=1e-11)
    assert here.value == whole.value
    if K == 2:
        np.testing.assert_allclose(local.diagonal(), np.diagonal(whole.hessian), rtol=1e-12)
    assert loss.passes == 2


@pytest.mark.parametrize("K", [2, 4])
def test_the_null_model_is_the_best_without_columns(K: int) -> None:
    X, y = logistic_table(60, 2, K)
    loss = loss_of(X, y)
    gradient = loss.evaluate(loss.start()).gradient.reshape(K - 1, 3)
    np.testing.assert_allclose(gradient[:, -1], 0, atol=1e-12)


def test_a_factor_solves_in_any_units() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    A = A @ A.T + np.eye(5)
    units = np.array([1e8, 1.0, 1e-8, 1e4, 1e-3])
    H = A * units * units[:, np.newaxis]
    v = rng.normal(size=5) / units
    factor = Factor(H)
    np.testing.assert_allclose(factor.solve(H @ v), v, rtol=1e-12)
    scaled = factor.inverse * units * units[:, np.newaxis]
    np.testing.assert_allclose(scaled @ A, np.eye(5), atol=1e-12)
    assert factor.norm(H @ v) == pytest.approx(np.sqrt(v @ H @ v), rel=1e-12)
    assert factor.ridge == 0.0


def test_a_singular_hessian_gets_the_least_ridge() -> None:
    factor = Factor(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert 0 < factor.ridge < 1e-9
    np.testing.assert_allclose(factor.solve(np.array([2.0, 2.0])), [1.0, 1.0], rtol=1e-6)
