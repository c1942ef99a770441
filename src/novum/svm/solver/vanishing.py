"""Programs whose optimum may be zero: margins that vanish.

    min b'Kb / 2     with prescribed sums of b

is half a squared distance: of two hulls (nu-classification), or of a hull and the origin (one
class). If the hulls meet, or the origin is inside, the optimum is zero, no relative gap can be
reached, and no hyperplane is better than another. Such a fit ends when the gap is a `FLOOR` of what
the objective could be at most, so that the margin is proved to be below a thousandth of the spread
of the data, or nearly so; the caller says it to the user.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from novum.core.learners import Stopwatch
from novum.numerics import Floats
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping
from novum.svm.solver.solving import solve

FLOOR = 1e-7
VANISHING = "vanishing"
# Steps between two looks at the gap; each time twice as many.
_FIRST_STEPS = 1024


class VanishingMarginWarning(UserWarning):
    """The best margin is zero, so that no hyperplane is better than another."""


def solve_or_vanish(
    prepared: Any,
    problem: QuadraticProblem,
    stopping: Stopping,
    *,
    cache_bytes: int,
    start: Floats | None = None,
) -> Solution:
    """The solution of a program without linear terms.

    Its `stopped_by` is `VANISHING` where the optimum is zero for all that matters.
    """
    watch, floor = Stopwatch(), FLOOR * largest_value(prepared, problem)
    steps, spent = _FIRST_STEPS, 0
    while True:
        left = None if stopping.max_iter is None else stopping.max_iter - spent
        seconds = stopping.max_seconds
        part = replace(
            stopping,
            max_iter=steps if left is None else min(steps, left),
            max_seconds=None if seconds is None else max(seconds - watch.seconds, 0.0),
        )
        solution = solve(prepared, problem, part, cache_bytes=cache_bytes, start=start)
        spent += solution.iterations
        solution = replace(solution, iterations=spent)
        if solution.stopped_by is None:
            return solution
        # A small gap alone may be that of a small margin, which further steps tell from none.
        if max(solution.gap, solution.value) <= floor:
            return replace(solution, stopped_by=VANISHING)
        if solution.stopped_by != "max_iter" or spent == stopping.max_iter:
            return solution
        start, steps = solution.coefficients, 2 * steps


def largest_value(prepared: Any, problem: QuadraticProblem) -> float:
    """What the objective could be at most, up to a small factor: half a squared distance.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> from novum.svm.solver.problems import one_class
    >>> largest_value(Linear().prepare(np.array([[3.0], [4.0]])), one_class(np.ones(2), 0.5))
    8.0
    """
    squares = prepared.diagonal()
    if len(problem.totals) > 1:
        # Sums of zero do not see where the origin is: distances from the first object count.
        first = prepared.take(slice(0, 1))
        to_first = np.asarray(prepared.cross(first))[:, 0]
        squares = squares - 2 * to_first + squares[0]
    return float(np.abs(problem.totals).max() ** 2 * max(float(squares.max()), 0.0) / 2)
