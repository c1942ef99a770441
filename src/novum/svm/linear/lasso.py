"""The squared hinge with an L1 penalty, by descent over columns (Yuan et al. 2010).

    primal   |u|_1 + sum_i c_i max(0, 1 - s_i z_i'u)^2
    dual     sum_i a_i - a_i^2 / (4 c_i),      a >= 0,  |sum_i a_i s_i z_ij| <= 1 for every j

A pass visits the columns in random order. From any `u` the point `a_i = t 2 c_i max(0, slack_i)` is
feasible for a small enough `t`, and the best such `t` gives the gap. Columns that stay at zero are
left out until the next look at the gap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from novum.core.runtime import Pacer, check_memory, time_sliced
from novum.numerics import Bytes, Floats, Integers, as_argument
from novum.svm.linear.coordinate import FIRST_LOOK, next_look
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

METHOD = "coordinate descent over columns"
_BLOCK = 4
_STUCK = 8

Pass = Callable[[Integers, float, Floats], tuple[Bytes, float]]


def solve_lasso(
    design: Design,
    losses: RowLosses,
    stopping: Stopping,
    budget: Budget,
    rng: np.random.Generator,
) -> LinearSolution:
    """Minimizes the primal of the module; `losses` are squared hinges."""
    u = np.zeros(design.width)
    visit = _pass(design, losses, u)
    order, limit, slack = np.arange(design.width), np.inf, np.ones(design.n_rows)
    look, best, stuck = FIRST_LOOK, np.inf, 0
    trace: list[float] = []
    looks: list[int] = []
    while True:
        order = rng.permutation(order)
        keep, violation = visit(order, limit, slack)
        limit = violation
        budget.step()
        order = order[keep > 0]
        if budget.iterations < look and not budget.spent and len(order):
            continue
        slack = 1 - losses.target * design.scores(u)
        primal, dual = objectives(design, losses, u, slack)
        gap = max(primal - dual, 0.0)
        trace.append(relative(gap, primal, dual))
        look = next_look(looks, trace, budget.iterations, stopping.tol)
        looks.append(budget.iterations)
        stuck = 0 if gap < best else stuck + 1
        best = min(best, gap)
        if trace[-1] <= stopping.tol or budget.spent or stuck >= _STUCK:
            break
        order = np.arange(design.width)
    missed = budget.spent or "precision"
    return LinearSolution(
        vector=u,
        primal=primal,
        dual=dual,
        gap=gap,
        residual=violation,
        iterations=budget.iterations,
        method=METHOD,
        stopped_by=None if trace[-1] <= stopping.tol else missed,
        trace=tuple(trace),
    )


def objectives(design: Design, losses: RowLosses, u: Floats, slack: Floats) -> tuple[float, float]:
    """The primal value of `u`, and the largest dual value along the ray of its losses."""
    over = np.maximum(slack, 0.0)
    primal = float(np.abs(u).sum() + losses.weight @ over**2)
    a = 2 * losses.weight * over
    total, square = float(a.sum()), float(a @ over) / 2
    if total == 0:
        return primal, 0.0
    steepest = float(np.abs(design.adjoint(losses.target * a)).max(initial=0.0))
    t = total / (2 * square)
    t = min(t, 1 / steepest) if steepest > 0 else t
    return primal, t * total - t * t * square


def _pass(design: Design, losses: RowLosses, u: Floats) -> Pass:
    from novum.svm.linear.lasso_kernels import column_visits

    X = _columns(design)
    cells = (
        as_argument(X.data),
        as_argument(X.indices, np.int32),
        as_argument(X.indptr, np.int64),
    )
    squares = sparse.csc_matrix((X.data**2, X.indices, X.indptr), X.shape)
    rows = (as_argument(losses.target), as_argument(losses.weight))
    curvatures = as_argument(2 * (squares.T @ losses.weight))
    pacer = Pacer()

    def visit(order: Integers, limit: float, slack: Floats) -> tuple[Bytes, float]:
        keep, state = np.ones(len(order), np.uint8), np.zeros(1)
        places = as_argument(order, np.int64)
        for start, stop in time_sliced(len(order), block=_BLOCK, pacer=pacer):
            part = slice(start, stop)
            column_visits(
                *cells, *rows, curvatures, places[part], limit, u, slack, keep[part], state
            )
        return keep, float(state[0])

    return visit


def _columns(design: Design) -> sparse.csc_matrix:
    """The design with its constant, compressed by columns."""
    stored = design.X.nnz if design.is_sparse else design.X.size
    check_memory(
        12 * (stored + design.n_rows),
        f"The columns of {design.n_rows} rows with {stored} cells",
        "Use penalty='l2', which needs no copy of the rows.",
    )
    X = sparse.csc_matrix(design.X)
    if not design.constant:
        return X
    constant = np.full((design.n_rows, 1), design.constant)
    return sparse.csc_matrix(sparse.hstack([X, constant]))
