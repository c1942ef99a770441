"""Making processes: all shapes of rewards, names, and what is refused in which words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.reinforcement import MarkovDecisionProcess, ProcessWarning, solve

RNG = np.random.default_rng(0)
P = RNG.random((2, 3, 3))
P /= P.sum(axis=2, keepdims=True)
R = RNG.random((2, 3, 3))


def test_rewards_of_steps_are_expected_ones() -> None:
    process = MarkovDecisionProcess(P, R, 0.9)
    expected = (P * R).sum(axis=2)
    for s in range(3):
        for a in range(2):
            assert process.reward(s, a) == pytest.approx(expected[a, s])
    matrices = [sparse.csr_array(m) for m in P]
    again = MarkovDecisionProcess(matrices, [sparse.csr_array(m) for m in R], 0.9)
    np.testing.assert_allclose(again.pairs.reward, process.pairs.reward)


def test_rewards_on_arrival_are_those_of_the_next_state() -> None:
    rewards = np.array([1.0, 2.0, 5.0])
    process = MarkovDecisionProcess(P, rewards, 0.9, rewards_on="arrival")
    same = MarkovDecisionProcess(P, np.broadcast_to(rewards, (2, 3, 3)), 0.9)
    np.testing.assert_allclose(process.pairs.reward, same.pairs.reward)
    left = MarkovDecisionProcess(P, rewards, 0.9)
    # V(departure) = r + discount * V(arrival): the same rewards, one step apart.
    np.testing.assert_allclose(
        solve(left).values, rewards + 0.9 * solve(process).values, rtol=1e-12
    )


def test_dense_and_sparse_are_one_process() -> None:
    thin = np.zeros((2, 40, 40))
    for a in range(2):
        for s in range(40):
            thin[a, s, RNG.integers(0, 40, 3)] = RNG.random(3) + 0.1
    thin /= thin.sum(axis=2, keepdims=True)
    dense = MarkovDecisionProcess(thin, np.arange(40.0), 0.9)
    listed = MarkovDecisionProcess([sparse.csc_matrix(m) for m in thin], np.arange(40.0), 0.9)
    assert not dense.pairs.is_dense
    np.testing.assert_array_equal(dense.pairs.rows.toarray(), listed.pairs.rows.toarray())
    np.testing.assert_array_equal(solve(dense).values, solve(listed).values)


def test_actions_may_differ_by_state() -> None:
    allowed = {"a": ["go"], "b": ["go", "stay"], "c": ["stay"]}
    process = MarkovDecisionProcess(
        P, np.ones((3, 2)), 0.5, states="abc", actions=["go", "stay"], allowed=allowed
    )
    assert [process.actions_of(s) for s in "abc"] == [["go"], ["go", "stay"], ["stay"]]
    assert np.isnan(solve(process).action_values[0, 1])
    with pytest.raises(InputError, match="State 'a' has no action 'stay'; its actions are 'go'"):
        process.reward("a", "stay")


def test_from_a_function_with_terminal_states() -> None:
    process = MarkovDecisionProcess.from_function(
        lambda s, a: [(0.5, min(s + a, 4), -1.0), (0.5, s, -1.0)],
        range(5),
        lambda s: [] if s == 4 else [1, 2],
        start=0,
    )
    assert process.terminal_states == [4]
    assert solve(process).value(0) == pytest.approx(-4.0)
    assert process.unreachable_states() == []


def test_unreachable_states_are_named() -> None:
    line = np.array([[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]])
    process = MarkovDecisionProcess(line, np.zeros(3), 0.5, states=["a", "b", "c"], start="a")
    assert process.unreachable_states() == ["c"]
    with pytest.warns(ProcessWarning, match="1 states cannot be reached from the start: 'c'"):
        process.warn_of_unreachable()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p * 0.9, "state 'x', action 'up' sum to 0.9, not to 1"),
        (lambda p: _with(p, (1, 2, 0), -0.5), "state 'z', action 'down' hold the negative value"),
        (lambda p: _with(p, (0, 1, 1), np.nan), "state 'y', action 'up' hold a value that is not"),
        (lambda p: _with(p, (1, 0), 0.0), "state 'x', action 'down' are all zero"),
    ],
)
def test_rows_that_are_no_probabilities_are_named(change: object, words: str) -> None:
    wrong = change(P.copy())  # type: ignore[operator]
    with pytest.raises(InputError, match=words):
        MarkovDecisionProcess(wrong, np.zeros(3), 0.9, states="xyz", actions=["up", "down"])


def _with(array: np.ndarray, place: tuple[int, ...], value: float) -> np.ndarray:
    array[place] = value
    return array


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(InputError, match=r"shape \(n_actions, n_states, n_states\), got \(3, 3\)"):
        MarkovDecisionProcess(P[0], np.zeros(3))
    with pytest.raises(InputError, match=r"from 0 to 1, got 1\.5"):
        MarkovDecisionProcess(P, np.zeros(3), 1.5)
    with pytest.raises(InputError, match="reward of state 1, action 0 is inf"):
        MarkovDecisionProcess(P, [[0.0, 0.0], [np.inf, 0.0], [0.0, 0.0]])
    with pytest.raises(InputError, match="reward of state 2, action 0 is nan"):
        MarkovDecisionProcess(P, [0.0, 0.0, np.nan])
    with pytest.raises(InputError, match="Action 'b' is allowed in no state"):
        MarkovDecisionProcess(P, np.zeros(3), actions="ab", allowed={0: "a", 1: "a", 2: "a"})
    with pytest.raises(InputError, match=r"No action is allowed in 2\. Allow one"):
        MarkovDecisionProcess(P, np.zeros(3), actions="ab", allowed={0: "a", 1: "b"})
    with pytest.raises(InputError, match="There is no state 'w'; there are 'x', 'y', 'z'"):
        MarkovDecisionProcess(P, np.zeros(3), states="xyz", terminal=["w"])
    with pytest.raises(InputError, match="3 states need as many names, got 2"):
        MarkovDecisionProcess(P, np.zeros(3), states="xy")
    with pytest.raises(InputError, match="have one of the shapes"):
        MarkovDecisionProcess(P, np.zeros(4))
    with pytest.raises(InputError, match=r"sum to 0\.5, not to 1"):
        MarkovDecisionProcess.from_outcomes({"a": {"go": [(0.5, "a", 0.0)]}})


def test_names_of_ends_and_chances_are_readable() -> None:
    table = {
        0: {0: [(1 / 3, 0, 1.0, False), (2 / 3, 1, 0.0, True)]},
        1: {0: [(1.0, 1, 9.0, False)]},
    }
    process = MarkovDecisionProcess.from_outcomes(table, 0.9, start=0)
    # What ends is never acted in, whatever the table says about it.
    assert process.transition(0, 0) == pytest.approx({0: 1 / 3, 1: 2 / 3})
    assert solve(process).value(0) == pytest.approx((1 / 3) / (1 - 0.3))
