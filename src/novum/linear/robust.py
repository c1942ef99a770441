"""Standard errors that hold when errors have unequal variances.

With `A = (X'WX)^-1` on the design with intercept, residuals `e_i` and leverages `h_i`,

    Cov(b) = A (sum_i w_i x_i x_i' u_i) A,

    HC0  u_i = e_i^2                       HC1  u_i = e_i^2 n / (n - k)
    HC2  u_i = e_i^2 / (1 - h_i)           HC3  u_i = e_i^2 / (1 - h_i)^2

(White 1980; MacKinnon and White 1985). A weight counts repetitions, so it enters once, and
the leverage of a row is that of one of its copies.
"""

from __future__ import annotations

import numpy as np

from novum.core.coding import treatment_blocks
from novum.core.validation import Sample
from novum.linear.inference import inverse_root, undetermined
from novum.linear.solution import Design, Floats, Solution


def robust_errors(
    sample: Sample, design: Design, solution: Solution, fit_intercept: bool, kind: str
) -> Floats:
    """Standard errors of shape (t, k), intercept first, computed in one pass over the rows."""
    total = float(sample.weights.sum())
    inner_root = inverse_root(design, solution)
    root = _whole_root(design, inner_root, total) if fit_intercept else inner_root
    targets, weights = sample.targets, sample.weights[:, np.newaxis]
    meat = np.zeros((targets.shape[1], root.shape[1], root.shape[1]))
    for rows, x in treatment_blocks(sample):
        residual = targets[rows] - solution.intercept - x @ solution.coef
        # Centered before they are turned: an offset of the columns must not cost digits.
        turned = (x - design.x_mean) @ inner_root
        if fit_intercept:
            turned = np.column_stack([np.full(len(x), 1 / np.sqrt(total)), turned])
        spread = _spread(residual, (turned**2).sum(axis=1), kind) * weights[rows]
        meat += np.einsum("it,ij,ik->tjk", spread, turned, turned, optimize=True)
    if kind == "HC1":
        freedom = total - solution.rank - fit_intercept
        meat *= total / freedom if freedom > 0 else np.nan
    errors = np.sqrt(np.stack([np.einsum("ij,jk,ik->i", root, m, root) for m in meat]))
    errors[:, undetermined(design, solution, total, fit_intercept)] = np.nan
    return errors


def _whole_root(design: Design, root: Floats, weight: float) -> Floats:
    """`A` with `A A' = ([1 X]'W[1 X])^+`, in the user's units."""
    corner = np.append(1 / np.sqrt(weight), -design.x_mean @ root)
    return np.vstack([corner, np.column_stack([np.zeros(len(root)), root])])


def _spread(residual: Floats, leverage: Floats, kind: str) -> Floats:
    squares = residual**2
    if kind in ("HC0", "HC1"):
        return squares
    # A row that is fitted whatever its target says nothing about the spread.
    free = np.maximum(1 - leverage, np.sqrt(np.finfo(float).eps))[:, np.newaxis]
    return np.asarray(squares / free ** (1 if kind == "HC2" else 2))
