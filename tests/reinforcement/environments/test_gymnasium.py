"""Gymnasium's environments: tables, loops, vectors, and those that break their word."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.core import load, save
from novum.core.errors import InputError
from novum.reinforcement import (
    DivergenceWarning,
    EpsilonGreedy,
    LinearQLearning,
    LinearSarsa,
    MarkovDecisionProcess,
    QLearning,
    Sarsa,
    ScheduleWarning,
    StateIndicators,
    TileCoding,
    solve,
)

gymnasium = pytest.importorskip("gymnasium")

CART = TileCoding((-2.4, -3.0, -0.21, -3.0), (2.4, 3.0, 0.21, 3.0), tiles=4, tilings=4)


def test_a_table_environment_is_planned_and_learned() -> None:
    environment = gymnasium.make("FrozenLake-v1", is_slippery=True)
    process = MarkovDecisionProcess.from_environment(environment, 0.99)
    plan = solve(process)
    # Known for the 4 x 4 map with discount 0.99.
    assert plan.value(0) == pytest.approx(0.542, abs=5e-4)
    agent = QLearning(200_000, exploration=EpsilonGreedy(0.3), random_state=0).fit(environment)
    assert abs(agent.values_[0] - plan.value(0)) < 0.1
    assert agent.episode_lengths_.max() <= 100


def test_an_undiscounted_lake_has_free_loops() -> None:
    environment = gymnasium.make("FrozenLake-v1", is_slippery=True)
    plan = solve(MarkovDecisionProcess.from_environment(environment, 1.0))
    assert plan.value(0) == pytest.approx(0.8235, abs=5e-4)
    assert plan.certificate.converged


class Corridor(gymnasium.Env):
    """Five cells; the last pays. Without a table, and dishonest if asked to be."""

    observation_space = gymnasium.spaces.Discrete(5)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, honest: bool = True) -> None:
        self.honest, self.cell = honest, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.cell = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        self.cell = max(self.cell + (1 if action else -1), 0)
        done = self.cell == 4
        shown = self.cell if self.honest else 17
        return shown, 1.0 if done else 0.0, done, False, {}


@pytest.mark.parametrize("agent", [QLearning, Sarsa])
def test_any_discrete_environment_through_one_loop(agent: Any) -> None:
    fitted = agent(3000, random_state=0, max_episode_steps=100).fit(Corridor())
    np.testing.assert_array_equal(fitted.predict([0, 1, 2, 3]), [1, 1, 1, 1])
    assert fitted.values_[3] == pytest.approx(1.0, abs=0.05)
    again = agent(3000, random_state=0, max_episode_steps=100).fit(Corridor())
    np.testing.assert_array_equal(again.action_values_, fitted.action_values_)


def test_environments_that_break_their_word() -> None:
    with pytest.raises(InputError, match="is in state 17, and it declared the states 0 to 4"):
        QLearning(100).fit(Corridor(honest=False))
    with pytest.raises(InputError, match="A table cannot hold them; use LinearSarsa"):
        QLearning(100).fit(gymnasium.make("CartPole-v1"))
    with pytest.raises(InputError, match="choose among finitely many"):
        LinearSarsa(100).fit(gymnasium.make("Pendulum-v1"))
    with pytest.raises(InputError, match="has no table `P`"):
        MarkovDecisionProcess.from_environment(gymnasium.make("CartPole-v1"))


@pytest.mark.parametrize("agent", [LinearSarsa, LinearQLearning])
def test_linear_agents_learn_to_balance(agent: Any, tmp_path: Path) -> None:
    environment = gymnasium.make("CartPole-v1")
    fitted = agent(12_000, features=CART, random_state=0).fit(environment)
    assert fitted.episode_returns_[-10:].mean() > 2 * fitted.episode_returns_[:50].mean()
    assert fitted.certificate_.converged
    save(fitted, tmp_path / "agent.novum")
    state = [[0.0, 0.1, 0.02, 0.1]]
    again = load(tmp_path / "agent.novum")
    np.testing.assert_array_equal(again.action_values(state), fitted.action_values(state))
    steps = fitted.steps_
    assert again.partial_fit(environment, 500).steps_ == steps + 500


@pytest.mark.parametrize("count", [None, 4])
def test_states_without_bounds_have_those_of_random_steps(count: int | None) -> None:
    name = "CartPole-v1"
    environment: Any = gymnasium.make(name) if count is None else gymnasium.make_vec(name, count)
    space = gymnasium.make(name).observation_space
    agent = LinearSarsa(8000, random_state=0).fit(environment)
    low, high = np.array(agent.features_.low), np.array(agent.features_.high)
    bounded = np.abs(space.high) < 1e6
    assert bounded.any()
    assert not bounded.all()
    np.testing.assert_array_equal(low[bounded], space.low[bounded].astype(np.float64))
    assert (np.abs(low - high)[~bounded] > 1.0).all()
    assert agent.episode_returns_[-10:].mean() > 2 * agent.episode_returns_[:30].mean()


class Wide(gymnasium.Env):
    """Nine numbers in a box: too many for tiles."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (9,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        return np.zeros(9), {}


