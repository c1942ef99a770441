"""The square root through which every covariance, scale and shape matrix is used.

    A = U L L' U,        U = diag(u), u powers of two near sqrt(a_jj), L lower triangular

Scaling by U is exact and makes the diagonal of what is factored near 1, so that the digits of the
result do not depend on the units of the columns. With it

    x' A^-1 x = |L^-1 U^-1 x|^2,        log |A| = 2 sum_j (log u_j + log l_jj),

and `U L e` with independent standard normals e has covariance A. No inverse is formed for any of
these. A singular matrix is refused with the direction in which it is flat, which names the columns
that depend on each other; `semidefinite_root` serves what still makes sense without a density.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import (
    EPSILON,
    Floats,
    Positions,
    cached_property,
    checked_symmetric,
    one_blas_thread,
    power_of_two,
)


class SingularMatrixError(InputError):
    """A matrix that must be positive definite has a direction of zero size."""


# --- Definite -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DefiniteRoot:
    """Scaled Cholesky factor of a positive definite matrix.

    Parameters
    ----------
    unit : array (d,)
        Powers of two.
    factor : array (d, d)
        Lower triangular, of the matrix divided by `unit` on both sides.

    Examples
    --------
    >>> root = definite_root([[4.0, 2.0], [2.0, 5.0]])
    >>> root.whitened([2.0, 3.0]).tolist()
    [1.0, 1.0]
    >>> round(root.log_determinant, 12) == round(float(np.log(16)), 12)
    True
    """

    unit: Floats
    factor: Floats

    @property
    def size(self) -> int:
        return len(self.unit)

    @cached_property
    def log_determinant(self) -> float:
        return float(2 * (np.log(self.unit).sum() + np.log(np.diagonal(self.factor)).sum()))

    @cached_property
    def lower(self) -> Floats:
        """The factor of the matrix itself, `U L`."""
        return self.unit[:, None] * self.factor

    @cached_property
    def inverse(self) -> Floats:
        """The inverse matrix, symmetric to the last bit."""
        from scipy.linalg import lapack

        packed, _ = lapack.dpotri(self.factor, lower=1)
        lower = np.tril(packed)
        full = lower + np.tril(lower, -1).T
        return full / self.unit / self.unit[:, None]

    def whitened(self, z: ArrayLike) -> Floats:
        """`L^-1 U^-1 z` of every vector of `(..., d)`."""
        vectors = np.asarray(z, np.float64)
        rows = (vectors / self.unit).reshape(-1, self.size)
        if not rows.size:
            return vectors
        return self._triangular(rows, 0).reshape(vectors.shape)

    def solved(self, z: ArrayLike) -> Floats:
        """`A^-1 z` of every vector of `(..., d)`."""
        vectors = np.asarray(z, np.float64)
        if not vectors.size:
            return vectors
        rows = self.whitened(vectors).reshape(-1, self.size)
        return self._triangular(rows, 1).reshape(vectors.shape) / self.unit

    def colored(self, e: ArrayLike) -> Floats:
        """`U L e` of every vector of `(..., d)`."""
        with one_blas_thread():
            return (np.asarray(e, np.float64) @ self.factor.T) * self.unit

    def squared_lengths(self, z: ArrayLike) -> Floats:
        """`z' A^-1 z` of every vector of `(..., d)`; `inf` where it overflows or z is infinite."""
        white = self.whitened(z)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("...i,...i->...", white, white)
        return _infinite_stays_infinite(squares, z)

    def lengths(self, z: ArrayLike) -> Floats:
        """`sqrt(z' A^-1 z)`, right also where the square would over- or underflow."""
        white = self.whitened(z)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            peak = np.max(np.abs(white), axis=-1, initial=0.0)
            safe = np.where((peak > 0) & np.isfinite(peak), peak, 1.0)
            lengths = safe * np.linalg.norm(white / safe[..., None], axis=-1)
        return _infinite_stays_infinite(lengths, z)

    def _triangular(self, rows: Floats, transposed: int) -> Floats:
        from scipy.linalg import lapack

        # One thread: the same bits everywhere, and no waiting for others on small systems.
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
            solution, _ = lapack.dtrtrs(self.factor, rows.T, lower=1, trans=transposed)
        return np.asarray(solution.T)


def definite_root(A: ArrayLike, name: str = "The matrix") -> DefiniteRoot:
    """The scaled factor of a symmetric positive definite matrix.

    Raises
    ------
    SingularMatrixError
        If A is singular within rounding: names the columns that depend on each other.
    InputError
        If A is no symmetric matrix or not even semidefinite.

    Examples
    --------
    >>> definite_root([[1.0, 2.0], [2.0, 4.0]], "The covariance")
    Traceback (most recent call last):
    novum.distributions.multivariate.positive_definite.SingularMatrixError: The covariance is \
