"""The solution of least squares and ridge from the triangular factor of the table.

    minimize  |Y - 1 b0' - X B|^2 + alpha |B|^2         (intercept b0 free of the penalty)

With `[X Y]` centered and `R = [R_x R_y]` its factor, the sum of squares is `|R_y - R_x B|^2` plus
nothing else, so the whole problem is of the size of the table's width. Columns are scaled by
powers of two (exactly) before anything is decided about them.

Rank: a cell is known to half a unit in its last place, so a column is known to `eps |x_j|`, offset
included. A direction `v` counts only if its singular value exceeds what those errors alone would
give it, `sqrt(sum_j (v_j eps |x_j|)^2)`, times a small factor. Of a narrow table the inverse of the
triangle proves that all directions count, and the singular values wait until somebody asks.
Without full rank the solution of smallest norm (in the user's units) is given.

With fewer rows than columns, `m < p`, both kinds of solution lie in the space of the rows,
`B = Q C` with `R_x' = Q T`: nothing larger than `p x m` is formed.

Refinement: for coefficients `B` found from the factor, the gradient at the rows themselves,

    G = (X - x_mean)' W (Y - y_mean - (X - x_mean) B) - alpha B,

is zero at the optimum. What is not zero is rounding, and `(R'R + alpha I)^-1 G` takes it away
(corrected semi-normal equations). Small tables do this in extended precision and with `X R^-1` in
place of `X`, unless their condition number proves that nothing would be gained. The step is not
taken where the condition number is so large that it would do harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from novum.core.errors import InputError
from novum.core.runtime import long_call
from novum.core.tables import Coding, Sample, treatment_blocks
from novum.core.text import label_text
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.numerics import (
    EPSILON,
    SMALLEST_NORMAL,
    Floats,
    Positions,
    cached_property,
    column_norms,
    inverse_triangle,
    is_small,
    solve_triangle,
    unit_scale,
    upper_triangle,
)

# A sum of squares of this size and no larger is a double.
_LARGEST_TARGET = 2.0**510
# Columns up to which the inverse of the triangle is cheaper than its singular values.
_NARROW = 32
# Up to this condition number eps kappa^2 is below 1e-12, and QR needs no refinement.
_WELL_CONDITIONED = 50.0
# Beyond it eps kappa^2 exceeds 1e-4 and a correction would bring back what QR avoided.
_ILL_CONDITIONED = 1e6


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
        factor = statistics.factor
        if not statistics.schema.is_numeric:
            coding = Coding(statistics.schema)
            targets = np.arange(coding.full_width, factor.n_columns)
            factor = factor.columns(np.concatenate([coding.treatment, targets]))
        p = factor.n_columns - statistics.n_targets
        whole = factor.uncentered
        noise = EPSILON * column_norms(whole)
        sizes = noise[p:] / EPSILON
        if not (sizes < _LARGEST_TARGET).all():
            raise InputError(
                f"The targets reach a size of {sizes.max():.3g}, and their squares leave the range "
                "of double precision. Divide y by a power of ten."
            )
        if fit_intercept:
            triangle, mean = factor.centered.copy(), factor.mean
            rounding = EPSILON * column_norms(factor.factor[:, 1:])
        else:
            triangle, mean = upper_triangle(whole), np.zeros(factor.n_columns)
            rounding = noise
        # A column or target whose spread is rounding is constant.
        triangle[:, column_norms(triangle) <= 4 * noise] = 0.0
        return cls(triangle[:, :p], triangle[:, p:], noise[:p], mean[:p], mean[p:], rounding)

    @cached_property
    def sizes(self) -> Floats:
        """Lengths of the columns, shape (p,)."""
        return column_norms(self.x)

    @cached_property
    def scale(self) -> Floats:
        """Powers of two that bring the columns near a length of 1, shape (p,)."""
        return unit_scale(self.sizes)

    @cached_property
    def spectrum(self) -> tuple[Floats, Floats, Floats]:
        """`U` (m, q), singular values (q,) and directions (q, p) of the scaled design."""
        scaled = self.x * self.scale
        flops = 20.0 * scaled.size * min(scaled.shape)
        u, s, directions = long_call(
            lambda: np.linalg.svd(scaled, full_matrices=False), flops, "Singular values"
        )
        return u, s, directions

    @cached_property
    def condition_bound(self) -> float:
        """A bound of the condition number of the scaled design, by the inverse of its triangle.

        Infinite where there is no inverse, or where it does not prove that all columns count.
        """
        p = self.x.shape[1]
        if not 0 < p <= min(len(self.x), _NARROW):
            return np.inf
        scaled = (self.x * self.scale)[:p]
        inverse = inverse_triangle(scaled)
        if inverse is None:
            return np.inf
        # Frobenius norms are no smaller than the largest singular values.
        size, inverse_size = float(np.linalg.norm(scaled)), float(np.linalg.norm(inverse))
        carried = max(float((self.noise * self.scale).max()), EPSILON * size)
        determined = _allowance(p) * carried * inverse_size < 1.0
        return size * inverse_size if determined else np.inf

    @cached_property
    def rank(self) -> int:
        """Number of directions that are no rounding errors."""
        p = self.x.shape[1]
        if np.isfinite(self.condition_bound):
            return p
        _, s, directions = self.spectrum
        carried = np.sqrt((directions**2) @ ((self.noise * self.scale) ** 2))
        least = np.maximum(carried, EPSILON * (s[0] if s.size else 0))
        return int(np.count_nonzero(s > _allowance(p) * least))

    @property
    def condition(self) -> float:
        """Ratio of the extreme singular values that count, of the scaled design."""
        s = self.spectrum[1]
        return float(s[0] / s[self.rank - 1]) if self.rank else 1.0

    @cached_property
    def shortest(self) -> Floats:
        """`P` of shape (p, rank): `P c` is the shortest `coef` with `V D^-1 coef = c`.

        `V` are the directions that count and `D` the scale, so `c` is all that the data can say.
        """
        kept = self.spectrum[2][: self.rank] / self.scale
        # A common factor, so that no square of a cell leaves the range of a double.
        unit = unit_scale(np.abs(kept).max(initial=0.0))
        basis, triangle, order = row_basis(kept * unit)
        projection = np.empty_like(basis)
        projection[:, order] = linalg.solve_triangular(triangle, basis.T).T
        return projection * unit

    @property
    def null_space(self) -> Floats:
        """Orthonormal directions of `coef`, shape (p, p - rank), that the data say nothing of."""
        p = self.x.shape[1]
        if self.rank == p:
            return np.empty((p, 0))
        missing = linalg.null_space(self.spectrum[2][: self.rank]) if self.rank else np.eye(p)
        return np.asarray(np.linalg.qr(self.scale[:, np.newaxis] * missing)[0])


def _allowance(p: int) -> float:
    """By how much a singular value must exceed the rounding errors of `p` columns."""
    return 6 + 4 * float(np.sqrt(max(1, p)))


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients (p, t) and intercepts (t,) for one penalty `alpha` (t,) for each target."""

    coef: Floats
    intercept: Floats
    alpha: Floats


