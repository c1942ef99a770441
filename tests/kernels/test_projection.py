"""Projection: the nearest matrix, the same map for new rows, and expansions in the original."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.kernels.precomputed import Precomputed
from novum.kernels.projection import project, projected, shift
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Floats

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(12, 2)), rng.normal(size=(5, 2))
SIGMOID = Sigmoid(constant=-1.0)


def random_symmetric(n: int, seed: int) -> Floats:
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_the_projection_is_the_nearest_kernel(n: int, seed: int) -> None:
    K = random_symmetric(n, seed)
    found = project(K)
    np.testing.assert_array_equal(found.matrix, found.matrix.T)
    assert np.linalg.eigvalsh(found.matrix)[0] > -1e-12
    np.testing.assert_allclose(found.map @ K, found.matrix, atol=1e-12)
    # Optimality (Moreau): what is taken away is negative, and orthogonal to what is left.
    rest = K - found.matrix
    assert np.linalg.eigvalsh(rest)[-1] < 1e-12
    assert abs(np.vdot(rest, found.matrix)) < 1e-10
    assert found.change == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(K), abs=1e-12)
    assert found.n_clipped == int((np.linalg.eigvalsh(K) < -1e-12).sum())


def test_a_kernel_is_its_own_projection() -> None:
    K = X @ X.T
    found = project(K)
    np.testing.assert_allclose(found.matrix, K, atol=1e-13)
    assert found.n_clipped == 0
    assert found.change < 1e-14
    assert found.vectors.shape == (12, 2)


def test_shift_leaves_other_pairs_alone() -> None:
    K = random_symmetric(5, 3)
    moved, amount = shift(K)
    assert amount == pytest.approx(-np.linalg.eigvalsh(K)[0])
    np.testing.assert_allclose(moved - K, amount * np.eye(5), atol=1e-14)
    assert shift(np.eye(3))[1] == 0.0


def test_new_rows_are_projected_by_the_map_of_the_training() -> None:
    training = projected(SIGMOID.prepare(X))
    new = training.project(SIGMOID.prepare(Z, training.training))
    K, cross = SIGMOID.gram(X), SIGMOID.cross(Z, X)
    P = project(K).map
    np.testing.assert_allclose(training.gram(), P @ K, atol=1e-10)
    np.testing.assert_allclose(new.cross(training), cross @ P, atol=1e-10)
    # All similarities together are those of one kernel.
    whole = np.block([[training.gram(), training.cross(new)], [new.cross(training), new.gram()]])
    assert np.linalg.eigvalsh(whole)[0] > -1e-10


def test_training_rows_given_again_are_the_same() -> None:
    training = projected(SIGMOID.prepare(X))
    again = training.project(SIGMOID.prepare(X, training.training))
    np.testing.assert_allclose(again.features, training.features, atol=1e-9)


def test_expansions_are_expansions_in_the_original_kernel() -> None:
    rows = projected(SIGMOID.prepare(X))
    b = rng.normal(size=12)
    new = rows.project(SIGMOID.prepare(Z, rows.training))
    np.testing.assert_allclose(
        SIGMOID.cross(Z, X) @ rows.unprojected(b), new.cross(rows) @ b, atol=1e-9
    )
    part = rows.take([7, 2])
    np.testing.assert_allclose(
        SIGMOID.cross(Z, X) @ part.unprojected(b[:2]), new.cross(part) @ b[:2], atol=1e-9
    )


def test_negative_matrices_leave_nothing() -> None:
    rows = projected(Precomputed().prepare(-np.eye(3)))
    np.testing.assert_array_equal(rows.gram(), np.zeros((3, 3)))
    assert rows.clipped.change == 1.0
    assert rows.clipped.n_clipped == 3
    np.testing.assert_array_equal(rows.unprojected([1.0, 2.0, 3.0]), np.zeros(3))


def test_bad_matrices_are_named() -> None:
    with pytest.raises(InputError, match=r"cannot be projected\. The matrix is not symmetric"):
        project([[1.0, 2.0], [0.0, 1.0]])


def test_memory_is_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match="Projecting the similarities of 400 objects"):
        project(np.eye(400))
