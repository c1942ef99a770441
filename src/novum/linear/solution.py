"""The solution of least squares and ridge from the triangular factor of the table.

    minimize  |Y - 1 b0' - X B|^2 + alpha |B|^2         (intercept b0 free of the penalty)

With `[X Y]` centered and `R = [R_x R_y]` its factor, the sum of squares is `|R_y - R_x B|^2` plus
nothing else, so the whole problem is of the size of the table's width. Columns are scaled by
powers of two (exactly) before anything is decided about them.

Rank: a cell is known to half a unit in its last place, so a column is known to `eps |x_j|`, offset
included. A direction `v` counts only if its singular value exceeds what those errors alone would
give it, `sqrt(sum_j (v_j eps |x_j|)^2)`, times a small factor. Without full rank the solution of
smallest norm (in the user's units) is given.

With fewer rows than columns, `m < p`, both kinds of solution lie in the space of the rows,
`B = Q C` with `R_x' = Q T`: nothing larger than `p x m` is formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from novum.core.coding import Coding
from novum.core.errors import InputError
from novum.core.text import label_text
from novum.linear.statistics import LeastSquaresStatistics
from novum.numerics.linear_algebra import EPSILON, SMALLEST_NORMAL, column_norms, unit_scale
from novum.numerics.shared_state import cached_property

Floats = NDArray[np.float64]

# A sum of squares of this size and no larger is a double.
_LARGEST_TARGET = 2.0**510


@dataclass(frozen=True, eq=False)
class Design:
    """The treatment design and the targets of a table, reduced to their factors.

    Attributes
    ----------
    x : array of shape (m, p)
    y : array of shape (m, t)
        Factors of the (centered, with an intercept) design and targets.
    noise : array of shape (p,)
        Size of the rounding errors that the cells of each column carry.
    x_mean, y_mean : arrays of shape (p,), (t,)
        Zeros without an intercept.
    rounding : array of shape (p + t,)
        Unit of the rounding errors that the factor of each column and target carries.
    """

    x: Floats
    y: Floats
    noise: Floats
    x_mean: Floats
    y_mean: Floats
    rounding: Floats

    @classmethod
    def of(cls, statistics: LeastSquaresStatistics, fit_intercept: bool) -> Design:
        coding, factor = Coding(statistics.schema), statistics.factor
        if not statistics.schema.is_numeric:
            targets = np.arange(coding.full_width, factor.n_columns)
            factor = factor.columns(np.concatenate([coding.treatment, targets]))
        p = factor.n_columns - statistics.n_targets
        whole = factor.uncentered
        noise = EPSILON * column_norms(whole)
        _check_range(noise[p:] / EPSILON)
        if fit_intercept:
            triangle, mean = factor.centered.copy(), factor.mean
            rounding = EPSILON * column_norms(factor.factor[:, 1:])
        else:
            triangle, mean = np.triu(linalg.qr(whole, mode="r")[0]), np.zeros(factor.n_columns)
            triangle = triangle[: whole.shape[1]]
            rounding = noise
        # A column or target whose spread is rounding is constant.
        triangle[:, column_norms(triangle) <= 4 * noise] = 0.0
        return cls(triangle[:, :p], triangle[:, p:], noise[:p], mean[:p], mean[p:], rounding)


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients with what is known about them.

    Attributes
    ----------
    coef : array of shape (p, t)
    intercept : array of shape (t,)
    scale : array of shape (p,)
        Powers of two by which columns were multiplied.
    singular_values, directions : arrays of shape (q,), (q, p)
        Of the scaled design, `q` the smaller of its sides.
    rank : int
    alpha : array of shape (t,)
    """

    coef: Floats
    intercept: Floats
    scale: Floats
    singular_values: Floats
    directions: Floats
    rank: int
    alpha: Floats

    @property
    def condition(self) -> float:
        """Ratio of the extreme singular values that count, of the scaled design."""
        if self.rank == 0:
            return 1.0
        return float(self.singular_values[0] / self.singular_values[self.rank - 1])

    @cached_property
    def shortest(self) -> Floats:
        """`P` of shape (p, rank): `P c` is the shortest `coef` with `V D^-1 coef = c`.

        `V` are the directions that count and `D` the scale, so `c` is all that the data can say.
        """
        kept = self.directions[: self.rank] / self.scale
        # A common factor, so that no square of a cell leaves the range of a double.
        unit = unit_scale(np.abs(kept).max(initial=0.0))
        basis, triangle, order = row_basis(kept * unit)
        found = np.empty_like(basis)
        found[:, order] = linalg.solve_triangular(triangle, basis.T).T
        return found * unit

    @property
    def null_space(self) -> Floats:
        """Orthonormal directions of `coef`, shape (p, p - rank), that the data say nothing of."""
        p = self.coef.shape[0]
        if self.rank == p:
            return np.empty((p, 0))
        missing = linalg.null_space(self.directions[: self.rank]) if self.rank else np.eye(p)
        return np.asarray(linalg.qr(self.scale[:, np.newaxis] * missing, mode="economic")[0])


