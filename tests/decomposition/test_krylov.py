"""Leading pairs by iteration: LAPACK's pairs, residuals as bounds, odd operators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.decomposition.pca_routes import LeadingPairs, leading_pairs
from novum.numerics import Floats


def pairs_of(B: Floats, count: int, **more: float) -> LeadingPairs:
    rng = np.random.default_rng(0)
    return leading_pairs(lambda V: B @ V, len(B), count, rng=rng, **more)  # type: ignore[arg-type]


def matrix_with(values: Floats, seed: int = 0) -> Floats:
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return np.asarray((Q * values) @ Q.T)


@given(st.integers(0, 1000), st.integers(1, 5))
@settings(max_examples=15)
def test_pairs_are_those_of_a_full_solver(seed: int, count: int) -> None:
    values = np.sort(np.random.default_rng(seed).random(60))[::-1]
    B = matrix_with(values, seed)
    found = pairs_of(B, count)
    assert found.converged
    np.testing.assert_allclose(found.values, values[:count], rtol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-12)
    residuals = np.linalg.norm(B @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-13)
    for value, residual in zip(found.values, found.residuals, strict=True):
        assert np.abs(values - value).min() <= residual + 1e-14


def test_restarts_carry_on() -> None:
    # Slowly falling values need more blocks than the space holds at a time.
    values = np.linspace(1.0, 0.9, 400)
    found = pairs_of(matrix_with(values), 3, extra=2, max_products=500)
    assert found.converged
    assert found.products > 8
    np.testing.assert_allclose(found.values, values[:3], rtol=1e-9)


def test_an_operator_of_small_rank_is_exhausted() -> None:
    values = np.append([5.0, 3.0], np.zeros(48))
    found = pairs_of(matrix_with(values), 4)
    assert found.converged
    np.testing.assert_allclose(found.values, [5.0, 3.0, 0.0, 0.0], atol=1e-12)
    nothing = pairs_of(np.zeros((6, 6)), 2)
    assert nothing.converged
    assert not nothing.values.any()


def test_as_many_pairs_as_there_are() -> None:
    values = np.array([4.0, 2.0, 1.0])
    found = pairs_of(matrix_with(values), 3)
    np.testing.assert_allclose(found.values, values, rtol=1e-12)


def test_too_few_products_are_admitted() -> None:
    found = pairs_of(matrix_with(np.linspace(1, 0, 200)), 3, max_products=1)
    assert not found.converged
    assert found.products == 1
    assert found.residuals.max() > 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_looser_tolerance_takes_fewer_products(tol: float) -> None:
    B = matrix_with(np.linspace(1, 0, 300) ** 2)
    loose, tight = pairs_of(B, 2, tol=tol), pairs_of(B, 2, tol=1e-12)
    assert loose.products < tight.products
    assert loose.residuals.max() <= tol
