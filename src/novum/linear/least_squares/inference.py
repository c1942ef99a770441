"""What follows from a least-squares fit: standard errors, tests, R squared, and leverages.

Under `y = b0 + x'b + e` with independent errors of variance `sigma^2`,

    Cov(b) = sigma^2 (X'WX)^-1,       sigma^2 = RSS / (sum of weights - number of coefficients),

where a weight says how often a row occurred. With the factor `R` of the centered design the
variances are squared row norms of `R^-1`, and that of the intercept is
`1 / sum(w) + |R^-T x_mean|^2`: sums of squares, in which nothing cancels. A coefficient that the
data do not determine has no standard error: NaN.

Errors of unequal variance replace `sigma^2` by squared residuals row by row (White 1980; MacKinnon
and White 1985). With `A = (X'WX)^-1` on the design with intercept, residuals `e_i` and
leverages `h_i`,

    Cov(b) = A (sum_i w_i x_i x_i' u_i) A,

    HC0  u_i = e_i^2                       HC1  u_i = e_i^2 n / (n - k)
    HC2  u_i = e_i^2 / (1 - h_i)           HC3  u_i = e_i^2 / (1 - h_i)^2

A weight counts repetitions, so it enters once, and the leverage of a row is that of one copy.

Row `i` has leverage `h_i = w_i x_i'(X'WX + alpha I)^-1 x_i`, intercept included. Without that row
the model would predict

    y_i - (y_i - yhat_i) / (1 - h_i)

for it, exactly (Allen's PRESS). Where `1 - h_i` is small the formula loses digits, and the row is
left out for real instead; `core.sums` does that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from scipy import special

from novum.core.tables import Sample, treatment_blocks
from novum.core.text import printable
from novum.display import element
from novum.linear.least_squares.solution import Design, Solution, row_basis
from novum.numerics import EPSILON, Floats, Mask, column_norms, inverse_triangle, upper_triangle

Covariance = Literal["classical", "HC0", "HC1", "HC2", "HC3"]


@dataclass(frozen=True, eq=False)
class LinearInference:
    """What can be said about the coefficients of a linear regression.

    Arrays have the shape of `coef`: (k,) for a vector of targets, (t, k) for several; with an
    intercept it stands first.

    Attributes
    ----------
    names : tuple of str
    coef, standard_errors, t_values, p_values : arrays
    degrees_of_freedom : float
    residual_deviation : float or array of shape (t,)
        Estimated standard deviation of the errors.
    r_squared, adjusted_r_squared : float or array of shape (t,)
        Without an intercept, relative to zero in place of the mean.
    f_value, f_p_value : float or array of shape (t,)
        Test that all slopes are zero.
    covariance : str
    rows : float
        Sum of the weights.
    log_likelihood, aic, bic : float or array of shape (t,)
        Of normal errors; the criteria count the coefficients that the data determine.
    """

    names: tuple[str, ...]
    coef: Floats
    standard_errors: Floats
    degrees_of_freedom: float
    residual_deviation: Floats
    r_squared: Floats
    adjusted_r_squared: Floats
    f_value: Floats
    f_p_value: Floats
    covariance: str = "classical"
    rows: float = np.nan

    @property
    def log_likelihood(self) -> Floats:
        with np.errstate(divide="ignore"):
            variance = self.residual_deviation**2 * self.degrees_of_freedom / self.rows
            return np.asarray(-self.rows / 2 * (np.log(2 * np.pi * variance) + 1))

    @property
    def aic(self) -> Floats:
        return -2 * self.log_likelihood + 2 * (self.rows - self.degrees_of_freedom)

    @property
    def bic(self) -> Floats:
        return -2 * self.log_likelihood + np.log(self.rows) * (self.rows - self.degrees_of_freedom)

    @property
    def t_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.coef / self.standard_errors)

    @property
    def p_values(self) -> Floats:
        """Two-sided p values of `coef = 0`."""
        return np.asarray(2 * special.stdtr(self.degrees_of_freedom, -np.abs(self.t_values)))

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals, lower and upper ends along the last axis."""
        half = self.reach(confidence) * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    def reach(self, confidence: float) -> float:
        """How many standard errors an interval reaches, by Student's law."""
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is a probability between 0 and 1, got {confidence!r}.")
        return float(special.stdtrit(self.degrees_of_freedom, (1 + confidence) / 2))

    def single(self) -> LinearInference:
        """The same without the axis of targets, where there is but one."""
        return self._target(0)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return element("pre", repr(self))

    def _lines(self) -> list[str]:
        if self.coef.ndim == 1:
            return _table(self)
        lines = []
        for t in range(len(self.coef)):
            lines += [f"target {t}", *_table(self._target(t))]
        return lines

    def _target(self, t: int) -> LinearInference:
        changed = {
            field.name: getattr(self, field.name)[t]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **changed)


