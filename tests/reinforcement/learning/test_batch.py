"""Linear values from recorded steps: LSPI equals policy iteration, sums add, Baird diverges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.core import load, save
from novum.core.errors import InputError
from novum.reinforcement import (
    DivergenceWarning,
    FittedQ,
    FourierFeatures,
    GridWorld,
    KernelFeatures,
    LeastSquaresPolicyIteration,
    MarkovDecisionProcess,
    Policy,
    RadialFeatures,
    StateIndicators,
    Steps,
    TileCoding,
    Traces,
    difference_sums,
    least_squares_values,
    linear_differences,
    policy_values,
    simulate,
    solve,
)

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(4), (2, 4))
PROCESS = MarkovDecisionProcess(P, RNG.random((4, 2)), 0.9, start=np.full(4, 0.25))
TRACES = simulate(PROCESS, Policy.uniform(PROCESS), 100, max_episode_steps=100, random_state=1)


def test_with_states_as_features_lspi_is_policy_iteration() -> None:
    counted = TRACES.process(0.9)
    best = solve(counted)
    agent = LeastSquaresPolicyIteration(StateIndicators(4), discount=0.9, ridge=0.0).fit(TRACES)
    order = [counted.states.position(s) for s in TRACES.states]
    np.testing.assert_allclose(agent.weights_.T, best.action_values[order], rtol=1e-9)
    assert agent.certificate_.converged
    np.testing.assert_array_equal(agent.predict(range(4)), best.policy.choices[order])


def test_lstd_is_the_value_in_the_counted_chain_and_its_sums_add() -> None:
    weights = least_squares_values(TRACES, StateIndicators(4), 0.9, ridge=0.0)
    n = len(TRACES.states)
    chain, reward, count = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    np.add.at(chain, (TRACES.state, TRACES.next_state), 1.0)
    np.add.at(reward, TRACES.state, TRACES.reward)
    np.add.at(count, TRACES.state, 1.0)
    exact = np.linalg.solve(np.eye(n) - 0.9 * chain / count[:, None], reward / count)
    np.testing.assert_allclose(weights, exact, rtol=1e-10)
    now, ahead = np.eye(n)[TRACES.state], np.eye(n)[TRACES.next_state]
    whole = difference_sums(now, ahead, TRACES.reward, 0.9)
    parts = [
        difference_sums(now[rows], ahead[rows], TRACES.reward[rows], 0.9)
        for rows in (slice(300), slice(300, None))
    ]
    np.testing.assert_allclose((parts[0] + parts[1]).products, whole.products)
    np.testing.assert_allclose((whole - parts[1]).rewards, parts[0].rewards)


def test_fitted_q_with_a_tree_is_a_table() -> None:
    from sklearn.tree import DecisionTreeRegressor

    agent = FittedQ(DecisionTreeRegressor(), discount=0.9, max_iter=300).fit(TRACES)
    counted = TRACES.process(0.9)
    order = [counted.states.position(s) for s in TRACES.states]
    best = solve(counted).action_values[order]
    values = agent.action_values(np.arange(4.0)[:, None])
    np.testing.assert_allclose(values, best, rtol=1e-4)
    only = Steps.of([[0.0]], [0], [1.0], [[0.0]], [True], actions=[0, 1])
    with pytest.raises(InputError, match="Action 1 never occurs"):
        FittedQ(DecisionTreeRegressor()).fit(only)


def test_the_star_of_baird_diverges_and_says_so() -> None:
    # Sutton and Barto, example 11.2: six states lead to the seventh; the behavior mostly goes to
    # one of the six, the policy in question always to the seventh.
    features = np.hstack([2 * np.eye(7)[:, :6], np.zeros((7, 1)), np.ones((7, 1))])
    features[6] = [0, 0, 0, 0, 0, 0, 1, 2]
    rng = np.random.default_rng(0)
    state = rng.integers(0, 7, 20_000)
    solid = rng.random(20_000) < 1 / 7
    following = np.where(solid, 6, rng.integers(0, 6, 20_000))
    start = np.array([1, 1, 1, 1, 1, 1, 10, 1.0])
    with pytest.warns(DivergenceWarning, match="Temporal differences diverged"):
        _, certificate = linear_differences(
            features[state], features[following], np.zeros(20_000), 0.99,
            step_size=0.01, start=start, weight=np.where(solid, 7.0, 0.0),
        )  # fmt: skip
    assert certificate.verdict == "unbounded"
    on_policy, fine = linear_differences(
        np.eye(4)[TRACES.state], np.eye(4)[TRACES.next_state], TRACES.reward, 0.9, step_size=0.02
    )
    assert fine.converged
    order = [PROCESS.states.position(s) for s in TRACES.states]
    exact = policy_values(PROCESS, Policy.uniform(PROCESS))[order]
    assert np.abs(on_policy - exact).max() < 0.5


def test_features_of_states() -> None:
    from novum.kernels import Gaussian

    box = ((0.0, -1.0), (2.0, 1.0))
    points = np.array([[0.5, 0.0], [2.0, 1.0], [9.0, 9.0]])
    tiles = TileCoding(*box, tiles=4, tilings=8)
    rows = tiles.transform(points)
    assert (rows.sum(axis=1) == 8).all()
    np.testing.assert_array_equal(rows[1], rows[2])
    near = tiles.transform(np.array([[0.52, 0.0]]))[0]
    assert 4 <= (near * rows[0]).sum() <= 8
    assert FourierFeatures(*box, order=3).transform(points).shape == (3, 16)
    assert RadialFeatures(*box, centers=3).transform(points).shape == (3, 10)
    assert KernelFeatures(Gaussian(1.0), points).transform(points).shape == (3, 3)
    with pytest.raises(InputError, match="bounds of features are finite"):
        TileCoding((0.0,), (np.inf,))
    with pytest.raises(InputError, match="States have 3 numbers, and the features 2"):
        tiles.transform(np.zeros((1, 3)))


ROOMS = ["attic", "cellar", "yard"]


def _rooms(name: Any = str) -> Traces:
    """Steps among three rooms; the way out of the last one pays."""
    rng = np.random.default_rng(3)
    episodes = []
    for _ in range(60):
        room, steps = 0, []
        while room < 3 and len(steps) < 30:
            move = str(rng.choice(["up", "down"]))
            following = room + 1 if move == "down" else max(room - 1, 0)
            after = None if following == 3 else name(ROOMS[following])
            steps.append((name(ROOMS[room]), move, 5.0 if following == 3 else -1.0, after))
            room = following
        episodes.append(steps)
    return Traces.of(episodes)


@pytest.mark.parametrize("kind", ["features", "regressor"])
def test_states_and_actions_keep_their_names(kind: str, tmp_path: Path) -> None:
    from novum.linear import LinearRegression

    traces = _rooms()
    agent: Any = FittedQ(LinearRegression(), discount=0.9)
    if kind == "features":
        agent = LeastSquaresPolicyIteration(StateIndicators(3), discount=0.9)
    agent.fit(traces)
    # By hand: 5 in the yard, then -1 + 0.9 of it for each room before.
    np.testing.assert_allclose(
        agent.action_values(ROOMS)[:, agent.actions_.index("down")], [2.15, 3.5, 5.0], atol=1e-5
    )
    assert agent.predict(["yard", "attic"]) == ["down", "down"]
    save(agent, tmp_path / "agent.novum")
    assert load(tmp_path / "agent.novum").predict(np.array(ROOMS)) == ["down"] * 3
    with pytest.raises(InputError, match="There is no state 'garden'"):
        agent.predict(["garden"])
    other = [ROOMS[2], ROOMS[0], ROOMS[1]]
    turned = Traces.of(
        [[(s, "down", -1.0, None) for s in other], [(s, "up", 0.0, None) for s in ROOMS]]
    )
    assert agent.fit(turned).predict(other) == ["up"] * 3


def test_names_that_are_numbers_are_what_features_see() -> None:
    world = GridWorld.notes()
    best = solve(world.process)
    seen = 0.8 * np.asarray(best.policy.weights) + 0.2 * Policy.uniform(world.process).weights
    traces = simulate(world.process, seen, 1500, random_state=2)
    places = [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3)]
    tiles = TileCoding((0.5, 0.5), (4.5, 3.5), tiles=4, tilings=1)
    for features in (StateIndicators(11), tiles):
        agent = LeastSquaresPolicyIteration(features, discount=0.99).fit(traces)
        assert agent.predict(places) == [best.policy[place] for place in places]
    # A state between those of the traces has numbers, but no name.
    assert len(agent.predict([(1.2, 1.1)])) == 1
    line = Traces.of([[(0.0, "on", 1.0, 0.5), (0.5, "on", 1.0, 8.0), (8.0, "on", 1.0, None)]])
    weights = least_squares_values(line, FourierFeatures((0.0,), (8.0,), order=2), 1.0)
    fits = FourierFeatures((0.0,), (8.0,), order=2).transform([[0.0], [0.5], [8.0]]) @ weights
    np.testing.assert_allclose(fits, [3.0, 2.0, 1.0], atol=1e-6)


def test_features_that_do_not_fit_the_states_are_refused() -> None:
    with pytest.raises(InputError, match=r"TileCoding are features of numbers. Use StateIndic"):
        least_squares_values(_rooms(), TileCoding((0.0,), (1.0,)), 0.9)
    for states in ([[3]], [[-1]], [[0.5]], [[0, 1]], [np.nan]):
        with pytest.raises(InputError, match=r"StateIndicators\(3\) take states .* 0 to 2"):
            StateIndicators(3).transform(states)
    named = Steps.of([[0.0], [1.0]], ["b", "a"], [1.0, 1.0], [[1.0], [2.0]], [False, True])
    assert list(named.actions) == ["b", "a"]
    with pytest.raises(InputError, match="There is no action 'c'"):
        Steps.of([[0.0]], ["c"], [1.0], [[0.0]], [True], actions=["a", "b"])
    assert list(Steps.of([[0.0]], [1], [1.0], [[0.0]], [True], actions=3).actions) == [0, 1, 2]
    with pytest.raises(InputError, match="States are rows of equally many numbers"):
        Steps.of([["hall"]], [1], [1.0], [["yard"]], [True])
    with pytest.raises(InputError, match="a number or a text each"):
        Steps.of([[0.0]], [[0, 1]], [1.0], [[0.0]], [True])


def test_fitted_q_says_what_its_states_are() -> None:
    from sklearn.linear_model import LinearRegression

    traces = Traces.of([[((1, 1), "on", 1.0, (1, 2)), ((1, 2), "on", 1.0, None)]])
    agent = FittedQ(LinearRegression(), discount=0.5).fit(traces)
    with pytest.raises(InputError, match="Each state has 2 numbers in the steps, got rows of 1"):
        agent.predict((1, 1))
    with pytest.raises(InputError, match="States are rows of equally many numbers"):
        agent.predict(["hall"])
