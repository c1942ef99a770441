"""Training of one binary Pegasos: passes of steps, and the gap that ends them.

    minimize   lambda / 2 |w|^2 + sum_i p_i max(0, 1 - s_i w'z_i),     p_i = weight_i / total,

by steps of length `1 / (lambda t)` along the subgradient of a batch of k rows,

    w_t+1 = (1 - 1 / t) w_t + 1 / (lambda t k) sum of s_i z_i over the rows of margin below 1.

All steps together are `w = 1 / (lambda t) sum_i shares_i s_i z_i` with the *same* t for every row,
where `shares_i` sums the `1 / k` of the steps that row i took part in. So `shares_i / t`, cut at
p_i, is a dual point, whose value

    sum_i a_i - |sum_i a_i s_i z_i|^2 / (2 lambda),      0 <= a_i <= p_i

bounds the optimum from below. Each pass draws every row as often as its weight says, in a random
order, so that hardly anything is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from novum.core.runtime import OutOfTime, Pacer, time_sliced
from novum.linear import Visits
from novum.numerics import Floats, Integers, as_argument
from novum.svm.linear.coordinate import kernel_cells
from novum.svm.linear.design import Design
from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.problem import Stopping

METHOD = "Pegasos"
# Passes between looks at the gap grow by this factor.
_GROWTH = 1.25


class PegasosRule(NamedTuple):
    """How the steps are taken.

    Attributes
    ----------
    penalty : float
        `lambda`.
    batch_size : int
    projection : bool
        Whether a step ends in the ball of radius `1 / sqrt(lambda)`.
    average : bool
        Whether the answer is the mean of the ends of all passes, weighted by t.
    """

    penalty: float
    batch_size: int
    projection: bool
    average: bool


class Trained(Protocol):
    """What is trained: `w` in some form, and the shares of the rows in it."""

    shares: Floats

    @property
    def steps(self) -> float: ...

    def take(self, order: Integers) -> None:
        """Steps over the rows in this order."""

    def margins(self, a: Floats) -> tuple[Floats, float]:
        """`s_i w'z_i` of every row and `|w|^2` for `w = sum_i a_i s_i z_i`."""


@dataclass(frozen=True, eq=False)
class PegasosRun:
    """The dual coefficients `a` of the answer, `w = sum_i a_i s_i z_i`, and its proof."""

    a: Floats
    solution: LinearSolution


def train(
    machine: Trained,
    weight: Floats,
    rule: PegasosRule,
    stopping: Stopping,
    budget: Budget,
    rng: np.random.Generator,
) -> PegasosRun:
    """Passes until the gap is small or the budget is spent."""
    draw = drawing(weight, rng)
    shares, total = np.zeros(len(weight)), 0.0
    trace: list[float] = []
    look = 1.0
    while True:
        machine.take(draw())
        budget.step()
        # The mean of t w_t is the mean of the shares themselves.
        shares, total = shares + machine.shares, total + machine.steps
        if budget.iterations < look and not budget.spent:
            continue
        look = budget.iterations * _GROWTH + 1
        dual = shares / total if rule.average else machine.shares / machine.steps
        try:
            primal, lower = judged(machine, dual, weight / weight.sum(), rule.penalty)
        except OutOfTime:
            # Coefficients of zero are feasible, so that no primal value is below zero.
            primal, lower = float(np.inf), 0.0
        trace.append(relative(primal - lower, primal, lower))
        if trace[-1] <= stopping.tol or budget.spent:
            break
    solution = LinearSolution(
        vector=np.empty(0),
        primal=primal,
        dual=lower,
        gap=max(primal - lower, 0.0),
        residual=float(np.sqrt(2 * max(primal - lower, 0.0) / rule.penalty)),
        iterations=budget.iterations,
        method=METHOD,
        stopped_by=None if trace[-1] <= stopping.tol else budget.spent,
        trace=tuple(trace),
    )
    return PegasosRun(dual / rule.penalty, solution)


def judged(machine: Trained, dual: Floats, share: Floats, penalty: float) -> tuple[float, float]:
    """The primal value of `w` with these dual coefficients, and the bound that they give."""
    # Divided as late as can be: the square of a small penalty is zero.
    margins, square = machine.margins(dual)
    loss = float(share @ np.maximum(1 - margins / penalty, 0.0))
    primal = square / (2 * penalty) + loss
    feasible = np.minimum(dual, share)
    if not np.array_equal(feasible, dual):
        square = machine.margins(feasible)[1]
    return primal, float(feasible.sum()) - square / (2 * penalty)


def drawing(weight: Floats, rng: np.random.Generator) -> Callable[[], Integers]:
    """Draws the rows of a pass: each as often as its weight says, in a random order.

    Whole weights are met exactly. Others are met on average: of a pass of as many draws as rows,
    every row has its share rounded up or down at random.

    Examples
    --------
    >>> draw = drawing(np.array([1.0, 3.0]), np.random.default_rng(0))
    >>> sorted(draw().tolist())
    [0, 1, 1, 1]
    """
    whole = bool((weight == np.floor(weight)).all())
    ends = np.cumsum(weight)
    if not whole:
        ends *= len(weight) / ends[-1]

    def draw() -> Integers:
        offset = 0.0 if whole else float(rng.random())
        counts = np.diff(np.floor(ends + offset), prepend=np.floor(offset)).astype(np.int64)
        return rng.permutation(np.repeat(np.arange(len(weight)), counts))

    return draw


# --- Rows -----------------------------------------------------------------------------------------


class RowMachine:
    """The vector of one binary Pegasos under way.

    Parameters
    ----------
    visits : Visits
        Distinct rows, their sides and weights.
    rule : PegasosRule
    start : tuple of array (width + 1,) and float, optional
        `v` and the steps t of earlier passes, over other rows.
    """

    def __init__(
        self, visits: Visits, rule: PegasosRule, start: tuple[Floats, float] | None = None
    ) -> None:
        self._visits, self._rule = visits, rule
        self._design = Design(visits.X, visits.constant)
        self._cells: tuple[Any, ...] = kernel_cells(self._design)
        self._squares = as_argument(self._design.squares[visits.rows])
        self._pacer = Pacer()
        v, steps = (np.zeros(visits.n_columns + 1), 0.0) if start is None else start
        self.v = v.copy()
        self.shares = np.zeros(len(visits.rows))
        self._state = np.array([steps, 1.0, float(v @ v)])

    @property
    def steps(self) -> float:
        return float(self._state[0])

    @property
    def weights(self) -> Floats:
        """`w`, the intercept last."""
        return self.v / (self._rule.penalty * self.steps)

    def take(self, order: Integers) -> None:
        """Steps over the rows in this order, in slices after which Ctrl-C is heard."""
        from novum.svm.online.pegasos_kernels import dense_steps, sparse_steps

        kernel = sparse_steps if self._design.is_sparse else dense_steps
        visits, batch = self._visits, self._rule.batch_size
        wrong = np.zeros(batch, np.uint8)
        for start, stop in time_sliced(len(order), block=batch, pacer=self._pacer):
            kernel(
                *self._cells,
                as_argument(visits.rows, np.int64),
                as_argument(visits.sign),
                self._squares,
                float(visits.constant),
                as_argument(order[start:stop], np.int64),
                batch,
                float(self._rule.penalty),
                int(self._rule.projection),
                self.v,
                self.shares,
                self._state,
                wrong,
            )
            self._fold()

    def _fold(self) -> None:
        scale = self._state[1]
        if scale != 1.0:
            self.v *= scale
            self.shares *= scale
            self._state[1] = 1.0

    def margins(self, a: Floats) -> tuple[Floats, float]:
        """`s_i w'z_i` of every row and `|w|^2` for `w = sum_i a_i s_i z_i`."""
        vector = self.vector(a)
        scores = np.asarray(self._visits.X @ vector[:-1])[self._visits.rows]
        scores = scores + self._visits.constant * vector[-1]
        return self._visits.sign * scores, float(vector @ vector)

    def vector(self, a: Floats) -> Floats:
        """`sum_i a_i s_i z_i`, the intercept last."""
        coefficients = np.zeros(self._visits.X.shape[0])
        coefficients[self._visits.rows] = a * self._visits.sign
        whole = coefficients @ self._visits.X
        return np.append(whole, self._visits.constant * coefficients.sum())
