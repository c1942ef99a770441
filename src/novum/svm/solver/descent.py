"""The point that a fit moves: coefficients, the products `Kb`, and what is spent so far.

`F = Kb` is held for every object, in double precision. Rounds add the change of their coefficients
to it; `recompute` makes it anew from the coefficients, free of what has accumulated.
"""

from __future__ import annotations

import time

import numpy as np

from novum.core.runtime import OutOfTime, seconds_left, stops_at_deadline
from novum.numerics import Floats
from novum.svm.solver.feasibility import Reduction
from novum.svm.solver.optimality import (
    decision_scale,
    duality_gap,
    gap_at,
    largest_violation,
    middle_multipliers,
)
from novum.svm.solver.problem import Stopping
from novum.svm.solver.row_cache import KernelRows, rough_product

# Objects whose products an audit computes in double precision.
_SAMPLE = 64


def spent_time() -> str:
    """Whose time it was that is spent."""
    return "deadline" if stops_at_deadline() else "max_seconds"


class Descent:
    """A feasible point on its way down.

    Parameters
    ----------
    reduction : Reduction
    kernel : KernelRows
    start : float array of shape (n_movable,)
    exact_up_to : int
        With more variables the first products are made of single-precision kernel values.

    Attributes
    ----------
    b : float array of shape (n_movable,)
    F : float array of shape (n_objects,)
        `Kb`, fixed coefficients included.
    is_fresh : bool
        Whether `F` has been computed anew since single precision last touched it.
    is_known : bool
        False where time ran out before `F` was computed for the first time; then it is zero, the
        gap is infinite and the value an upper bound.
    iterations : int
    trace : list of float
        The objective after each round.
    """

    def __init__(
        self, reduction: Reduction, kernel: KernelRows, start: Floats, exact_up_to: int = 2**62
    ) -> None:
        self.reduction, self.kernel = reduction, kernel
        self.terms, self.rows = reduction.terms, reduction.rows
        self.b = np.array(start, float)
        self.F = np.zeros(kernel.n_rows)
        self.is_fresh = self.is_known = True
        self.iterations = 0
        self.trace: list[float] = []
        self._best = ((np.inf, np.inf), self.b, self.F)
        # Rows and objects are the same where every object has one variable, in order.
        self._plain = np.array_equal(self.rows, np.arange(kernel.n_rows))
        try:
            if len(self.b) <= exact_up_to:
                self.recompute()
            else:
                self._begin_roughly()
        except OutOfTime:
            self.is_known = False

    # Products

    def _begin_roughly(self) -> None:
        amounts = self.reduction.by_object(self.b)
        there = np.flatnonzero(amounts)
        prepared = self.kernel.prepared
        self.F = rough_product(prepared.take(there), prepared, amounts[there], self.kernel.check)
        self.is_fresh = not there.size

    def recompute(self) -> None:
        """`F` from the coefficients, in double precision."""
        amounts = self.reduction.by_object(self.b)
        there = np.flatnonzero(amounts)
        self.F = self.kernel.product(there, amounts[there])
        self.is_fresh = True
        key = (self.gap(), self.value())
        if key <= self._best[0]:
            self._best = (key, self.b.copy(), self.F.copy())

    def settle(self, slack: float = 2.0) -> bool:
        """Exact products, and of the points at which they were computed one that is good.

        That is the present one if its gap is at most `slack` times the least; where all gaps are
        infinite, if its objective is the least. Otherwise single precision has led astray, the
        best point takes its place, and the answer is true.
        """
        if not self.is_fresh:
            self.recompute()
        (gap, value), b, F = self._best
        # Comparisons fail where coefficients have grown beyond all numbers.
        good = self.value() <= value if gap == np.inf else self.gap() <= slack * gap
        if good:
            return False
        self.b, self.F = b.copy(), F.copy()
        return True

    def to_variables(self, by_object: Floats) -> Floats:
        """Products by object (the last axis) as products by variable."""
        return by_object if self._plain else by_object[..., self.rows]

    def at_variables(self) -> Floats:
        """`Kb` for each variable."""
        return self.to_variables(self.F)

    def gradient(self) -> Floats:
        return self.at_variables() + self.terms.linear

    def largest(self) -> float:
        """The largest `k(x, x)`."""
        return float(self.kernel.diagonal.max(initial=0.0))

    # How good it is

    def square(self) -> float:
        """`b'Kb`, or a bound of it where products are not known."""
        if not self.is_known:
            lengths = np.sqrt(np.maximum(self.kernel.diagonal, 0.0))
            return float(np.abs(self.reduction.by_object(self.b)) @ lengths) ** 2
        return float(self.reduction.by_object(self.b) @ self.F)

    def value(self) -> float:
        problem = self.reduction.problem
        linear = self.terms.linear @ self.b + problem.linear @ self.reduction.fixed
        return float(self.square() / 2 + linear)

    def violation(self, g: Floats) -> float:
        """The largest violation of optimality, relative to the size of decision values."""
        r = middle_multipliers(self.terms, self.b, g)
        scale = decision_scale(self.terms.linear, r)
        worst = largest_violation(self.terms, self.b, g, r)
        return worst / scale if scale > 0 else float(np.inf if worst > 0 else 0.0)

    def quick_gap(self, g: Floats) -> float:
        """A gap without a sort: at the middle multipliers, not at the best ones."""
        gap = gap_at(self.terms, self.b, g, middle_multipliers(self.terms, self.b, g))
        return self.gap() if not np.isfinite(gap) else gap

    def gap(self) -> float:
        if not self.is_known:
            return float(np.inf)
        return duality_gap(self.terms, self.b, self.at_variables(), self.square())

    def allowance(self) -> float:
        """How much the gap may be off because of errors in `F`, from a sample of objects.

        At any multipliers the gap changes by at most `sum_i |error_i| (upper_i - lower_i)`; the
        mean error is taken to be the sample's, plus three of its standard errors.
        """
        if self.is_fresh or not self.is_known:
            return 0.0
        n = len(self.F)
        at = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp))
        amounts = self.reduction.by_object(self.b)
        there = np.flatnonzero(amounts)
        errors = np.abs(self.kernel.product_at(at, there, amounts[there]) - self.F[at])
        mean = errors.mean() + 3 * errors.std() / np.sqrt(len(at))
        return float(mean * (self.terms.upper - self.terms.lower).sum())


def relative(gap: float, value: float) -> float:
    """The gap relative to the larger of the two objectives, `|value|` and `|value - gap|`.

    >>> relative(1.0, -9.0)
    0.1
    """
    if gap <= 0:
        return 0.0
    if not np.isfinite(gap):
        return float(np.inf)
    return float(gap / max(abs(value), abs(value - gap)))


class Budget:
    """Iterations and seconds that may be spent, counted from when it is made."""

    def __init__(self, stopping: Stopping) -> None:
        self.stopping = stopping
        self._began = time.perf_counter()

    def left(self, iterations: int) -> int:
        """Steps that may still be taken."""
        limit = self.stopping.max_iter
        return 2**62 if limit is None else max(0, limit - iterations)

    @property
    def seconds_left(self) -> float:
        limit, left = self.stopping.max_seconds, seconds_left()
        return left if limit is None else min(left, self._began + limit - time.perf_counter())

    def check(self) -> None:
        """Raise `OutOfTime` where no time is left."""
        if self.seconds_left <= 0:
            raise OutOfTime

    def spent(self, iterations: int) -> str | None:
        """The name of the limit that is reached."""
        if self.left(iterations) == 0:
            return "max_iter"
        return spent_time() if self.seconds_left <= 0 else None
