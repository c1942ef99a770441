"""Newton's method for all losses: at once for the squared ones, by proximal rounds for the others.

The squared losses are smooth enough for Newton's method, and the gap of their optimum is half the
squared gradient. The hinge and the tube are not; their dual is solved by proximal rounds,

    b_new = argmax of   dual(b) - m sum_i c_i (b_i - b_old_i)^2 / 2,

each a smoothed problem in the primal vector (an augmented Lagrangian method), whose smoothing `m`
falls from round to round. Every `b` is feasible, so every round has a true duality gap. Where the
rows between their bounds are few, the equations `f(x_i) = q_i -+ zone` of these rows are solved
directly: if the result respects the bounds, it is the optimum itself.

Tall tables start from the solution of every tenth row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from novum.numerics import Floats
from novum.svm.linear.design import Design
from novum.svm.linear.losses import RowLosses
from novum.svm.linear.newton import Point, System, newton, system_of
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

METHOD = "newton"
# A start from every tenth row is worth it when these rows outnumber the columns so many times.
STRIDE = 10
ROWS_PER_COLUMN = 20
_TENTH = slice(None, None, STRIDE)
# Cells up to which a fit goes on to rounding, whatever the tolerance: it costs next to nothing.
SMALL = 200_000
# Share of the tolerance (or of the last gap) that leaves no doubt.
_FINISH = 0.1
_INNER = 1e-3
_FALL = 0.2
# A round of more steps than this smoothed too little; the next one smooths as much.
_STEPS = 12
# Rounds in a row without a smaller gap, after which there is no more to gain.
_STUCK = 6
_LATE = 1e-12
_EXACT = 1e-15


def solve_newton(
    design: Design,
    losses: RowLosses,
    stopping: Stopping,
    budget: Budget,
    start: Floats | None = None,
) -> LinearSolution:
    """Minimizes the primal, from `start` if given; both objectives are in `linear_losses`."""
    if start is None:
        optimum = _solve(design, losses, stopping.tol, budget)
    else:
        optimum = _solve_from(design, losses, start, None, stopping.tol, budget)
    gap = optimum.gap
    missed = budget.spent or "precision"
    return LinearSolution(
        vector=optimum.point.vector,
        primal=optimum.primal,
        dual=optimum.primal - gap,
        gap=gap,
        residual=max(
            float(np.linalg.norm(optimum.point.gradient)),
            losses.violation(losses.target - optimum.point.scores, optimum.point.b),
        ),
        iterations=budget.iterations,
        method=METHOD,
        stopped_by=None if optimum.relative_gap <= stopping.tol else missed,
        trace=optimum.trace,
    )


@dataclass(frozen=True, eq=False)
class _Certified:
    """A point with its primal value, its gap, and the smoothing that found it."""

    point: Point
    primal: float
    gap: float
    smoothing: float
    trace: tuple[float, ...] = ()

    @property
    def relative_gap(self) -> float:
        return relative(self.gap, self.primal, self.primal - self.gap)


def _solve(design: Design, losses: RowLosses, tol: float, budget: Budget) -> _Certified:
    start, earlier = np.zeros(design.width), None
    if design.n_rows >= STRIDE * ROWS_PER_COLUMN * design.width:
        part, short = design.part(_TENTH), losses.rows(_TENTH, STRIDE)
        earlier = _solve(part, short, max(tol, 1e-2), budget.restarted())
        start = earlier.point.vector
    smoothing = None if earlier is None else earlier.smoothing
    return _solve_from(design, losses, start, smoothing, tol, budget)


def _solve_from(
    design: Design,
    losses: RowLosses,
    start: Floats,
    smoothing: float | None,
    tol: float,
    budget: Budget,
) -> _Certified:
    system, scores = system_of(design, losses.weight), design.scores(start)
    # Rows may come in an order that a part of them does not see.
    nothing = np.zeros_like(start)
    if losses.primal(start, losses.target - scores) > losses.primal(nothing, losses.target):
        start, scores, smoothing = nothing, np.zeros(design.n_rows), None
    if losses.smoothing:
        return _squared(design, losses, system, (start, scores), tol, budget)
    return _rounds(design, losses, system, (start, scores), smoothing, tol, budget)


# --- Squared losses -------------------------------------------------------------------------------


def _squared(
    design: Design,
    losses: RowLosses,
    system: System,
    start: tuple[Floats, Floats],
    tol: float,
    budget: Budget,
) -> _Certified:
    share = 0.0 if design.n_rows * design.width <= SMALL else _FINISH * tol
    primal = losses.primal(start[0], losses.target - start[1])
    trace: list[float] = []
    while True:
        point = newton(
            design,
            losses,
            system,
            start,
            smoothing=losses.smoothing,
            center=None,
            goal=share * primal,
            budget=budget,
        )
        primal = losses.primal(point.vector, losses.target - point.scores)
        optimum = _Certified(point, primal, point.half_square, losses.smoothing)
        trace.append(optimum.relative_gap)
        # The goal was a share of a larger value at the start.
        if optimum.relative_gap <= share or point.exact or budget.spent:
            return _Certified(point, primal, optimum.gap, losses.smoothing, tuple(trace))
        start = (point.vector, point.scores)


# --- Proximal rounds ------------------------------------------------------------------------------


def _rounds(
    design: Design,
    losses: RowLosses,
    system: System,
    start: tuple[Floats, Floats],
    smoothing: float | None,
    tol: float,
    budget: Budget,
) -> _Certified:
    residual = losses.target - start[1]
    best = _zero(design, losses)
    smoothing = smoothing or _first_smoothing(design, losses, residual)
    first, center = smoothing, losses.coefficients(residual, smoothing)
    share = _EXACT if design.n_rows * design.width <= SMALL else tol
    trace: list[float] = []
    stuck = 0
    goal = _INNER * losses.primal(start[0], residual)
    while best.relative_gap > share and stuck < _STUCK and not budget.spent:
        point = newton(
            design,
            losses,
            system,
            start,
            smoothing=smoothing,
            center=center,
            goal=goal,
            budget=budget,
        )
        optimum = _judged(losses, point, smoothing)
        polished = _polished(design, losses, optimum)
        optimum = polished if polished.gap < optimum.gap else optimum
        # Rounds that smooth much may gain little; only late ones say that there is no more to gain.
        late = best.relative_gap <= tol or smoothing < _LATE * first
        stuck = stuck + 1 if late and optimum.gap >= 0.9 * best.gap else 0
        best = optimum if optimum.gap < best.gap else best
        trace.append(best.relative_gap)
        goal = _INNER * optimum.gap
        start, center = (point.vector, point.scores), point.b
        if point.steps <= _STEPS:
            smoothing *= _FALL
    return _Certified(best.point, best.primal, best.gap, smoothing, tuple(trace))


def _first_smoothing(design: Design, losses: RowLosses, residual: Floats) -> float:
    """So much that one row alone cannot run from one bound to the other.

    With less, steps would end after every few rows that change sides.
    """
    reach = float((losses.weight * design.squares).mean())
    return max(float(np.abs(residual).mean()), reach) or 1.0


def _zero(design: Design, losses: RowLosses) -> _Certified:
    """Where everything is zero, which has a gap as well."""
    none = np.zeros(design.n_rows)
    zeros = np.zeros(design.width)
    return _judged(losses, Point(zeros, none, none, zeros, 0, False), 1.0)


def _judged(losses: RowLosses, point: Point, smoothing: float) -> _Certified:
    """The true gap of a point of a smoothed problem."""
    residual = losses.target - point.scores
    primal = losses.primal(point.vector, residual)
    gap = point.half_square + float(losses.slack(residual, point.b).sum())
    return _Certified(point, primal, gap, smoothing)


def _polished(design: Design, losses: RowLosses, optimum: _Certified) -> _Certified:
    """The point at which the rows between their bounds have the residual that keeps them there."""
    b = optimum.point.b
    free = np.flatnonzero((b != 0) & (b > losses.lower) & (b < losses.upper))
    if not 0 < len(free) <= 2 * min(design.width, design.n_rows):
        return optimum
    Z = design.rows(free)
    others = np.where(np.isin(np.arange(len(b)), free), 0.0, b)
    rest = design.adjoint(losses.weight * others)
    wanted = losses.target[free] - losses.zone * np.sign(b[free]) - Z @ rest
    # The least change of the coefficients: equal rows share what they have to carry.
    weight = losses.weight[free]
    change = wanted - Z @ (Z.T @ (weight * b[free]))
    moved = linalg.lstsq(Z @ (Z * weight[:, np.newaxis]).T, change, check_finite=False)[0]
    others[free] = b[free] + moved
    others = np.clip(others, losses.lower, losses.upper)
    vector = design.adjoint(losses.weight * others)
    point = Point(vector, design.scores(vector), others, np.zeros_like(vector), 0, True)
    return _judged(losses, point, optimum.smoothing)
