"""Squared losses of small dense tables: Newton steps for all classes at once.

The steps are those of `novum.svm.linear.newton`, in arrays with a line for each class against the
rest: on a table of a few hundred rows a step costs its calls, not its sums. All Hessians are one
product of the free rows with the products `z_i z_i'` of every row with itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novum.numerics import Floats, Mask
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses, soft
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

# Cells of all `z_i z_i'`, which are held at once.
MOST_CELLS = 2**17
METHOD = "newton"
_FLAT = 0.1
_LOOKS = 40
_ROUNDING = 4e-16


def is_small(design: Design, losses: RowLosses) -> bool:
    """Whether the losses are squared, and the table small and dense."""
    return (
        losses.smoothing > 0
        and not design.is_sparse
        and design.n_rows * design.width**2 <= MOST_CELLS
    )


class _Losses(NamedTuple):
    """Losses of all classes: targets and bounds of shape (K, n), common weights and shape."""

    targets: Floats
    lower: Floats
    upper: Floats
    weight: Floats
    zone: float
    smoothing: float

    def coefficients(self, residuals: Floats, chosen: Mask | slice = slice(None)) -> Floats:
        pulled = soft(residuals, self.zone) if self.zone else residuals
        return np.minimum(
            np.maximum(pulled / self.smoothing, self.lower[chosen]), self.upper[chosen]
        )


def solve_small(
    design: Design, machines: list[RowLosses], stopping: Stopping, budget: Budget
) -> list[LinearSolution]:
    """Minimizes `|u|^2 / 2` and squared losses for each of the machines, to rounding.

    Parameters
    ----------
    design : Design
    machines : list of RowLosses
        Of the same weights, zone and smoothing.
    stopping : Stopping
    budget : Budget
        Of each machine's steps.
    """
    one = machines[0]
    losses = _Losses(
        np.array([m.target for m in machines]),
        np.array([m.lower for m in machines]),
        np.array([m.upper for m in machines]),
        one.weight,
        one.zone,
        one.smoothing,
    )
    Z = design.rows(np.arange(design.n_rows))
    n, width = Z.shape
    squares = (Z[:, :, np.newaxis] * Z[:, np.newaxis]).reshape(n, -1)
    sizes, unit = one.weight * np.sqrt(design.squares), np.eye(width)
    K = len(machines)
    U, scores = np.zeros((K, width)), np.zeros((K, n))
    steps, lengths = np.zeros(K, np.int64), np.full(K, np.inf)
    before, is_whole = np.full((K, n), 2, np.int8), np.zeros(K, bool)
    while True:
        residuals = losses.targets - scores
        B = losses.coefficients(residuals)
        G = U - (losses.weight * B) @ Z
        last, lengths = lengths, np.sqrt((G * G).sum(axis=1))
        states = np.sign(B).astype(np.int8)
        # On one piece the second step already corrects rounding only.
        same = is_whole & (states == before).all(axis=1) & (lengths > 0.5 * last)
        size = np.sqrt((U * U).sum(axis=1)) + np.abs(B) @ sizes
        going = ~(same | (lengths <= _ROUNDING * size))
        if not going.any() or budget.spent:
            break
        budget.step()
        steps += going
        free = (states[going] != 0) * (losses.weight / losses.smoothing)
        H = (free @ squares).reshape(-1, width, width) + unit
        D = np.zeros((K, width))
        D[going] = -np.linalg.solve(H, G[going][:, :, np.newaxis])[:, :, 0]
        along = D @ Z.T
        shares = _lengths(losses, U, G, residuals, D, along)
        before, is_whole = states, shares == 1.0
        U, scores = U + shares[:, np.newaxis] * D, scores + shares[:, np.newaxis] * along
    return [
        _solution(m, U[k], residuals[k], B[k], G[k], int(steps[k]), stopping, budget)
        for k, m in enumerate(machines)
    ]


def _lengths(
    losses: _Losses, U: Floats, G: Floats, residuals: Floats, D: Floats, along: Floats
) -> Floats:
    """How far each step goes: to where the slope along it is near zero, 1 at most."""
    weighted, offset, square = losses.weight * along, (U * D).sum(axis=1), (D * D).sum(axis=1)
    first = (G * D).sum(axis=1)
    ends = offset + square - (weighted * losses.coefficients(residuals - along)).sum(axis=1)
    enough, shares = _FLAT * np.abs(first), np.ones(len(U))
    for k in np.flatnonzero(ends > enough):

        def slope(t: float, k: int = int(k)) -> float:
            b = losses.coefficients(residuals[[k]] - t * along[[k]], np.arange(len(U)) == k)
            return float(offset[k] + t * square[k] - weighted[k] @ b[0])

        low, high, at_low, at_high = 0.0, 1.0, float(first[k]), float(ends[k])
        for _ in range(_LOOKS):
            t = low - at_low * (high - low) / (at_high - at_low)
            # A secant that keeps to one end is pushed off it.
            t = min(max(t, low + 0.05 * (high - low)), high - 0.05 * (high - low))
            value = slope(t)
            shares[k] = t
            if abs(value) <= enough[k]:
                break
            if value < 0:
                low, at_low = t, value
            else:
                high, at_high = t, value
    return shares


def _solution(
    losses: RowLosses,
    u: Floats,
    residual: Floats,
    b: Floats,
    gradient: Floats,
    steps: int,
    stopping: Stopping,
    budget: Budget,
) -> LinearSolution:
    gap, primal = float(gradient @ gradient / 2), losses.primal(u, residual)
    share = relative(gap, primal, primal - gap)
    return LinearSolution(
        vector=u,
        primal=primal,
        dual=primal - gap,
        gap=gap,
        residual=max(float(np.linalg.norm(gradient)), losses.violation(residual, b)),
        iterations=steps,
        method=METHOD,
        stopped_by=None if share <= stopping.tol else budget.spent or "precision",
        trace=(share,),
    )