def solve(design: Design, alpha: Floats, *, positive: bool = False) -> Solution:
    """The minimizer for one penalty for each target."""
    scale = unit_scale(column_norms(design.x))
    scaled = design.x * scale
    u, s, vt = linalg.svd(scaled, full_matrices=False, check_finite=False)
    rank = _rank(s, vt, design.noise * scale)
    penalty = np.broadcast_to(np.asarray(alpha, float), (design.y.shape[1],))
    coef = np.empty((scaled.shape[1], penalty.size))
    found = Solution(coef, design.y_mean.copy(), scale, s, vt, rank, penalty)
    for value in np.unique(penalty):
        chosen = penalty == value
        if positive:
            coef[:, chosen] = _non_negative(design, design.y[:, chosen], float(value))
        elif value > 0:
            coef[:, chosen] = _penalized(design, design.y[:, chosen], float(value))
        else:
            coef[:, chosen] = _unpenalized(scaled, u, design.y[:, chosen], found)
    # Exactly zero, because the mean that multiplies it may be large.
    coef[~design.x.any(axis=0)] = 0.0
    found.intercept[...] -= design.x_mean @ coef
    return found


def row_basis(rows: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """`Q` (p, q), triangular `T` (q, m) and an order with `rows[order] = T'Q'`, for rows (m, p).

    Columns of very unequal units are rows of `Q`. Sorted by size, with pivots, reflections are
    stable for each of them (Cox and Higham 1998).
    """
    by_size = np.argsort(-np.abs(rows).max(axis=0, initial=0.0), kind="stable")
    sorted_basis, triangle, order = linalg.qr(
        rows.T[by_size], mode="economic", pivoting=True, check_finite=False
    )
    basis = np.empty_like(sorted_basis)
    basis[by_size] = sorted_basis
    return basis, triangle, order


def plain_singular_values(design: Design) -> Floats:
    """Singular values of the (centered) design in the user's units."""
    return np.asarray(linalg.svdvals(design.x, check_finite=False))


def squared_residuals(design: Design, coef: Floats) -> Floats:
    """Residual sum of squares of each target."""
    return np.asarray(((design.y - design.x @ coef) ** 2).sum(axis=0))


def _check_range(sizes: Floats) -> None:
    if not (sizes < _LARGEST_TARGET).all():
        raise InputError(
            f"The targets reach a size of {sizes.max():.3g}, and their squares leave the range of "
            "double precision. Divide y by a power of ten."
        )


def check_coefficients(coef: Floats, sizes: Floats, names: Callable[[], Sequence[str]]) -> None:
    """Refuses coefficients (p, t) that are no doubles, and columns (p,) of a subnormal spread.

    Cells below 2.2e-308 have lost digits already, and bounds and errors would overflow.
    """
    subnormal = (sizes > 0) & (sizes < SMALLEST_NORMAL)
    wrong = np.flatnonzero(subnormal | ~np.isfinite(coef).all(axis=1))
    if wrong.size:
        j = int(wrong[0])
        raise InputError(
            f"Column {label_text(names()[j])} has a size of {sizes[j]:.3g} only, and its "
            "coefficient leaves the range of double precision. Multiply the column by a power of "
            f"two, such as 2**{-int(np.frexp(sizes[j])[1])}, and the coefficient too."
        )


def _rank(s: Floats, vt: Floats, noise: Floats) -> int:
    allowance = 6 + 4 * np.sqrt(max(1, noise.size))
    carried = np.sqrt((vt**2) @ (noise**2))
    return int(
        np.count_nonzero(s > allowance * np.maximum(carried, EPSILON * (s[0] if s.size else 0)))
    )


def _unpenalized(scaled: Floats, u: Floats, y: Floats, found: Solution) -> Floats:
    p = scaled.shape[1]
    if found.rank == p:
        inner = linalg.solve_triangular(scaled[:p], y[:p], check_finite=False)
        return np.asarray(found.scale[:, np.newaxis] * inner)
    # What the data say of the directions that count, by the shortest coefficients.
    inner = u[:, : found.rank].T @ y / found.singular_values[: found.rank, np.newaxis]
    return found.shortest @ inner


def _penalized(design: Design, y: Floats, alpha: float) -> Floats:
    """QR of `[R_x; sqrt(alpha) I]`: never forms a square, so `alpha` may be small."""
    if len(design.x) < design.x.shape[1]:
        basis, triangle, order = row_basis(design.x)
        return basis @ _augmented_solution(triangle.T, y[order], alpha)
    return _augmented_solution(design.x, y, alpha)


def _augmented_solution(x: Floats, y: Floats, alpha: float) -> Floats:
    rows, targets = _augmented(x, y, alpha)
    scale = unit_scale(column_norms(rows))
    q, r = linalg.qr(rows * scale, mode="economic", check_finite=False)
    inner = linalg.solve_triangular(r, q.T @ targets, check_finite=False)
    return np.asarray(scale[:, np.newaxis] * inner)


def _non_negative(design: Design, y: Floats, alpha: float) -> Floats:
    """The best coefficients of at least zero (Lawson and Hanson's active sets)."""
    from scipy.optimize import nnls

    rows, targets = _augmented(design.x, y, alpha)
    if not rows.size:
        return np.zeros((rows.shape[1], y.shape[1]))
    scale = unit_scale(column_norms(rows))
    columns = [nnls(rows * scale, target, maxiter=30 * len(scale) + 100)[0] for target in targets.T]
    return np.asarray(scale[:, np.newaxis] * np.column_stack(columns))


def _augmented(x: Floats, y: Floats, alpha: float) -> tuple[Floats, Floats]:
    p = x.shape[1]
    if alpha == 0:
        return x, y
    rows = np.vstack([x, np.sqrt(alpha) * np.eye(p)])
    return rows, np.vstack([y, np.zeros((p, y.shape[1]))])
