"""Agents over seeds: curves, regret, tests, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.evaluation import compare_agents
from novum.evaluation.agents.agent_comparison import _stretches
from novum.reinforcement import EpsilonGreedy, GridWorld, QLearning, ScheduleWarning, solve

WORLD = GridWorld.notes()
BEST = solve(WORLD.process).value((1, 1))


@pytest.mark.filterwarnings("ignore::novum.reinforcement.ScheduleWarning")
def test_a_learner_beats_one_that_never_stops_trying() -> None:
    assert ScheduleWarning is not None
    agents = {
        "learns": QLearning(8000),
        "wanders": QLearning(8000, exploration=EpsilonGreedy(1.0)),
    }
    judged = compare_agents(agents, WORLD, n_seeds=6, optimum=BEST)
    assert judged.final("learns").low > judged.final("wanders").high
    assert judged.regret("learns").high < judged.regret("wanders").low
    assert judged.final("learns").high > BEST - 0.1
    assert "learns" in judged.comparison().verdict.splitlines()[0]
    assert len(judged.curve("learns")) == 20
    assert "<svg" in judged._repr_html_()
    assert "learns" in repr(judged)
    same = compare_agents(agents, WORLD, n_seeds=6, optimum=BEST)
    np.testing.assert_array_equal(same.returns["learns"], judged.returns["learns"])


def test_stretches_are_means_of_the_episodes_that_ended_in_them() -> None:
    agent = SimpleNamespace(
        episode_returns_=np.array([1.0, 3.0, 10.0]), episode_lengths_=np.array([2, 3, 20])
    )
    ends = np.array([5, 10, 25])
    assert _stretches(agent, ends).tolist() == [2.0, 2.0, 10.0]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="There is no agent to judge"):
        compare_agents({}, WORLD)
    with pytest.raises(InputError, match="at least 2 of them, got 1"):
        compare_agents({"a": QLearning(10)}, WORLD, n_seeds=1)
    with pytest.raises(InputError, match="'a' finished no episode"):
        compare_agents({"a": QLearning(1)}, WORLD)
    judged = compare_agents({"a": QLearning(500)}, WORLD, n_seeds=2)
    with pytest.raises(InputError, match="Regret needs the best value"):
        judged.regret("a")
    with pytest.raises(InputError, match="There is no agent 'b'; there are 'a'"):
        judged.curve("b")
    with pytest.raises(InputError, match="needs two agents"):
        judged.comparison()
