"""Traces: returns by hand, three ways to the same values, and other policies by weights."""

from __future__ import annotations

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


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"A step of episode 0 is \(state, action, reward"):
        Traces.of([[("a", 0)]])
    with pytest.raises(InputError, match="There is no step"):
        Traces.of([])
    with pytest.raises(InputError, match="could have come from this policy"):
        evaluate_off_policy(Traces.of([[("a", 0, 1.0, None)]], actions=[0, 1]), {"a": 1}, 0.9)
