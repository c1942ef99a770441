"""Bellman's equations as a linear program, its dual, and what its optimal basis says.

    minimize    sum over s of V(s)
    subject to  V(s) >= r_p + discount * P_p V      for every pair p of every state s

The dual variables are the *occupation* of pairs: expected discounted visits, with one start in
every state. Pairs with positive occupation form a best policy.

A policy is a basis of the program, so changing rewards in a direction d leaves it best as long as
no reduced cost changes sign: with V' = (I - discount * P_pi)^-1 d_pi,

    gap_p + t * (V'(s) - d_p - discount * P_p V')  >= 0        for every pair p

is an interval of t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from novum.core.errors import InputError
from novum.core.runtime import long_call
from novum.numerics import Floats, Integers
from novum.reinforcement.pairs import END, Pairs
from novum.reinforcement.planning.policy_iteration import Approximation, evaluate
from novum.reinforcement.policy import Policy
from novum.reinforcement.policy_worth import chosen_pairs
from novum.reinforcement.process import MarkovDecisionProcess

if TYPE_CHECKING:
    from novum.reinforcement.planning.plan import Plan


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """Values, and how often each pair is visited."""

    values: Floats
    occupation: Floats
    iterations: int


def solve_program(pairs: Pairs, discount: float) -> ProgramSolution:
    """The linear program, by HiGHS."""
    own, n = pairs.as_sparse(), pairs.n_states
    owner = sparse.csr_array(
        (np.ones(own.n_pairs), (np.arange(own.n_pairs), own.state)), shape=(own.n_pairs, n)
    )
    constraints = sparse.csr_array(discount * own.rows - owner)
    result = long_call(
        lambda: linprog(
            np.ones(n), A_ub=constraints, b_ub=-own.reward, bounds=(None, None), method="highs"
        ),
        50.0 * own.n_pairs * n,
        f"a linear program of {n} states",
    )
    if result.status != 0:
        raise InputError(
            f"The linear program of the process has no solution ({result.message.strip()}). "
            "Without a discount every policy must end; method='auto' says where it does not."
        )
    occupation = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
    return ProgramSolution(np.asarray(result.x), occupation, int(result.nit))


def by_linear_program(pairs: Pairs, discount: float) -> Approximation:
    """Values and a policy from the linear program: pairs of largest occupation."""
    solution = solve_program(pairs, discount)
    chosen = pairs.greedy(solution.occupation)
    # Values of the basis itself, so that the accuracy is that of elimination, not of the program.
    exact = evaluate(pairs, discount, chosen)
    values = solution.values if exact is None else exact
    return Approximation(values, chosen, solution.iterations, (), True)


# --- Sensitivity ----------------------------------------------------------------------------------


def reward_range(plan: Plan, state: Any, action: Any) -> tuple[float, float]:
    """See `Plan.reward_range`."""
    process, pairs = plan.process, plan.process.pairs
    if plan.horizon is not None:
        raise InputError("Ranges of rewards are those of plans without a horizon.")
    direction = np.zeros(pairs.n_pairs)
    at = 0.0
    if state is None:
        direction[pairs.action != END] = 1.0
    else:
        code = process.states.position(state)
        if action is None:
            own = slice(int(pairs.start[code]), int(pairs.start[code + 1]))
            direction[own] = 1.0
            rewards = pairs.reward[own]
            if np.ptp(rewards) > 0:
                raise InputError(
                    "The actions of this state have different rewards: name one of them."
                )
            at = float(rewards[0])
        else:
            pair = process.pair(code, process.actions.position(action))
            direction[pair] = 1.0
            at = float(pairs.reward[pair])
    assert plan.policy.choices is not None
    chosen = chosen_pairs(process, plan.policy.choices)
    low, high = _interval(process, chosen, direction)
    return at + low, at + high


def _interval(
    process: MarkovDecisionProcess, chosen: Integers, direction: Floats
) -> tuple[float, float]:
    """For which t the policy is best with rewards r + t * direction."""
    pairs, discount = process.pairs, process.discount
    values = evaluate(pairs, discount, chosen)
    slope = evaluate(_with_reward(pairs, direction), discount, chosen)
    if values is None or slope is None:
        raise InputError(
            "The policy stays where rewards are zero, so that its values do not follow from its "
            "rewards alone. Give the process a discount below 1."
        )
    gap = values[pairs.state] - pairs.reward - discount * pairs.expected(values)
    change = slope[pairs.state] - direction - discount * pairs.expected(slope)
    scale = max(float(np.abs(values).max()), float(np.abs(pairs.reward).max()), 1e-300)
    gap = np.where(np.abs(gap) <= 1e-11 * scale, 0.0, gap)
    change = np.where(np.abs(change) <= 1e-11 * max(float(np.abs(slope).max()), 1.0), 0.0, change)
    gap[chosen] = change[chosen] = 0.0
    falls, rises = change < 0, change > 0
    high = float((gap[falls] / -change[falls]).min()) if falls.any() else math.inf
    low = float((-gap[rises] / change[rises]).max()) if rises.any() else -math.inf
    return low, high


def _with_reward(pairs: Pairs, reward: Floats) -> Pairs:
    return replace(pairs, reward=reward)


@dataclass(frozen=True)
class RewardRange:
    """Rewards `low` to `high` and the policy that is best between them."""

    low: float
    high: float
    policy: Policy


def policy_ranges(process: MarkovDecisionProcess, low: float, high: float) -> Iterator[RewardRange]:
    """The policies that are best as the reward of every state that is not terminal goes up.

    All these rewards are one number, the *living reward*, which goes from `low` to `high`; rewards
    of terminal states stay. Ranges are exact but for rounding.

    Examples
    --------
    >>> from novum.reinforcement import GridWorld
    >>> world = GridWorld.notes().process
    >>> [round(part.high, 4) for part in policy_ranges(world, -2.0, -0.5)]
    [-1.6497, -1.5643, -0.7311, -0.5]
    """
    from novum.reinforcement.planning.solve import solve

    pairs = process.pairs
    moving = pairs.action != END
    direction = moving.astype(np.float64)
    now = low
    while now < high:
        rewards = np.where(moving, now, pairs.reward)
        here = process.with_rewards(rewards)
        plan = solve(here)
        assert plan.policy.choices is not None
        chosen = chosen_pairs(here, plan.policy.choices)
        _, reach = _interval(here, chosen, direction)
        step = 1e-9 * max(abs(low), abs(high))
        if reach <= step:
            # At a border several policies are best; the one just beyond it goes on.
            now += 2 * step
            continue
        yield RewardRange(now, min(now + reach, high), plan.policy)
        now = now + reach + step
