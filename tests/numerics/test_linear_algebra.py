"""Bases, spans, projections, angles: worked numbers, exact solutions, defining properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.linalg import LinAlgError
from scipy import linalg

from novum.numerics import (
    Floats,
    angle,
    column_norms,
    coordinates,
    from_coordinates,
    is_in_span,
    matrix_in_basis,
    orthonormal_basis,
    power_of_two,
    project,
    projection_matrix,
    rank,
    subspace_angles,
    unit_scale,
)
from tests.oracles.exact_numerics import solve

P = np.array([[3.0, -2.0], [1.0, 1.0]])
small = st.integers(-9, 9).map(float)
squares = st.integers(1, 4).flatmap(lambda n: hnp.arrays(np.float64, (n, n), elements=small))
tall = st.integers(1, 4).flatmap(lambda m: hnp.arrays(np.float64, (4, m), elements=small))


# --- Change of basis ------------------------------------------------------------------------------


def test_the_worked_basis() -> None:
    # det P = 5 and P^-1 = [[1, 2], [-1, 3]] / 5.
    np.testing.assert_allclose(coordinates([5, 0], P), [1, -1], rtol=1e-15)
    np.testing.assert_allclose(coordinates([0, 5], P), [2, 3], rtol=1e-15)
    np.testing.assert_allclose(from_coordinates([2, 3], P), [0, 5], atol=1e-15)
    # P diag(4, -1) P^-1 = [[2, 6], [1, 1]].
    np.testing.assert_allclose(matrix_in_basis([[2, 6], [1, 1]], P), np.diag([4, -1]), atol=1e-14)


@given(squares, st.data())
def test_coordinates_are_the_exact_solution(basis: Floats, data: st.DataObject) -> None:
    assume(abs(np.linalg.det(basis)) > 0.5)
    x = data.draw(hnp.arrays(np.float64, len(basis), elements=small))
    expected = np.array(solve(basis.tolist(), x.tolist()), float)
    found = coordinates(x, basis)
    # Integer matrices of determinant at least 1 and entries up to 9: condition below 1e5.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(from_coordinates(found, basis), x, atol=1e-9)


@given(squares, st.data())
def test_the_map_acts_on_coordinates(basis: Floats, data: st.DataObject) -> None:
    assume(abs(np.linalg.det(basis)) > 0.5)
    n = len(basis)
    A = data.draw(hnp.arrays(np.float64, (n, n), elements=small))
    x = data.draw(hnp.arrays(np.float64, n, elements=small))
    B = matrix_in_basis(A, basis)
    np.testing.assert_allclose(B @ coordinates(x, basis), coordinates(A @ x, basis), atol=1e-6)
    assert np.trace(B) == pytest.approx(np.trace(A), abs=1e-6)


def test_maps_between_two_spaces() -> None:
    A = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])
    Q = np.diag([1.0, 2.0, 4.0])
    np.testing.assert_allclose(matrix_in_basis(A, P, Q), np.diag([1, 0.5, 0.25]) @ A @ P)
    with pytest.raises(ValueError, match=r"has shape \(3, 2\), got \(2, 2\)"):
        matrix_in_basis(P, P, Q)


def test_what_is_no_basis_is_refused() -> None:
    with pytest.raises(LinAlgError, match="only 1 of them are independent"):
        coordinates([1, 2], [[1, 2], [2, 4]])
    with pytest.raises(ValueError, match=r"n vectors of length n, got shape \(2, 1\)"):
        coordinates([1, 2], [[1], [2]])
    with pytest.raises(ValueError, match="row 1, column 0 holds nan"):
        coordinates([1, 2], [[1, 0], [np.nan, 1]])
    with pytest.raises(ValueError, match="vector of 2 numbers"):
        coordinates([1, 2, 3], P)
    with pytest.raises(ValueError, match="vectors as columns"):
        rank([1, 2])


# --- Spans ----------------------------------------------------------------------------------------


@given(tall)
def test_projections_are_symmetric_idempotent_and_leave_an_orthogonal_rest(A: Floats) -> None:
    M = projection_matrix(A)
    np.testing.assert_allclose(M, M.T, atol=1e-14)
    np.testing.assert_allclose(M @ M, M, atol=1e-13)
    np.testing.assert_allclose(M @ A, A, atol=1e-11)
    assert np.trace(M) == pytest.approx(rank(A), abs=1e-12)
    x = np.array([1.0, -2.0, 3.0, 0.5])
    np.testing.assert_allclose(A.T @ (x - project(x, A)), 0, atol=1e-11)


@given(tall)
def test_projection_is_the_least_squares_fit(A: Floats) -> None:
    x = np.array([1.0, -2.0, 3.0, 0.5])
    best = np.linalg.lstsq(A, x, rcond=None)[0]
    np.testing.assert_allclose(project(x, A), A @ best, atol=1e-10)


@given(tall)
def test_rank_agrees_with_elimination_in_integers(A: Floats) -> None:
    rows = [[int(value) for value in row] for row in A]
    independent = 0
    for column in range(A.shape[1]):
        pivot = next((r for r in range(independent, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[independent], rows[pivot] = rows[pivot], rows[independent]
        top = rows[independent]
        for r in range(independent + 1, len(rows)):
            factor = rows[r][column]
            rows[r] = [a * top[column] - factor * p for a, p in zip(rows[r], top, strict=True)]
        independent += 1
    assert rank(A) == independent


def test_rank_does_not_depend_on_units() -> None:
    A = np.array([[1.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    for scale in (1e-200, 1e-20, 1e20, 1e200):
        assert rank(A * [1.0, scale]) == 2
        assert rank(np.column_stack([A, A[:, 0] * scale])) == 2
    assert rank(np.zeros((3, 2))) == 0
    assert orthonormal_basis(np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("small", [1e-8, 1e-20, 1e-200])
def test_rank_is_that_of_the_transpose(small: float) -> None:
    rng = np.random.default_rng(0)
    for A in (
        np.array([[1.0, 1.0], [0.0, small]]),
        np.array([[1.0, 1.0], [small, -small]]),
        rng.normal(size=(4, 2)) @ rng.normal(size=(2, 3)) * [[1.0], [small], [1.0], [1.0]],
    ):
        assert rank(A) == rank(A.T) == 2
    assert coordinates([1.0, small], [[1.0, 1.0], [0.0, small]]).tolist() == [0.0, 1.0]


def test_the_tolerance_decides_as_stated() -> None:
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-6]])
    assert (rank(A), rank(A, rtol=1e-5)) == (2, 1)
    # Among its columns, not among its rows: a basis is one of columns.
    upper = np.array([[1.0, 1.0], [0.0, 1e-6]])
    assert orthonormal_basis(upper, rtol=1e-5).shape == (2, 1)
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        rank(A, rtol=1.0)


def test_span_membership() -> None:
    plane = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert is_in_span([2e200, 3e200, 5e200], plane)
    assert not is_in_span([2, 3, 5.001], plane)
    assert is_in_span([2, 3, 5.001], plane, rtol=1e-3)
    assert is_in_span([0, 0, 0], plane)
    with pytest.raises(ValueError, match="must be finite"):
        is_in_span([0, np.inf, 0], plane)


# --- Angles ---------------------------------------------------------------------------------------


@given(st.floats(1e-9, math.pi - 1e-9), st.floats(1e-150, 1e150))
def test_angles_in_the_plane(theta: float, length: float) -> None:
    found = angle([1.0, 0.0], [length * math.cos(theta), length * math.sin(theta)])
    # The cosine and sine are rounded, which moves the angle by about 1e-16.
    assert found == pytest.approx(theta, abs=4e-16, rel=4e-15)


def test_angles_keep_their_digits_where_the_cosine_has_none() -> None:
    assert angle([1, 0], [1, 1e-12]) == pytest.approx(1e-12, rel=1e-12)
    assert angle([1, 0], [-1, 1e-12]) == pytest.approx(math.pi - 1e-12, rel=1e-15)
    assert angle([1, 2, 3], [2, 4, 6]) == 0.0


@given(tall, tall)
def test_subspace_angles_are_those_of_the_projections(A: Floats, B: Floats) -> None:
    assume(rank(A) and rank(B))
    angles = subspace_angles(A, B)
    assert len(angles) == min(rank(A), rank(B))
    singular = linalg.svdvals(projection_matrix(A) @ projection_matrix(B))[: len(angles)]
    # The cosine of a small angle is near 1: half of the digits is what it can tell.
    np.testing.assert_allclose(angles, np.arccos(np.minimum(singular, 1)), atol=1e-7)


def test_what_has_no_angle_is_refused() -> None:
    with pytest.raises(ValueError, match="zero vector"):
        angle([0, 0], [1, 0])
    with pytest.raises(ValueError, match="equal length"):
        angle([1, 0], [1, 0, 0])
    with pytest.raises(ValueError, match="no direction"):
        subspace_angles([[0.0], [0.0]], [[1.0], [0.0]])
    with pytest.raises(ValueError, match="got 2 and 3 dimensions"):
        subspace_angles([[1.0], [0.0]], [[1.0], [0.0], [0.0]])


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=5))
def test_a_unit_scale_brings_sizes_near_one(sizes: list[float]) -> None:
    scale = unit_scale(np.array(sizes))
    scaled = np.array(sizes) * scale
    assert (scaled >= 1.0).all()
    assert (scaled < 2.0).all()
    assert np.all(np.frexp(scale)[0] == 0.5)


def test_norms_and_scales_of_any_size() -> None:
    columns = np.array([[3e-200, 0.0, 3e200, 3.0, 5e-324], [4e-200, 0.0, 4e200, 4.0, 0.0]])
    np.testing.assert_allclose(column_norms(columns), [5e-200, 0.0, 5e200, 5.0, 5e-324], rtol=1e-15)
    assert column_norms(np.empty((0, 2))).tolist() == [0.0, 0.0]
    assert unit_scale(np.array([0.0, 5e-324])).tolist() == [1.0, 2.0**1022]


def test_powers_of_two_lie_just_below() -> None:
    sizes = np.array([0.0, 1.0, 1.5, 3.999, 4.0, 1e-300, 1e300])
    powers = power_of_two(sizes)
    assert np.all((sizes == 0) | ((powers <= sizes) & (sizes < 2 * powers)))
    assert np.all(np.frexp(powers)[0] == 0.5)
