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
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from novum.svm.linear.solution import Budget, LinearSolution, relative
from novum.svm.solver.descent import OutOfTimeError
from novum.svm.solver.problem import Stopping

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

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

    def take(self, order: Places) -> None:
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
        except OutOfTimeError:
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


def drawing(weight: Floats, rng: np.random.Generator) -> Callable[[], Places]:
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

    def draw() -> Places:
        offset = 0.0 if whole else float(rng.random())
        counts = np.diff(np.floor(ends + offset), prepend=np.floor(offset)).astype(np.int64)
        return rng.permutation(np.repeat(np.arange(len(weight)), counts))

    return draw
