"""Power iteration: known spectra, LAPACK, bounds that hold, signs, ties and zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import Floats, power_iteration, rayleigh_quotient

EPSILON = 2.2e-16


def with_spectrum(values: list[float], seed: int = 0) -> Floats:
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    return Q @ np.diag(values) @ Q.T


@pytest.mark.parametrize(
    "values",
    [
        [3.0, 2.0, 1.0],
        [-3.0, 2.0, -1.0],
        [1.0, -1.0],
        [1.0, -1.0, 1.0, -1.0],
        [2.0, 2.0, 2.0],
        [5.0, 0.0, 0.0, -5.0],
        [0.0, 0.0],
        [1.0, 1e-9, -1e-9],
        [7.0],
    ],
)
def test_known_spectra_are_found_whole(values: list[float]) -> None:
    A = with_spectrum(values)
    pairs = power_iteration(A)
    assert pairs.converged.all()
    np.testing.assert_allclose(np.sort(pairs.values), np.sort(values), atol=1e-9)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(len(A)), atol=1e-13)
    np.testing.assert_allclose(np.abs(pairs.values), -np.sort(-np.abs(values)), atol=1e-9)


@given(
    st.integers(1, 6).flatmap(
        lambda n: hnp.arrays(np.float64, (n, n), elements=st.integers(-9, 9).map(float))
    )
)
def test_every_value_is_within_its_bound_of_a_true_one(B: Floats) -> None:
    A = B + B.T
    pairs = power_iteration(A, max_iter=200)
    truth = np.linalg.eigvalsh(A)
    rounding = 20 * len(A) * EPSILON * np.abs(A).sum(axis=1).max()
    for value, vector, residual in zip(pairs.values, pairs.vectors.T, pairs.residuals, strict=True):
        assert np.abs(truth - value).min() <= residual + rounding
        assert np.linalg.norm(A @ vector - value * vector) == pytest.approx(residual, abs=rounding)


def test_one_step_too_few_is_admitted_and_still_bounded() -> None:
    A = with_spectrum([1.0, 0.99, 0.5, -0.98])
    pairs = power_iteration(A, 1, max_iter=3)
    assert not pairs.converged[0]
    assert pairs.iterations[0] == 3
    assert np.abs(np.linalg.eigvalsh(A) - pairs.values[0]).min() <= pairs.residuals[0]


def test_only_the_largest_are_computed() -> None:
    pairs = power_iteration(with_spectrum([4.0, -9.0, 1.0, 0.5]), 2)
    np.testing.assert_allclose(pairs.values, [-9.0, 4.0], atol=1e-9)
    assert pairs.vectors.shape == (4, 2)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_scales(scale: float) -> None:
    pairs = power_iteration(scale * np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert pairs.converged.all()
    np.testing.assert_allclose(pairs.values, [3 * scale, scale], rtol=1e-9)


def test_the_hilbert_matrix() -> None:
    # Largest eigenvalue of the 4 x 4 Hilbert matrix, 1.50021428005924...
    H = 1 / (np.arange(4)[:, None] + np.arange(4)[None, :] + 1.0)
    pairs = power_iteration(H)
    assert pairs.values[0] == pytest.approx(1.500214280059243, rel=1e-14)
    np.testing.assert_allclose(np.sort(pairs.values), np.linalg.eigvalsh(H), atol=1e-10)


def test_the_same_seed_gives_the_same_bits() -> None:
    A = with_spectrum([3.0, -2.0, 1.0, 0.1])
    a, b = power_iteration(A), power_iteration(A)
    assert a.vectors.tobytes() == b.vectors.tobytes()


@given(hnp.arrays(np.float64, 3, elements=st.floats(-10, 10)))
def test_the_quotient_lies_between_the_ends_of_the_spectrum(x: Floats) -> None:
    A = with_spectrum([-2.0, 0.0, 5.0])
    if not x.any():
        return
    assert -2 - 1e-12 <= rayleigh_quotient(A, x) <= 5 + 1e-12


def test_the_quotient_of_an_eigenvector_is_its_value() -> None:
    assert rayleigh_quotient([[0, 1], [1, 0]], [1, -1]) == -1.0
    assert rayleigh_quotient([[2, 1], [1, 2]], [1e200, 1e200]) == 3.0
    assert rayleigh_quotient([[2e300, 0], [0, 1e300]], [1e-200, 0]) == pytest.approx(2e300)
    # Halfway in angle is halfway in value: cos^2 = 1/2.
    assert rayleigh_quotient(np.diag([1.0, 3.0]), [math.sqrt(0.5)] * 2) == pytest.approx(2.0)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="zero vector"):
        rayleigh_quotient(np.eye(2), [0, 0])
    with pytest.raises(ValueError, match="vector of 2 finite numbers"):
        rayleigh_quotient(np.eye(2), [1, 2, 3])
    with pytest.raises(ValueError, match="1 to 2 eigenpairs, 3 were asked for"):
        power_iteration(np.eye(2), 3)
    with pytest.raises(ValueError, match="not symmetric"):
        power_iteration([[1, 2], [3, 4]])
