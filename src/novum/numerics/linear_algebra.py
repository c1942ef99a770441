"""Bases, spans, projections and angles.

A basis or a spanning set is a matrix whose columns are the vectors. With the basis P

    x = P c               c are the coordinates of x,
    B = Q^-1 A P          B is the map A seen in the bases P (from) and Q (to),

and the orthogonal projection onto the span of the columns of P is `U U'` for any orthonormal basis
U of that span. U comes from a singular value decomposition of the columns, each scaled by a power
of two to a length near 1: whether a vector adds a dimension does not depend on its units. A
direction counts when its singular value is above `rtol` times the largest; the default is
`max(n, m) * 2.2e-16`, the size of the rounding errors of the decomposition.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike

from novum.numerics.types import Floats

EPSILON = float(np.finfo(np.float64).eps)
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


# --- Change of basis ------------------------------------------------------------------------------


def coordinates(x: ArrayLike, basis: ArrayLike) -> Floats:
    """Coordinates of `x` in a basis: the solution of `basis @ c = x`.

    Parameters
    ----------
    x : array (n,) or (n, k)
        A vector, or k vectors as columns.
    basis : array (n, n)
        The vectors of the basis as columns.

    Examples
    --------
    >>> P = [[3, -2], [1, 1]]
    >>> coordinates([1, 2], P).round(12).tolist()
    [1.0, 1.0]
    """
    P = _checked_basis(basis)
    vectors = _checked_vectors(x, len(P))
    return np.asarray(np.linalg.solve(P, vectors), np.float64)


def from_coordinates(c: ArrayLike, basis: ArrayLike) -> Floats:
    """The vector with coordinates `c`: `basis @ c`.

    >>> from_coordinates([1, 1], [[3, -2], [1, 1]]).tolist()
    [1.0, 2.0]
    """
    P = _checked_basis(basis)
    return P @ _checked_vectors(c, len(P))


def matrix_in_basis(A: ArrayLike, basis: ArrayLike, to_basis: ArrayLike | None = None) -> Floats:
    """The matrix of the map `A` in other bases, `to_basis^-1 A basis`.

    Parameters
    ----------
    A : array (m, n)
        The map in the standard bases.
    basis : array (n, n)
        New basis of the space it starts from.
    to_basis : array (m, m), optional
        New basis of the space it leads to; `basis` itself by default, for maps of a space into
        itself.

    Examples
    --------
    >>> (matrix_in_basis([[2, 6], [1, 1]], [[3, -2], [1, 1]]).round(12) + 0.0).tolist()
    [[4.0, 0.0], [0.0, -1.0]]
    """
    P = _checked_basis(basis)
    Q = P if to_basis is None else _checked_basis(to_basis)
    matrix = np.asarray(A, float)
    if matrix.shape != (len(Q), len(P)):
        raise ValueError(
            f"A map between bases of {len(P)} and {len(Q)} vectors has shape ({len(Q)}, {len(P)}), "
            f"got {matrix.shape}."
        )
    return np.asarray(np.linalg.solve(Q, matrix @ P), np.float64)


# --- Spans ----------------------------------------------------------------------------------------


def orthonormal_basis(vectors: ArrayLike, rtol: float | None = None) -> Floats:
    """Orthonormal columns with the same span as the columns of `vectors`.

    Parameters
    ----------
    vectors : array (n, m)
        Need not be independent.
    rtol : float, optional
        Directions whose singular value is at most `rtol` times the largest do not count; see the
        module's text for the default.

    Returns
    -------
    array (n, rank)
    """
    columns = _checked_matrix(vectors)
    if not columns.size:
        return np.zeros((columns.shape[0], 0))
    left, singular, _ = np.linalg.svd(_unit_columns(columns), full_matrices=False)
    return left[:, singular > _tolerance(columns.shape, rtol) * singular[0]]


def rank(A: ArrayLike, rtol: float | None = None) -> int:
    """Number of independent columns, which is that of independent rows.

    Neither the units of columns nor those of rows matter: a direction counts when it stands out
    from rounding errors among the one or among the other.

    >>> rank([[1, 2, 3], [2, 4, 7]])
    2
    >>> rank([[1, 1e-20], [0, 1e-20]]), rank([[1, 1], [0, 1e-20]]), rank([[1, 0], [1, 1e-20]])
    (2, 2, 2)
    """
    matrix = _checked_matrix(A)
    return max(orthonormal_basis(side, rtol).shape[1] for side in (matrix, matrix.T))


def is_in_span(x: ArrayLike, vectors: ArrayLike, rtol: float = 1e-10) -> bool:
    """Whether `x` is a combination of the columns: `|x - projection| <= rtol |x|`.

    >>> is_in_span([1, 2, 3], [[1, 0], [0, 1], [1, 1]])
    True
    >>> is_in_span([1, 2, 4], [[1, 0], [0, 1], [1, 1]])
    False
    """
    vector = _scaled(np.asarray(x, float))
    rest = vector - project(vector, vectors)
    return bool(np.linalg.norm(rest) <= rtol * np.linalg.norm(vector))


def project(x: ArrayLike, vectors: ArrayLike, rtol: float | None = None) -> Floats:
    """The point of the span of the columns nearest to `x`.

    Parameters
    ----------
    x : array (n,) or (n, k)
    vectors : array (n, m)
        Need be neither orthonormal nor independent.

    Examples
    --------
    >>> project([3, 4, 5], [[1, 1], [0, 1], [0, 0]]).round(12).tolist()
    [3.0, 4.0, 0.0]
    """
    U = orthonormal_basis(vectors, rtol)
    return U @ (U.T @ _checked_vectors(x, len(U)))


def projection_matrix(vectors: ArrayLike, rtol: float | None = None) -> Floats:
    """The symmetric matrix that projects onto the span of the columns.

    >>> projection_matrix([[2], [2]]).round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    U = orthonormal_basis(vectors, rtol)
    return U @ U.T


