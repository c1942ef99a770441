"""Leverages, and leave-one-out predictions for the price of one fit.

Row `i` has leverage `h_i = w_i x_i'(X'WX + alpha I)^-1 x_i`, intercept included. Without that row
the model would predict

    y_i - (y_i - yhat_i) / (1 - h_i)

for it, exactly (Allen's PRESS). Where `1 - h_i` is small the formula loses digits, and the row is
left out for real instead; `core.exact_validation` does that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from novum.core.coding import treatment_blocks
from novum.core.validation import Sample
from novum.linear.inference import inverse_root
from novum.linear.solution import Design, Floats, Solution, row_basis


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
    inverse = penalized_inverse(design, solution, alpha)
    found = np.empty(sample.n_rows)
    for rows, x in treatment_blocks(sample):
        found[rows] = inverse.squares(x - design.x_mean)
    if fit_intercept:
        found += 1 / sample.weights.sum()
    return np.asarray(sample.weights * found)


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
        found = ((vectors @ self.root) ** 2).sum(axis=1)
        if self.basis is not None:
            found += (self.outside(vectors.T) ** 2).sum(axis=0) / self.alpha
        return np.asarray(found)

    def __matmul__(self, vectors: Floats) -> Floats:
        found = self.root @ (self.root.T @ vectors)
        return found if self.basis is None else found + self.outside(vectors) / self.alpha

    def outside(self, vectors: Floats) -> Floats:
        """What of the columns (p, k) is orthogonal to all rows."""
        assert self.basis is not None
        return np.asarray(vectors - self.basis @ (self.basis.T @ vectors))


def penalized_inverse(design: Design, solution: Solution, alpha: float) -> PenalizedInverse:
    """The inverse of the second derivatives, on what the data and the penalty determine."""
    if alpha == 0:
        return PenalizedInverse(inverse_root(design, solution))
    x, p = design.x, design.x.shape[1]
    basis = None
    if len(x) < p:
        basis, triangle, _ = row_basis(x)
        x = triangle.T
    q = x.shape[1]
    r = linalg.qr(np.vstack([x, np.sqrt(alpha) * np.eye(q)]), mode="r")[0][:q]
    root = np.asarray(linalg.solve_triangular(r, np.eye(q)))
    return PenalizedInverse(root if basis is None else basis @ root, basis, alpha)


def _fitted(sample: Sample, design: Design, solution: Solution) -> Floats:
    blocks = [(x - design.x_mean) @ solution.coef for _, x in treatment_blocks(sample)]
    return np.asarray(np.vstack(blocks) + design.y_mean)
