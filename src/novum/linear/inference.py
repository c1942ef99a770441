"""Inference for least squares: standard errors, t tests, intervals, R squared.

Under `y = b0 + x'b + e` with independent errors of variance `sigma^2`,

    Cov(b) = sigma^2 (X'WX)^-1,       sigma^2 = RSS / (sum of weights - number of coefficients),

where a weight says how often a row occurred. With the factor `R` of the centered design the
variances are squared row norms of `R^-1`, and that of the intercept is
`1 / sum(w) + |R^-T x_mean|^2`: sums of squares, in which nothing cancels. Errors of unequal
variance (`HC0` to `HC3`, White and MacKinnon) replace `sigma^2` by squared residuals row by row.
A coefficient that the data do not determine has no standard error: NaN.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from novum.core.text import printable
from novum.linear.solution import Design, Floats, Solution
from novum.numerics.linear_algebra import EPSILON, column_norms

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
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is a probability between 0 and 1, got {confidence!r}.")
        reach = special.stdtrit(self.degrees_of_freedom, (1 + confidence) / 2)
        half = reach * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    def single(self) -> LinearInference:
        """The same without the axis of targets, where there is but one."""
        return self._target(0)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"

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


def _table(found: LinearInference) -> list[str]:
    names = [printable(name) for name in found.names]
    width = max(map(len, names))
    ends = found.intervals()
    lines = [f"{'':{width}}  {'coef':>12} {'std err':>11} {'t':>9} {'P>|t|':>9}   95 % interval"]
    for j, name in enumerate(names):
        lines.append(
            f"{name:{width}}  {found.coef[j]:12.6g} {found.standard_errors[j]:11.4g} "
            f"{found.t_values[j]:9.4g} {found.p_values[j]:9.2g}   "
            f"[{ends[j, 0]:.6g}, {ends[j, 1]:.6g}]"
        )
    lines.append(
        f"R2 {found.r_squared:.4f} (adjusted {found.adjusted_r_squared:.4f}), residual deviation "
        f"{found.residual_deviation:.4g} on {found.degrees_of_freedom:g} degrees of freedom, "
        f"{found.covariance} covariance"
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
    freedom = weight - solution.rank - fit_intercept
    # Sizes in place of their squares: targets of 1e-200 have an R squared too.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sigma = residual / np.sqrt(freedom) if freedom > 0 else np.full_like(residual, np.nan)
        if covariance is None:
            errors = np.outer(sigma, unit_deviations(design, solution, weight, fit_intercept))
        else:
            errors = covariance[1]
        r2 = 1 - (residual / total) ** 2
        adjusted = 1 - (1 - r2) * (weight - fit_intercept) / freedom
        f = ((total / residual) ** 2 - 1) * freedom / solution.rank
        # An F test is a beta tail; betainc has no trouble with huge values.
        f_p = special.betainc(
            freedom / 2, solution.rank / 2, freedom / (freedom + solution.rank * f)
        )
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
    )


def unit_deviations(
    design: Design, solution: Solution, weight: float, fit_intercept: bool
) -> Floats:
    """Roots of the diagonal of `(X'WX)^-1`, intercept first; NaN where it is not determined."""
    root = inverse_root(design, solution)
    deviations = column_norms(root.T)
    if fit_intercept:
        first = np.append(1 / np.sqrt(weight), design.x_mean @ root)
        deviations = np.append(column_norms(first[:, np.newaxis]), deviations)
    deviations[undetermined(design, solution, weight, fit_intercept)] = np.nan
    return deviations


def undetermined(
    design: Design, solution: Solution, weight: float, fit_intercept: bool
) -> NDArray[np.bool_]:
    """Which coefficients, intercept first, the data leave open.

    A slope is left open where its axis is not all in the space of the directions that count, the
    intercept where the means are not. Both are seen in the scaled columns: units do not matter.
    """
    kept = solution.directions[: solution.rank]
    p = kept.shape[1]
    slopes = 1 - (kept**2).sum(axis=0) > (64 + p) * EPSILON
    if not fit_intercept:
        return np.asarray(slopes)
    means = design.x_mean * solution.scale
    outside = means - kept.T @ (kept @ means)
    # Relative to the columns about zero: means that are rounding errors of a spread are none.
    size = column_norms((design.noise / EPSILON * solution.scale)[:, np.newaxis])[0]
    offset = column_norms(outside[:, np.newaxis])[0] > 1e-8 * size / np.sqrt(weight)
    return np.append(offset, slopes)


def inverse_root(design: Design, solution: Solution) -> Floats:
    """`A` of shape (p, q) with `A A' = (X'WX)^+`, the inverse on what the data determine."""
    p, rank = solution.coef.shape[0], solution.rank
    if rank == p:
        scaled = (design.x * solution.scale)[:p]
        return solution.scale[:, np.newaxis] * linalg.solve_triangular(scaled, np.eye(p))
    return np.asarray(solution.shortest / solution.singular_values[:rank])
