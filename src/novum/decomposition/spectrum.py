"""The spectrum of a table: principal axes with the squares along them, whatever they came from.

    S = sum_i w_i (x_i - m)(x_i - m)' = sum_j s_j u_j u_j',      s_1 >= s_2 >= ... >= 0

`s_j = w_1 z_1j^2 + ... + w_n z_nj^2` is the sum of squares of the coordinates `z_ij = u_j'(x_i-m)`
and the square of the j-th singular value of the centered table. For a unit vector u and any number
s there is an eigenvalue of S within `|S u - s u|` of s: the residual of a pair bounds its error.

Axes are directions, so their sign is a convention: the largest loading is positive, the first of
those that are equally large up to rounding.

References
----------
Parlett, "The symmetric eigenvalue problem", 1998, theorem 4.5.1 and section 11.7 (angles).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from novum.core.runtime import long_call
from novum.decomposition.component_statistics import ComponentStatistics
from novum.numerics import Floats, Moments, eigenpairs

EPSILON = float(np.finfo(np.float64).eps)

# Loadings whose sizes agree to this share are ties, which the first of them decides.
_TIE = 1e-8

# Fewer pairs than this share of all are found by themselves.
_FEW = 0.25


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The leading principal axes of a table.

    Attributes
    ----------
    mean : array (d,)
    squares : array (r,)
        Sums of squares along the axes, falling.
    axes : array (r, d)
        Orthonormal rows.
    total : float
        Sum of squares about the mean in all directions.
    weight : float
        Sum of the weights.
    rows : float
        Rows of positive weight.
    residual : float
        Norm of `S u_j - s_j u_j` over all pairs.
    route : str
        How it was found.
    converged : bool
        Whether an iteration, if there was one, reached its tolerance.
    iterations : int or None
    """

    mean: Floats
    squares: Floats
    axes: Floats
    total: float
    weight: float
    rows: float
    residual: float
    route: str
    converged: bool = True
    iterations: int | None = None

    @property
    def n_columns(self) -> int:
        return self.mean.size

    @property
    def limit(self) -> int:
        """The most components there can be: rows or columns, whichever are fewer.

        Rows count as often as their weight says, so that a row of weight 2 is the row twice.
        """
        return min(self.n_columns, int(max(self.rows, np.floor(self.weight * (1 + 1e-12)))))

    @property
    def rank(self) -> int:
        """Directions with more spread than rounding leaves."""
        return int(np.count_nonzero(self.squares > 0))

    @property
    def has_no_noise(self) -> bool:
        """Whether all rows lie in a subspace although there are rows enough to leave it.

        As where dummies sum to one. Fewer rows than columns always lie in one, which says nothing.
        """
        count = max(self.rows, np.floor(self.weight * (1 + 1e-12)))
        return 0 < self.rank < min(self.n_columns, count - 1)

    def outside(self, count: int) -> float:
        """Sum of squares outside the first axes."""
        if self.limit <= len(self.squares):
            # The small squares themselves: the difference has lost their digits.
            return float(self.squares[count : self.limit].sum())
        return max(self.total - float(self.squares[:count].sum()), 0.0)


def spectrum_of(statistics: ComponentStatistics, count: int | None = None) -> Spectrum:
    """The spectrum of a sum: all of it, or the first `count` pairs (and one more, if there is).

    Examples
    --------
    >>> from novum.decomposition.pca import PCA
    >>> found = spectrum_of(PCA().statistics([[0.0, 0.0], [2.0, 2.0]]))
    >>> found.squares.round(12).tolist(), found.axes[0].round(3).tolist()
    ([4.0, 0.0], [0.707, 0.707])
    """
    table = statistics.table
    if isinstance(table, Moments):
        return spectrum_of_moments(table, statistics.rows, count)
    R = table.centered
    d = table.n_columns
    if R.size:
        _, values, axes = long_call(
            lambda: np.linalg.svd(R, full_matrices=False),
            10.0 * d * min(R.shape) ** 2,
            "SVD of the factor",
        )
    else:
        values, axes = np.zeros(0), np.zeros((0, d))
    total = float(np.sum(R * R))
    residual = float(np.linalg.norm((R @ axes.T).T @ R - values[:, None] ** 2 * axes))
    spectrum = Spectrum(
        table.mean, values**2, axes, total, table.weight, statistics.rows, residual, "factor"
    )
    # Singular values are right to a few units in the last digit of the largest.
    return settled(spectrum, count, (4 * d * EPSILON) ** 2)


