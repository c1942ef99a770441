"""Policies as values: their worth by simulation of the sums, tables, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.reinforcement import (
    GridWorld,
    MarkovDecisionProcess,
    Policy,
    occupation,
    policy_values,
    solve,
    stationary_distribution,
)

RNG = np.random.default_rng(5)
P = RNG.random((2, 4, 4))
P /= P.sum(axis=2, keepdims=True)
PROCESS = MarkovDecisionProcess(P, RNG.random((4, 2)), 0.9, states="abcd", actions=["l", "r"])


def test_the_value_is_the_sum_of_discounted_rewards() -> None:
    shares = RNG.random((4, 2))
    shares /= shares.sum(axis=1, keepdims=True)
    policy = Policy.of(PROCESS, shares)
    chain = np.einsum("sa,ast->st", shares, P)
    reward = (shares * PROCESS.by_action(PROCESS.pairs.reward)).sum(axis=1)
    total, power = np.zeros(4), np.eye(4)
    for t in range(600):
        total += 0.9**t * (power @ reward)
        power = power @ chain
    np.testing.assert_allclose(policy_values(PROCESS, policy), total, rtol=1e-12)


def test_occupation_times_rewards_is_the_value() -> None:
    start = {"a": 0.5, "b": 0.5}
    visits = occupation(PROCESS, Policy.uniform(PROCESS), start)
    values = policy_values(PROCESS, Policy.uniform(PROCESS))
    rewards = PROCESS.by_action(PROCESS.pairs.reward)
    assert (visits * rewards).sum() == pytest.approx(values[:2].mean())
    assert visits.sum() == pytest.approx(10.0)


def test_the_stationary_distribution_stays() -> None:
    shares = stationary_distribution(PROCESS, Policy.uniform(PROCESS))
    np.testing.assert_allclose(shares @ P.mean(axis=0), shares, rtol=1e-13)
    with pytest.raises(InputError, match="0 closed classes"):
        stationary_distribution(GridWorld.notes().process, solve(GridWorld.notes().process).policy)


@pytest.mark.parametrize("frame", ["arrow", "pandas", "polars"])
def test_tables_there_and_back(frame: str) -> None:
    for given in ({"a": "l", "b": "r", "c": "r", "d": "l"}, RNG.dirichlet([1, 1], 4)):
        policy = Policy.of(PROCESS, given)
        assert Policy.of(PROCESS, policy.table(frame)) == policy
    world = GridWorld.notes().process
    plan = solve(world)
    assert Policy.of(world, plan.policy.table()) == plan.policy
    steps = solve(PROCESS, horizon=3).policy
    assert Policy.of(PROCESS, steps.table(frame)) == steps


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="says nothing about 'd'"):
        Policy.of(PROCESS, {"a": "l", "b": "r", "c": "r"})
    with pytest.raises(InputError, match="There is no action 'up'"):
        Policy.of(PROCESS, {"a": "up", "b": "r", "c": "r", "d": "l"})
    with pytest.raises(
        InputError, match=r"state 'b' are at least 0 and sum to 1; they sum to 0\.5"
    ):
        Policy.of(PROCESS, [[1, 0], [0.5, 0.0], [1, 0], [1, 0]])
    other = MarkovDecisionProcess(P, np.zeros(4), 0.9, states="wxyz", actions=["l", "r"])
    with pytest.raises(InputError, match="over the states 'w', 'x', 'y', 'z' and the process over"):
        policy_values(PROCESS, Policy.uniform(other))
    with pytest.raises(InputError, match="action number 7"):
        Policy.of(PROCESS, [0, 7, 0, 0])
    world = GridWorld.notes().process
    stuck = Policy.of(world, dict.fromkeys(world.states, "left"))
    with pytest.raises(InputError, match=r"this one never leaves \(1, 1\), \(1, 2\), \(1, 3\)"):
        policy_values(world, stuck)
