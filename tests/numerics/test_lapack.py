"""Factorizations without the interpreter's lock, against NumPy and SciPy."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy import linalg

from novum.numerics import eigenpairs, factorize, invert


@pytest.fixture
def spd() -> np.ndarray:
    root = np.random.default_rng(3).normal(size=(40, 30))
    return root.T @ root + 0.1 * np.eye(30)


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-13), (np.float32, 1e-4)])
def test_factors_are_those_of_numpy(spd: np.ndarray, dtype: type, error: float) -> None:
    L = np.asfortranarray(spd, dtype)
    assert factorize(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(spd), atol=error * spd.max())


def test_inverses_are_those_of_numpy(spd: np.ndarray) -> None:
    L = np.asfortranarray(spd)
    assert factorize(L)
    assert invert(L)
    np.testing.assert_allclose(np.tril(L), np.tril(np.linalg.inv(spd)), rtol=1e-8, atol=1e-10)


def test_a_matrix_that_is_not_positive_definite_is_told() -> None:
    assert not factorize(np.asfortranarray([[1.0, 2.0], [2.0, 1.0]]))
    assert not invert(np.zeros((2, 2), order="F"))


@pytest.mark.parametrize("ends", [(0, 0), (3, 11), (29, 29), (0, 29)])
def test_eigenpairs_are_those_of_scipy(spd: np.ndarray, ends: tuple[int, int]) -> None:
    before = spd.copy()
    values, vectors = eigenpairs(spd, *ends)
    expected = linalg.eigh(spd, subset_by_index=ends, eigvals_only=True)
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(spd @ vectors, vectors * values, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    assert np.array_equal(spd, before)


def test_what_lapack_would_misread_is_refused() -> None:
    with pytest.raises(ValueError, match="Fortran order"):
        factorize(np.ones((2, 3), order="F"))
    with pytest.raises(ValueError, match="Fortran order"):
        factorize(np.arange(4.0).reshape(2, 2))
    with pytest.raises(ValueError, match="no eigenvalues 1 to 2"):
        eigenpairs(np.eye(2), 1, 2)


def test_other_threads_run_meanwhile() -> None:
    A = np.asfortranarray(np.eye(700) * 2000 + 1.0)
    counts, over = [0], threading.Event()

    def count() -> None:
        while not over.is_set():
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    eigenpairs(A, 0, 1)
    seen = counts[0] - before
    over.set()
    thread.join()
    assert seen > 1000