# --- Angles ---------------------------------------------------------------------------------------


def angle(u: ArrayLike, v: ArrayLike) -> float:
    """Angle between two vectors in radians, 0 to pi.

    `2 atan2(|a - b|, |a + b|)` of the unit vectors, which keeps its digits where the cosine has
    none left: near 0 and near pi (Kahan).

    >>> round(angle([1, 0], [1, 1]) * 180 / np.pi, 10)
    45.0
    """
    a, b = _scaled(np.asarray(u, float)), _scaled(np.asarray(v, float))
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"An angle needs two vectors of equal length, got {a.shape}, {b.shape}.")
    length_a, length_b = np.linalg.norm(a), np.linalg.norm(b)
    if length_a == 0 or length_b == 0:
        raise ValueError("The zero vector has no direction, so no angle.")
    a, b = a / length_a, b / length_b
    return float(2 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))


def subspace_angles(A: ArrayLike, B: ArrayLike, rtol: float | None = None) -> Floats:
    """Principal angles between the spans of two sets of columns, smallest first.

    There are as many as the smaller span has dimensions.

    >>> plane, line = [[1, 0], [0, 1], [0, 0]], [[0], [1], [1]]
    >>> (subspace_angles(plane, line) * 180 / np.pi).round(10).tolist()
    [45.0]
    """
    from scipy import linalg

    U, V = orthonormal_basis(A, rtol), orthonormal_basis(B, rtol)
    if len(U) != len(V):
        raise ValueError(f"Both spans must lie in one space, got {len(U)} and {len(V)} dimensions.")
    if not U.shape[1] or not V.shape[1]:
        raise ValueError("A span of zero vectors only has no direction, so no angle.")
    return np.sort(linalg.subspace_angles(U, V))


# --- Checks and scaling ---------------------------------------------------------------------------


def power_of_two(size: Floats) -> Floats:
    """For each number the power of two just below it; 1 for zero. Scaling by it is exact."""
    exponent = np.frexp(np.where(size > 0, size, 1.0))[1] - 1
    return np.ldexp(1.0, exponent)


def unit_scale(sizes: Floats) -> Floats:
    """For each size the power of two that brings it near 1; 1 for zero.

    >>> unit_scale(np.array([0.0, 3.0, 0.2])).tolist()
    [1.0, 0.5, 8.0]
    """
    # The power for a subnormal number would overflow; that for the smallest normal one is near
    # enough.
    normal = np.where(sizes > 0, np.maximum(sizes, SMALLEST_NORMAL), 1.0)
    return np.asarray(np.ldexp(1.0, 1 - np.frexp(normal)[1]))


# Sums of squares in which no term that matters has lost digits.
_SAFE_SQUARE = 1e-250


def column_norms(columns: Floats) -> Floats:
    """Euclidean norms that neither over- nor underflow on the way.

    >>> column_norms(np.array([[3e-200], [4e-200]])).tolist()
    [5e-200]
    """
    with np.errstate(over="ignore", under="ignore"):
        squares = np.add.reduce(columns * columns, axis=0)
    if squares.size and squares.min() > _SAFE_SQUARE and squares.max() < 1 / _SAFE_SQUARE:
        return np.asarray(np.sqrt(squares))
    scale = unit_scale(np.abs(columns).max(axis=0, initial=0.0))
    return np.asarray(np.linalg.norm(columns * scale, axis=0) / scale)


def _unit_columns(columns: Floats) -> Floats:
    return columns / power_of_two(np.abs(columns).max(axis=0))


def _scaled(vector: Floats) -> Floats:
    if not np.all(np.isfinite(vector)):
        raise ValueError("A vector must be finite; it holds NaN or infinity.")
    return vector / power_of_two(np.abs(vector).max(initial=0.0))


def _tolerance(shape: tuple[int, ...], rtol: float | None) -> float:
    if rtol is None:
        return max(shape) * EPSILON
    if not 0 <= rtol < 1:
        raise ValueError(f"rtol must be at least 0 and below 1, got {rtol!r}.")
    return rtol


def _checked_matrix(A: ArrayLike) -> Floats:
    matrix = np.asarray(A, float)
    if matrix.ndim != 2:
        raise ValueError(f"Expected a matrix with vectors as columns, got shape {matrix.shape}.")
    if not np.all(np.isfinite(matrix)):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"A matrix must be finite; row {row}, column {column} holds {matrix[row, column]}."
        )
    return matrix


def _checked_vectors(x: ArrayLike, n: int) -> Floats:
    vectors = np.asarray(x, float)
    if vectors.ndim not in (1, 2) or len(vectors) != n:
        raise ValueError(
            f"Expected a vector of {n} numbers or a matrix with {n} rows, got shape "
            f"{vectors.shape}."
        )
    return vectors


def _checked_basis(basis: ArrayLike) -> Floats:
    P = _checked_matrix(basis)
    if P.shape[0] != P.shape[1]:
        raise ValueError(f"A basis of n-space has n vectors of length n, got shape {P.shape}.")
    independent = rank(P)
    if independent < len(P):
        raise LinAlgError(
            f"The {len(P)} vectors are no basis: only {independent} of them are independent."
        )
    return P
