"""Triangular factor of a positive definite matrix, and its change by one row.

    A = L L',    L lower triangular with a positive diagonal

The pivot `L_kk^2 = a_kk - sum_{j<k} L_kj^2` is what variable k has left when the earlier ones are
known; the matrix is positive definite exactly when all pivots are positive. A row x joins by plane
rotations (`L L' + x x'`) and leaves by hyperbolic ones in LINPACK's stable order (`L L' - x x'`),
each in O(n^2). Leaving is possible when

    rho^2 = 1 - |L^-1 x|^2 > 0,

and costs about `-log10(rho^2)` digits, which are reported.

References
----------
Gill, Golub, Murray and Saunders, "Methods for modifying matrix factorizations", 1974.
Dongarra et al., LINPACK users' guide, 1979, ch. 10 (SCHDD).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike

from novum.numerics.definiteness import checked_symmetric
from novum.numerics.linear_algebra import EPSILON
from novum.numerics.types import Floats


@dataclass(frozen=True, eq=False)
class Downdate:
    """A factor after a row has left.

    Parameters
    ----------
    factor : array (n, n)
    digits_lost : float
        Decimal digits that the factor has lost by the subtraction, out of about 16.
    """

    factor: Floats
    digits_lost: float


def cholesky_factor(A: ArrayLike) -> Floats:
    """The lower triangular factor L of `A = L L'`.

    Raises
    ------
    LinAlgError
        If A is not positive definite: names the first pivot that is not positive, or that is zero
        within rounding, `n eps a_kk`.

    Examples
    --------
    >>> cholesky_factor([[4, 2], [2, 5]]).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    >>> cholesky_factor([[1, 2], [2, 1]])
    Traceback (most recent call last):
    numpy.linalg.LinAlgError: The matrix is not positive definite: pivot 1 (of 0 to 1) is -3, \