singular: x[0] - 0.5 x[1] has no variance, so columns 0, 1 depend on each other. Drop one of them, \
or add a small positive number to the diagonal.
    """
    from scipy.linalg import lapack

    unit, scaled = scaled_symmetric(A, name)
    with one_blas_thread():
        factor, failed = lapack.dpotrf(scaled, lower=1, clean=1)
    pivots = np.diagonal(factor) ** 2
    if failed or np.any(pivots <= len(scaled) * EPSILON * np.diagonal(scaled)):
        raise _not_definite(unit, scaled, name)
    return DefiniteRoot(unit, factor)


# --- Semidefinite ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SemidefiniteRoot:
    """Eigenvectors of a scaled positive semidefinite matrix, parted into its range and the rest.

    Parameters
    ----------
    unit : array (d,)
    values : array (r,)
        Positive eigenvalues of the scaled matrix.
    vectors : array (d, r)
    flat : array (d, d - r)
        Orthonormal directions of the scaled matrix without variance.
    """

    unit: Floats
    values: Floats
    vectors: Floats
    flat: Floats

    @property
    def lower(self) -> Floats:
        """A factor F of shape (d, r) with `A = F F'`."""
        return self.unit[:, None] * self.vectors * np.sqrt(self.values)

    def whitened(self, z: ArrayLike) -> Floats:
        """Coordinates `(..., r)` of z in the range, each with variance 1."""
        return (np.asarray(z, np.float64) / self.unit) @ self.vectors / np.sqrt(self.values)

    def is_possible(self, z: ArrayLike) -> bool:
        """Whether a deviation z lies in the range, up to half of the digits."""
        scaled = np.asarray(z, np.float64) / self.unit
        # Flat directions are known to sqrt(eps): their variance is zero only within eps.
        limit = 10 * np.sqrt(len(scaled) * EPSILON) * max(1.0, float(np.linalg.norm(scaled)))
        return bool(np.linalg.norm(scaled @ self.flat) <= limit)


def semidefinite_root(A: ArrayLike, name: str = "The matrix") -> SemidefiniteRoot:
    """The root of a symmetric positive semidefinite matrix.

    >>> root = semidefinite_root([[1.0, 2.0], [2.0, 4.0]])
    >>> root.values.size, root.is_possible([1.0, 2.0]), root.is_possible([1.0, 0.0])
    (1, True, False)
    """
    unit, scaled = scaled_symmetric(A, name)
    values, vectors = np.linalg.eigh(scaled)
    limit = _flat_below(values)
    if values[0] < -limit:
        raise _not_definite(unit, scaled, name)
    kept = values > limit
    return SemidefiniteRoot(unit, values[kept], vectors[:, kept], vectors[:, ~kept])


# --- Parts ----------------------------------------------------------------------------------------


def scaled_symmetric(A: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """Powers of two near the square roots of the diagonal, and the matrix divided by them."""
    matrix = np.asarray(A, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"{name} must be a square matrix, got shape {matrix.shape}.")
    diagonal = np.diagonal(matrix)
    bad = np.flatnonzero(~(np.isfinite(diagonal) & (diagonal >= 0)))
    if bad.size:
        raise InputError(
            f"{name} needs a finite diagonal of at least 0; entry {bad[0]} is {diagonal[bad[0]]}."
        )
    unit = power_of_two(np.sqrt(diagonal))
    try:
        return unit, checked_symmetric(matrix / unit / unit[:, None])
    except ValueError as error:
        raise InputError(f"{name} cannot be used. In scaled columns: {error}") from None


def _flat_below(values: Floats) -> float:
    """Eigenvalues up to this are zero within the rounding of the matrix and its decomposition."""
    return 4 * len(values) * EPSILON * float(np.max(np.abs(values), initial=0.0))


def _not_definite(unit: Floats, scaled: Floats, name: str) -> InputError:
    values, vectors = np.linalg.eigh(scaled)
    direction = vectors[:, 0] / unit
    direction = direction / direction[np.argmax(np.abs(direction))]
    involved = np.flatnonzero(np.abs(direction * unit) > 1e-6 * np.abs(direction * unit).max())
    combination = _as_text(direction, involved)
    if values[0] < -_flat_below(values):
        return InputError(
            f"{name} is not positive definite: {combination} would have a negative variance. "
            "Check how it was computed; no sample has such a covariance."
        )
    columns = ", ".join(map(str, involved[:10]))
    if involved.size == 1:
        return SingularMatrixError(
            f"{name} is singular: x[{columns}] has no variance. Drop this column, or add a small "
            "positive number to its diagonal entry."
        )
    return SingularMatrixError(
        f"{name} is singular: {combination} has no variance, so columns {columns} depend on each "
        "other. Drop one of them, or add a small positive number to the diagonal."
    )


def _as_text(direction: Floats, involved: Positions) -> str:
    """A linear combination such as `x[0] - 0.5 x[2]`, its largest terms first if it is long."""
    shown = np.sort(involved[np.argsort(-np.abs(direction[involved]), kind="stable")[:6]])
    sign = np.sign(direction[shown[0]])
    text = ""
    for place in shown:
        share = sign * direction[place]
        size = "" if abs(abs(share) - 1) < 1e-9 else f"{abs(share):.4g} "
        join = "" if not text else (" + " if share > 0 else " - ")
        text += f"{join}{size}x[{place}]"
    return text + (" + ..." if involved.size > shown.size else "")


def _infinite_stays_infinite(sizes: Floats, z: ArrayLike) -> Floats:
    """Solving with an infinite coordinate gives NaN, but its distance is infinite."""
    if np.all(np.isfinite(sizes)):
        return sizes
    vectors = np.asarray(z, np.float64)
    return np.where(np.isnan(sizes) & ~np.isnan(vectors).any(axis=-1), np.inf, sizes)
