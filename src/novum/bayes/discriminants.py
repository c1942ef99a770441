"""Where two normal classes meet: hyperplanes and quadrics.

The boundary between classes a and b is where their posteriors are equal,

    g(x) = log p(x|a) p(a) - log p(x|b) p(b) = x'Qx + q'x + c = 0,

    Q = -(C_a^-1 - C_b^-1) / 2,     q = C_a^-1 m_a - C_b^-1 m_b,

    c = -(m_a' C_a^-1 m_a - m_b' C_b^-1 m_b + log|C_a| - log|C_b|) / 2 + log p(a)/p(b).

With equal covariances Q vanishes and the boundary is a hyperplane. Otherwise the signs of the
eigenvalues of Q, and what is left of q and c after moving to the center, name the quadric. Signs do
not change under `S Q S`, so eigenvalues are taken in units of the columns' deviations; an
eigenvalue counts as zero when it is below the rounding of the two inverses it is the difference of.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.distributions import whitener
from novum.numerics import Floats

# Inverses are right to about eps times their condition; what is smaller says nothing.
_ZERO = 1e-10


class BoundaryKind(StrEnum):
    """Shape of the set where two posteriors are equal, in any number of columns."""

    EVERYWHERE = "everywhere"
    NOWHERE = "nowhere"
    POINT = "point"
    HYPERPLANE = "hyperplane"
    PARALLEL_HYPERPLANES = "parallel hyperplanes"
    CROSSING_HYPERPLANES = "crossing hyperplanes"
    SPHERE = "sphere"
    ELLIPSOID = "ellipsoid"
    PARABOLOID = "paraboloid"
    HYPERBOLIC_PARABOLOID = "hyperbolic paraboloid"
    HYPERBOLOID = "hyperboloid"
    CONE = "cone"
    ELLIPTIC_CYLINDER = "elliptic cylinder"
    HYPERBOLIC_CYLINDER = "hyperbolic cylinder"
    PARABOLIC_CYLINDER = "parabolic cylinder"
    SUBSPACE = "subspace"


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The points with `normal'x + offset = 0`; class a lies where that is positive.

    Examples
    --------
    >>> plane = hyperplane_between([0, 0], [2, 0], np.eye(2))
    >>> plane.normal.tolist(), plane.offset, plane.distance([[0.0, 7.0]]).tolist()
    ([-2.0, 0.0], 2.0, [1.0])
    """

    normal: Floats
    offset: float

    def values(self, x: ArrayLike) -> Floats:
        """`normal'x + offset`: the log of the ratio of the posteriors."""
        return np.asarray(x, float) @ self.normal + self.offset

    def distance(self, x: ArrayLike) -> Floats:
        """Signed Euclidean distance from the plane."""
        return self.values(x) / float(np.linalg.norm(self.normal))


@dataclass(frozen=True, eq=False)
class Quadric:
    """The points with `x'Qx + q'x + c = 0`; class a lies where that is positive.

    Attributes
    ----------
    matrix : array (d, d)
    vector : array (d,)
    constant : float
    kind : BoundaryKind
    eigenvalues : array (d,)
        Of `matrix` in units of the columns' deviations, ascending; zero within rounding is 0.
    center : array (d,) or None
        The point of symmetry, where there is exactly one.
    """

    matrix: Floats
    vector: Floats
    constant: float
    kind: BoundaryKind
    eigenvalues: Floats
    center: Floats | None

    def values(self, x: ArrayLike) -> Floats:
        """`x'Qx + q'x + c`: the log of the ratio of the posteriors."""
        points = np.asarray(x, float)
        return (
            np.einsum("...i,ij,...j->...", points, self.matrix, points)
            + points @ self.vector
            + self.constant
        )


# --- Boundaries -----------------------------------------------------------------------------------


def hyperplane_between(
    mean_a: ArrayLike, mean_b: ArrayLike, covariance: ArrayLike, log_prior_ratio: float = 0.0
) -> Hyperplane:
    """The boundary of two normal classes that share a covariance.

    Parameters
    ----------
    mean_a, mean_b : arrays (d,)
    covariance : array (d, d)
    log_prior_ratio : float
        `log p(a) / p(b)`.
    """
    a, b = np.asarray(mean_a, float), np.asarray(mean_b, float)
    A = whitener(np.asarray(covariance, float))[0]
    normal = A @ (A.T @ (a - b))
    # About the middle of the means, so that an offset of the columns costs few digits.
    return Hyperplane(normal, float(log_prior_ratio - normal @ ((a + b) / 2)))


