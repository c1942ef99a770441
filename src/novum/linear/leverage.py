"""Leverages, and leave-one-out predictions for the price of one fit.

Row `i` has leverage `h_i = w_i x_i'(X'WX + alpha I)^-1 x_i`, intercept included. Without that row
the model would predict

    y_i - (y_i - yhat_i) / (1 - h_i)

for it, exactly (Allen's PRESS). Where `1 - h_i` is small the formula loses digits, and the row is
left out for real instead; `core.exact_validation` does that.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from novum.core.coding import treatment_blocks
from novum.core.validation import Sample
from novum.linear.inference import inverse_root
from novum.linear.solution import Design, Floats, Solution


def leave_one_out(
    sample: Sample, design: Design, solution: Solution, fit_intercept: bool
) -> tuple[Floats, Floats]:
    """Predictions without the row itself, and `1 - h_i`, both of shape (n, t)."""
    targets, fitted = sample.targets, _fitted(sample, design, solution)
    free = np.empty_like(fitted)
    for value in np.unique(solution.alpha):
        chosen = solution.alpha == value
        free[:, chosen] = (
            1 - leverages(sample, design, solution, value, fit_intercept)[:, np.newaxis]
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return targets - (targets - fitted) / free, free


def leverages(
    sample: Sample, design: Design, solution: Solution, alpha: float, fit_intercept: bool
) -> Floats:
    """Weighted leverage of every row, shape (n,)."""
    root = penalized_root(design, solution, alpha)
    found = np.empty(sample.n_rows)
    for rows, x in treatment_blocks(sample):
        found[rows] = (((x - design.x_mean) @ root) ** 2).sum(axis=1)
    if fit_intercept:
        found += 1 / sample.weights.sum()
    return np.asarray(sample.weights * found)


def penalized_root(design: Design, solution: Solution, alpha: float) -> Floats:
    """`A` with `A A' = (R'R + alpha I)^+`."""
    if alpha == 0:
        return inverse_root(design, solution)
    p = design.x.shape[1]
    r = linalg.qr(np.vstack([design.x, np.sqrt(alpha) * np.eye(p)]), mode="r")[0][:p]
    return np.asarray(linalg.solve_triangular(r, np.eye(p)))


def _fitted(sample: Sample, design: Design, solution: Solution) -> Floats:
    blocks = [(x - design.x_mean) @ solution.coef for _, x in treatment_blocks(sample)]
    return np.asarray(np.vstack(blocks) + design.y_mean)
