"""Dual coordinate descent for rows that are wide, dense or sparse (Hsieh et al. 2008).

    minimize over a   |Z'a|^2 / 2 + sum_i (h_i a_i^2 / 2 - q_i a_i + zone |a_i|),
                      lower_i <= a_i <= upper_i,      h_i = smoothing / c_i,

which is the dual of all losses of `linear_losses` in `a_i = c_i b_i`. A pass visits the rows in a
random order and minimizes over one coefficient after another, at the cost of two products of a row
with the vector `u = Z'a`. Rows that their bounds hold by more than the largest violation of the
last pass are left out (shrinking). Every few passes all rows are looked at and visited again: with
`u = Z'a` the gap is a sum over rows, `sum_i c_i (phi(r_i) - its term at b_i)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from novum.core.runtime import Pacer, time_sliced
from novum.numerics import Bytes, Floats, Integers, as_argument
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

METHOD = "dual coordinate descent"
_BLOCK = 256
# Passes before the first look at the gap.
FIRST_LOOK = 4
# Looks in a row without a smaller gap, after which there is no more to gain.
_STUCK = 8

# One pass over rows in some order, with the limit of what is left out: who stays, and the largest
# violation.
Pass = Callable[[Integers, float], tuple[Bytes, float]]


def solve_coordinates(
    design: Design,
    losses: RowLosses,
    stopping: Stopping,
    budget: Budget,
    rng: np.random.Generator,
    passes: int | None = None,
) -> LinearSolution:
    """Minimizes the dual by visits in random order, in so many passes at most; see the module."""
    a, u = np.zeros(design.n_rows), np.zeros(design.width)
    visit = _pass(design, losses, a, u)
    order, limit = np.arange(design.n_rows), np.inf
    look, best, stuck = FIRST_LOOK, np.inf, 0
    trace: list[float] = []
    looks: list[int] = []
    while True:
        order = rng.permutation(order)
        keep, limit = visit(order, limit)
        budget.step()
        order = order[keep > 0]
        if budget.iterations < look and not budget.spent and len(order):
            continue
        primal, gap, violation = _judged(design, losses, a, u)
        trace.append(relative(gap, primal, primal - gap))
        look = next_look(looks, trace, budget.iterations, stopping.tol)
        looks.append(budget.iterations)
        stuck = 0 if gap < best else stuck + 1
        best = min(best, gap)
        ended = budget.spent or _ended(budget.iterations, passes, stuck)
        if trace[-1] <= stopping.tol or ended:
            break
        order = np.arange(design.n_rows)
    return LinearSolution(
        vector=u,
        primal=primal,
        dual=primal - gap,
        gap=gap,
        residual=violation,
        iterations=budget.iterations,
        method=METHOD,
        stopped_by=None if trace[-1] <= stopping.tol else ended,
        trace=tuple(trace),
    )


def _ended(done: int, passes: int | None, stuck: int) -> str | None:
    if stuck >= _STUCK:
        return "precision"
    return "passes" if passes is not None and done >= passes else None


def next_look(looks: list[int], trace: list[float], now: int, tol: float) -> int:
    """The pass after which the gap should be within `tol`, at the rate between the last looks.

    `looks` are the passes of all looks but this one; the next is half as far again at most.

    Examples
    --------
    >>> next_look([], [0.1], 4, 1e-3), next_look([4], [0.1, 0.01], 8, 1e-3)
    (6, 12)
    """
    furthest = max(1, now // 2)
    if not looks or not 0 < trace[-1] < trace[-2]:
        return now + min(2, furthest)
    rate = np.log(trace[-1] / trace[-2]) / (now - looks[-1])
    return now + min(max(1, int(np.ceil(np.log(tol / trace[-1]) / rate))), furthest)


def _judged(design: Design, losses: RowLosses, a: Floats, u: Floats) -> tuple[float, float, float]:
    """Primal value, gap and violation; `u` is summed anew, without the rounding of the visits."""
    u[:] = design.adjoint(a)
    residual = losses.target - design.scores(u)
    b = a / losses.weight
    gap = float(losses.slack(residual, b).sum())
    return losses.primal(u, residual), gap, losses.violation(residual, b)


def _pass(design: Design, losses: RowLosses, a: Floats, u: Floats) -> Pass:
    """A pass over rows in some order, in slices after which Ctrl-C is heard."""
    from novum.svm.linear.coordinate_kernels import dense_visits, sparse_visits

    kernel = sparse_visits if design.is_sparse else dense_visits
    cells, rows, pacer = kernel_cells(design), _row_lines(design, losses), Pacer()
    constant, zone = float(design.constant), float(losses.zone)

    def visit(order: Integers, limit: float) -> tuple[Bytes, float]:
        keep, state = np.ones(len(order), np.uint8), np.zeros(2)
        places = as_argument(order, np.int64)
        for start, stop in time_sliced(len(order), block=_BLOCK, pacer=pacer):
            part = slice(start, stop)
            kernel(*cells, constant, rows, zone, places[part], limit, a, u, keep[part], state)
        return keep, float(state[0])

    return visit


def kernel_cells(design: Design) -> tuple[Any, ...]:
    """The table as kernels take it: one dense array, or cells, indices and starts of rows."""
    if not design.is_sparse:
        return (as_argument(design.X),)
    X = design.X
    return as_argument(X.data), as_argument(X.indices, np.int32), as_argument(X.indptr, np.int64)


def _row_lines(design: Design, losses: RowLosses) -> Floats:
    """What a visit needs of each row, one line of the cache each."""
    lines = np.zeros((design.n_rows, 8))
    ridge = losses.smoothing / losses.weight
    lines[:, 0], lines[:, 1] = losses.target, ridge
    lines[:, 2], lines[:, 3] = losses.weight * losses.lower, losses.weight * losses.upper
    # A row of zeros has no curvature: its coefficient goes to its bound at once.
    lines[:, 4] = np.maximum(design.squares + ridge, 1e-300)
    return lines