def _table(inference: LinearInference) -> list[str]:
    names = [printable(name) for name in inference.names]
    width = max(map(len, names))
    ends = inference.intervals()
    lines = [f"{'':{width}}  {'coef':>12} {'std err':>11} {'t':>9} {'P>|t|':>9}   95 % interval"]
    for j, name in enumerate(names):
        lines.append(
            f"{name:{width}}  {inference.coef[j]:12.6g} {inference.standard_errors[j]:11.4g} "
            f"{inference.t_values[j]:9.4g} {inference.p_values[j]:9.2g}   "
            f"[{ends[j, 0]:.6g}, {ends[j, 1]:.6g}]"
        )
    lines.append(
        f"R2 {inference.r_squared:.4f} (adjusted {inference.adjusted_r_squared:.4f}), residual "
        f"deviation {inference.residual_deviation:.4g} on {inference.degrees_of_freedom:g} degrees "
        f"of freedom, {inference.covariance} covariance"
    )
    return lines


# --- Classical ------------------------------------------------------------------------------------


def infer(
    design: Design,
    solution: Solution,
    weight: float,
    names: tuple[str, ...],
    fit_intercept: bool,
    covariance: tuple[str, Floats] | None = None,
) -> LinearInference:
    """Inference from the factor; `covariance` names robust standard errors of shape (t, k)."""
    residual = column_norms(design.y - design.x @ solution.coef)
    total = column_norms(design.y)
    freedom = weight - design.rank - fit_intercept
    # Sizes in place of their squares: targets of 1e-200 have an R squared too.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sigma = residual / np.sqrt(freedom) if freedom > 0 else np.full_like(residual, np.nan)
        if covariance is None:
            errors = np.outer(sigma, unit_deviations(design, weight, fit_intercept))
        else:
            errors = covariance[1]
        r2 = 1 - (residual / total) ** 2
        adjusted = 1 - (1 - r2) * (weight - fit_intercept) / freedom
        f = ((total / residual) ** 2 - 1) * freedom / design.rank
        # An F test is a beta tail; betainc has no trouble with huge values.
        f_p = special.betainc(freedom / 2, design.rank / 2, freedom / (freedom + design.rank * f))
    coef = (
        np.column_stack([solution.intercept, solution.coef.T]) if fit_intercept else solution.coef.T
    )
    labels = ("intercept", *names) if fit_intercept else names
    return LinearInference(
        labels,
        coef,
        errors,
        float(freedom),
        sigma,
        r2,
        adjusted,
        f,
        f_p,
        "classical" if covariance is None else covariance[0],
        float(weight),
    )


def unit_deviations(design: Design, weight: float, fit_intercept: bool) -> Floats:
    """Roots of the diagonal of `(X'WX)^-1`, intercept first; NaN where it is not determined."""
    root = inverse_root(design)
    deviations = column_norms(root.T)
    if fit_intercept:
        first = np.append(1 / np.sqrt(weight), design.x_mean @ root)
        deviations = np.append(column_norms(first[:, np.newaxis]), deviations)
    deviations[undetermined(design, weight, fit_intercept)] = np.nan
    return deviations


def undetermined(design: Design, weight: float, fit_intercept: bool) -> Mask:
    """Which coefficients, intercept first, the data leave open.

    A slope is left open where its axis is not all in the space of the directions that count, the
    intercept where the means are not. Both are seen in the scaled columns: units do not matter.
    """
    kept = design.spectrum[2][: design.rank]
    p = kept.shape[1]
    slopes = 1 - (kept**2).sum(axis=0) > (64 + p) * EPSILON
    if not fit_intercept:
        return np.asarray(slopes)
    means = design.x_mean * design.scale
    outside = means - kept.T @ (kept @ means)
    # Relative to the columns about zero: means that are rounding errors of a spread are none.
    size = column_norms((design.noise / EPSILON * design.scale)[:, np.newaxis])[0]
    offset = column_norms(outside[:, np.newaxis])[0] > 1e-8 * size / np.sqrt(weight)
    return np.append(offset, slopes)


def inverse_root(design: Design) -> Floats:
    """`A` of shape (p, q) with `A A' = (X'WX)^+`, the inverse on what the data determine."""
    p = design.x.shape[1]
    if design.rank == p:
        inverse = inverse_triangle((design.x * design.scale)[:p])
        assert inverse is not None  # of full rank
        return design.scale[:, np.newaxis] * inverse
    return np.asarray(design.shortest / design.spectrum[1][: design.rank])


# --- Errors of unequal variance -------------------------------------------------------------------


