"""One step of iterative refinement from the rows.

For coefficients `B` found from the factor, the gradient at the rows themselves,

    G = (X - x_mean)' W (Y - y_mean - (X - x_mean) B) - alpha B,

is zero at the optimum. What is not zero is rounding, and `(R'R + alpha I)^-1 G` takes it away
(corrected semi-normal equations). Small tables do this in extended precision. The step is not
taken where the condition number is so large that it would do harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from novum.core.coding import treatment_blocks
from novum.core.validation import Sample
from novum.linear.solution import Design, Floats, Solution
from novum.numerics.linear_algebra import column_norms, unit_scale
from novum.numerics.triangular import is_small

# Beyond it eps kappa^2 exceeds 1e-4 and a correction would bring back what QR avoided.
_LARGEST_CONDITION = 1e6


def refined(sample: Sample, design: Design, solution: Solution, fit_intercept: bool) -> Solution:
    """The solution after one correction, or as it is where none can be trusted."""
    p = solution.coef.shape[0]
    if solution.rank < p or p == 0 or solution.condition > _LARGEST_CONDITION:
        return solution
    small = is_small(sample.n_rows, p)
    rows = _Rows(sample, np.longdouble if small else np.float64, fit_intercept)
    x_mean, y_mean = rows.means() if small else (design.x_mean, design.y_mean)
    gradient = rows.gradient(x_mean, y_mean, solution.coef) - solution.alpha * solution.coef
    step = _solved(design, np.asarray(gradient, np.float64), solution.alpha)
    if not np.abs(step).max() <= 1e-4 * np.abs(solution.coef).max():
        return solution
    coef = solution.coef + step.astype(rows.dtype)
    intercept = y_mean - x_mean @ coef
    return replace(
        solution,
        coef=np.asarray(coef, np.float64),
        intercept=np.asarray(intercept, np.float64),
    )


class _Rows:
    """The rows of a sample as a treatment design, block by block, in a chosen precision."""

    def __init__(self, sample: Sample, dtype: type[Any], fit_intercept: bool) -> None:
        self.sample = sample
        self.dtype = dtype
        self.fit_intercept = fit_intercept
        self.targets = sample.targets

    def blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Design, targets and weights, some rows at a time."""
        weight = self.sample.weight
        for rows, x in treatment_blocks(self.sample):
            yield x, self.targets[rows], None if weight is None else weight[rows, np.newaxis]

    def means(self) -> tuple[Any, Any]:
        """Weighted means of design and targets; zeros without an intercept."""
        sums: Any = 0
        for x, y, weight in self.blocks():
            both = np.column_stack([np.ones(len(x)), x, y]).astype(self.dtype)
            sums = sums + (both if weight is None else both * weight).sum(axis=0)
        means = sums[1:] / sums[0] if self.fit_intercept else 0 * sums[1:]
        return means[: -self.targets.shape[1]], means[-self.targets.shape[1] :]

    def gradient(self, x_mean: Any, y_mean: Any, coef: Floats) -> Any:
        """`X'W(Y - XB)` about the means."""
        total: Any = 0
        for x, y, weight in self.blocks():
            centered = np.subtract(x, x_mean, dtype=self.dtype)
            residual = np.subtract(y, y_mean, dtype=self.dtype) - centered @ coef
            total = total + centered.T @ (residual if weight is None else weight * residual)
        return total


def _solved(design: Design, gradient: Floats, alpha: Floats) -> Floats:
    """`(R'R + alpha I)^-1 gradient`, column by column of equal penalty."""
    step = np.empty_like(gradient)
    p = design.x.shape[1]
    for value in np.unique(alpha):
        chosen = alpha == value
        rows = np.vstack([design.x, np.sqrt(value) * np.eye(p)]) if value > 0 else design.x
        scale = unit_scale(column_norms(rows))
        r = linalg.qr(rows * scale, mode="r", check_finite=False)[0][:p]
        inner = linalg.solve_triangular(
            r, scale[:, np.newaxis] * gradient[:, chosen], trans="T", check_finite=False
        )
        step[:, chosen] = scale[:, np.newaxis] * linalg.solve_triangular(
            r, inner, check_finite=False
        )
    return step
