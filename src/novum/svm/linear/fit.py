"""Which method solves a linear machine, and what its certificate says.

The method is chosen by the shape of the design:

    newton                    where rows or columns are few (`NARROW`): each step solves a system of
                              the smaller of the two sizes; dense tall tables above all
    dual coordinate descent   where both are many: text and other wide tables; where it is slow (a
                              large C, columns that nearly repeat each other) and the systems still
                              fit (`WIDEST`), Newton's method goes on from where it stands

Several machines over the same rows, one for each class against the rest, share one certificate:
their objectives and gaps add up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from novum.core.learners import Certificate, Verdict
from novum.svm.linear.coordinate import solve_coordinates
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses
from novum.svm.linear.proximal import solve_newton
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping

# Rows or columns up to which Newton's systems are cheaper than passes over the rows.
NARROW = 750
# Passes of coordinate descent after which systems up to this size are worth their price.
PATIENCE = 100
WIDEST = 4000
# A gap of this share of the objective is rounding.
_ROUNDING = 1e-14


def solve_losses(
    design: Design,
    losses: RowLosses,
    stopping: Stopping,
    budget: Budget,
    rng: np.random.Generator,
) -> LinearSolution:
    """Minimizes `|u|^2 / 2` and the losses by the method that suits the shape."""
    if min(design.n_rows, design.width) <= NARROW:
        return solve_newton(design, losses, stopping, budget)
    if min(design.n_rows, design.width) > WIDEST:
        return solve_coordinates(design, losses, stopping, budget, rng)
    solution = solve_coordinates(design, losses, stopping, budget, rng, PATIENCE)
    if solution.stopped_by != "passes":
        return solution
    return solve_newton(design, losses, stopping, budget, solution.vector)


def certify(
    solutions: Sequence[LinearSolution],
    objective: str,
    stopping: Stopping,
    seconds: float,
    *,
    modulus: float | None = 1.0,
) -> Certificate:
    """One certificate for all machines of a fit.

    Parameters
    ----------
    solutions : sequence of LinearSolution
    objective : str
        What is minimized, in words.
    stopping : Stopping
    seconds : float
    modulus : float or None
        Of strong convexity, if there is one: `|u - u*| <= sqrt(2 gap / modulus)`.
    """
    primal, dual = sum(f.primal for f in solutions), sum(f.dual for f in solutions)
    gap = sum(f.gap for f in solutions)
    reasons = [f.stopped_by for f in solutions if f.stopped_by is not None]
    if reasons:
        verdict = Verdict.STOPPED_EARLY
    elif gap <= _ROUNDING * abs(primal):
        verdict = Verdict.PROVED
    else:
        verdict = Verdict.WITHIN_TOLERANCE
    details = {
        "relative_tol": stopping.tol,
        "method": solutions[0].method,
        "stopped_by": reasons[0] if reasons else "tol",
    }
    if len(solutions) > 1:
        details["gaps"] = tuple(f.gap for f in solutions)
    return Certificate(
        objective=objective,
        verdict=verdict,
        value=primal,
        primal=primal,
        dual=dual,
        gap=gap,
        distance_bound=None if modulus is None else float(np.sqrt(2 * gap / modulus)),
        residual=max(f.residual for f in solutions),
        iterations=sum(f.iterations for f in solutions),
        trace=solutions[0].trace if len(solutions) == 1 else None,
        details=details,
        seconds=seconds,
    )
