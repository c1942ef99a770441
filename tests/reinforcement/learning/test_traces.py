"""Traces: returns by hand, three ways to the same values, and other policies by weights."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.reinforcement import (
    MarkovDecisionProcess,
    Policy,
    Traces,
    direct_utility,
    evaluate_off_policy,
    policy_values,
    simulate,
    temporal_differences,
)

RNG = np.random.default_rng(4)
P = RNG.dirichlet(np.ones(4), (2, 4)) * 0.8
P[:, :, 3] += 0.2
PROCESS = MarkovDecisionProcess(P, RNG.random((4, 2)), 0.9, terminal=[3], start=0)
UNIFORM = Policy.uniform(PROCESS)
TRACES = simulate(PROCESS, UNIFORM, 20_000, random_state=0)


def test_returns_by_hand() -> None:
    first = [("a", 0, 1.0, "b"), ("b", 0, 2.0, "a"), ("a", 0, 4.0, None)]
    traces = Traces.of([first, [("b", 0, 8.0, None)]])
    assert traces.returns_of_steps(0.5).tolist() == [3.0, 4.0, 4.0, 8.0]
    assert direct_utility(traces, 0.5).values.tolist() == [3.0, 6.0]
    assert direct_utility(traces, 0.5, first_visit=False).values.tolist() == [3.5, 6.0]


def test_three_ways_to_the_values_of_a_policy() -> None:
    exact = policy_values(PROCESS, UNIFORM)[:3]
    direct = direct_utility(TRACES, 0.9)
    assert direct.standard_errors is not None
    assert (np.abs(direct.values[:3] - exact) < 5 * direct.standard_errors[:3]).all()
    counted = TRACES.process(0.9)
    np.testing.assert_allclose(
        policy_values(counted, Policy.uniform(counted))[:3], exact, atol=0.05
    )
    for decay in (0.0, 0.5, 1.0):
        learned = temporal_differences(TRACES, 0.9, trace_decay=decay).values[:3]
        np.testing.assert_allclose(learned, exact, atol=0.1)


def test_a_prior_spreads_over_what_was_met() -> None:
    traces = Traces.of([[("a", 0, 1.0, "b")], [("a", 1, 1.0, "a")]])
    assert traces.process(0.9).transition("a", 0) == {"b": 1.0}
    assert traces.process(0.9, prior=1.0).transition("a", 0) == pytest.approx(
        {"a": 1 / 3, "b": 2 / 3}
    )


@pytest.mark.parametrize("known", [True, False])
def test_another_policy_is_judged_by_weights(known: bool) -> None:
    shares = np.array([[0.7, 0.3]] * 4)
    wanted = policy_values(PROCESS, Policy.of(PROCESS, shares))[0]
    traces = TRACES if known else replace(TRACES, probability=None)
    estimate = evaluate_off_policy(traces, shares, 0.9)
    assert estimate.low - 0.02 < wanted < estimate.high + 0.02
    assert estimate.unweighted == pytest.approx(wanted, abs=0.1)
    assert estimate.per_decision == pytest.approx(wanted, abs=0.1)
    assert 1000 < estimate.effective_episodes < estimate.n_episodes
    assert ("known" if known else "estimated") in repr(estimate)
    same = evaluate_off_policy(TRACES, UNIFORM, 0.9)
    assert same.effective_episodes == pytest.approx(same.n_episodes)


def _coverage(mixing: float, n_episodes: int, repeats: int) -> tuple[float, float]:
    """How often the interval holds for a shorter way through a corridor, and its mean width."""
    ahead = {s: {"on": [(0.9, s + 1, -1.0), (0.1, s, -1.0)]} for s in range(4)}
    back = {s: {"back": [(1.0, max(s - 1, 0), -1.0)]} for s in range(4)}
    table = {s: ahead[s] | back[s] for s in range(4)}
    process = MarkovDecisionProcess.from_outcomes(table, start=0)
    judged = Policy.of(process, dict.fromkeys(range(4), "on"))
    behavior = (1 - mixing) * judged.weights + mixing * Policy.uniform(process).weights
    exact = policy_values(process, judged)[0]
    held, width = 0, 0.0
    for seed in range(repeats):
        traces = simulate(process, behavior, n_episodes, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            estimate = evaluate_off_policy(traces, judged, 1.0)
        held += estimate.low <= exact <= estimate.high
        width += estimate.high - estimate.low
    return held / repeats, width / repeats


@pytest.mark.slow
@pytest.mark.parametrize("mixing", [0.2, 0.4, 0.6])
@pytest.mark.parametrize("n_episodes", [30, 100, 1000])
def test_intervals_hold_with_few_effective_episodes(mixing: float, n_episodes: int) -> None:
    held, _ = _coverage(mixing, n_episodes, 200)
    # Three standard errors of 200 draws below 0.95.
    assert held >= 0.904


def test_what_the_traces_may_not_show_widens_the_interval() -> None:
    held, width = _coverage(0.6, 60, 40)
    assert held >= 0.85
    assert width > _coverage(0.6, 1000, 5)[1]
    # By hand: weights 4, 1/4, 1/4.
    traces = Traces.of(
        [[("a", 0, 1.0, None, 0.2)], [("a", 1, 3.0, None, 0.8)], [("a", 1, 5.0, None, 0.8)]]
    )
    with pytest.warns(UserWarning, match="Up to 89% of the episodes of this policy may be miss"):
        estimate = evaluate_off_policy(traces, {"a": {0: 0.8, 1: 0.2}}, 1.0)
    weights = np.array([4.0, 0.25, 0.25])
    assert estimate.value == pytest.approx(weights @ [1.0, 3.0, 5.0] / weights.sum())
    assert estimate.hidden == pytest.approx(8 / 9)
    assert estimate.low <= 1.0
    assert estimate.high >= 8 / 9 * 5.0


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"A step of episode 0 is \(state, action, reward"):
        Traces.of([[("a", 0)]])
    with pytest.raises(InputError, match="There is no step"):
        Traces.of([])
    with pytest.raises(InputError, match="could have come from this policy"):
        evaluate_off_policy(Traces.of([[("a", 0, 1.0, None)]], actions=[0, 1]), {"a": 1}, 0.9)
