"""Several classes at once by the margins of Crammer and Singer (2001).

    primal   |W|^2 / 2 + sum_i c_i max over m of (1[m != y_i] + z_i'w_m - z_i'w_y)
    dual     -|W|^2 / 2 - sum_im a_im 1[m != y_i],      w_m = sum_i a_im z_i,
             a_im <= c_i 1[m = y_i],  sum over m of a_im = 0

A pass visits the rows in random order and solves the dual over one row's coefficients. The gap is
a sum over rows, `c_i max_m g_im - c_i z_i'w_y + sum_m a_im g_im` with `g_im = z_i'w_m + 1[m != y]`,
of which no term is negative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from novum.core.runtime import Pacer, check_memory, time_sliced
from novum.numerics import Floats, Integers, Positions, as_argument, distinct_rows
from novum.svm.linear.coordinate import FIRST_LOOK, kernel_cells, next_look
from novum.svm.linear.design import Design
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

METHOD = "dual coordinate descent over all classes"
_BLOCK = 64
_STUCK = 8


class _State(NamedTuple):
    """The table, the dual coefficients `a` (n, K) and their vectors `W` (width, K)."""

    design: Design
    codes: Integers
    weight: Floats
    a: Floats
    W: Floats


def solve_multiclass(
    design: Design,
    codes: Integers,
    weight: Floats,
    n_classes: int,
    stopping: Stopping,
    budget: Budget,
    rng: np.random.Generator,
) -> LinearSolution:
    """Minimizes the primal of the module; `vector` is `W`, of shape (width, n_classes)."""
    state = _start(*_united(design, codes, weight), n_classes)
    visited = np.flatnonzero(state.design.squares > 0)
    pacer, look, best, stuck = Pacer(), FIRST_LOOK, np.inf, 0
    trace: list[float] = []
    looks: list[int] = []
    while True:
        _visit(state, rng.permutation(visited), pacer)
        budget.step()
        if budget.iterations < look and not budget.spent:
            continue
        primal, gap, violation = _judged(state)
        trace.append(relative(gap, primal, primal - gap))
        look = next_look(looks, trace, budget.iterations, stopping.tol)
        looks.append(budget.iterations)
        stuck = 0 if gap < best else stuck + 1
        best = min(best, gap)
        if trace[-1] <= stopping.tol or budget.spent or stuck >= _STUCK:
            break
    missed = budget.spent or "precision"
    return LinearSolution(
        vector=state.W,
        primal=primal,
        dual=primal - gap,
        gap=gap,
        residual=violation,
        iterations=budget.iterations,
        method=METHOD,
        stopped_by=None if trace[-1] <= stopping.tol else missed,
        trace=tuple(trace),
    )


def _united(design: Design, codes: Integers, weight: Floats) -> tuple[Design, Integers, Floats]:
    """Equal rows of one class as one row, in an order that depends on the cells alone.

    So the order of the table does not matter, and weight 2 is the row twice, to the last bit.
    """
    stored = design.X.nnz if design.is_sparse else design.X.size
    check_memory(12 * stored, f"A compressed copy of {stored} cells", "Use multi_class='ovr'.")
    X = sparse.csr_matrix(design.X)
    kept, kinds = distinct_rows(X, codes)
    total = np.bincount(kinds, weight).astype(np.float64)
    return Design(X[kept], design.constant), codes[kept], total


def _start(design: Design, codes: Integers, weight: Floats, n_classes: int) -> _State:
    """All coefficients zero, but those of rows without any cell, which are at their optimum."""
    check_memory(
        8 * design.n_rows * n_classes,
        f"The dual coefficients of {design.n_rows} rows and {n_classes} classes",
        "Use multi_class='ovr', which needs one coefficient a row at a time.",
    )
    a = np.zeros((design.n_rows, n_classes))
    empty = np.flatnonzero(design.squares == 0)
    a[empty, codes[empty]] = weight[empty]
    a[empty, (codes[empty] + 1) % n_classes] = -weight[empty]
    return _State(design, codes, weight, a, np.zeros((design.width, n_classes)))


def _visit(state: _State, order: Positions, pacer: Pacer) -> None:
    from novum.svm.linear.multiclass_kernels import multiclass_visits

    design, scratch = state.design, np.zeros((3, state.W.shape[1]))
    cells, places = kernel_cells(design), as_argument(order, np.int64)
    codes, weight = as_argument(state.codes, np.int64), as_argument(state.weight)
    for start, stop in time_sliced(len(order), block=_BLOCK, pacer=pacer):
        multiclass_visits(
            *cells,
            float(design.constant),
            as_argument(design.squares),
            weight,
            codes,
            places[start:stop],
            state.a,
            state.W,
            scratch,
        )


def _judged(state: _State) -> tuple[float, float, float]:
    """Primal value, gap and violation, with `W` summed anew from the dual coefficients."""
    design, codes, weight, a, W = state
    for m in range(W.shape[1]):
        W[:, m] = design.adjoint(np.ascontiguousarray(a[:, m]))
    g = np.column_stack([design.scores(np.ascontiguousarray(w)) for w in W.T]) + 1.0
    rows = np.arange(len(codes))
    g[rows, codes] -= 1.0
    own, top = g[rows, codes], g.max(axis=1)
    primal = float(W.ravel() @ W.ravel() / 2 + weight @ (top - own))
    gap = float(np.maximum(weight * (top - own) + (a * g).sum(axis=1), 0.0).sum())
    # The largest value among the classes with a coefficient below its bound is the row's level.
    bound = np.zeros_like(a)
    bound[rows, codes] = weight
    least = np.where(a < bound, g, np.inf).min(axis=1)
    violation = float(np.where(np.isfinite(least), top - least, 0.0).max())
    return primal, gap, violation