def test_tiles_of_many_numbers_are_refused_before_they_are_made() -> None:
    with pytest.raises(InputError, match=r"States of 9 numbers would have .* tiles"):
        LinearSarsa(100).fit(Wide())


def test_tiles_in_one_call_are_the_plain_loop() -> None:
    class PlainTiles:
        """The same features, of another class: through the loop for any features."""

        n_features = CART.n_features
        active = staticmethod(CART.active)
        transform = staticmethod(CART.transform)

    environment = gymnasium.make("CartPole-v1")
    one = LinearSarsa(1500, features=CART, random_state=0).fit(environment)
    other = LinearSarsa(1500, features=PlainTiles(), random_state=0).fit(environment)
    # Sums of tiles are rounded in another order, so that a tie may fall another way later on.
    np.testing.assert_array_equal(one.episode_returns_[:12], other.episode_returns_[:12])


def test_vectors_of_environments() -> None:
    environments = gymnasium.make_vec("CartPole-v1", num_envs=4)
    agent = LinearSarsa(8000, features=CART, random_state=0).fit(environments)
    assert agent.steps_ == 8000
    assert agent.episode_returns_[-10:].mean() > agent.episode_returns_[:30].mean()


def test_traces_reach_further_back() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        agent = LinearSarsa(
            4000, features=CART, trace_decay=0.8, step_size=0.3, random_state=0
        ).fit(gymnasium.make("CartPole-v1"))
    assert agent.episode_returns_[-5:].mean() > agent.episode_returns_[:20].mean()


class Star(gymnasium.Env):
    """Baird's star: one of seven actions leads to the seventh state, and pays; the rest do not."""

    observation_space = gymnasium.spaces.Discrete(7)
    action_space = gymnasium.spaces.Discrete(7)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        return int(self.np_random.integers(7)), {}

    def step(self, action: int) -> Any:
        following = 6 if action == 6 else int(self.np_random.integers(6))
        return following, float(action == 6), False, False, {}


class StarFeatures:
    """Seven states of eight features; every value of the star is a sum of them."""

    n_features = 8

    def transform(self, states: Any) -> np.ndarray:
        table = np.hstack([2 * np.eye(7)[:, :6], np.zeros((7, 1)), np.ones((7, 1))])
        table[6] = (0, 0, 0, 0, 0, 0, 1, 2)
        return table[np.asarray(states, np.int64).ravel()]


def test_q_learning_diverges_on_the_star_of_baird_and_says_so() -> None:
    settings: dict[str, Any] = {
        "features": StarFeatures(),
        "step_size": 0.1,
        "exploration": EpsilonGreedy(1.0),
        "random_state": 0,
    }
    with pytest.warns(DivergenceWarning, match="LinearQLearning diverged: after .* FittedQ"):
        agent = LinearQLearning(30_000, **settings).fit(Star())
    assert agent.certificate_.verdict == "unbounded"
    assert not agent.certificate_.converged
    assert agent.certificate_.details["diverged_at"] < 30_000
    # On its own policy the same features are safe: one action in seven pays.
    own = LinearSarsa(30_000, **settings).fit(Star())
    assert own.certificate_.verdict == "local"
    assert np.abs(own.action_values(range(7))).max() < 1 / (1 - 0.99)


def test_vectors_of_environments_are_for_linear_agents() -> None:
    lakes = gymnasium.make_vec("FrozenLake-v1", num_envs=2)
    with pytest.raises(InputError, match=r"this is a vector of 2\. Pass one of them, or learn by"):
        QLearning(100).fit(lakes)
    agent = LinearQLearning(400, features=StateIndicators(16), random_state=0).fit(lakes)
    assert agent.weights_.shape == (4, 16)
