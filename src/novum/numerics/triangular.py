"""Triangular factors of a table: least squares without squaring the condition number.

For rows `z_i` with weights `w_i` and a center `c`, the factor is the upper triangular `R` of

    W^(1/2) [1  Z - c] = Q R,      so that      R'R = [1  Z - c]' W [1  Z - c].

It knows all that `X'X` knows and has the square root of its condition number. Factors merge by
stacking, `R_ab = qr([R_a; R_b])`, and come off again by down-dating. Moving the center changes
only the first row, because `[1  Z - c2] = [1  Z - c1] T` with `T` unit upper triangular; so every
block may be centered where its own data lie, and nothing cancels.

Blocks of rows are folded in one by one, in order, so the bits depend on the rows and on nothing
else. Householder reflections (LAPACK `geqrf`) never square a value: cells of 1e150 are safe. Small
tables of a large condition number, and merges, use reflections in extended precision: rounding an
exact factor costs each entry half a unit, while rounding errors on the way are as large as the
longest column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from novum.numerics.lapack import reflect
from novum.numerics.linear_algebra import SMALLEST_NORMAL, column_norms
from novum.numerics.types import Floats, Positions

Fill = Callable[[int, int, Floats], None]

_EPS = float(np.finfo(np.float64).eps)

_OVERFLOW = (
    "Cells are so large that sums of them leave the range of double precision. Divide the columns "
    "beyond 1e150 by a power of ten."
)

# Up to this many cells a factor may be computed in extended precision: a millisecond or two. It
# is where the condition number is larger than this, so that double precision costs digits.
_SMALL_CELLS = 2**12
_WELL_CONDITIONED = 50.0


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """The factor `R` of `[1  Z - center]`, with the weight and the number of its rows.

    Attributes
    ----------
    factor : array of shape (m, k + 1), m <= k + 1
        Upper triangular (trapezoidal while fewer rows than columns were seen).
    center : array of shape (k,)
    weight : float
        Sum of the weights.
    rows : float
        Number of rows of positive weight.
    """

    factor: Floats
    center: Floats
    weight: float
    rows: float

    def __post_init__(self) -> None:
        factor = np.asarray(self.factor, np.float64)
        center = np.asarray(self.center, np.float64)
        if factor.ndim != 2 or center.ndim != 1 or factor.shape[1] != center.size + 1:
            raise ValueError(
                f"A factor of shape {factor.shape} needs one center for each column after the "
                f"first, got centers of shape {center.shape}."
            )
        if factor.shape[0] > factor.shape[1] or np.tril(factor, -1).any():
            raise ValueError(f"A factor of shape {factor.shape} must be upper triangular.")
        if not (np.isfinite(factor).all() and np.isfinite(center).all()):
            raise ValueError(_OVERFLOW)
        for name, array in (("factor", factor), ("center", center)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def n_columns(self) -> int:
        return self.center.size

    @property
    def mean(self) -> Floats:
        """Weighted mean of each column."""
        if self.rows == 0:
            return self.center.copy()
        return self.center + self.factor[0, 1:] / self.factor[0, 0]

    @property
    def centered(self) -> Floats:
        """Triangular factor of the columns less their weighted means."""
        return self.factor[1:, 1:]

    @property
    def uncentered(self) -> Floats:
        """A factor (not triangular) of the columns as they are."""
        whole = self.factor[:, 1:].copy()
        if len(whole):
            whole[0] += self.factor[0, 0] * self.center
        return whole

    def recentered(self, center: Floats) -> TriangularFactor:
        """The factor of the same rows about another center."""
        factor = self.factor.copy()
        if len(factor):
            factor[0, 1:] += factor[0, 0] * (self.center - center)
        return TriangularFactor(factor, center, self.weight, self.rows)

    def scaled(self, by: float) -> TriangularFactor:
        """All weights times `by`: every row counts `by` times."""
        if not by >= 0:
            raise ValueError(f"Weights can only be scaled by a number of at least 0, got {by!r}.")
        if by == 0:
            return empty_factor(self.n_columns)
        factor = np.sqrt(by) * self.factor
        return TriangularFactor(factor, self.center, by * self.weight, by * self.rows)

    def columns(self, order: ArrayLike) -> TriangularFactor:
        """The factor of a selection of the columns, in the order given; -1 is a column of zeros.

        A column of zeros is what a category looks like in rows where it never occurs.
        """
        chosen = np.asarray(order, np.intp)
        about_zero = np.where(chosen < 0, 0.0, np.append(self.center, 0.0)[chosen])
        padded = np.column_stack([self.factor[:, 1:], np.zeros(len(self.factor))])
        raw = np.column_stack([self.factor[:, :1], padded[:, chosen]])
        return TriangularFactor(upper_triangle(raw), about_zero, self.weight, self.rows)

    def isclose(self, other: TriangularFactor, rtol: float = 1e-10) -> bool:
        """Equal cross-products, relative to the size of the columns about a common center.

        How many rows they come from does not matter: one of weight 2 is the same row twice.
        """
        if self.n_columns != other.n_columns:
            return False
        a, b = self.factor, other.recentered(self.center).factor
        size = np.maximum(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
        size[size == 0] = 1.0
        a, b = a / size, b / size
        if len(a) + len(b) < len(size):
            # In an orthonormal basis of all rows, which has fewer of them than there are columns.
            basis = linalg.qr(np.vstack([a, b]).T, mode="economic")[0]
            a, b = a @ basis, b @ basis
        return bool(
            np.isclose(self.weight, other.weight, rtol=rtol)
            and np.allclose(a.T @ a, b.T @ b, rtol=0, atol=rtol * max(1, len(size)))
        )


# --- Building -------------------------------------------------------------------------------------


def empty_factor(n_columns: int) -> TriangularFactor:
    """The factor of no rows, the zero of `merge`."""
    return TriangularFactor(np.zeros((0, n_columns + 1)), np.zeros(n_columns), 0.0, 0.0)


def block_rows(n_columns: int) -> int:
    """Rows folded in at once: enough to keep LAPACK busy, few enough to stay in the cache."""
    return max(1024, 2 * n_columns)


def is_small(n_rows: int, n_columns: int) -> bool:
    """Whether a table is small enough for extended precision."""
    return n_rows * (n_columns + 1) <= _SMALL_CELLS


def factor_of(Z: ArrayLike, weight: Floats | None = None) -> TriangularFactor:
    """The factor of the rows of an array.

    Examples
    --------
    >>> factor = factor_of([[1.0, 2.0], [3.0, 2.0]])
    >>> factor.mean
    array([2., 2.])
    """
    table = np.asarray(Z, np.float64)

    def fill(start: int, stop: int, out: Floats) -> None:
        out[...] = table[start:stop]

    return factor_of_rows(table.shape[0], table.shape[1], fill, weight)


def factor_of_rows(
    n_rows: int, n_columns: int, fill: Fill, weight: Floats | None = None
) -> TriangularFactor:
    """The factor of rows that `fill(start, stop, out)` writes block by block.

    No copy of the table is made: `out` is a scratch block that stays in the cache.
    """
    if n_rows == 0:
        return empty_factor(n_columns)
    if is_small(n_rows, n_columns):
        return _factor_of_small(n_rows, n_columns, fill, weight)
    size = min(n_rows, block_rows(n_columns))
    # The factor of what came before has at most as many rows as came.
    scratch = np.empty((min(n_rows - size, n_columns + 1) + size, n_columns + 1), order="F")
    factor, center = np.zeros((0, n_columns + 1)), np.zeros(n_columns)
    for start in range(0, n_rows, size):
        stop = min(start + size, n_rows)
        block = scratch[len(factor) : len(factor) + stop - start]
        fill(start, stop, block[:, 1:])
        part = None if weight is None else weight[start:stop]
        if start == 0:
            center = _block_center(block[:, 1:], part)
        block[:, 1:] -= center
        block[:, 0] = 1.0
        if part is not None:
            block *= np.sqrt(part)[:, np.newaxis]
        scratch[: len(factor)] = factor
        factor = upper_triangle(scratch[: len(factor) + stop - start])
    return TriangularFactor(factor, center, *_counts(n_rows, weight))


def _factor_of_small(
    n_rows: int, n_columns: int, fill: Fill, weight: Floats | None
) -> TriangularFactor:
    table = np.empty((n_rows, n_columns))
    fill(0, n_rows, table)
    center = _block_center(table, weight)
    rows = np.ones((n_rows, n_columns + 1), order="F")
    np.subtract(table, center, out=rows[:, 1:])
    if weight is not None:
        rows *= np.sqrt(weight)[:, np.newaxis]
    upper = upper_triangle(rows)
    if not _is_well_conditioned(upper):
        extended = np.ones((n_rows, n_columns + 1), np.longdouble)
        np.subtract(table, center, out=extended[:, 1:], dtype=np.longdouble)
        if weight is not None:
            extended *= np.sqrt(weight.astype(np.longdouble))[:, np.newaxis]
        upper = _upper_extended(extended)
    return TriangularFactor(upper, center, *_counts(n_rows, weight))


def _is_well_conditioned(upper: Floats) -> bool:
    """Whether the condition number of the scaled columns is proved to be small."""
    if len(upper) < upper.shape[1]:
        return False
    size = column_norms(upper)
    if not ((size > SMALLEST_NORMAL) & (size < 1 / SMALLEST_NORMAL)).all():
        return False
    scaled = upper / size
    inverse = inverse_triangle(scaled)
    if inverse is None:
        return False
    return bool(np.linalg.norm(scaled) * np.linalg.norm(inverse) <= _WELL_CONDITIONED)


def _counts(n_rows: int, weight: Floats | None) -> tuple[float, float]:
    if weight is None:
        return float(n_rows), float(n_rows)
    return float(weight.sum()), float(np.count_nonzero(weight))


def factor_of_gram(gram: Floats, center: Floats, weight: float, rows: float) -> TriangularFactor:
    """The factor by Cholesky from `[1  Z - c]' W [1  Z - c]`; raises `LinAlgError` if singular.

    Its relative error is the squared condition number times the rounding unit, so it is only for
    tables known to be well conditioned.
    """
    upper = linalg.cholesky(gram, lower=False, check_finite=False)
    return TriangularFactor(np.triu(upper), center, weight, rows)


def _block_center(block: Floats, weight: Floats | None) -> Floats:
    """A point amid the data of the first block. Any point is right; this one cancels least."""
    kept = block if weight is None else block[weight > 0]
    if not len(kept):
        return np.zeros(block.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        center = kept.mean(axis=0)
    if not np.isfinite(center).all():
        raise ValueError(_OVERFLOW)
    return np.asarray(center)


def upper_triangle(rows: Floats) -> Floats:
    """The triangular factor of a block, its diagonal made non-negative so that it is unique."""
    m, k = rows.shape
    upper = np.triu(reflect(rows)[: min(m, k)])
    upper[np.diagonal(upper) < 0] *= -1.0
    return upper


def _upper_extended(rows: NDArray[np.longdouble]) -> Floats:
    """The same in extended precision, by Householder reflections one column at a time."""
    m, k = rows.shape
    work = rows.copy()
    for j in range(min(m - 1, k)):
        column = work[j:, j]
        largest = np.abs(column).max()
        if largest == 0:
            continue
        # Scaled by a power of two, so that no square over- or underflows.
        v = np.ldexp(column, -int(np.frexp(largest)[1]))
        v[0] += np.copysign(np.sqrt(v @ v), v[0])
        v /= v[0]
        work[j:, j:] -= np.outer(v * (2 / (v @ v)), v @ work[j:, j:])
    upper = np.triu(work[: min(m, k)]).astype(np.float64)
    upper[np.diagonal(upper) < 0] *= -1.0
    return upper


# --- Small triangles ------------------------------------------------------------------------------


def solve_triangle(upper: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """`R^-1 B`, or `R'^-1 B`, for an upper triangle `R`.

    >>> solve_triangle(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[4.0], [8.0]])).tolist()
    [[1.0], [2.0]]
    """
    if not right.size:
        return np.zeros_like(right)
    solution, info = linalg.lapack.dtrtrs(upper, right, trans=int(transposed))
    if info != 0:
        raise linalg.LinAlgError(f"The triangle is singular: its diagonal has a zero at {info}.")
    return np.asarray(solution)


def inverse_triangle(upper: Floats) -> Floats | None:
    """`R^-1` of an upper triangle, or None where its diagonal has a zero.

    >>> inverse_triangle(np.array([[2.0, 1.0], [0.0, 4.0]])).tolist()
    [[0.5, -0.125], [0.0, 0.25]]
    """
    if not upper.size:
        return np.zeros_like(upper)
    inverse, info = linalg.lapack.dtrtri(upper)
    return np.asarray(inverse) if info == 0 else None


# --- Merging and removing -------------------------------------------------------------------------


def merge(a: TriangularFactor, b: TriangularFactor) -> TriangularFactor:
    """The factor of the rows of both."""
    if a.n_columns != b.n_columns:
        raise ValueError(f"Factors of {a.n_columns} and {b.n_columns} columns do not fit together.")
    if a.rows == 0 or b.rows == 0:
        return b if a.rows == 0 else a
    if is_small(2 * (a.n_columns + 1), a.n_columns):
        moved = b.factor.astype(np.longdouble)
        moved[0, 1:] += moved[0, 0] * (b.center.astype(np.longdouble) - a.center)
        upper = _upper_extended(np.vstack([a.factor, moved]))
    else:
        upper = upper_triangle(np.vstack([a.factor, b.recentered(a.center).factor]))
    return TriangularFactor(upper, a.center, a.weight + b.weight, a.rows + b.rows)


def remove(
    a: TriangularFactor, b: TriangularFactor, discrete: ArrayLike = ()
) -> tuple[TriangularFactor, float]:
    """The factor of the rows of `a` without those of `b`, and how many digits that cost.

    With `A = R_b R_a^-1 = P S V'`, what is left is `R_a'(I - A'A)R_a`, so the new factor is that
    of `(I - S^2)^(1/2) V' R_a`. A singular value of 1 is a direction that only the removed rows
    had: it is set to zero exactly. One above 1 means that `b` was never part of `a`.

    A value of 1 up to rounding can also hide remaining rows that are 1e7 times smaller. That is
    impossible where few rows remain or where the direction lies among columns of zeros and ones;
    in all other cases the digits count as lost.

    Parameters
    ----------
    a, b : TriangularFactor
        All rows, and those of them to remove.
    discrete : array of positions
        Columns that hold nothing but zeros and ones.

    Returns
    -------
    factor : TriangularFactor
    digits_lost : float
        Decimal digits of relative accuracy lost in the direction that suffered most.
    """
    if a.n_columns != b.n_columns:
        raise ValueError(f"Factors of {a.n_columns} and {b.n_columns} columns do not fit.")
    if b.rows == 0:
        return a, 0.0
    weight, rows = a.weight - b.weight, a.rows - b.rows
    if weight < -1e-9 * a.weight:
        raise ValueError(
            f"Cannot remove {b.rows:g} rows of weight {b.weight:g} from {a.rows:g} rows of weight "
            f"{a.weight:g}. Remove only what was added."
        )
    if rows <= 0 and weight <= 1e-9 * a.weight:
        return empty_factor(a.n_columns), 0.0
    # Weight that is left without rows is left on rows of which only a part was removed.
    rows = max(rows, 1.0)
    known = np.append(0, np.asarray(discrete, np.intp) + 1)
    left, digits_lost = _downdate(a, b.recentered(a.center).factor, rows, known)
    return TriangularFactor(left, a.center, weight, rows), digits_lost


def _downdate(
    a: TriangularFactor, removed: Floats, rows: float, discrete: Positions
) -> tuple[Floats, float]:
    upper, size = a.factor, np.linalg.norm(a.factor, axis=0)
    size[size == 0] = 1.0
    floor = 100 * _EPS * len(size)
    scaled, part = upper / size, removed / size
    u, s, vt = linalg.svd(scaled, full_matrices=False)
    kept = s > s[0] * _EPS * len(size) * 8
    inside = part @ vt[kept].T
    # A column is known no better than to the rounding of its center.
    offset = np.append(0.0, np.abs(a.center)) * np.sqrt(a.weight) / size
    outside = np.linalg.norm(part - inside @ vt[kept], axis=0)
    if (outside > 1e4 * floor * (1 + offset)).any():
        raise _never_added("they differ in a direction in which those that were added do not")
    ratio = (inside / s[kept]) @ u[:, kept].T
    _, sines, wt = linalg.svd(ratio, full_matrices=True)
    remaining = np.ones(len(wt))
    remaining[: len(sines)] = (1.0 - sines) * (1.0 + sines)
    if remaining.min() < -1e4 * floor:
        raise _never_added("what is left would have negative squares")
    gone = remaining <= floor
    remaining[gone] = 0.0
    left = upper_triangle(np.sqrt(remaining)[:, np.newaxis] * (wt @ upper))
    # A column that lost all but rounding errors of its spread is constant now, and one that lost
    # all but rounding errors of itself sits at the center.
    for first in (1, 0):
        before = np.linalg.norm(upper[first:], axis=0)
        left[first:, np.linalg.norm(left[first:], axis=0) <= floor * before] = 0.0
    rank = int(np.count_nonzero(kept))
    if np.count_nonzero(gone) > rank - min(rank, int(rows)) and not _spans(
        scaled[:, discrete], wt[gone].T
    ):
        return left, -np.log10(_EPS)
    survivors = remaining[~gone]
    return left, float(-np.log10(survivors.min())) if survivors.size else 0.0


def _never_added(reason: str) -> ValueError:
    return ValueError(
        f"Cannot remove rows that were never added: {reason}. Remove the very rows (and weights) "
        "that were fitted."
    )


def _spans(columns: Floats, vectors: Floats) -> bool:
    """Whether unit vectors lie in the space of some columns, up to half the digits."""
    projections = columns @ linalg.lstsq(columns, vectors)[0]
    return bool(np.linalg.norm(vectors - projections, axis=0).max() <= np.sqrt(_EPS))
