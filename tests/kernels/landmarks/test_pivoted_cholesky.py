"""Pivoted Cholesky: against a dense elimination, its error bounds, and degenerate matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import MemoryLimitError
from novum.kernels.landmarks.pivoted_cholesky import pivoted_cholesky
from novum.kernels.precomputed import Precomputed
from novum.kernels.validity import IndefiniteKernelError
from novum.kernels.vectors.gaussian import Gaussian
from novum.numerics import Floats


def random_gram(n: int, d: int, seed: int) -> Floats:
    A = np.random.default_rng(seed).normal(size=(n, d))
    return A @ A.T


def eliminated(K: Floats, rank: int) -> tuple[list[int], list[float]]:
    """Landmarks and traces by plain elimination in the whole matrix."""
    E, landmarks, traces = K.copy(), [], [float(np.trace(K))]
    for _ in range(rank):
        i = int(np.argmax(np.diagonal(E)))
        E = E - np.outer(E[:, i], E[i]) / E[i, i]
        landmarks.append(i)
        traces.append(float(np.trace(E)))
    return landmarks, traces


@given(st.integers(3, 12), st.integers(0, 10**6))
def test_steps_are_those_of_elimination(n: int, seed: int) -> None:
    K = random_gram(n, n, seed)
    rank = n // 2
    found = pivoted_cholesky(Precomputed().prepare(K), rank)
    landmarks, traces = eliminated(K, rank)
    assert found.landmarks.tolist() == landmarks
    np.testing.assert_allclose(found.errors, traces, rtol=1e-9, atol=1e-9 * traces[0])


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_errors_are_bounded_by_the_trace(n: int, rank: int, seed: int) -> None:
    K = random_gram(n, n, seed)
    found = pivoted_cholesky(Precomputed().prepare(K), rank)
    E = K - found.factor @ found.factor.T
    tiny = 1e-10 * np.trace(K)
    np.testing.assert_allclose(found.residual, np.diagonal(E), atol=tiny)
    assert found.residual.max() - tiny <= np.linalg.norm(E, 2) <= found.errors[-1] + tiny
    assert (np.diff(found.errors) <= tiny).all()
    np.testing.assert_allclose(E[found.landmarks], 0.0, atol=tiny)
    triangle = found.factor[found.landmarks]
    np.testing.assert_array_equal(triangle, np.tril(triangle))


def test_rank_deficient_matrices_stop_by_themselves() -> None:
    K = random_gram(50, 3, 0)
    found = pivoted_cholesky(Precomputed().prepare(K), 50)
    assert len(found.landmarks) == 3
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-12)


def test_the_tolerance_stops() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = pivoted_cholesky(Gaussian(2.0).prepare(X), 200, tolerance=1e-3)
    assert found.errors[-1] <= 1e-3 * 200 < found.errors[-2]
    assert len(found.landmarks) < 100


def test_more_columns_than_at_first() -> None:
    K = random_gram(100, 90, 1)
    found = pivoted_cholesky(Precomputed().prepare(K), 100)
    assert len(found.landmarks) == 90
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-9)


def test_zeros_have_no_landmark() -> None:
    found = pivoted_cholesky(Precomputed().prepare(np.zeros((3, 3))), 2)
    assert found.factor.shape == (3, 0)
    assert found.errors.tolist() == [0.0]


@pytest.mark.parametrize("K", [-np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])])
def test_indefinite_similarities_are_refused(K: Floats) -> None:
    with pytest.raises(IndefiniteKernelError, match=r"landmarks object \d has -.*negative"):
        pivoted_cholesky(Precomputed().prepare(K), 2)


def test_memory_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100kB")
    with pytest.raises(MemoryLimitError, match="A factor of rank 64 for 1000 objects"):
        pivoted_cholesky(Gaussian(1.0).prepare(np.ones((1000, 1))), 500)