def solve(design: Design, alpha: Floats, *, positive: bool = False) -> Solution:
    """The minimizer for one penalty for each target."""
    penalty = np.broadcast_to(np.asarray(alpha, float), (design.y.shape[1],))
    coef = np.empty((design.x.shape[1], penalty.size))
    for value in np.unique(penalty) if penalty.size > 1 else penalty:
        chosen = penalty == value
        if positive:
            coef[:, chosen] = _non_negative(design, design.y[:, chosen], float(value))
        elif value > 0:
            coef[:, chosen] = _penalized(design, design.y[:, chosen], float(value))
        else:
            coef[:, chosen] = _unpenalized(design, design.y[:, chosen])
    # Exactly zero, because the mean that multiplies it may be large.
    coef[~design.x.any(axis=0)] = 0.0
    return Solution(coef, design.y_mean - design.x_mean @ coef, penalty)


def _unpenalized(design: Design, y: Floats) -> Floats:
    p = design.x.shape[1]
    if design.rank == p:
        inner = solve_triangle((design.x * design.scale)[:p], y[:p])
        return np.asarray(design.scale[:, np.newaxis] * inner)
    # What the data say of the directions that count, by the shortest coefficients.
    u, s, _ = design.spectrum
    return design.shortest @ (u[:, : design.rank].T @ y / s[: design.rank, np.newaxis])


def _penalized(design: Design, y: Floats, alpha: float) -> Floats:
    """QR of `[R_x; sqrt(alpha) I]`: never forms a square, so `alpha` may be small."""
    if len(design.x) < design.x.shape[1]:
        basis, triangle, order = row_basis(design.x)
        return basis @ _augmented_solution(triangle.T, y[order], alpha)
    return _augmented_solution(design.x, y, alpha)


def _augmented_solution(x: Floats, y: Floats, alpha: float) -> Floats:
    rows, targets = _augmented(x, y, alpha)
    scale = unit_scale(column_norms(rows))
    q, r = long_call(
        lambda: np.linalg.qr(rows * scale), 8.0 * rows.size * x.shape[1], "QR with the penalty"
    )
    return np.asarray(scale[:, np.newaxis] * solve_triangle(r, q.T @ targets))