def quadric_between(
    mean_a: ArrayLike,
    covariance_a: ArrayLike,
    mean_b: ArrayLike,
    covariance_b: ArrayLike,
    log_prior_ratio: float = 0.0,
) -> Quadric:
    """The boundary of two normal classes, and its kind.

    Examples
    --------
    >>> quadric_between([0, 0], np.eye(2), [0, 0], 4 * np.eye(2)).kind
    <BoundaryKind.SPHERE: 'sphere'>
    """
    m_a, m_b = np.asarray(mean_a, float), np.asarray(mean_b, float)
    C_a, C_b = np.asarray(covariance_a, float), np.asarray(covariance_b, float)
    (A, log_a), (B, log_b) = whitener(C_a), whitener(C_b)
    P_a, P_b = A @ A.T, B @ B.T
    middle = (m_a + m_b) / 2
    Q = -0.5 * (P_a - P_b)
    # Centered at the middle first: the coefficients there keep their digits under any offset.
    half = (m_a - m_b) / 2
    q = P_a @ half + P_b @ half
    c = -0.5 * (half @ (P_a - P_b) @ half + log_a - log_b) + log_prior_ratio
    unit = np.sqrt(np.sqrt(np.diagonal(C_a) * np.diagonal(C_b)))
    kind, values, center = _classified(Q, q, float(c), unit, P_a, P_b)
    vector = q - 2 * Q @ middle
    constant = float(c - q @ middle + middle @ Q @ middle)
    return Quadric(Q, vector, constant, kind, values, None if center is None else middle + center)


def _classified(
    Q: Floats, q: Floats, c: float, unit: Floats, P_a: Floats, P_b: Floats
) -> tuple[BoundaryKind, Floats, Floats | None]:
    """Kind, eigenvalues and center of `x'Qx + q'x + c = 0`."""

    def scaled(M: Floats) -> Floats:
        return M * unit[:, None] * unit[None, :]

    size = max(float(np.abs(np.linalg.eigvalsh(scaled(P))).max()) for P in (P_a, P_b))
    values, vectors = np.linalg.eigh(scaled(Q))
    values = np.where(np.abs(values) <= _ZERO * size, 0.0, values)
    slope = vectors.T @ (q * unit)
    flat = values == 0
    slope = np.where(np.abs(slope) <= _ZERO * max(float(np.abs(slope).max()), size), 0.0, slope)
    safe = np.where(flat, 1.0, values)
    place = np.where(flat, 0.0, -slope / (2 * safe))
    # The value at the center; zero when it is rounding of its terms.
    terms = np.append(values * place**2, c)
    level = c - float((values * place**2).sum())
    if abs(level) <= _ZERO * float(np.abs(terms).sum()):
        level = 0.0
    tilted = bool((slope[flat] != 0).any())
    kind = _kind(values, tilted, level)
    if kind is BoundaryKind.ELLIPSOID and _is_sphere(Q):
        kind = BoundaryKind.SPHERE
    center = unit * (vectors @ place) if not flat.any() else None
    return kind, values, center


def _is_sphere(Q: Floats) -> bool:
    spread = np.linalg.eigvalsh(Q)
    return bool(spread[-1] - spread[0] <= _ZERO * np.abs(spread).max())


def _kind(values: Floats, tilted: bool, level: float) -> BoundaryKind:
    positive, negative = int((values > 0).sum()), int((values < 0).sum())
    rank, d = positive + negative, len(values)
    if rank == 0:
        if tilted:
            return BoundaryKind.HYPERPLANE
        return BoundaryKind.EVERYWHERE if level == 0 else BoundaryKind.NOWHERE
    definite = positive == 0 or negative == 0
    if tilted:
        if not definite:
            return BoundaryKind.HYPERBOLIC_PARABOLOID
        return BoundaryKind.PARABOLOID if rank == d - 1 else BoundaryKind.PARABOLIC_CYLINDER
    if not definite:
        if level == 0:
            return BoundaryKind.CROSSING_HYPERPLANES if rank == 2 else BoundaryKind.CONE
        return BoundaryKind.HYPERBOLOID if rank == d else BoundaryKind.HYPERBOLIC_CYLINDER
    return _definite_kind(rank, d, level if positive else -level)


def _definite_kind(rank: int, d: int, level: float) -> BoundaryKind:
    """Kind of a sum of `rank` squares plus a level, in d columns."""
    if level > 0:
        return BoundaryKind.NOWHERE
    if rank == d:
        return BoundaryKind.POINT if level == 0 else BoundaryKind.ELLIPSOID
    if rank == 1:
        return BoundaryKind.HYPERPLANE if level == 0 else BoundaryKind.PARALLEL_HYPERPLANES
    return BoundaryKind.SUBSPACE if level == 0 else BoundaryKind.ELLIPTIC_CYLINDER


def equal_covariances(covariance_a: Floats, covariance_b: Floats) -> bool:
    """Whether two covariances are equal up to rounding, in units of their columns."""
    unit = np.sqrt(np.diagonal(covariance_a))
    gap = np.abs(covariance_a - covariance_b) / unit[:, None] / unit[None, :]
    return bool(gap.max() <= _ZERO)


def check_two_classes(a: int, b: int) -> None:
    if a == b:
        raise InputError("A boundary lies between two different classes; both labels are the same.")
