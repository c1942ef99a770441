"""Value iteration and modified policy iteration, both with MacQueen's bounds.

    V <- T V,        T V(s) = max over pairs p of s of   r_p + discount * P_p V

With lo and hi the least and the largest of T V - V, the best values lie between
T V + c lo and T V + c hi, where c = discount / (1 - discount). So the *span* hi - lo decides when
to stop, which falls much sooner than the size of T V - V: a constant that all states still have to
gain is known without waiting for it. The same bounds show that a pair whose Q is below T V by more
than c (hi - lo) is in no best policy; such pairs are dropped for good (MacQueen 1967).

Modified policy iteration (Puterman and Shin 1978) takes a few cheap steps V <- r_pi + discount *
P_pi V with the policy of the last best actions before it looks at all actions again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from novum.core.runtime import check_cancelled
from novum.numerics import EPSILON, Floats, Integers
from novum.reinforcement.pairs import Pairs
from novum.reinforcement.planning.policy_iteration import Approximation

MOST_SWEEPS = 100_000
# Evaluation steps between two looks at all actions, at most; they stop where they gain no more.
EVALUATIONS = 40
# Pairs are dropped when it spares as much as copying the others costs.
DROP_SHARE = 0.5


@dataclass(frozen=True)
class Pace:
    """How fast the span falls, for those who may go over to another method."""

    sweeps: int
    bound: float
    rate: float
    goal: float

    @property
    def sweeps_left(self) -> float:
        if self.bound <= self.goal:
            return 0.0
        if not 0 < self.rate < 1:
            return math.inf
        return math.log(self.goal / self.bound) / math.log(self.rate)


def successive(
    pairs: Pairs,
    discount: float,
    tol: float,
    *,
    evaluations: int = 0,
    most_sweeps: int = MOST_SWEEPS,
    give_up: Callable[[Pace], bool] | None = None,
) -> Approximation:
    """Sweeps until the policy is proved to lose at most `tol` times the largest value.

    Parameters
    ----------
    evaluations : int
        Steps with a fixed policy between two looks at all actions; 0 is value iteration.
    give_up : callable, optional
        Asked from time to time; true ends the sweeps.
    """
    values = np.zeros(pairs.n_states)
    active, places = pairs, np.arange(pairs.n_pairs)
    sums = pairs.row_sums
    is_whole = bool(sums.min() > 1 - 1e-9)
    factor = discount / (1 - discount) if discount < 1 else 1.0
    trace: list[float] = []
    sweeps = 0
    bounds: list[float] = []
    chosen: Integers = np.zeros(0, np.int64)
    while sweeps < most_sweeps:
        check_cancelled()
        action_values = active.reward
        if sweeps:
            # From zero there is nothing to expect yet.
            action_values = active.reward + discount * active.expected(values)
        best = active.best(action_values)
        change = best - values
        low, high = float(change.min()), float(change.max())
        if not is_whole:
            # Where the process can end a constant is not shared by all states.
            low, high = min(low, 0.0), max(high, 0.0)
        sweeps += 1
        span, scale = high - low, max(float(np.abs(best).max()), 1.0)
        floor = 8 * EPSILON * scale * factor
        trace.append(span)
        bound = factor * span
        bounds.append(bound)
        done = bound <= max(tol * scale, floor)
        if done or evaluations or sweeps == most_sweeps:
            chosen = places[active.greedy(action_values, best)]
        if done:
            return Approximation(
                best + (factor * 0.5 * (low + high) if is_whole else 0.0),
                chosen,
                sweeps,
                tuple(trace),
                True,
            )
        if give_up is not None and sweeps >= 3:
            rate = (bounds[-1] / bounds[-3]) ** 0.5 if bounds[-3] > 0 else 0.0
            if give_up(Pace(sweeps, bound, rate, max(tol * scale, floor))):
                chosen = places[active.greedy(action_values, best)]
                return Approximation(best, chosen, sweeps, tuple(trace), False)
        if discount < 1 and is_whole:
            values = best + factor * 0.5 * (low + high)
            kept = best[active.state] - action_values <= bound * (1 + 1e-9) + 4 * floor
            if kept.sum() <= DROP_SHARE * active.n_pairs and kept.sum() > 1.05 * active.n_states:
                active, inner = active.subset(kept)
                places = places[inner]
        else:
            values = best
        if evaluations:
            # Few at first: the policy still changes, and another method may take over.
            most = min(evaluations, 4 * 2**sweeps)
            values = _evaluated(pairs, discount, chosen, values, span, most, is_whole)
    return Approximation(values, chosen, sweeps, tuple(trace), False)


def _evaluated(
    pairs: Pairs,
    discount: float,
    chosen: Integers,
    values: Floats,
    span: float,
    most: int,
    is_whole: bool,
) -> Floats:
    """A few steps with a fixed policy; they end where the span has fallen well below `span`."""
    rows, reward = pairs.rows_of(chosen), pairs.reward[chosen]
    for step in range(most):
        following = reward + discount * (rows @ values)
        if step % 4 == 3 or pairs.is_dense:
            change = following - values
            low, high = float(change.min()), float(change.max())
            if high - low <= 0.03 * span:
                if is_whole and discount < 1:
                    following += discount / (1 - discount) * 0.5 * (low + high)
                return np.asarray(following)
        values = following
    return values
