"""Is a symmetric matrix positive definite, and how do we know?

    positive definite      x'Ax > 0 for every x except 0
    positive semidefinite  x'Ax >= 0 for every x, with 0 for some x except 0
    indefinite             x'Ax takes both signs

The sign pattern does not change under `S A S` with a positive diagonal S (Sylvester's law of
inertia). A is therefore scaled by powers of two to a diagonal near 1 before its eigenvalues are
computed, and the verdict does not depend on the units of the variables. Computed eigenvalues are
off by at most about `n eps |SAS|`; what is smaller than the tolerance `rtol |SAS|`, not below that
error, counts as zero. Each verdict comes with its evidence: the interval of the eigenvalues, and a
vector x on which `x'Ax` has the sign that excludes more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics.linear_algebra import EPSILON, unit_scale
from novum.numerics.types import Floats


class Verdict(Enum):
    """Sign pattern of a quadratic form."""

    POSITIVE_DEFINITE = "positive definite"
    POSITIVE_SEMIDEFINITE = "positive semidefinite"
    NEGATIVE_DEFINITE = "negative definite"
    NEGATIVE_SEMIDEFINITE = "negative semidefinite"
    INDEFINITE = "indefinite"
    ZERO = "zero"


class PointKind(Enum):
    """What a function has at a point."""

    MINIMUM = "strict local minimum"
    MAXIMUM = "strict local maximum"
    SADDLE = "saddle point"
    UNDECIDED = "undecided"
    NOT_STATIONARY = "not stationary"


@dataclass(frozen=True, eq=False)
class Definiteness:
    """A verdict on a symmetric matrix and the reason for it.

    Parameters
    ----------
    verdict : Verdict
    eigenvalues : (low, high)
        Smallest and largest eigenvalue of the matrix scaled to a diagonal near 1.
    tolerance : float
        Scaled eigenvalues within this distance of zero count as zero.
    witness : array (n,) or None
        A vector x, not zero, on which `x'Ax` is smallest (largest for negative forms) in scaled
        units: negative if indefinite, zero within tolerance if semidefinite.
    value : float or None
        `x'Ax` at the witness.
    reason : str
        All this in a sentence.
    """

    verdict: Verdict
    eigenvalues: tuple[float, float]
    tolerance: float
    witness: Floats | None
    value: float | None
    reason: str


@dataclass(frozen=True, eq=False)
class StationaryPoint:
    """Second-order test of a point: its kind, the evidence, and the reason in a sentence."""

    kind: PointKind
    gradient_norm: float
    definiteness: Definiteness
    reason: str


def definiteness_of(A: ArrayLike, rtol: float | None = None) -> Definiteness:
    """Decide the sign pattern of `x'Ax` and say why.

    Parameters
    ----------
    A : array (n, n)
        Symmetric up to rounding.
    rtol : float, optional
        Eigenvalues of the scaled matrix up to `rtol` times the largest count as zero. By default
        `4 n eps`, twice the error of the computed eigenvalues.

    Examples
    --------
    >>> definiteness_of([[2, 1], [1, 2]]).verdict
    <Verdict.POSITIVE_DEFINITE: 'positive definite'>
    >>> saddle = definiteness_of([[1, 2], [2, 1]])
    >>> print(saddle.verdict.value, bool(saddle.value < 0))
    indefinite True
    """
    matrix = checked_symmetric(A)
    scale = _congruent_scale(matrix)
    scaled = matrix * scale[:, None] * scale[None, :]
    values, vectors = np.linalg.eigh(scaled)
    low, high = float(values[0]), float(values[-1])
    size = max(abs(low), abs(high))
    error = 2 * len(matrix) * EPSILON * size
    tolerance = max(error, (4 * len(matrix) * EPSILON if rtol is None else rtol) * size)
    verdict = _verdict(low, high, tolerance)
    if verdict is Verdict.ZERO:
        return Definiteness(verdict, (low, high), 0.0, None, None, "The matrix is zero.")
    lowest = verdict not in (Verdict.NEGATIVE_DEFINITE, Verdict.NEGATIVE_SEMIDEFINITE)
    direction = vectors[:, 0 if lowest else -1]
    # Values of the form are the same in both units: x = S z gives x'Ax = z'(SAS)z.
    value = float(direction @ scaled @ direction)
    reason = _reason(verdict, low, high, tolerance, value)
    return Definiteness(verdict, (low, high), tolerance, scale * direction, value, reason)


def stationary_point(
    gradient: ArrayLike, hessian: ArrayLike, tol: float = 1e-8, rtol: float | None = None
) -> StationaryPoint:
    """Minimum, maximum or saddle, from the gradient and the matrix of second derivatives.

    Parameters
    ----------
    gradient : array (n,)
    hessian : array (n, n)
    tol : float
        The gradient counts as zero up to `tol * max(1, largest |second derivative|)`.
    rtol : float, optional
        Passed to `definiteness_of`.

    Notes
    -----
    A semidefinite matrix decides nothing: `x^4`, `-x^4` and `x^3` all have a zero one.

    Examples
    --------
    >>> stationary_point([0, 0], [[2, 0], [0, -2]]).kind.value
    'saddle point'
    """
    matrix = checked_symmetric(hessian)
    slope = np.asarray(gradient, float)
    if slope.shape != (len(matrix),) or not np.all(np.isfinite(slope)):
        raise ValueError(
            f"The gradient needs {len(matrix)} finite numbers to go with the second derivatives, "
            f"got shape {slope.shape}."
        )
    norm = float(np.linalg.norm(slope))
    limit = tol * max(1.0, float(np.abs(matrix).max(initial=0.0)))
    definiteness = definiteness_of(matrix, rtol)
    if norm > limit:
        reason = f"The gradient has length {norm:.6g}, above {limit:.3g}: the function still falls."
        return StationaryPoint(PointKind.NOT_STATIONARY, norm, definiteness, reason)
    kind = {
        Verdict.POSITIVE_DEFINITE: PointKind.MINIMUM,
        Verdict.NEGATIVE_DEFINITE: PointKind.MAXIMUM,
        Verdict.INDEFINITE: PointKind.SADDLE,
    }.get(definiteness.verdict, PointKind.UNDECIDED)
    reason = f"The gradient is zero within {limit:.3g}. {definiteness.reason}"
    if kind is PointKind.UNDECIDED:
        reason += " Higher derivatives decide along the flat directions."
    return StationaryPoint(kind, norm, definiteness, reason)


# --- Parts ----------------------------------------------------------------------------------------


def checked_symmetric(A: ArrayLike) -> Floats:
    """A finite symmetric matrix; triangles that differ by rounding are averaged."""
    matrix = np.asarray(A, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"Expected a square matrix, got shape {matrix.shape}.")
    if not np.all(np.isfinite(matrix)):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"A matrix must be finite; row {row}, column {column} holds {matrix[row, column]}."
        )
    gap = np.abs(matrix / 2 - matrix.T / 2)
    row, column = np.unravel_index(np.argmax(gap), gap.shape)
    if gap[row, column] > 1e-10 * np.abs(matrix / 2).max():
        raise ValueError(
            f"The matrix is not symmetric: entry ({row}, {column}) is {matrix[row, column]:.6g}, "
            f"entry ({column}, {row}) is {matrix[column, row]:.6g}. x'Ax knows only the symmetric "
            "part; give (A + A.T) / 2 if that is what you mean."
        )
    # Halves of the smallest numbers are zero, so only entries that differ are averaged.
    return np.where(matrix == matrix.T, matrix, matrix / 2 + matrix.T / 2)


def _congruent_scale(matrix: Floats) -> Floats:
    """Powers of two s with `s_i^2 |a_ii|` near 1, or the largest of row i near 1 if `a_ii = 0`."""
    diagonal = np.abs(np.diagonal(matrix))
    zero = diagonal == 0
    scale = unit_scale(np.sqrt(diagonal))
    rows = (np.abs(matrix) * scale[None, :]).max(axis=1)
    return np.where(zero, unit_scale(rows), scale)


def _verdict(low: float, high: float, tolerance: float) -> Verdict:
    if low == high == 0:
        return Verdict.ZERO
    if low > tolerance:
        return Verdict.POSITIVE_DEFINITE
    if high < -tolerance:
        return Verdict.NEGATIVE_DEFINITE
    if low < -tolerance and high > tolerance:
        return Verdict.INDEFINITE
    return Verdict.POSITIVE_SEMIDEFINITE if high > tolerance else Verdict.NEGATIVE_SEMIDEFINITE


def _reason(verdict: Verdict, low: float, high: float, tolerance: float, value: float) -> str:
    interval = (
        f"Scaled to a diagonal near 1, the matrix has eigenvalues from {low:.6g} to {high:.6g}"
    )
    if verdict in (Verdict.POSITIVE_DEFINITE, Verdict.NEGATIVE_DEFINITE):
        return f"{interval}, all further from zero than the tolerance {tolerance:.2g}."
    if verdict is Verdict.INDEFINITE:
        return f"{interval}, on both sides of zero: x'Ax = {value:.6g} at the witness."
    return (
        f"{interval}; what is within the tolerance {tolerance:.2g} counts as zero, and so does "
        f"x'Ax = {value:.2g} at the witness."
    )