where the diagonal is 1. See definiteness_of() for a witness.
    """
    from scipy.linalg import lapack

    matrix = checked_symmetric(A)
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=1)
    diagonal = np.diagonal(matrix)
    if failed:
        # LAPACK leaves the finished rows of the factor and the failed pivot in its place.
        k = failed - 1
        raise _failed_pivot(k, diagonal[k] - factor[k, :k] @ factor[k, :k], matrix)
    pivots = np.diagonal(factor) ** 2
    lost = np.flatnonzero(pivots <= len(matrix) * EPSILON * diagonal)
    if lost.size:
        raise _failed_pivot(int(lost[0]), pivots[lost[0]], matrix)
    return factor


def cholesky_update(factor: ArrayLike, x: ArrayLike) -> Floats:
    """The factor of `L L' + x x'`.

    >>> cholesky_update([[2, 0], [1, 2]], [0, 2]).round(12).tolist() == (
    ...     cholesky_factor([[4, 2], [2, 9]]).round(12).tolist()
    ... )
    True
    """
    L, row = _checked_pair(factor, x)
    for k in range(len(L)):
        radius = np.hypot(L[k, k], row[k])
        cosine, sine = radius / L[k, k], row[k] / L[k, k]
        L[k, k] = radius
        L[k + 1 :, k] = (L[k + 1 :, k] + sine * row[k + 1 :]) / cosine
        row[k + 1 :] = cosine * row[k + 1 :] - sine * L[k + 1 :, k]
    return L


def cholesky_downdate(factor: ArrayLike, x: ArrayLike) -> Downdate:
    """The factor of `L L' - x x'`, and the digits lost.

    Raises
    ------
    LinAlgError
        If what is left is not positive definite, within the accuracy of the factor.

    Examples
    --------
    >>> result = cholesky_downdate(cholesky_factor([[4, 2], [2, 9]]), [0, 2])
    >>> result.factor.round(12).tolist(), round(result.digits_lost, 2)
    ([[2.0, 0.0], [1.0, 2.0]], 0.3)
    """
    from scipy.linalg import solve_triangular

    L, row = _checked_pair(factor, x)
    share = solve_triangular(L, row, lower=True)
    # (1 - |p|)(1 + |p|) keeps the digits that 1 - |p|^2 would lose.
    length = float(np.linalg.norm(share))
    rho_squared = (1 - length) * (1 + length)
    if not rho_squared > len(L) * EPSILON:
        raise LinAlgError(
            "The row cannot be taken away: 1 - |L^-1 x|^2 is "
            f"{rho_squared:.3g}, so the rest would not be positive definite. "
            "The row was not part of the factor, or it carries a direction alone; refit instead."
        )
    cosines, sines = _rotations(share, np.sqrt(rho_squared))
    carried = np.zeros(len(L))
    for k in range(len(L) - 1, -1, -1):
        column = L[k:, k].copy()
        L[k:, k] = cosines[k] * column - sines[k] * carried[k:]
        carried[k:] = cosines[k] * carried[k:] + sines[k] * column
    return Downdate(L, max(0.0, -float(np.log10(rho_squared))))


def mahalanobis(x: ArrayLike, mean: ArrayLike, covariance: ArrayLike) -> Floats:
    """Distances `sqrt((x - m)' C^-1 (x - m))` of the rows of `x` from `mean`.

    Parameters
    ----------
    x : array (d,) or (n, d)
    mean : array (d,)
    covariance : array (d, d)
        Positive definite.

    Examples
    --------
    >>> mahalanobis([[2, 0], [0, 2]], [0, 0], [[4, 0], [0, 1]]).tolist()
    [1.0, 2.0]
    """
    from scipy.linalg import solve_triangular

    L = cholesky_factor(covariance)
    center = np.asarray(mean, float)
    points = np.asarray(x, float)
    if center.shape != (len(L),) or points.ndim not in (1, 2) or points.shape[-1] != len(L):
        raise ValueError(
            f"A covariance of {len(L)} variables needs a mean of shape ({len(L)},) and points of "
            f"shape (n, {len(L)}), got {center.shape} and {points.shape}."
        )
    whitened = solve_triangular(L, (points - center).T, lower=True)
    return np.linalg.norm(whitened, axis=0)


def _rotations(share: Floats, last: float) -> tuple[Floats, Floats]:
    """Rotations, last coordinate first, that turn `(share, last)` into `(0, ..., 0, 1)`."""
    cosines, sines = np.empty(len(share)), np.empty(len(share))
    for k in range(len(share) - 1, -1, -1):
        radius = np.hypot(last, share[k])
        cosines[k], sines[k] = last / radius, share[k] / radius
        last = radius
    return cosines, sines


def _failed_pivot(k: int, pivot: float, matrix: Floats) -> LinAlgError:
    word = "" if pivot < 0 else ", which is zero within rounding"
    return LinAlgError(
        f"The matrix is not positive definite: pivot {k} (of 0 to {len(matrix) - 1}) is "
        f"{pivot:.6g}{word}, where the diagonal is {matrix[k, k]:.6g}. "
        "See definiteness_of() for a witness."
    )


def _checked_pair(factor: ArrayLike, x: ArrayLike) -> tuple[Floats, Floats]:
    """Copies of a lower factor and a row that fit together."""
    L, row = np.tril(np.asarray(factor, float)), np.array(x, float)
    if L.ndim != 2 or L.shape != (len(L), len(L)) or row.shape != (len(L),):
        raise ValueError(
            f"A factor of shape (n, n) goes with a row of n numbers, got {np.shape(factor)} and "
            f"{row.shape}."
        )
    if not (np.all(np.isfinite(L)) and np.all(np.isfinite(row))):
        raise ValueError("The factor and the row must be finite; they hold NaN or infinity.")
    bad = np.flatnonzero(np.diagonal(L) <= 0)
    if bad.size:
        raise ValueError(
            f"A Cholesky factor has a positive diagonal; entry {bad[0]} is {L[bad[0], bad[0]]:g}."
        )
    return L, row
