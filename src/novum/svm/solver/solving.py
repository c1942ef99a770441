"""The solver of the family: a dual decomposition that ends with a proof.

One program (`problem`), whichever learner asks: a round chooses a working set of variables that
violate optimality, solves the program restricted to it by sequential steps of second order, and
brings the products `Kb` up to date by the kernel rows of what has moved. The fit ends when the
duality gap, which bounds the distance to the optimum, is at most `tol` of the objective, and no
condition of optimality is violated by more than `Stopping.violation`: an objective can be right to
a thousandth while decision values are off by half.

    small     steps on the whole Gram matrix, in double precision (`small`); then as below
    large     kernel rows in single precision. Before a gap is believed, the products it rests on
              are audited on a sample of objects in double precision, and what the audit finds is
              added to the gap. Where that is too much, all products are recomputed in double
              precision; from then on only later changes carry errors, so any tolerance can be
              approached as by iterative refinement.
    stalled   Newton steps on the unbound variables, in double precision

Which of these is done depends on sizes and tolerances only. Every way out leaves a feasible point
with its gap: the tolerance met, a budget spent, no progress left in the arithmetic, or a direction
along which a hard margin's dual is unbounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from novum.core.runtime import OutOfTime
from novum.numerics import Floats, Positions, one_blas_thread
from novum.svm.solver import small
from novum.svm.solver.centering import centered, moved_back
from novum.svm.solver.descent import Budget, Descent, relative, spent_time
from novum.svm.solver.feasibility import Reduction, check_problem, feasible_start, reduced
from novum.svm.solver.hard_margin import (
    direction_of,
    hull_problem,
    hulls_overlap,
    needs_proof,
    verdict,
)
from novum.svm.solver.optimality import delivered, largest_violation
from novum.svm.solver.polishing import MOST_VARIABLES, polish
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping
from novum.svm.solver.rounds import BlockRounds, WholeRounds, extremes
from novum.svm.solver.row_cache import KernelRows
from novum.svm.solver.sampled_start import sampled_start

CACHE_BYTES = 200 * 10**6
# A gap at the middle multipliers within this factor of the tolerance is worth the exact one.
NEAR = 3.0
# Rounds in which nothing happens, and rounds in which little happens (large and small programs),
# before something else is tried.
STILL_ROUNDS = 3
LONG_ROUNDS = (100, 10)
HARDLY = 1e-6
MOST_POLISHING = 8
# Without bounds errors of single precision can lead anywhere; so many rounds go unwatched.
WATCHED_ROUNDS = 16
# Rounds after which hulls that are neither proved apart nor touching are left to the main descent.
PROOF_ROUNDS = 200
# The point of the trace at which Newton steps are first tried if there are few unbound variables,
# for large and for small programs; then at twice as many, and so on.
FIRST_NEWTON = (101, 2)
FEW_VARIABLES = 2000
# Rounds of a large problem, once the gap is met, before a Newton step has to meet the conditions.
MORE_ROUNDS = 12
# Cubes of variables that a Newton step surely gets through in a second.
STEPS_PER_SECOND = 2e9

Done = Callable[[float, float], bool]


def solve(
    prepared: Any,
    problem: QuadraticProblem,
    stopping: Stopping | None = None,
    *,
    cache_bytes: int = CACHE_BYTES,
    start: Floats | None = None,
) -> Solution:
    """Minimize `b'Kb / 2 + p'b` within bounds and prescribed sums, to a certified gap.

    Parameters
    ----------
    prepared : Prepared
        The objects, as a kernel holds them.
    problem : QuadraticProblem
    stopping : Stopping, optional
    cache_bytes : int
        Memory for kernel rows.
    start : float array of shape (n_variables,), optional
        Where to begin, feasible or not: the coefficients of a neighboring problem, say. By default
        `problem.start`, else a point with few coefficients.

    Returns
    -------
    Solution

    Examples
    --------
    Two points with labels 1 and -1 at distance 2 on a line: both have coefficient 1/2.

    >>> from novum.kernels.vectors.linear import Linear
    >>> two = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -9.0]),
    ...                        np.array([9.0, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> solution = solve(Linear().prepare(np.array([[1.0], [-1.0]])), two)
    >>> solution.coefficients, solution.value
    (array([ 0.5, -0.5]), -0.5)
    """
    stopping = Stopping() if stopping is None else stopping
    check_problem(problem, len(prepared))
    budget = Budget(stopping)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        moved, middle = centered(prepared, problem)
        spent = 0
        is_new = start is None and problem.start is None and budget.seconds_left > 0
        if is_new and small.is_small(problem, len(moved)):
            [solution] = small.solve_small(moved.gram(), [problem], stopping)
            start, spent = solution.coefficients, solution.iterations
        if spent == 0 or solution.stopped_by is not None:
            solution = _solved(moved, problem, budget, cache_bytes, start, spent)
    return solution if middle is None else moved_back(solution, problem, moved.rows, middle)


def solve_pairs(
    prepared: Any,
    programs: Sequence[QuadraticProblem],
    rows: Sequence[Positions],
    stopping: Stopping,
) -> Sequence[Solution | None]:
    """Solutions of small programs on rows of the same objects; None where there is none yet.

    Those that are `UNFINISHED` are a start for `solve`.
    """
    is_late = stopping.max_seconds is not None and stopping.max_seconds <= 0
    if is_late or not all(small.is_small(program) for program in programs):
        return [None] * len(programs)
    with one_blas_thread():
        moved, middle = centered(prepared, programs[0])
        solutions = small.solve_small(moved.gram(), programs, stopping, rows)
    if middle is None:
        return solutions
    return [
        moved_back(solution, program, moved.rows[chosen], middle)
        for solution, program, chosen in zip(solutions, programs, rows, strict=True)
    ]


def _solved(
    prepared: Any,
    problem: QuadraticProblem,
    budget: Budget,
    cache_bytes: int,
    start: Floats | None,
    spent: int,
) -> Solution:
    def done(value: float, gap: float) -> bool:
        return relative(gap, value) <= budget.stopping.tol

    if needs_proof(problem):
        hulls = _nearest_points(prepared, problem, budget, cache_bytes)
        spent += hulls.iterations
        b = hulls.reduction.restored(hulls.b)
        answer = verdict(hulls.value(), hulls.gap(), hulls.largest())
        if answer != "apart" and hulls_overlap(prepared, hulls.reduction.problem, b):
            return _along(prepared, problem, hulls, cache_bytes, "infeasible", 1.0)
        if answer == "near":
            # Hulls that are apart have their optimum at this multiple of the nearest points.
            least = max(hulls.value(), np.finfo(float).eps * hulls.largest(), 1e-300)
            return _along(prepared, problem, hulls, cache_bytes, "precision", 1.0 / least)
    descent = _first_point(prepared, problem, budget, cache_bytes, start)
    descent.iterations = spent
    reason = descend(descent, budget, cache_bytes, done, budget.stopping.violation)
    if reason is not None and descent.is_known:
        # Without time the products stay as they are, and the gap has an allowance for them.
        with suppress(OutOfTime):
            descent.settle(slack=1.0)
    return _solution(descent, reason, prepared, done)


def _along(
    prepared: Any,
    problem: QuadraticProblem,
    hulls: Descent,
    cache_bytes: int,
    reason: str,
    amount: float,
) -> Solution:
    """The multiple of the hulls' nearest points, of which no gap is known."""
    b = amount * direction_of(problem, hulls.reduction.restored(hulls.b))
    descent = _begin(prepared, problem, b, cache_bytes, Budget(Stopping()))
    solution = _solution(descent, reason, prepared, _never)
    return replace(solution, gap=float(np.inf), iterations=hulls.iterations)


def _never(*_: float) -> bool:
    return False


def _first_point(
    prepared: Any,
    problem: QuadraticProblem,
    budget: Budget,
    cache_bytes: int,
    start: Floats | None,
) -> Descent:
    """The start that is given or a sample suggests, or one of few coefficients if time is short."""
    given = problem.start if start is None else start
    if given is None:
        solve_sample = partial(solve, cache_bytes=cache_bytes)
        b = sampled_start(prepared, problem, solve_sample, budget)
    else:
        b = feasible_start(problem, given)
    if b is not None:
        descent = _begin(prepared, problem, b, cache_bytes, budget)
        if descent.is_known:
            return descent
    return _begin(prepared, problem, feasible_start(problem), cache_bytes, budget)


def _begin(
    prepared: Any, problem: QuadraticProblem, b: Floats, cache_bytes: int, budget: Budget
) -> Descent:
    reduction = reduced(problem, b)
    kernel = KernelRows(reduction.prepared(prepared), cache_bytes, budget.check)
    return Descent(reduction, kernel, b[reduction.order], small.MOST_VARIABLES)


def _nearest_points(
    prepared: Any, problem: QuadraticProblem, budget: Budget, cache_bytes: int
) -> Descent:
    """A descent to the nearest points of the hulls, until it is known whether they touch."""
    hulls = hull_problem(problem)
    descent = _begin(prepared, hulls, feasible_start(hulls), cache_bytes, budget)

    def done(value: float, gap: float) -> bool:
        decided = verdict(value, gap, descent.largest()) is not None
        return decided or len(descent.trace) > PROOF_ROUNDS

    # A value near zero is trusted in double precision only.
    with suppress(OutOfTime):
        while descend(descent, budget, cache_bytes, done) is None:
            descent.recompute()
            if done(descent.value(), descent.gap()):
                break
        descent.recompute()
    return descent


def descend(
    descent: Descent, budget: Budget, cache_bytes: int, done: Done, violation: float = np.inf
) -> str | None:
    """Rounds until `done`, which is asked only about trusted gaps; otherwise why they ended.

    From then on until no condition of optimality is violated by more than `violation`, too, if
    that can be reached.
    """
    if not descent.is_known:
        return spent_time()
    try:
        return _rounds(descent, budget, cache_bytes, done, violation) if descent.b.size else None
    except OutOfTime:
        return spent_time()


def _rounds(
    descent: Descent, budget: Budget, cache_bytes: int, done: Done, violation: float
) -> str | None:
    is_small = len(descent.b) <= small.MOST_VARIABLES
    rounds: Any = WholeRounds(descent) if is_small else BlockRounds(descent, cache_bytes)
    progress, next_newton = Progress(LONG_ROUNDS[is_small]), FIRST_NEWTON[is_small]
    stalls, least = 0, np.inf
    descent.trace.append(descent.value())
    bounds = (descent.terms.lower, descent.terms.upper)
    unbounded = not all(np.isfinite(bound).all() for bound in bounds)
    is_met = False
    while True:
        g = descent.gradient()
        gap = descent.quick_gap(g)
        # The objective falls, and the gap that was met once is met again.
        if done(descent.trace[-1], gap / NEAR) and (
            not is_met or descent.violation(g) <= violation
        ):
            gap = descent.gap()
            if done(descent.trace[-1], gap + descent.allowance()):
                if descent.violation(g) <= violation:
                    return None
                if not is_met:
                    is_met = True
                    if is_small:
                        polished_gap(descent, FEW_VARIABLES, violation)
                        continue
                    # Exact products of a large problem cost as much as some more rounds.
                    next_newton = len(descent.trace) + MORE_ROUNDS
            elif done(descent.trace[-1], gap) and not descent.is_fresh:
                descent.recompute()
                continue
        reason = budget.spent(descent.iterations)
        if reason is not None:
            return None if is_met else reason
        ends = extremes(descent.terms, descent.b, g)
        descent.iterations += rounds.advance(descent, g, ends, budget.left(descent.iterations))
        descent.trace.append(descent.value())
        if unbounded and len(descent.trace) % WATCHED_ROUNDS == 0:
            stalls += descent.settle()
        if len(descent.trace) >= next_newton and budget.spent(descent.iterations) is None:
            next_newton *= 2
            aim = violation if is_met else 0.0
            least = min(least, polished_gap(descent, affordable(FEW_VARIABLES, budget), aim))
        if progress.stalls(descent.trace[-1], gap):
            polished = polished_gap(descent, affordable(MOST_VARIABLES, budget))
            stalls = 0 if polished < 0.9 * least else stalls + 1
            least = min(least, polished)
            progress = Progress(LONG_ROUNDS[is_small])
        # The first time, products may have been the reason, which are exact again.
        if stalls >= 2:
            return None if is_met else "precision"


def affordable(most: int, budget: Budget) -> int:
    """Variables of a Newton step, at most: its cost is cubic, and it cannot be interrupted."""
    left = budget.seconds_left
    return most if not np.isfinite(left) else min(most, int(np.cbrt(STEPS_PER_SECOND * left)))


class Progress:
    """Whether rounds still lead anywhere.

    They do not when the objective stands still to rounding, or when in many rounds the gap has not
    halved and the objective has hardly fallen.
    """

    def __init__(self, long: int) -> None:
        self._long = long
        self._still = self._rounds = 0
        self._lowest = np.inf
        self._before = (np.inf, np.inf)

    def stalls(self, value: float, gap: float) -> bool:
        size = abs(value) + 1e-300
        self._still = self._still + 1 if self._lowest - value <= 1e-14 * size else 0
        self._lowest = min(self._lowest, value)
        if self._still >= STILL_ROUNDS:
            return True
        self._rounds += 1
        if self._rounds % self._long:
            return False
        old_value, old_gap = self._before
        self._before = (value, gap)
        return not gap < 0.5 * old_gap and not old_value - value > HARDLY * size


def polished_gap(descent: Descent, most: int, violation: float = 0.0) -> float:
    """The gap after Newton steps of up to `most` variables, as long as they are clear gains.

    The last one leaves no more than a given violation of optimality.
    """
    descent.settle()
    gap, value = descent.gap(), descent.value()
    for _ in range(MOST_POLISHING):
        if not polish(descent, most):
            break
        descent.recompute()
        before, gap = gap, descent.gap()
        fell, value = value - descent.value(), descent.value()
        if not (gap < 0.5 * before or fell > 1e-3 * abs(value)):
            break
        if violation > 0 and descent.violation(descent.gradient()) <= violation:
            break
    # A lower objective at a larger gap is kept only if the gap is of the same order.
    descent.settle()
    descent.trace.append(descent.value())
    return descent.gap()


def _solution(descent: Descent, reason: str | None, prepared: Any, done: Done) -> Solution:
    reduction: Reduction = descent.reduction
    g, value, allowance = descent.gradient(), descent.value(), descent.allowance()
    multipliers, gap = delivered(
        descent.terms, descent.b, g, lambda gap: done(value, gap + allowance)
    )
    if not (np.isfinite(gap) and descent.is_known):
        gap = descent.gap()
    violation = largest_violation(descent.terms, descent.b, g, multipliers)
    full = np.zeros(len(prepared))
    full[reduction.objects] = descent.F
    return Solution(
        coefficients=reduction.restored(descent.b),
        gradient=full[reduction.problem.rows] + reduction.problem.linear,
        multipliers=reduction.multipliers(multipliers),
        value=value,
        gap=max(0.0, gap) + allowance,
        violation=violation,
        iterations=descent.iterations,
        stopped_by=reason,
        trace=tuple(descent.trace),
        allowance=allowance,
    )
