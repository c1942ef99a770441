"""Whether a hard margin exists: the distance of two convex hulls.

With infinite bounds the dual of a hard margin has a finite optimum only if the classes can be
separated. The convex hulls of the classes, in the space of the kernel, are nearest at

    min over b   |sum_i b_i phi(x_i)|^2 / 2 = b'Kb / 2,     sum of the b_i >= 0 equal to 1,
                                                            sum of the b_i <= 0 equal to -1,

a program of the same family. Its lower bound above zero proves a margin of half the distance. A
minimum of zero is a point in both hulls: along that direction the dual of the hard margin grows
without end, which proves that the primal is infeasible. Without groups (ranking) there is one
hull, and the other point is the origin.

In floating point a value that cannot be told from the rounding errors of `b'Kb` proves nothing:
hulls at a small distance have it as well. `overlap` proves what can be proved of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novum.svm.solver.feasibility import is_ungrouped
from novum.svm.solver.problem import QuadraticProblem

Floats = NDArray[np.float64]

# Squared distances of hulls below this part of the largest k(x, x) are rounding errors: kernel
# values carry some ulps each, and the entries of b sum to 2.
ZERO = 1e-13


def needs_proof(problem: QuadraticProblem) -> bool:
    """Whether the objective falls along every direction that only infinite bounds allow.

    True for hard margins: what can rise without end has a negative linear term, what can fall
    without end a positive one, so the objective is bounded only if the hulls are apart.
    """
    rising, falling = np.isinf(problem.upper), np.isinf(problem.lower)
    if (rising & falling).any() or len(problem.totals) > 1:
        return False
    one_sided = (problem.linear[rising] < 0).all() and (problem.linear[falling] > 0).all()
    if is_ungrouped(problem):
        return bool(one_sided and rising.any() and not falling.any())
    return bool(one_sided and rising.any() and falling.any())


def hull_problem(problem: QuadraticProblem) -> QuadraticProblem:
    """The program of the nearest points, on the variables that have an infinite bound.

    Examples
    --------
    >>> hard = QuadraticProblem(np.arange(2), np.array([-1.0, 1.0]), np.array([0.0, -np.inf]),
    ...                         np.array([np.inf, 0.0]), np.zeros(2, int), np.zeros(1))
    >>> hulls = hull_problem(hard)
    >>> hulls.lower, hulls.upper, hulls.totals
    (array([ 0., -1.]), array([1., 0.]), array([ 1., -1.]))
    """
    rising, falling = np.isinf(problem.upper), np.isinf(problem.lower)
    taken = rising | falling
    down = falling[taken]
    totals = np.array([1.0, -1.0]) if down.any() else np.ones(1)
    lower, upper = np.where(down, -1.0, 0.0), np.where(down, 0.0, 1.0)
    groups = down.astype(np.intp)
    return QuadraticProblem(problem.rows[taken], np.zeros(len(down)), lower, upper, groups, totals)


def direction_of(problem: QuadraticProblem, coefficients: Floats) -> Floats:
    """The coefficients of the hulls as a direction of the whole program."""
    direction = np.zeros(len(problem.linear))
    direction[np.isinf(problem.upper) | np.isinf(problem.lower)] = coefficients
    return direction


def verdict(value: float, gap: float, largest: float) -> str | None:
    """ "apart", "near" (no distance to be told from rounding), or None as long as it is open.

    Parameters
    ----------
    value : float
        Half the squared distance of the points found.
    gap : float
        How far above the least value that can be.
    largest : float
        The largest `k(x, x)`.

    Examples
    --------
    >>> verdict(0.5, 0.1, 1.0), verdict(1e-15, 1e-15, 1.0), verdict(0.5, 0.6, 1.0)
    ('apart', 'near', None)
    """
    if value <= ZERO * largest:
        return "near"
    return "apart" if value - gap > ZERO * largest else None
