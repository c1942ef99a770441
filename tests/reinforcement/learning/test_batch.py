"""Linear values from recorded steps: LSPI equals policy iteration, sums add, Baird diverges."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.reinforcement import (
    DivergenceWarning,
    FittedQ,
    FourierFeatures,
    KernelFeatures,
    LeastSquaresPolicyIteration,
    MarkovDecisionProcess,
    Policy,
    RadialFeatures,
    StateIndicators,
    Steps,
    TileCoding,
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

    steps = Steps.from_traces(TRACES)
    agent = FittedQ(DecisionTreeRegressor(), discount=0.9, max_iter=300).fit(steps)
    counted = TRACES.process(0.9)
    order = [counted.states.position(s) for s in TRACES.states]
    best = solve(counted).action_values[order]
    values = agent.action_values(np.arange(4.0)[:, None])
    np.testing.assert_allclose(values, best, rtol=1e-4)
    only = Steps.of([[0.0]], [0], [1.0], [[0.0]], [True], n_actions=2)
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
