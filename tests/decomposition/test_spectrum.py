"""Spectra: the definition, residuals as bounds, signs and axes without spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.decomposition.pca import PCA
from novum.decomposition.spectrum import (
    Spectrum,
    completed,
    rounding,
    settled,
    signs_of,
    spectrum_of,
    spectrum_of_moments,
)
from novum.numerics import moments_of
from tests.decomposition.component_tables import low_rank_table
from tests.decomposition.definitions import captured, scatter


@pytest.mark.parametrize("solver", ["auto", "full"])
@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_a_spectrum_rebuilds_the_scatter(solver: str, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(9, 4)) + 5
    found = spectrum_of(PCA(svd_solver=solver).statistics(X))
    S = scatter(X)
    np.testing.assert_allclose((found.axes.T * found.squares) @ found.axes, S, atol=1e-12)
    assert found.total == pytest.approx(np.trace(S))
    assert (np.diff(found.squares) <= 0).all()
    for axis, square in zip(found.axes, found.squares, strict=True):
        assert captured(X, axis[None]) == pytest.approx(square)


def test_every_value_is_within_the_residual_of_an_eigenvalue() -> None:
    X = low_rank_table(50, 8, 3)
    S = scatter(X)
    found = spectrum_of_moments(moments_of(X), 50.0)
    bound = found.residual + 8 * np.finfo(float).eps * np.trace(S)
    assert np.abs(np.linalg.eigvalsh(S)[::-1] - found.squares).max() <= bound
    assert found.residual <= 1e-13 * found.squares[0]


def test_a_few_pairs_are_the_first_of_all() -> None:
    X = low_rank_table(100, 40, 5)
    whole, few = (spectrum_of_moments(moments_of(X), 100.0, count) for count in (None, 3))
    assert len(few.squares) == 4
    np.testing.assert_allclose(few.squares, whole.squares[:4], rtol=1e-12)
    np.testing.assert_allclose(few.axes, whole.axes[:4], atol=1e-10)
    assert few.outside(3) == pytest.approx(whole.outside(3), rel=1e-10)


def test_the_limit_counts_rows_by_weight() -> None:
    def limit(rows: float, weight: float) -> int:
        blank = np.zeros(0)
        return Spectrum(np.zeros(9), blank, np.zeros((0, 9)), 1.0, weight, rows, 0.0, "").limit

    assert limit(3, 3) == 3
    assert limit(2, 5) == 5
    assert limit(4, 0.5) == 4
    assert limit(20, 20) == 9
    # A sum of weights that is 5 up to rounding is 5.
    assert limit(2, 5 - 1e-15) == 5


def test_signs_look_at_the_largest_loading() -> None:
    axes = np.array([[0.1, -0.9], [0.9, -0.1], [-0.5, 0.5 + 1e-12], [0.0, 0.0]])
    assert signs_of(axes).tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert signs_of(np.zeros((2, 0))).tolist() == [1.0, 1.0]


@given(st.integers(0, 200), st.integers(1, 7), st.integers(0, 7))
def test_completed_axes_are_orthonormal(seed: int, d: int, known: int) -> None:
    known = min(known, d)
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0][:known]
    squares, basis = completed(np.ones(known), axes, d)
    np.testing.assert_allclose(basis @ basis.T, np.eye(d), atol=1e-13)
    np.testing.assert_array_equal(basis[:known], axes)
    assert squares.tolist() == [1.0] * known + [0.0] * (d - known)


def test_completed_axes_do_not_hang_on_last_digits() -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(12, 4)))[0].T
    other = np.linalg.qr((axes + 1e-15 * rng.normal(size=axes.shape)).T)[0].T
    other *= np.sign(np.sum(axes * other, axis=1))[:, None]
    first, second = (completed(np.ones(4), a, 12)[1] for a in (axes, other))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_directions_dropped_beside_others_serve_alone() -> None:
    # The first coordinate has 0.01 outside the axes, in the very direction of the second.
    gone = np.array([0.01, 0.9, 0.3, 0.3])
    rest = np.array([0.0, 0.3, -0.9, 0.0])
    plane = np.linalg.qr(np.column_stack([gone, rest]))[0]
    axes = np.linalg.svd(np.eye(4) - plane @ plane.T)[0][:, :2].T
    basis = completed(np.ones(2), axes, 4)[1]
    np.testing.assert_allclose(basis @ basis.T, np.eye(4), atol=1e-13)


def test_axes_along_the_columns_can_be_completed() -> None:
    _, basis = completed(np.ones(2), np.eye(5)[[0, 3]], 5)
    np.testing.assert_allclose(np.abs(basis), np.eye(5)[[0, 3, 1, 2, 4]], atol=1e-15)


def test_what_is_rounding_becomes_zero() -> None:
    X = low_rank_table(50, 3, 2)
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5]])
    found = spectrum_of_moments(moments_of(X), 50.0)
    assert found.rank == 3
    assert found.squares[3] == 0.0
    values = np.array([1.0, rounding(4) / 2])
    rough = Spectrum(np.zeros(4), values, np.eye(4)[:2], 1.0, 9.0, 9.0, 0.0, "")
    assert settled(rough, 1, rounding(4)).squares.tolist() == [1.0, 0.0]
