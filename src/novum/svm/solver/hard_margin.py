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

from typing import Any

import numpy as np

from novum.kernels import ProductRows
from novum.numerics import Floats, Positions
from novum.svm.ranking_pairs import PairRows
from novum.svm.solver.centering import middle_of
from novum.svm.solver.feasibility import is_ungrouped
from novum.svm.solver.problem import QuadraticProblem

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


# --- Proof that hulls overlap ---------------------------------------------------------------------
#
# Coefficients `b` with `A b = c`, one row of `A` for each column of the feature vectors and one for
# each sum, and with the right signs, are a point of both hulls. Floating point finds `A b - c = r`
# with a small `r` only. But if the vectors that have coefficients span all directions, there is an
# exact solution nearby,
#
#     |b* - b| <= |r| / s,        s the least singular value of A,
#
# and it has the right signs if no coefficient is smaller than that: the hulls overlap, whatever was
# rounded. Hulls that touch without overlapping, as far as numbers tell, cannot be proved to do so,
# with one exception: two objects that are the same.


# Relative to sizes of vectors: some ulps for each of the sums that a residual is made of.
_ROUNDING = 1e-13
# Coefficients below these parts of the largest are left out, in turn.
_LEAST_PARTS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0)
_MOST_COLUMNS = 2000


def hulls_overlap(prepared: Any, hulls: QuadraticProblem, b: Floats) -> bool:
    """Whether the nearest points found prove that the hulls meet.

    Parameters
    ----------
    prepared : Prepared
    hulls : QuadraticProblem
        Of the nearest points; see `hard_margin`.
    b : array of shape (n_variables,)
        Nearly optimal.

    Examples
    --------
    >>> from novum.kernels.vectors.linear import Linear
    >>> from novum.svm.solver.hard_margin import hull_problem
    >>> hard = QuadraticProblem(np.arange(4), np.array([-1.0, -1.0, 1.0, 1.0]),
    ...     np.array([0.0, 0.0, -np.inf, -np.inf]), np.array([np.inf, np.inf, 0.0, 0.0]),
    ...     np.zeros(4, int), np.zeros(1))
    >>> mixed = Linear().prepare(np.array([[0.0], [2.0], [1.0], [3.0]]))
    >>> hulls_overlap(mixed, hull_problem(hard), np.array([0.4, 0.6, -0.9, -0.1]))
    True
    """
    if _are_the_same(prepared, hulls, b):
        return True
    used = np.flatnonzero(b)
    vectors = feature_vectors(prepared, hulls.rows[used])
    if vectors is None:
        return False
    sums = (hulls.groups[used] == np.arange(len(hulls.totals))[:, None]).astype(float)
    if len(hulls.totals) > 1:
        # The sums add up to zero, so that a move of all vectors changes nothing.
        vectors = vectors - middle_of(vectors)
    parts = np.abs(b[used]) / np.abs(b).max()
    return any(
        _is_proved(vectors[kept], sums[:, kept], hulls.totals, b[used][kept])
        for kept in (parts > least for least in _LEAST_PARTS)
    )


def feature_vectors(prepared: Any, rows: Positions) -> Floats | None:
    """The objects as vectors in the space of the kernel, where it has a map of few columns."""
    if isinstance(prepared, PairRows):
        above = feature_vectors(prepared.base, prepared.above[rows])
        below = feature_vectors(prepared.base, prepared.below[rows])
        return None if above is None or below is None else above - below
    if not isinstance(prepared, ProductRows) or prepared.rows.shape[1] > _MOST_COLUMNS:
        return None
    transform = prepared.kernel.feature_map
    if transform is None:
        return None
    vectors = transform(prepared.rows[rows])
    if vectors.shape[1] > _MOST_COLUMNS:
        return None
    return np.asarray(vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), np.float64)


def _is_proved(vectors: Floats, sums: Floats, totals: Floats, b: Floats) -> bool:
    # Columns that are zero, or alike, are met together.
    columns = np.unique(vectors.T, axis=0)
    sizes = np.abs(columns).max(axis=1, initial=0.0)
    columns = columns[sizes > 0] / sizes[sizes > 0, None]
    A = np.concatenate([columns, sums])
    if A.shape[0] > A.shape[1]:
        return False
    target = np.concatenate([np.zeros(len(columns)), totals])
    # A step to the solution nearby, which must not change a sign.
    sides = np.sign(b)
    b = b - np.linalg.lstsq(A, A @ b - target, rcond=None)[0]
    if not (np.sign(b) == sides).all():
        return False
    residual = A @ b - target
    rounding = _ROUNDING * float(np.linalg.norm(A))
    least = float(np.linalg.svd(A, compute_uv=False)[-1]) - rounding
    away = float(np.linalg.norm(residual)) + rounding * float(np.linalg.norm(b))
    return bool(least > 0 and away < 0.5 * least * np.abs(b).min())


def _are_the_same(prepared: Any, hulls: QuadraticProblem, b: Floats) -> bool:
    """Whether the two largest coefficients of opposite sign belong to one and the same object.

    Objects are the same if no similarity to any object tells them apart.
    """
    if len(hulls.totals) < 2:
        return False
    ends = hulls.rows[[int(np.argmax(b)), int(np.argmin(b))]]
    one, two = np.asarray(prepared.take(ends).cross(prepared, np.float64))
    if not np.array_equal(one, two):
        return False
    vectors = feature_vectors(prepared, ends)
    return vectors is None or np.array_equal(vectors[0], vectors[1])
