"""Agents with a table: updates by hand, convergence, resuming, traces, and files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from novum.core import load, save
from novum.core.errors import InputError
from novum.reinforcement import (
    AdaptiveDynamicProgramming,
    Boltzmann,
    CertaintyEquivalence,
    ConstantRate,
    DoubleQLearning,
    EpsilonGreedy,
    ExpectedSarsa,
    Greedy,
    GridWorld,
    LinearDecay,
    MarkovDecisionProcess,
    Optimism,
    Optimistic,
    Policy,
    PolynomialDecay,
    PrioritizedSweeping,
    QLearning,
    Sarsa,
    ScheduleWarning,
    ThompsonSampling,
    Traces,
    policy_values,
    solve,
)

EVERYWHERE = np.full(5, 0.2)


def small_process(discount: float = 0.8) -> MarkovDecisionProcess:
    rng = np.random.default_rng(2)
    transitions = rng.dirichlet(np.ones(5), (2, 5))
    return MarkovDecisionProcess(transitions, rng.random((5, 2)), discount, start=EVERYWHERE)


# --- By hand --------------------------------------------------------------------------------------

HAND = Traces.of(
    [[("a", "x", 1.0, "b"), ("b", "y", 2.0, "a"), ("a", "x", 0.0, None)]],
    states="ab",
    actions="xy",
)


def hand(agent: Any) -> list[list[float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        return agent.fit(HAND).action_values_.tolist()


def test_updates_equal_those_by_hand() -> None:
    half = {"step_size": 0.5, "discount": 0.5, "exploration": EpsilonGreedy(0.2)}
    # Q-learning: Q(a,x) = 1/2; Q(b,y) = (2 + 1/2 * 1/2) / 2 = 1.125; then Q(a,x) = 1/4.
    assert hand(QLearning(**half)) == [[0.25, 0.0], [0.0, 1.125]]
    # SARSA: after (a,x) comes (b,y), worth 0; after (b,y) comes (a,x), worth 1/2.
    assert hand(Sarsa(**half)) == [[0.25, 0.0], [0.0, 1.125]]
    # Expected SARSA: in a the mean is 0.8 * 1/2 + 0.2 * 1/4 = 0.45.
    assert hand(ExpectedSarsa(**half))[1][1] == pytest.approx(0.5 * (2 + 0.5 * 0.45))


def test_sarsa_looks_at_the_action_that_came_next() -> None:
    other = Traces.of(
        [[("a", "y", 4.0, None)], [("b", "x", 0.0, "a"), ("a", "x", 0.0, None)]],
        states="ab",
        actions="xy",
    )
    half = {"step_size": 0.5, "discount": 0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        best = QLearning(**half).fit(other).action_values_
        own = Sarsa(**half).fit(other).action_values_
    # Q(a, y) = 2 counts for Q-learning, though x was taken next; for SARSA Q(a, x) = 0 does.
    assert best[1, 0] == 0.5
    assert own[1, 0] == 0.0


# --- Convergence ----------------------------------------------------------------------------------


SEEDS = 32


def learned(agent: Any) -> np.ndarray:
    """Tables (seeds, states, actions) of an agent that takes every action equally often."""
    process, everything = small_process(), EpsilonGreedy(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        tables = [
            clone(agent).set_params(exploration=everything, random_state=seed).fit(process)
            for seed in range(SEEDS)
        ]
    return np.array([table.action_values_ for table in tables])


def is_mean(tables: np.ndarray, expected: np.ndarray) -> bool:
    """Whether the mean over seeds is `expected` as far as their own spread tells.

    Student's t of every entry, at one in ten thousand for all entries together (Bonferroni).
    """
    count = len(tables)
    standard_error = tables.std(axis=0, ddof=1) / np.sqrt(count)
    limit = stats.t.isf(1e-4 / (2 * expected.size), count - 1)
    return bool((np.abs(tables.mean(axis=0) - expected) <= limit * standard_error).all())


def action_values(process: MarkovDecisionProcess, values: np.ndarray) -> np.ndarray:
    rewards = process.by_action(process.pairs.reward)
    return rewards + process.discount * process.by_action(process.pairs.expected(values))


# Values of the best policy, of the one that takes any action, and of both with a discount that is
# wrong in the third digit: an agent's seeds tell the first two and refuse the other ones.
BEST = solve(small_process()).action_values
OWN = action_values(
    small_process(), policy_values(small_process(), Policy.uniform(small_process()))
)
NEARLY = small_process(0.795)
NEARLY_BEST = solve(NEARLY).action_values
NEARLY_OWN = action_values(NEARLY, policy_values(NEARLY, Policy.uniform(NEARLY)))


@pytest.mark.parametrize("agent", [QLearning(200_000), DoubleQLearning(200_000)])
def test_off_policy_agents_come_to_the_best_values(agent: Any) -> None:
    tables = learned(agent)
    assert is_mean(tables, BEST)
    assert not is_mean(tables, OWN)
    assert not is_mean(tables, NEARLY_BEST)


@pytest.mark.parametrize(
    "agent",
    [
        Sarsa(200_000),
        pytest.param(Sarsa(200_000, trace_decay=0.5), marks=pytest.mark.slow),
        pytest.param(Sarsa(200_000, n=3), marks=pytest.mark.slow),
        ExpectedSarsa(200_000),
    ],
)
def test_on_policy_agents_come_to_the_values_of_their_policy(agent: Any) -> None:
    tables = learned(agent)
    assert is_mean(tables, OWN)
    assert not is_mean(tables, BEST)
    assert not is_mean(tables, NEARLY_OWN)


def test_both_tables_of_double_q_learn_where_every_step_begins_an_episode() -> None:
    # From each of two states one step of reward 1 leads to the end.
    table = {state: {"go": [(1.0, "end", 1.0)]} for state in "ab"}
    process = MarkovDecisionProcess.from_outcomes(table, start={"a": 0.5, "b": 0.5})
    agent = DoubleQLearning(400, random_state=0).fit(process)
    np.testing.assert_allclose(agent.pair_values_, agent.other_values_)
    np.testing.assert_allclose(agent.values_, [1.0, 1.0, 0.0])


def test_fading_exploration_ends_at_the_best_policy() -> None:
    process = small_process()
    best = solve(process)
    for agent in (Sarsa, ExpectedSarsa):
        fitted = agent(300_000, random_state=1).fit(process)
        loss = best.values - policy_values(process, fitted.policy_)
        assert loss.max() < 0.05


@pytest.mark.parametrize("rule", [CertaintyEquivalence(), ThompsonSampling(), Optimism(10.0, 30)])
def test_planning_in_a_counted_model_comes_to_the_best_policy(rule: Any) -> None:
    process = small_process()
    agent = AdaptiveDynamicProgramming(20_000, rule=rule, random_state=0).fit(process)
    loss = solve(process).values - policy_values(process, agent.policy_)
    assert loss.max() < 0.05
    assert agent.transition_counts_.sum() == 20_000
    assert agent.n_plans_ < 250
    posterior = agent.posterior(0, 0)
    assert sum(posterior.values()) == pytest.approx(agent.visits_[0] + agent.prior)


def test_prioritized_sweeping_plans_while_it_acts() -> None:
    process = small_process()
    agent = PrioritizedSweeping(20_000, random_state=0).fit(process)
    loss = solve(process).values - policy_values(process, agent.policy_)
    assert loss.max() < 0.05


def test_optimistic_agents_try_everything_first() -> None:
    agent = QLearning(2000, exploration=Optimistic(100.0, 20), random_state=0).fit(small_process())
    assert agent.visits_.min() >= 20
    hot = QLearning(5000, exploration=Boltzmann(100.0), random_state=0).fit(small_process())
    assert hot.visits_.min() > 300


# --- Resuming, files, bits ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent",
    [
        QLearning(4000, random_state=3),
        Sarsa(4000, trace_decay=0.6, random_state=3),
        Sarsa(4000, n=4, random_state=3),
        DoubleQLearning(4000, random_state=3),
        PrioritizedSweeping(4000, random_state=3),
    ],
    ids=lambda agent: type(agent).__name__,
)
def test_stopping_saving_and_going_on_give_the_same_bits(agent: Any, tmp_path: Path) -> None:
    world = GridWorld.notes()
    whole = clone(agent).fit(world)
    part = clone(agent).set_params(n_steps=1500).fit(world)
    save(part, tmp_path / "agent.novum")
    again = load(tmp_path / "agent.novum").partial_fit(world, 2500)
    np.testing.assert_array_equal(whole.action_values_, again.action_values_)
    np.testing.assert_array_equal(whole.episode_returns_, again.episode_returns_)
    assert again.n_steps_ == 4000
    assert again.predict([(1, 1)]) == whole.predict([(1, 1)])


def test_a_copy_is_not_changed_by_going_on() -> None:
    from copy import deepcopy

    world = GridWorld.notes()
    agent = QLearning(2000, random_state=0).fit(world)
    before, table = deepcopy(agent), agent.pair_values_
    kept = table.copy()
    agent.partial_fit(world, 2000)
    np.testing.assert_array_equal(table, kept)
    np.testing.assert_array_equal(before.pair_values_, kept)


# --- Words ----------------------------------------------------------------------------------------


def test_schedules_that_do_not_settle_are_told() -> None:
    process = small_process()
    with pytest.warns(ScheduleWarning, match="do not fall so that values settle"):
        QLearning(100, step_size=0.1).fit(process)
    with pytest.warns(ScheduleWarning, match="become those of the exploring policy"):
        Sarsa(100, exploration=EpsilonGreedy(0.1)).fit(process)
    with pytest.warns(ScheduleWarning, match="may never try the best action"):
        QLearning(100, exploration=Greedy()).fit(process)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QLearning(100).fit(process)
    assert LinearDecay(1.0, 0.0, 10).at(5) == 0.5
    assert ConstantRate(0.3).at(7) == 0.3
    assert PolynomialDecay(1.0, after=1.0).at(1) == 0.5


def test_what_is_refused() -> None:
    process = small_process()
    with pytest.raises(InputError, match="Where do episodes begin"):
        QLearning(10).fit(MarkovDecisionProcess([[[1.0]]], [0.0], 0.5))
    with pytest.raises(InputError, match=r"exploration is Greedy\(\), .* got 'random'"):
        QLearning(10, exploration="random").fit(process)
    with pytest.raises(InputError, match="step_size is a number from 0 to 1 or a schedule"):
        QLearning(10, step_size=3).fit(process)
    with pytest.raises(InputError, match="two ways to the same end"):
        Sarsa(10, n=2, trace_decay=0.5).fit(process)
    agent = QLearning(10, random_state=0).fit(process)
    with pytest.raises(InputError, match="knows 5 states and 2 actions, and this world has others"):
        agent.partial_fit(GridWorld.notes())
    with pytest.raises(InputError, match="There is no state 9"):
        agent.predict([9])
    with pytest.raises(InputError, match="Agents act in a MarkovDecisionProcess"):
        agent.fit("somewhere")
    with pytest.raises(ValueError, match="'n_steps' parameter of QLearning must be an int"):
        QLearning(0).fit(process)


def test_traces_of_others_are_learned_from() -> None:
    from novum.reinforcement import simulate

    process = small_process()
    traces = simulate(process, Policy.uniform(process), 400, max_episode_steps=200, random_state=0)
    agent = QLearning(discount=0.8).fit(traces)
    assert np.abs(agent.action_values_ - solve(process).action_values).max() < 0.35
    assert agent.n_steps_ == traces.n_steps
