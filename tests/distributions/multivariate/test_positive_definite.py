"""Roots of matrices: identities in exact fractions, extreme units, and the words of refusals."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.multivariate.positive_definite import (
    SingularMatrixError,
    definite_root,
    semidefinite_root,
)


def random_definite(seed: int, size: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(size, size))
    return half @ half.T + 0.1 * np.eye(size)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(-200, 200))
def test_identities_hold_in_any_unit(seed: int, size: int, power: int) -> None:
    matrix = random_definite(seed, size)
    unit = np.ldexp(1.0, power * (np.arange(size) % 2))
    scaled = matrix * unit * unit[:, None]
    root, plain = definite_root(scaled), definite_root(matrix)
    # A power of two changes no digit, so the results are the same bits in other units.
    z = np.random.default_rng(seed).normal(size=(3, size))
    np.testing.assert_array_equal(root.whitened(z * unit), plain.whitened(z))
    np.testing.assert_allclose(root.solved(z * unit) * unit, plain.solved(z), rtol=1e-14)
    np.testing.assert_allclose(root.lower @ root.lower.T, scaled, rtol=1e-13, atol=0)
    # The condition number of `matrix` is below 1e4.
    np.testing.assert_allclose(plain.inverse @ matrix, np.eye(size), atol=1e-10)
    assert root.log_determinant == pytest.approx(
        np.linalg.slogdet(matrix)[1] + 2 * np.log(unit).sum(), rel=1e-12, abs=1e-10
    )


def test_the_length_is_exact_in_fractions() -> None:
    # [[4, 2], [2, 5]]^-1 = [[5, -2], [-2, 4]] / 16.
    x = (Fraction(3), Fraction(-7))
    exact = (5 * x[0] ** 2 - 4 * x[0] * x[1] + 4 * x[1] ** 2) / 16
    root = definite_root([[4.0, 2.0], [2.0, 5.0]])
    assert float(root.squared_lengths([3.0, -7.0])) == pytest.approx(float(exact), rel=1e-15)
    assert float(root.lengths([3.0, -7.0])) == pytest.approx(float(exact) ** 0.5, rel=1e-15)


def test_extreme_points_do_not_overflow_or_warn() -> None:
    root = definite_root(np.eye(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert root.lengths([3e300, 4e300]) == pytest.approx(5e300)
        assert root.lengths([3e-300, 4e-300]) == pytest.approx(5e-300)
        assert root.lengths([np.inf, -np.inf]) == np.inf
        assert root.squared_lengths([[np.inf, 0.0], [1e300, 0.0]]).tolist() == [np.inf, np.inf]
        assert np.isnan(root.squared_lengths([np.nan, np.inf]))
        assert root.lengths([0.0, 0.0]) == 0
        assert root.whitened(np.empty((0, 2))).shape == (0, 2)
        assert root.solved(np.empty((0, 2))).shape == (0, 2)


def test_color_undoes_white() -> None:
    root = definite_root(random_definite(1, 4))
    z = np.random.default_rng(0).normal(size=(2, 3, 4))
    np.testing.assert_allclose(root.colored(root.whitened(z)), z, rtol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], r"x\[1\] has no variance. Drop this column"),
        ([[1.0, 1.0], [1.0, 1.0]], r"x\[0\] - x\[1\] has no variance, so columns 0, 1 depend"),
        ([[1.0, 1e6], [1e6, 1e12]], r"x\[0\] - 1e-06 x\[1\] has no variance"),
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]], "columns 0, 1, 2 depend"),
    ],
)
def test_flat_directions_are_named(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(SingularMatrixError, match=message):
        definite_root(matrix, "The covariance")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "would have a negative variance"),
        ([[1.0, 0.5], [0.2, 1.0]], "not symmetric"),
        ([[1.0, np.inf], [np.inf, 1.0]], "must be finite"),
        ([[-1.0]], "diagonal of at least 0; entry 0 is -1.0"),
        ([[1.0, 2.0]], r"square matrix, got shape \(1, 2\)"),
        (np.zeros((0, 0)), "square matrix"),
    ],
)
def test_what_is_no_covariance_is_refused(matrix: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        definite_root(matrix, "The covariance")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        semidefinite_root(matrix, "The covariance")  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_semidefinite_root_knows_its_range(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, size - 1))
    root = semidefinite_root(half @ half.T)
    assert root.values.size == size - 1
    np.testing.assert_allclose(root.lower @ root.lower.T, half @ half.T, atol=1e-12)
    assert root.is_possible(half @ rng.normal(size=size - 1))
    assert not root.is_possible(half @ np.ones(size - 1) + 10 * root.unit * root.flat[:, 0])
    white = root.whitened((half @ rng.normal(size=(size - 1, 4))).T)
    assert white.shape == (4, size - 1)
