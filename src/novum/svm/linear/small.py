"""Squared losses of small dense tables: Newton steps for all classes at once.

The steps are those of `novum.svm.linear.newton`, in arrays with a line for each class against the
rest: on a table of a few hundred rows a step costs its calls, not its sums. All Hessians are one
product of the free rows with the products `z_i z_i'` of every row with itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from novum.numerics import Floats
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses, side_by_side
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
    losses = side_by_side(machines)
    Z = design.rows(np.arange(design.n_rows))
    (n, width), K = Z.shape, len(machines)
    squares = (Z[:, :, np.newaxis] * Z[:, np.newaxis]).reshape(n, -1)
    sizes, unit = losses.weight * np.sqrt(design.squares), np.eye(width)
    curvatures = losses.weight / losses.smoothing
    U, scores = np.zeros((K, width)), np.zeros((K, n))
    steps, lengths = np.zeros(K, np.int64), np.full(K, np.inf)
    before, is_whole = np.full((K, n), 2.0), np.zeros(K, bool)
    while True:
        residuals = losses.target - scores
        B = losses.coefficients(residuals, losses.smoothing)
        G = U - (losses.weight * B) @ Z
        last, lengths, states = lengths, _norms(G), np.sign(B)
        # On one piece the second step already corrects rounding only.
        same = is_whole & (states == before).all(axis=1) & (lengths > 0.5 * last)
        going = ~same & (lengths > _ROUNDING * (_norms(U) + np.abs(B) @ sizes))
        if not going.any() or budget.spent:
            break
        budget.step()
        steps += going
        H = (np.abs(states) * curvatures @ squares).reshape(-1, width, width) + unit
        D = np.zeros((K, width))
        np.negative(
            np.linalg.solve(H, G[:, :, np.newaxis])[:, :, 0], out=D, where=going[:, np.newaxis]
        )
        along = D @ Z.T
        shares = _lengths(losses, U, G, residuals, D, along)
        before, is_whole = states, shares == 1.0
        U, scores = U + shares[:, np.newaxis] * D, scores + shares[:, np.newaxis] * along
    gaps = np.square(lengths) / 2
    primals = np.square(_norms(U)) / 2 + losses.terms(residuals, B) @ losses.weight
    violations = losses.violations(residuals, B).max(axis=1, initial=0.0)
    relatives = [
        relative(g, p, p - g) for g, p in zip(gaps.tolist(), primals.tolist(), strict=True)
    ]
    return [
        LinearSolution(
            vector=U[k],
            primal=float(primals[k]),
            dual=float(primals[k] - gaps[k]),
            gap=float(gaps[k]),
            residual=float(max(lengths[k], violations[k])),
            iterations=int(steps[k]),
            method=METHOD,
            stopped_by=None if share <= stopping.tol else budget.spent or "precision",
            trace=(share,),
        )
        for k, share in enumerate(relatives)
    ]


def _norms(rows: Floats) -> Floats:
    return np.sqrt(np.vecdot(rows, rows))


def _lengths(
    losses: RowLosses, U: Floats, G: Floats, residuals: Floats, D: Floats, along: Floats
) -> Floats:
    """How far each step goes: to where the slope along it is near zero, 1 at most."""
    weighted, offset = losses.weight * along, np.vecdot(U, D)
    square, first = np.vecdot(D, D), np.vecdot(G, D)
    moved = losses.coefficients(residuals - along, losses.smoothing)
    ends = offset + square - np.vecdot(weighted, moved)
    enough, shares = _FLAT * np.abs(first), np.ones(len(U))
    is_too_far = ends > enough
    for k in np.flatnonzero(is_too_far).tolist() if is_too_far.any() else ():
        own = replace(losses, lower=losses.lower[k], upper=losses.upper[k])

        def slope(t: float, k: int = k, own: RowLosses = own) -> float:
            b = own.coefficients(residuals[k] - t * along[k], own.smoothing)
            return float(offset[k] + t * square[k] - weighted[k] @ b)

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