def spectrum_of_moments(moments: Moments, rows: float, count: int | None = None) -> Spectrum:
    """The spectrum of moments: all of it, or the first `count` pairs (and one more)."""
    S, d = moments.scatter, moments.n_columns
    total = float(np.trace(S))
    unit = _unit(S)
    few = None if count is None or count + 1 >= _FEW * d else count + 1
    values, vectors = long_call(
        lambda: np.linalg.eigh(S / unit) if few is None else eigenpairs(S / unit, d - few, d - 1),
        5.0 * d**3,
        f"eigenvalues of {d} columns",
    )
    squares = np.maximum(values[::-1] * unit, 0.0)
    axes = np.ascontiguousarray(vectors[:, ::-1].T)
    residual = float(np.linalg.norm(axes @ (S / unit) - (squares / unit)[:, None] * axes)) * unit
    spectrum = Spectrum(
        moments.mean, squares, axes, total, moments.weight, rows, residual, "covariance"
    )
    return settled(spectrum, count, rounding(d))


def rounding(size: int) -> float:
    """What rounding leaves of an eigenvalue of a symmetric matrix, as a share of the largest."""
    return float(8 * np.sqrt(size) * EPSILON)


def _unit(S: Floats) -> float:
    """A power of two near the largest entry: dividing by it is exact and nothing overflows."""
    largest = float(np.abs(S).max(initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0


# --- Axes -----------------------------------------------------------------------------------------


def signs_of(axes: Floats) -> Floats:
    """+1 or -1 for every row, the sign of its largest entry.

    >>> signs_of(np.array([[0.6, -0.8], [-0.7071067811, 0.7071067812]])).tolist()
    [-1.0, -1.0]
    """
    if not axes.size:
        return np.ones(len(axes))
    sizes = np.abs(axes)
    leading = np.argmax(sizes >= sizes.max(axis=1, keepdims=True) * (1 - _TIE), axis=1)
    return np.where(axes[np.arange(len(axes)), leading] < 0, -1.0, 1.0)


def settled(spectrum: Spectrum, count: int | None, floor: float) -> Spectrum:
    """The pairs asked for, with what is rounding made definite.

    Squares up to `floor` times the largest are zero, and axes without spread, which could be any,
    are chosen by the others alone: sums of the same rows in another order give the same axes.

    Parameters
    ----------
    spectrum : Spectrum
    count : int or None
        This many pairs and one more, if there is; None for as many as there can be.
    floor : float
        What rounding leaves of a square, as a share of the largest.
    """
    squares, axes = spectrum.squares, spectrum.axes
    largest = float(squares[0]) if squares.size else 0.0
    known = int(np.count_nonzero(squares > floor * largest))
    wanted = spectrum.limit if count is None else min(count + 1, spectrum.limit)
    squares, axes = completed(squares[:known], axes[:known], wanted)
    axes = np.ascontiguousarray(axes[:wanted] * signs_of(axes[:wanted])[:, None])
    return replace(spectrum, squares=squares[:wanted], axes=axes)


def completed(squares: Floats, axes: Floats, count: int) -> tuple[Floats, Floats]:
    """At least `count` axes: further ones have no spread and are made of coordinate directions.

    The directions are taken in the order of the columns, each as far as it lies outside the axes
    before it. One of any d - m that are left has at least `1 / sqrt(d)` outside m axes, so half of
    that can be asked for, and no choice hangs on the last digits.
    """
    missing, d = count - len(axes), axes.shape[1]
    if missing <= 0:
        return squares, axes
    basis = np.zeros((count, d))
    basis[: len(axes)] = axes
    known, left, size = len(axes), np.arange(d), missing
    while known < count:
        chosen, left = left[:size], left[size:]
        block = np.zeros((len(chosen), d))
        block[np.arange(len(chosen)), chosen] = 1.0
        block = _orthonormal(block, basis[:known], 0.5 / np.sqrt(d))[: count - known]
        basis[known : known + len(block)] = block
        known += len(block)
        if not left.size:
            # Rows dropped beside others may serve on their own.
            left, size = np.arange(d), 1
    return np.append(squares, np.zeros(missing)), basis


def _orthonormal(block: Floats, basis: Floats, least: float) -> Floats:
    """Orthonormal rows from unit rows, each made orthogonal to a basis and to those before it.

    Rows of which less than `least` is left are dropped.
    """
    while len(block):
        # Twice is enough (Kahan and Parlett): the second pass removes what the first rounded in.
        outside = block - (block @ basis.T) @ basis
        Q, R = linalg.qr(outside.T, mode="economic", check_finite=False)
        left = np.diagonal(R)
        if np.abs(left).min() > least:
            Q = Q * np.where(left < 0, -1.0, 1.0)
            Q = Q - basis.T @ (basis @ Q)
            return np.asarray(linalg.qr(Q, mode="economic", check_finite=False)[0].T)
        block = block[np.abs(left) > least]
    return block
