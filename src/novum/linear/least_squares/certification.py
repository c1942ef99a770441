"""The certificate of a least-squares or ridge fit.

The objective is `f(B) = |R_y - R_x B|^2 + alpha |B|^2`. With `A A' = (R_x'R_x + alpha I)^-1` and
half the negative gradient `G = R_x'(R_y - R_x B) - alpha B`,

    f(B) - f* = |A'G|^2,            B* - B = A A'G,

so the gradient at the coefficients says how far from the optimum they are, in any units of the
columns. The factor is itself rounded: its column `j` is off by some `d_j`, a few units of its last
place, and the targets by `d_y`. To first order that moves the optimum by at most

    |A| (d_y + sum_j d_j |B_j|) + |A A'| d |residual|

(Björck, Numerical Methods for Least Squares Problems, 1.4.3), which is part of the bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.learners import Certificate, Verdict
from novum.linear.least_squares.inference import penalized_inverse
from novum.linear.least_squares.solution import Design, Solution, squared_residuals
from novum.numerics import EPSILON, SMALLEST_NORMAL, Floats, column_norms

LEAST_SQUARES = "residual sum of squares"
RIDGE = "residual sum of squares + alpha |coef|^2"


def certify(design: Design, solution: Solution, seconds: float) -> Certificate:
    """The certificate of an unconstrained solution, proved from the factor of the table."""
    gradient = half_gradient(design, solution.coef, solution.alpha)
    value = objective(design, solution.coef, solution.alpha)
    excess, slack, distance = _bounds(design, solution, gradient)
    lower_bound = max(0.0, np.sqrt(max(0.0, value - excess)) - slack) ** 2
    gap = value - lower_bound
    # What remains after a direct solution is rounding of the targets; more would be a fault.
    size = float(np.linalg.norm(design.y))
    proved = excess <= 1e-9 * value + (1e6 * EPSILON * size) ** 2
    determined = design.rank == solution.coef.shape[0] or bool(solution.alpha.all())
    return Certificate(
        objective=RIDGE if solution.alpha.any() else LEAST_SQUARES,
        verdict=Verdict.PROVED if proved else Verdict.WITHIN_TOLERANCE,
        value=value,
        lower_bound=lower_bound,
        gap=gap,
        distance_bound=distance if determined else None,
        residual=_norm(gradient),
        iterations=1,
        details=_details(design, solution),
        seconds=seconds,
    )


def _bounds(design: Design, solution: Solution, gradient: Floats) -> tuple[float, float, float]:
    """How far the objective, its square root (by rounding) and the coefficients may be off."""
    p, coef = solution.coef.shape[0], solution.coef
    # A column takes part in as many reflections as the factor has rows.
    unit = 10.0 * (min(design.x.shape) + 1) * design.rounding
    slack = unit[p:] + unit[:p] @ np.abs(coef)
    residual = np.sqrt(squared_residuals(design, coef))
    excess, away = 0.0, 2 * EPSILON * column_norms(coef)
    for value in np.unique(solution.alpha):
        chosen = solution.alpha == value
        inverse = penalized_inverse(design, float(value))
        root = np.abs(inverse.root)
        moved = _norm(root @ (root.T @ unit[:p]))
        if inverse.basis is not None:
            moved += _norm(unit[:p]) / inverse.alpha
        away[chosen] += column_norms(inverse @ gradient[:, chosen])
        # The targets and the products with the columns lie in the space of the rows.
        away[chosen] += _norm(root) * slack[chosen] + moved * residual[chosen]
        excess += float(inverse.squares(gradient[:, chosen].T).sum())
    return excess, _norm(slack), _norm(away)


def _norm(values: Floats) -> float:
    return float(column_norms(values.reshape(-1, 1))[0])


def half_gradient(design: Design, coef: Floats, alpha: Floats) -> Floats:
    """`R_x'(R_y - R_x B) - alpha B`, which is zero at the optimum."""
    return np.asarray(design.x.T @ (design.y - design.x @ coef) - alpha * coef)


def objective(design: Design, coef: Floats, alpha: Floats) -> float:
    penalty = ((np.sqrt(alpha) * coef) ** 2).sum()
    return float(squared_residuals(design, coef).sum() + penalty)


def certify_non_negative(design: Design, solution: Solution, seconds: float) -> Certificate:
    """The certificate under `coef >= 0`: the Karush-Kuhn-Tucker conditions.

    At the optimum half the negative gradient is at most zero, and zero where a coefficient is
    positive; the largest violation in the scaled coordinates is the residual.
    """
    gradient = half_gradient(design, solution.coef, solution.alpha) * design.scale[:, np.newaxis]
    violation = np.where(solution.coef > 0, np.abs(gradient), np.maximum(gradient, 0.0))
    residual = float(violation.max(initial=0.0))
    size = max(float(np.linalg.norm(design.y)), SMALLEST_NORMAL)
    return Certificate(
        objective=(RIDGE if solution.alpha.any() else LEAST_SQUARES) + " with coef >= 0",
        verdict=Verdict.PROVED if residual <= 1e-9 * size else Verdict.WITHIN_TOLERANCE,
        value=objective(design, solution.coef, solution.alpha),
        residual=residual,
        details=_details(design, solution),
        seconds=seconds,
    )


def _details(design: Design, solution: Solution) -> dict[str, Any]:
    n_columns = solution.coef.shape[0]
    details: dict[str, Any] = {
        "rank": design.rank,
        "columns": n_columns,
        "condition": design.condition,
    }
    if design.rank < n_columns and not solution.alpha.all():
        details["solution"] = (
            f"minimum norm: {n_columns - design.rank} of {n_columns} directions are not "
            "determined by the data"
        )
    return details
