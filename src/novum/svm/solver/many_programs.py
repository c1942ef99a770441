"""Many small programs at once: those of the pairs of many classes.

K classes have K (K - 1) / 2 programs of a few variables each, for which preparing a descent costs
far more than the descent. Here programs are stacked, the smaller ones filled up with variables that
cannot move, and every step of sequential minimal optimization is taken in all of them at once. A
program leaves the stack when the duality gap of `novum.svm.solver.optimality`, at products that are
computed anew, is at most `tol` of its objective and no condition of optimality is violated much.
The few that do not get there soon are left to the solver proper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from novum.core.parallel import check_cancelled
from novum.numerics.blas_threads import one_blas_thread
from novum.svm.solver.optimality import decision_scale, room_to_move
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Programs with more variables are not worth stacking, nor are fewer programs.
MOST_VARIABLES = 64
LEAST_PROGRAMS = 10
# Kernel values of a stack: some MB.
_STACK_ENTRIES = 2**20
# Rounds of steps, the first of as many as there are variables and each twice as long as the last.
_ROUNDS = 6
_TAU = 1e-13


@dataclass(eq=False)
class _Stack:
    """B programs of up to n variables; the arrays are of shape (B, n) unless said otherwise."""

    number: NDArray[np.intp]
    Q: Floats
    linear: Floats
    lower: Floats
    upper: Floats
    # Of shape (B, n_groups, n): a program's groups, which have all its variables between them.
    groups: Mask
    b: Floats
    g: Floats
    iterations: NDArray[np.int64]

    def kept(self, chosen: Mask) -> _Stack:
        if chosen.all():
            return self
        return _Stack(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})

    def refresh(self) -> None:
        """The gradient from the coefficients."""
        self.g = np.matmul(self.Q, self.b[:, :, np.newaxis])[:, :, 0] + self.linear

    def values(self) -> Floats:
        return np.asarray((self.b * (self.g + self.linear)).sum(axis=1) / 2)


def solve_many(
    gram: Callable[[int], Floats], problems: Sequence[QuadraticProblem], stopping: Stopping
) -> list[Solution | None]:
    """Solutions of small programs; None of those that are left to `novum.svm.solver.solving.solve`.

    Parameters
    ----------
    gram : callable
        The Gram matrix of a program's variables, from its number.
    problems : sequence of QuadraticProblem
        All with as many groups, one at least, that have all variables between them.
    stopping : Stopping
        A program that would need more than `max_iter` steps is left over.

    Examples
    --------
    Two points with labels 1 and -1 at distance 2 on a line: both have coefficient 1/2.

    >>> two = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -9.0]),
    ...                        np.array([9.0, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> [found] = solve_many(lambda number: np.array([[1.0, -1.0], [-1.0, 1.0]]), [two], Stopping())
    >>> found.coefficients, found.value
    (array([ 0.5, -0.5]), -0.5)
    """
    found: list[Solution | None] = [None] * len(problems)
    small = [k for k, problem in enumerate(problems) if _is_small(problem)]
    small.sort(key=lambda k: len(problems[k].rows))
    with one_blas_thread(), np.errstate(all="ignore"):
        while small:
            widest = len(problems[small[-1]].rows)
            size = max(1, _STACK_ENTRIES // widest**2)
            chosen, small = small[-size:], small[:-size]
            stack = _stacked(gram, problems, np.array(chosen), widest)
            _solve_stack(stack, stopping, problems, found)
    return found


def _is_small(problem: QuadraticProblem) -> bool:
    bounded = np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all()
    return len(problem.rows) <= MOST_VARIABLES and bool(bounded)


def _stacked(
    gram: Callable[[int], Floats],
    problems: Sequence[QuadraticProblem],
    chosen: NDArray[np.intp],
    n: int,
) -> _Stack:
    B, n_groups = len(chosen), len(problems[chosen[0]].totals)
    Q = np.zeros((B, n, n))
    linear, lower, upper = np.zeros((3, B, n))
    codes, totals = np.full((B, n), -1), np.empty((B, n_groups))
    for place, number in enumerate(chosen):
        problem = problems[number]
        m = len(problem.rows)
        Q[place, :m, :m] = gram(number)
        linear[place, :m], codes[place, :m] = problem.linear, problem.groups
        lower[place, :m], upper[place, :m] = problem.lower, problem.upper
        totals[place] = problem.totals
    groups = codes[:, np.newaxis] == np.arange(n_groups)[:, np.newaxis]
    b = _start(lower, upper, groups, totals)
    stack = _Stack(chosen, Q, linear, lower, upper, groups, b, b, np.zeros(B, np.int64))
    stack.refresh()
    return stack


def _start(lower: Floats, upper: Floats, groups: Mask, totals: Floats) -> Floats:
    """Feasible points: the first variables of each group at their bounds until the total is met."""
    b = np.clip(0.0, lower, upper)
    for group in range(groups.shape[1]):
        inside = groups[:, group]
        missing = (totals[:, group] - np.where(inside, b, 0.0).sum(axis=1))[:, np.newaxis]
        bound = np.where(missing > 0, upper, lower)
        room = np.where(inside, np.abs(bound - b), 0.0)
        moved = np.clip(np.abs(missing) - (np.cumsum(room, axis=1) - room), 0.0, room)
        full = inside & (moved >= room) & (missing != 0)
        b = np.where(full, bound, b + np.copysign(moved, missing))
    return b


def _solve_stack(
    stack: _Stack,
    stopping: Stopping,
    problems: Sequence[QuadraticProblem],
    found: list[Solution | None],
) -> None:
    """Rounds of steps; what is solved is written into `found`."""
    limit = 2**62 if stopping.max_iter is None else stopping.max_iter
    steps = stack.b.shape[1]
    for _ in range(_ROUNDS):
        check_cancelled()
        _advance(stack, steps)
        stack.refresh()
        values, gaps = stack.values(), _gaps(stack)
        size = np.maximum(np.abs(values), np.abs(values - gaps))
        solved = (gaps <= stopping.tol * size) & (stack.iterations <= limit)
        solved &= _violations(stack) <= stopping.violation
        _write(stack.kept(solved), values[solved], gaps[solved], problems, found)
        stack = stack.kept(~solved & (stack.iterations < limit))
        steps *= 2
        if not len(stack.b):
            break


def _advance(stack: _Stack, n_steps: int) -> None:
    """Steps of the pair of most gain in the group of worst violation, of every program."""
    Q, b, g, lower, upper = stack.Q, stack.b, stack.g, stack.lower, stack.upper
    diagonal = Q.diagonal(axis1=1, axis2=2)
    at = np.arange(len(b))
    for _ in range(n_steps):
        rises, falls = _worst_group(stack, np.where(b < upper, g, np.inf)), b > lower
        i = rises.argmin(axis=1)
        inside = stack.groups[at, stack.groups[at, :, i].argmax(axis=1)]
        gain = np.where(inside & falls, g - g[at, i, np.newaxis], 0.0)
        total = diagonal[at, i, np.newaxis] + diagonal
        curvature = np.maximum(total - 2 * Q[at, i], _TAU * total + 1e-300)
        np.maximum(gain, 0.0, out=gain)
        j = (gain * (gain / curvature)).argmax(axis=1)
        rise, fall = upper[at, i] - b[at, i], b[at, j] - lower[at, j]
        move = np.minimum(np.minimum(gain[at, j] / curvature[at, j], rise), fall)
        moves = (gain[at, j] > 0) & np.isfinite(rises[at, i])
        if not moves.any():
            return
        move = np.where(moves, move, 0.0)
        b[at, i] = np.where(moves & (move >= rise), upper[at, i], b[at, i] + move)
        b[at, j] = np.where(moves & (move >= fall), lower[at, j], b[at, j] - move)
        g += move[:, np.newaxis] * (Q[at, i] - Q[at, j])
        stack.iterations += moves


def _worst_group(stack: _Stack, rises: Floats) -> Floats:
    """`rises` in the group that violates optimality most, and infinity elsewhere."""
    if stack.groups.shape[1] == 1:
        return rises
    falls = np.where(stack.b > stack.lower, stack.g, -np.inf)[:, np.newaxis]
    least = np.where(stack.groups, rises[:, np.newaxis], np.inf).min(axis=2)
    largest = np.where(stack.groups, falls, -np.inf).max(axis=2)
    worst = (largest - least).argmax(axis=1)
    return np.where(stack.groups[np.arange(len(worst)), worst], rises, np.inf)


def _gaps(stack: _Stack) -> Floats:
    """The duality gap at the best multipliers, weighted medians of the gradient."""
    total = np.zeros(len(stack.b))
    below, above = stack.b - stack.lower, stack.upper - stack.b
    for group in range(stack.groups.shape[1]):
        inside = stack.groups[:, group]
        values = np.where(inside, stack.g, np.inf)
        order = values.argsort(axis=1, kind="stable")
        width = np.where(inside, stack.upper - stack.lower, 0.0)
        slope = np.take_along_axis(width, order, axis=1).cumsum(axis=1)
        start = np.where(inside, below, 0.0).sum(axis=1)
        place = (slope < start[:, np.newaxis]).sum(axis=1)
        place = np.minimum(place, inside.sum(axis=1) - 1)[:, np.newaxis]
        r = np.take_along_axis(np.take_along_axis(values, order, axis=1), place, axis=1)
        excess = stack.g - r
        room = np.where(excess > 0, below, above)
        total += np.where(inside, np.abs(excess) * room, 0.0).sum(axis=1)
    return total


def _multipliers(stack: _Stack) -> tuple[Floats, Floats]:
    """Those of each group, of shape (B, n_groups), and the largest violation at them."""
    rises, falls = room_to_move(stack.b, stack.lower, stack.upper)
    found, violation = np.zeros(stack.groups.shape[:2]), np.zeros(len(stack.b))
    for group in range(stack.groups.shape[1]):
        inside = stack.groups[:, group]
        unbound = inside & rises & falls
        mean = np.where(unbound, stack.g, 0.0).sum(axis=1) / unbound.sum(axis=1)
        least = stack.g.max(axis=1, where=inside & falls, initial=-np.inf)
        largest = stack.g.min(axis=1, where=inside & rises, initial=np.inf)
        least = np.where(np.isfinite(least), least, largest)
        largest = np.where(np.isfinite(largest), largest, least)
        r = np.where(unbound.any(axis=1), mean, (least + largest) / 2)
        excess = stack.g - r[:, np.newaxis]
        found[:, group] = r
        violation = np.maximum(violation, excess.max(axis=1, where=inside & falls, initial=0.0))
        violation = np.maximum(violation, -excess.min(axis=1, where=inside & rises, initial=0.0))
    return found, violation


def _violations(stack: _Stack) -> Floats:
    """The largest violation of optimality, relative to the size of decision values."""
    multipliers, violation = _multipliers(stack)
    is_there = np.asarray(stack.groups.any(axis=1))
    scales = [
        decision_scale(linear[there], r)
        for linear, there, r in zip(stack.linear, is_there, multipliers, strict=True)
    ]
    return np.where(violation > 0, violation / np.array(scales), 0.0)


def _write(
    stack: _Stack,
    values: Floats,
    gaps: Floats,
    problems: Sequence[QuadraticProblem],
    found: list[Solution | None],
) -> None:
    multipliers, violation = _multipliers(stack)
    for place, number in enumerate(stack.number):
        m = len(problems[number].rows)
        found[number] = Solution(
            coefficients=stack.b[place, :m].copy(),
            gradient=stack.g[place, :m].copy(),
            multipliers=multipliers[place],
            value=float(values[place]),
            gap=float(gaps[place]),
            violation=float(violation[place]),
            iterations=int(stack.iterations[place]),
        )
