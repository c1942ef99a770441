"""Average reward against all policies, periods and several components included."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given

from novum.reinforcement import MarkovDecisionProcess, average_reward
from tests.strategies.decision_processes import processes


def gain_of(process: MarkovDecisionProcess, choice: tuple[int, ...]) -> np.ndarray:
    """Mean reward of a policy: the average of P^t over many steps, which periods do not harm."""
    rows = process.pairs.rows_of(np.array(choice))
    chain = rows if isinstance(rows, np.ndarray) else rows.toarray()
    lazy = 0.5 * (np.eye(len(chain)) + chain)
    lazy[process.pairs.is_terminal] = 0.0
    power = np.linalg.matrix_power(lazy, 2**14)
    reward = np.where(process.pairs.is_terminal, 0.0, process.pairs.reward[list(choice)])
    return power @ reward


@given(processes(most_states=4, most_actions=2))
def test_no_policy_gains_more(process: MarkovDecisionProcess) -> None:
    plan = average_reward(process)
    start = process.pairs.start.tolist()
    own = [range(a, b) for a, b in pairwise(start)]
    best = np.max([gain_of(process, choice) for choice in product(*own)], axis=0)
    np.testing.assert_allclose(plan.gain, best, atol=1e-6)
    assert plan.policy.choices is not None
    taken = plan.policy.choices[process.pairs.state] == process.pairs.action
    own_gain = gain_of(process, tuple(np.flatnonzero(taken).tolist()))
    np.testing.assert_allclose(own_gain, best, atol=1e-6)


def test_a_circle_has_a_gain_too() -> None:
    circle = MarkovDecisionProcess([[[0.0, 1.0], [1.0, 0.0]]], [1.0, 4.0])
    plan = average_reward(circle)
    assert plan.gain == pytest.approx([2.5, 2.5])
    assert plan.certificate.converged
