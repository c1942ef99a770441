"""Small programs, one or the pairs of many classes, on a whole Gram matrix in double precision.

A program of a few hundred variables is solved by plain sequential minimal optimization: the
variable `i` that can rise and has the least gradient is paired with the `j` that promises most by
the second-order model, and the pair moves to its minimum (Fan, Chen and Lin 2005). Programs stand
one after the other in common arrays, so that the proof of all of them (multipliers, gap, largest
violation; see `novum.svm.solver.optimality`) takes one pass of array operations.

The steps are compiled, and there is the same in NumPy for a process that has not loaded a compiler:
loading takes longer than some fits. Both round in the same way, so nobody can tell which one ran.

A program that needs many steps, as with large prices and few columns, is left to
`novum.svm.solver.solving`, whose Newton steps do better there.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from novum.core.runtime import check_cancelled
from novum.numerics import Array, Floats, Integers, Patience, Positions, held_over_fork
from novum.svm.solver.feasibility import feasible_start, with_total
from novum.svm.solver.optimality import room_to_move
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem, Solution, Stopping

# Up to so many variables a program is small.
MOST_VARIABLES = 512
# What a solution has that needs more steps than a small program should.
UNFINISHED = "unfinished"
# Steps of a program in one round, and rounds with a tolerance of a tenth of the one before.
_STEPS = 10_000
_ROUNDS = 4
# The part of the violation that is allowed at which steps end.
_MARGIN = 0.5
# Variables of programs that are solved in one call: Ctrl-C acts between calls.
_CALL_VARIABLES = 2**14
# Seconds of plain steps in this process before a compiler is loaded, and before it compiles.
_LOADING = 0.2
_patience = Patience(seconds=1.5)
_TAU = 1e-13


class Programs(NamedTuple):
    """P programs of G groups each, their n variables sorted by program and group.

    Attributes
    ----------
    objects : int array of shape (n,)
        Rows of the Gram matrix.
    terms : array of shape (3, n)
        Linear terms, lower and upper bounds.
    point : array of shape (2, n)
        Coefficients and gradient.
    starts : int array of shape (P G + 1,)
    n_groups : int
    totals : array of shape (P G,)
        Prescribed sums of the coefficients of each group.
    """

    objects: Integers
    terms: Floats
    point: Floats
    starts: Integers
    n_groups: int
    totals: Floats


class _Proof(NamedTuple):
    """Of shape (P, G): multipliers; of shape (P,): objectives, gaps, violations and their unit."""

    multipliers: Floats
    values: Floats
    gaps: Floats
    violations: Floats
    scales: Floats


def is_small(problem: QuadraticProblem, n_objects: int = 0) -> bool:
    """Whether a program has few variables and objects, finite bounds and prescribed sums."""
    return (
        max(len(problem.rows), n_objects) <= MOST_VARIABLES
        and len(problem.totals) > 0
        and problem.groups[0] != UNGROUPED
        and bool(problem.lower.min() > -np.inf and problem.upper.max() < np.inf)
    )


def solve_small(
    gram: Floats,
    problems: Sequence[QuadraticProblem],
    stopping: Stopping,
    objects: Sequence[Positions] | None = None,
    start: Floats | None = None,
) -> list[Solution]:
    """Solutions of small programs; `UNFINISHED` are those that need many steps.

    Parameters
    ----------
    gram : array of shape (m, m)
    problems : sequence of QuadraticProblem
        That are small, all with as many groups, none of them empty.
    stopping : Stopping
        A program that would need more than `max_iter` steps is unfinished.
    objects : sequence of int arrays, optional
        The rows of the Gram matrix that each program's objects are; by default all rows.
    start : array, optional
        A feasible point of the only program.

    Examples
    --------
    Two points with labels 1 and -1 at distance 2 on a line: both have coefficient 1/2.

    >>> two = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -9.0]),
    ...                        np.array([9.0, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> [solution] = solve_small(np.array([[1.0, -1.0], [-1.0, 1.0]]), [two], Stopping())
    >>> solution.coefficients, solution.value
    (array([ 0.5, -0.5]), -0.5)
    """
    K = np.ascontiguousarray(gram)
    ends = np.cumsum([len(problem.rows) for problem in problems])
    solutions: list[Solution] = []
    begin = 0
    with np.errstate(all="ignore"):
        while begin < len(problems):
            passed = 0 if begin == 0 else ends[begin - 1]
            end = max(begin + 1, int(np.searchsorted(ends, passed + _CALL_VARIABLES, "right")))
            rows = None if objects is None else objects[begin:end]
            solutions += _solve_call(K, problems[begin:end], stopping, rows, start)
            begin = end
    return solutions


def _solve_call(
    K: Floats,
    problems: Sequence[QuadraticProblem],
    stopping: Stopping,
    objects: Sequence[Positions] | None,
    start: Floats | None,
) -> list[Solution]:
    programs, order = _joined(problems, objects, start)
    spread = _spreads(programs)
    most = 2**62 if stopping.max_iter is None else stopping.max_iter
    aim = _MARGIN * min(stopping.violation, stopping.tol)
    taken = np.zeros(len(problems), np.int64)
    traces: list[Floats] = []
    tols, done, lost = np.zeros(len(problems)), *np.zeros((2, len(problems)), bool)
    scales = spread
    if not spread.all():
        # The unit of violations depends on the multipliers, which the start tells roughly.
        take_steps(K, programs, tols, 0)
        scales = _proof(programs, spread).scales
    for round_ in range(_ROUNDS):
        check_cancelled()
        tols = np.where(done | lost, -1.0, aim * 10.0**-round_ * scales)
        limit = min(_STEPS, most - int(taken.max()))
        steps = take_steps(K, programs, tols, limit)
        taken += steps
        _restore_totals(programs)
        proof = _proof(programs, spread)
        scales = proof.scales
        traces.append(proof.values)
        size = np.maximum(np.abs(proof.values), np.abs(proof.values - proof.gaps))
        done |= (proof.gaps <= stopping.tol * size) & (
            proof.violations <= stopping.violation * proof.scales
        )
        lost |= steps >= limit
        if (done | lost).all():
            break
    return _solutions(programs, order, proof, taken, done, np.array(traces))


def _joined(
    problems: Sequence[QuadraticProblem],
    objects: Sequence[Positions] | None,
    start: Floats | None,
) -> tuple[Programs, Positions | None]:
    """The programs one after the other; their order, where groups had to be sorted."""
    n_groups = len(problems[0].totals)
    rows = [problem.rows for problem in problems]
    if objects is not None:
        rows = [chosen[inside] for chosen, inside in zip(objects, rows, strict=True)]
    totals = np.concatenate([p.totals for p in problems])
    fields = [
        [p.linear for p in problems],
        [p.lower for p in problems],
        [p.upper for p in problems],
    ]
    n = sum(map(len, rows))
    terms, point = np.empty((3, n)), np.zeros((2, n))
    for row, arrays in zip(terms, fields, strict=True):
        np.concatenate(arrays, out=row)
    at = np.concatenate(rows).astype(np.int64, copy=False)
    if start is not None:
        point[0] = start
    elif totals.any() or terms[1].max() > 0 or terms[2].min() < 0:
        np.concatenate([feasible_start(p) for p in problems], out=point[0])
    counts, order = list(map(len, rows)), None
    if n_groups > 1:
        group = np.concatenate([p.groups + k * n_groups for k, p in enumerate(problems)])
        counts = np.bincount(group, minlength=len(totals)).tolist()
        order = np.argsort(group, kind="stable")
        at, terms, point = at[order], terms[:, order], point[:, order]
    starts = np.array([0, *accumulate(counts)], np.int64)
    return Programs(at, terms, point, starts, n_groups, totals), order


def _restore_totals(programs: Programs) -> None:
    """Rounding of many steps taken out of the sums of coefficients, where it has added up."""
    b, starts, totals = programs.point[0], programs.starts, programs.totals
    errors = np.abs(np.add.reduceat(b, starts[:-1]) - totals)
    sizes = np.add.reduceat(np.abs(b), starts[:-1]) + np.abs(totals)
    for group in (errors > 4e-16 * sizes).nonzero()[0]:
        part = slice(starts[group], starts[group + 1])
        lower, upper = programs.terms[1:, part]
        b[part] = with_total(b[part], lower, upper, float(totals[group]))


# --- Proofs ---------------------------------------------------------------------------------------


def _spreads(programs: Programs) -> Floats:
    """Standard deviations of linear terms, 0 where they are all the same."""
    linear, ends = programs.terms[0], programs.starts[:: programs.n_groups]
    begins, counts = ends[:-1], ends[1:] - ends[:-1]
    means = np.add.reduceat(linear, begins) / counts
    squares = np.square(linear - np.repeat(means, counts))
    is_same = np.maximum.reduceat(linear, begins) == np.minimum.reduceat(linear, begins)
    return np.where(is_same, 0.0, np.sqrt(np.add.reduceat(squares, begins) / counts))


def _proof(programs: Programs, spread: Floats) -> _Proof:
    """What the multipliers in the middle prove of the present point."""
    (linear, lower, upper), (b, g) = programs.terms, programs.point
    starts, n_groups = programs.starts[:-1], programs.n_groups
    counts = programs.starts[1:] - starts
    rises, falls = room_to_move(b, lower, upper)
    least = np.maximum.reduceat(np.where(falls, g, -np.inf), starts)
    largest = np.minimum.reduceat(np.where(rises, g, np.inf), starts)
    unbound = rises & falls
    n_unbound = np.add.reduceat(unbound.astype(np.float64), starts)
    r = np.add.reduceat(np.where(unbound, g, 0.0), starts) / n_unbound
    if not n_unbound.all():
        # Where a group has no variable that can fall, or none that can rise, the other end counts.
        least_there = np.where(np.isinf(least), largest, least)
        middle = (least_there + np.where(np.isinf(largest), least, largest)) / 2
        r = np.where(n_unbound > 0, r, middle)
    r[~np.isfinite(r)] = 0.0
    excess = g - np.repeat(r, counts)
    room = np.where(excess > 0, b - lower, upper - b)
    violations = np.maximum(np.maximum(least - r, r - largest), 0.0)
    begins = starts[::n_groups]
    multipliers = r.reshape(-1, n_groups)
    if n_groups > 1:
        sizes = np.ptp(multipliers, axis=1) / 2
    else:
        sizes = np.abs(r - linear[begins])
    return _Proof(
        multipliers,
        np.add.reduceat(b * (g + linear), begins) / 2,
        np.add.reduceat(np.abs(excess) * room, begins),
        violations.reshape(-1, n_groups).max(axis=1),
        np.where(spread > 0, spread, sizes),
    )


def _solutions(
    programs: Programs,
    order: Positions | None,
    proof: _Proof,
    taken: Integers,
    done: Array,
    traces: Floats,
) -> list[Solution]:
    b, g = programs.point
    if order is not None:
        unsorted = np.empty_like(programs.point)
        unsorted[:, order] = programs.point
        b, g = unsorted
    ends = programs.starts[:: programs.n_groups].tolist()
    columns = zip(
        proof.values.tolist(), proof.gaps.tolist(), proof.violations.tolist(), taken.tolist(), done,
        traces.T.tolist(), strict=True,
    )  # fmt: skip
    return [
        Solution(
            coefficients=b[ends[k] : ends[k + 1]],
            gradient=g[ends[k] : ends[k + 1]],
            multipliers=proof.multipliers[k],
            value=value,
            gap=gap,
            violation=violation,
            iterations=steps,
            stopped_by=None if is_done else UNFINISHED,
            trace=tuple(trace),
        )
        for k, (value, gap, violation, steps, is_done, trace) in enumerate(columns)
    ]


# --- Steps ----------------------------------------------------------------------------------------


def take_steps(K: Floats, programs: Programs, tols: Floats, max_steps: int) -> Integers:
    """Up to so many steps of every program; how many there were of each."""
    taken = np.zeros(len(tols), np.int64)
    left = tols.copy()
    for program in range(len(tols)):
        steps = _compiled()
        if steps is not None:
            ends = programs.starts[:: programs.n_groups]
            largest = int((ends[1:] - ends[:-1]).max())
            rest, Q = np.zeros_like(taken), np.empty((largest, largest))
            work = np.empty((5, largest))
            _call_loaded(steps, K, *programs[:5], left, max_steps, Q, work, rest)
            return taken + rest
        if tols[program] >= 0:
            began = time.perf_counter()
            taken[program] = plain_steps(K, programs, program, tols[program], max_steps)
            left[program] = -1.0
            _patience.spent += time.perf_counter() - began
    return taken


# A fork waits for Numba to be imported and for LLVM to answer: the child could not end either.
_importing = threading.RLock()
held_over_fork(_importing)
_loaded: list[bool] = []


def _call_loaded(steps: Any, *arguments: Any) -> None:
    """A call of compiled code, whose first one loads it while no fork can begin."""
    if _loaded:
        steps(*arguments)
        return
    with _importing:
        steps(*arguments)
        _loaded.append(True)


def _compiled() -> Any:
    """The compiled steps, or None as long as plain ones take less time than getting them."""
    if _patience.spent < _LOADING and "numba" not in sys.modules:
        return None
    with _importing:
        from novum.svm.solver.small_kernels import program_steps

        return None if _patience.is_left_for(program_steps) else program_steps


def plain_steps(K: Floats, programs: Programs, program: int, tol: float, max_steps: int) -> int:
    """The steps of one program, and how many there were: `small_kernels.program_steps`."""
    starts = programs.starts[program * programs.n_groups :][: programs.n_groups + 1].tolist()
    own = slice(starts[0], starts[-1])
    objects = programs.objects[own]
    linear, lower, upper = programs.terms[:, own]
    b, g = programs.point[:, own]
    groups = [slice(a - starts[0], z - starts[0]) for a, z in pairwise(starts)]
    _refresh(K, objects, linear, b, g)
    diagonal = K[objects, objects]
    up = np.where(b < upper, 0.0, np.inf)
    low = np.where(b > lower, 0.0, -np.inf)
    taken = 0
    for taken in range(max_steps + 1):
        worst, part = tol, None
        for group in groups:
            violation = (g[group] + low[group]).max() - (g[group] + up[group]).min()
            if violation > worst:
                worst, part = violation, group
        if part is None or taken == max_steps:
            break
        i = part.start + int((g[part] + up[part]).argmin())
        row_i = K[objects[i]][objects]
        excess = (g[part] + low[part]) - g[i]
        total = diagonal[i] + diagonal[part]
        curvature = np.maximum(total - 2.0 * row_i[part], _TAU * total + 1e-300)
        gain = np.where(excess > 0, excess, 0.0)
        j = part.start + int((gain * (gain / curvature)).argmax())
        rise, fall = upper[i] - b[i], b[j] - lower[j]
        move = min((g[j] - g[i]) / curvature[j - part.start], rise, fall)
        b[i] = upper[i] if move >= rise else b[i] + move
        b[j] = lower[j] if move >= fall else b[j] - move
        for k in (i, j):
            up[k] = 0.0 if b[k] < upper[k] else np.inf
            low[k] = 0.0 if b[k] > lower[k] else -np.inf
        g += move * (row_i - K[objects[j]][objects])
    _refresh(K, objects, linear, b, g)
    return taken


def _refresh(K: Floats, objects: Integers, linear: Floats, b: Floats, out_g: Floats) -> None:
    """The gradient from the coefficients, added up in the order of the variables."""
    out_g[:] = linear
    for j in np.flatnonzero(b):
        out_g += b[j] * K[objects[j]][objects]