def robust_errors(
    sample: Sample, design: Design, solution: Solution, fit_intercept: bool, kind: str
) -> Floats:
    """Standard errors of shape (t, k), intercept first, computed in one pass over the rows."""
    total = float(sample.weights.sum())
    root = rooted(design, total, fit_intercept)
    targets, weights = sample.targets, sample.weights[:, np.newaxis]
    meat = np.zeros((targets.shape[1], root.shape[1], root.shape[1]))
    for rows, x in treatment_blocks(sample):
        residual = targets[rows] - solution.intercept - x @ solution.coef
        turned = turned_rows(x, design, total, fit_intercept)
        spread = _spread(residual, (turned**2).sum(axis=1), kind) * weights[rows]
        meat += np.einsum("it,ij,ik->tjk", spread, turned, turned, optimize=True)
    if kind == "HC1":
        freedom = total - design.rank - fit_intercept
        meat *= total / freedom if freedom > 0 else np.nan
    errors = np.sqrt(np.stack([np.einsum("ij,jk,ik->i", root, m, root) for m in meat]))
    errors[:, undetermined(design, total, fit_intercept)] = np.nan
    return errors


def rooted(design: Design, weight: float, fit_intercept: bool) -> Floats:
    """`A` with `A A' = ([1 X]'W[1 X])^+` in the user's units, intercept first."""
    root = inverse_root(design)
    if not fit_intercept:
        return root
    corner = np.append(1 / np.sqrt(weight), -design.x_mean @ root)
    return np.vstack([corner, np.column_stack([np.zeros(len(root)), root])])


def turned_rows(x: Floats, design: Design, weight: float, fit_intercept: bool) -> Floats:
    """`A'x` for the rows of a treatment design: their squares add up to leverages."""
    # Centered before they are turned: an offset of the columns must not cost digits.
    turned = (x - design.x_mean) @ inverse_root(design)
    if not fit_intercept:
        return turned
    return np.column_stack([np.full(len(x), 1 / np.sqrt(weight)), turned])


def _spread(residual: Floats, leverage: Floats, kind: str) -> Floats:
    squares = residual**2
    if kind in ("HC0", "HC1"):
        return squares
    # A row that is fitted whatever its target says nothing about the spread.
    free = np.maximum(1 - leverage, np.sqrt(np.finfo(float).eps))[:, np.newaxis]
    return np.asarray(squares / free ** (1 if kind == "HC2" else 2))


# --- Leverages ------------------------------------------------------------------------------------


def leave_one_out(
    sample: Sample, design: Design, solution: Solution, fit_intercept: bool
) -> tuple[Floats, Floats]:
    """Predictions without the row itself, and `1 - h_i`, both of shape (n, t)."""
    blocks = [(x - design.x_mean) @ solution.coef for _, x in treatment_blocks(sample)]
    targets, fitted = sample.targets, np.vstack(blocks) + design.y_mean
    free = np.empty_like(fitted)
    for value in np.unique(solution.alpha):
        chosen = solution.alpha == value
        free[:, chosen] = 1 - leverages(sample, design, value, fit_intercept)[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        return targets - (targets - fitted) / free, free


def leverages(sample: Sample, design: Design, alpha: float, fit_intercept: bool) -> Floats:
    """Weighted leverage of every row, shape (n,)."""
    inverse = penalized_inverse(design, alpha)
    leverages = np.empty(sample.n_rows)
    for rows, x in treatment_blocks(sample):
        leverages[rows] = inverse.squares(x - design.x_mean)
    if fit_intercept:
        leverages += 1 / sample.weights.sum()
    return np.asarray(sample.weights * leverages)


@dataclass(frozen=True, eq=False)
class PenalizedInverse:
    """`(R'R + alpha I)^+ = A A' + (I - B B') / alpha`, with a basis `B` of the space of few rows.

    Attributes
    ----------
    root : array of shape (p, q)
        `A`.
    basis : array of shape (p, q) or None
        `B`; None where `A` is all there is.
    alpha : float
    """

    root: Floats
    basis: Floats | None = None
    alpha: float = 0.0

    def squares(self, vectors: Floats) -> Floats:
        """`v'(R'R + alpha I)^+ v` for each row `v`."""
        squares = ((vectors @ self.root) ** 2).sum(axis=1)
        if self.basis is not None:
            squares += (self.outside(vectors.T) ** 2).sum(axis=0) / self.alpha
        return np.asarray(squares)

    def __matmul__(self, vectors: Floats) -> Floats:
        product = self.root @ (self.root.T @ vectors)
        return product if self.basis is None else product + self.outside(vectors) / self.alpha

    def outside(self, vectors: Floats) -> Floats:
        """What of the columns (p, k) is orthogonal to all rows."""
        assert self.basis is not None
        return np.asarray(vectors - self.basis @ (self.basis.T @ vectors))


def penalized_inverse(design: Design, alpha: float) -> PenalizedInverse:
    """The inverse of the second derivatives, on what the data and the penalty determine."""
    if alpha == 0:
        return PenalizedInverse(inverse_root(design))
    x, p = design.x, design.x.shape[1]
    basis = None
    if len(x) < p:
        basis, triangle, _ = row_basis(x)
        x = triangle.T
    q = x.shape[1]
    root = inverse_triangle(upper_triangle(np.vstack([x, np.sqrt(alpha) * np.eye(q)])))
    assert root is not None  # the penalty is on the diagonal
    return PenalizedInverse(root if basis is None else basis @ root, basis, alpha)