def _augmented(x: Floats, y: Floats, alpha: float) -> tuple[Floats, Floats]:
    p = x.shape[1]
    if alpha == 0:
        return x, y
    rows = np.vstack([x, np.sqrt(alpha) * np.eye(p)])
    return rows, np.vstack([y, np.zeros((p, y.shape[1]))])


def _non_negative(design: Design, y: Floats, alpha: float) -> Floats:
    """The best coefficients of at least zero (Lawson and Hanson's active sets)."""
    from scipy.optimize import nnls

    rows, targets = _augmented(design.x, y, alpha)
    if not rows.size:
        return np.zeros((rows.shape[1], y.shape[1]))
    scale = unit_scale(column_norms(rows))
    columns = [nnls(rows * scale, target, maxiter=30 * len(scale) + 100)[0] for target in targets.T]
    return np.asarray(scale[:, np.newaxis] * np.column_stack(columns))


def row_basis(rows: Floats) -> tuple[Floats, Floats, Positions]:
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
    flops = 4.0 * design.x.size * min(design.x.shape)
    values = long_call(lambda: np.linalg.svd(design.x, compute_uv=False), flops, "Singular values")
    return np.asarray(values, np.float64)


def squared_residuals(design: Design, coef: Floats) -> Floats:
    """Residual sum of squares of each target."""
    return np.asarray(((design.y - design.x @ coef) ** 2).sum(axis=0))


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


# --- Refinement from the rows ---------------------------------------------------------------------


def refined(sample: Sample, design: Design, solution: Solution, fit_intercept: bool) -> Solution:
    """The solution after one correction, or as it is where none is needed or can be trusted."""
    p = solution.coef.shape[0]
    small = is_small(sample.n_rows, p)
    if small and design.condition_bound <= _WELL_CONDITIONED:
        return solution
    if design.rank < p or p == 0 or design.condition > _ILL_CONDITIONED:
        return solution
    dtype: type[Any] = np.longdouble if small else np.float64
    x_mean: Any = design.x_mean
    y_mean: Any = design.y_mean
    if small and fit_intercept:
        x_mean, y_mean = _extended_means(sample)
    step = np.empty_like(solution.coef)
    for alpha in np.unique(solution.alpha):
        chosen = solution.alpha == alpha
        coef, targets = solution.coef[:, chosen], sample.targets[:, chosen]
        penalized = np.vstack([design.x, np.sqrt(alpha) * np.eye(p)]) if alpha > 0 else design.x
        scale = unit_scale(column_norms(penalized))[:, np.newaxis]
        r = upper_triangle(penalized * scale.T)
        slope: Any = -alpha * solve_triangle(r, scale * coef, transposed=True)
        for rows, x in treatment_blocks(sample):
            centered = np.subtract(x, x_mean, dtype=dtype)
            residual = np.subtract(targets[rows], y_mean[chosen], dtype=dtype) - centered @ coef
            if sample.weight is not None:
                residual = sample.weight[rows, np.newaxis] * residual
            if small:
                slope = slope + _orthogonal(centered * scale.T, r).T @ residual
            else:
                gradient = scale * (centered.T @ residual)
                slope = slope + solve_triangle(r, gradient, transposed=True)
        step[:, chosen] = scale * solve_triangle(r, np.asarray(slope, np.float64))
    if not np.abs(step).max() <= 1e-4 * np.abs(solution.coef).max():
        return solution
    exact = solution.coef + step.astype(dtype)
    intercept = np.asarray(y_mean - x_mean @ exact, np.float64)
    return replace(solution, coef=np.asarray(exact, np.float64), intercept=intercept)


def _orthogonal(x: Any, r: Floats) -> Any:
    """`X R^-1`, column by column, in the precision of `X`.

    It is nearly orthogonal, so rounding of its products with residuals, which are at right angles
    to it, is enlarged by `kappa`; that of the products of `X` would be by `kappa^2`.
    """
    basis = np.empty_like(x)
    for j, column in enumerate(r.T.astype(x.dtype)):
        basis[:, j] = (x[:, j] - basis[:, :j] @ column[:j]) / column[j]
    return basis


def _extended_means(sample: Sample) -> tuple[Any, Any]:
    """Weighted means of the columns and the targets in extended precision."""
    sums: Any = 0
    for rows, x in treatment_blocks(sample):
        both = np.column_stack([np.ones(len(x)), x, sample.targets[rows]]).astype(np.longdouble)
        weight = 1 if sample.weight is None else sample.weight[rows, np.newaxis]
        sums = sums + (both * weight).sum(axis=0)
    means = sums[1:] / sums[0]
    n_targets = sample.targets.shape[1]
    return means[:-n_targets], means[-n_targets:]
