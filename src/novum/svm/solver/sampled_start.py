"""A start from a sample: most coefficients end at a bound, and a sample tells at which.

A program on a part of the objects, with bounds wider in proportion, has nearly the same expansion
as the whole. Its predicted gradient `g` at all variables gives the point of the feasible set that
is lowest to first order,

    min over b   g'b     so that   lower <= b <= upper and the sums are met,

in which all variables but one of each group are at a bound: a sort. Kernel rows of coefficients
that stay at their bound are then needed once, in passing, to bring the products up to date; only
variables that were misjudged or are unbound go through the rounds.

This pays where few coefficients are unbound. Where the sample has many, or is not solved soon,
there is no start from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from novum.core.runtime import OutOfTime
from novum.numerics import Floats
from novum.svm.solver.descent import Budget
from novum.svm.solver.feasibility import least_vertex
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping
from novum.svm.solver.row_cache import rough_product

SolveSample = Callable[[Any, QuadraticProblem, Stopping], Solution]

# Objects from which on a sample is worth its time, and the share of them that it takes.
LEAST_OBJECTS = 4000
SHARE = 0.2
# The number of unbound coefficients hardly grows with the sample once there are bound ones as well.
# Beyond these parts, of all coefficients of the sample and of those expected in the whole, too few
# are at a bound for the start to be near the optimum.
_MOST_UNBOUND = 0.75
_MOST_EXPECTED = 0.25
_TOL = 1e-2
_STEPS_PER_VARIABLE = 5
# Of the time that is left, what the sample may take.
_SHARE_OF_TIME = 0.3


def sampled_start(
    prepared: Any, problem: QuadraticProblem, solve: SolveSample, budget: Budget | None = None
) -> Floats | None:
    """A feasible point near the optimum, or None where a sample does not tell.

    Parameters
    ----------
    prepared : Prepared
    problem : QuadraticProblem
        With finite bounds.
    solve : callable
        Solves the program of the sample.
    budget : Budget, optional
        Of the whole fit; without time there is no start from a sample.
    """
    budget = Budget(Stopping()) if budget is None else budget
    n = len(prepared)
    if n < LEAST_OBJECTS or not _is_bounded(problem):
        return None
    # The same sample for the same size: a fit does not depend on chance.
    taken = np.zeros(n, bool)
    taken[np.random.default_rng(0).permutation(n)[: int(SHARE * n)]] = True
    inside = taken[problem.rows]
    place = np.cumsum(taken) - 1
    sample = QuadraticProblem(
        place[problem.rows[inside]],
        problem.linear[inside],
        problem.lower[inside] / SHARE,
        problem.upper[inside] / SHARE,
        problem.groups[inside],
        problem.totals,
    )
    if not _is_feasible(sample):
        return None
    objects = prepared.take(np.flatnonzero(taken))
    left = _SHARE_OF_TIME * budget.seconds_left
    seconds = max(left, 0.0) if np.isfinite(left) else None
    stopping = Stopping(_TOL, _STEPS_PER_VARIABLE * len(sample.rows), seconds)
    solution = solve(objects, sample, stopping)
    b = solution.coefficients
    unbound = ((b > sample.lower) & (b < sample.upper)).sum()
    most = np.count_nonzero(b) * min(_MOST_UNBOUND, _MOST_EXPECTED / SHARE)
    if solution.stopped_by is not None or unbound > most:
        return None
    try:
        return least_vertex(problem, _predicted(prepared, problem, objects, sample, b, budget))
    except OutOfTime:
        return None


def _predicted(
    prepared: Any,
    problem: QuadraticProblem,
    objects: Any,
    sample: QuadraticProblem,
    b: Floats,
    budget: Budget,
) -> Floats:
    """The gradient of the whole program at the expansion of the sample."""
    amounts = np.zeros(len(objects))
    np.add.at(amounts, sample.rows, b)
    there = np.flatnonzero(amounts)
    products = rough_product(objects.take(there), prepared, amounts[there], budget.check)
    return np.asarray(products[problem.rows] + problem.linear)


def _is_bounded(problem: QuadraticProblem) -> bool:
    return bool(np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all())


def _is_feasible(sample: QuadraticProblem) -> bool:
    """Whether every total of the sample can be met; chance may leave a group too small."""
    for group, total in enumerate(sample.totals):
        inside = sample.groups == group
        if not sample.lower[inside].sum() <= total <= sample.upper[inside].sum():
            return False
    return True
