"""Plans against rational arithmetic, enumeration, the notes and each other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import InputError
from novum.reinforcement import (
    GridWorld,
    MarkovDecisionProcess,
    policy_ranges,
    policy_values,
    solve,
)
from novum.reinforcement.planning.solve import METHODS
from tests.oracles.decision_processes import (
    action_value,
    all_policies,
    best_by_histories,
    best_values,
    living_reward_ranges,
    policy_value,
    rational_pairs,
)
from tests.strategies.decision_processes import ending_processes, processes

# Russell and Norvig, figure 17.3: the utilities that the notes' world is known by.
PRINTED = {
    (1, 3): 0.812, (2, 3): 0.868, (3, 3): 0.918, (4, 3): 1.0,
    (1, 2): 0.762, (3, 2): 0.660, (4, 2): -1.0,
    (1, 1): 0.705, (2, 1): 0.655, (3, 1): 0.611, (4, 1): 0.388,
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_the_world_of_the_notes_to_the_printed_decimals(method: str) -> None:
    plan = solve(GridWorld.notes().process, method=method)
    for field, value in PRINTED.items():
        assert round(plan.value(field), 3) == value, (method, field)
    assert [plan.policy[f] for f in [(1, 1), (2, 1), (3, 1), (4, 1)]] == [
        "up",
        "left",
        "left",
        "left",
    ]
    assert plan.certificate.converged
    assert plan.certificate.distance_bound is not None
    assert plan.certificate.distance_bound < 1e-9


def test_policies_and_borders_of_living_rewards_are_those_of_rational_arithmetic() -> None:
    process = GridWorld.notes().process
    exact = living_reward_ranges(process, Fraction(-2), Fraction(0))
    ranges = list(policy_ranges(process, -2.0, 0.0))
    assert len(ranges) == len(exact) == 9
    for one, (border, policy) in zip(ranges, exact, strict=True):
        assert abs(Fraction(one.high) - border) < 1e-12
        moving = process.pairs.action[process.pairs.start[:-1]] >= 0
        np.testing.assert_array_equal(one.policy.choices[moving], np.array(policy)[moving])
    dear, cheap = ranges[0].policy, ranges[-1].policy
    assert dear[(3, 2)] == "right", "any end is better than to stay"
    assert cheap[(3, 2)] == "left", "rather into the wall than near the bad end"
    assert cheap[(4, 1)] == "down"


def test_living_for_a_reward_has_no_values_without_a_discount() -> None:
    with pytest.raises(InputError, match=r"Going round among \(1, 1\), .* earns without bound"):
        solve(GridWorld.notes(0.1).process)


@given(processes())
def test_values_and_actions_equal_rational_arithmetic(process: MarkovDecisionProcess) -> None:
    exact = best_values(process)
    for method in METHODS:
        plan = solve(process, method=method)
        scale = max(1.0, max(abs(float(v)) for v in exact))
        np.testing.assert_allclose(plan.values, [float(v) for v in exact], atol=1e-9 * scale)
        discount = Fraction(process.discount)
        for s, own in enumerate(rational_pairs(process)):
            worths = [action_value(pair, exact, discount) for pair in own]
            best = {
                int(process.pairs.action[pair[0]])
                for pair, worth in zip(own, worths, strict=True)
                if worth >= exact[s] - Fraction(1, 10**12)
            }
            if not process.pairs.is_terminal[s]:
                assert set(plan.optimal_actions(s)) == best
                table = plan.action_values[s]
                for pair, worth in zip(own, worths, strict=True):
                    action = int(process.pairs.action[pair[0]])
                    assert abs(table[action] - float(worth)) <= 1e-9 * scale


@given(processes(), st.sampled_from([1e-10, 1e-3, 0.3]), st.sampled_from(METHODS))
def test_no_loss_is_above_its_bound(
    process: MarkovDecisionProcess, tol: float, method: str
) -> None:
    plan = solve(process, method=method, tol=tol)
    _check_loss(process, plan)


@given(ending_processes(), st.sampled_from(METHODS))
def test_no_loss_is_above_its_bound_without_a_discount(
    process: MarkovDecisionProcess, method: str
) -> None:
    plan = solve(process, method=method)
    _check_loss(process, plan)
    assert plan.certificate.converged


def _check_loss(process: MarkovDecisionProcess, plan: object) -> None:
    best = best_values(process)
    choices = plan.policy.choices  # type: ignore[attr-defined]
    chosen = [
        next(pair for pair in own if process.pairs.action[pair[0]] == choices[s])
        for s, own in enumerate(rational_pairs(process))
    ]
    own = policy_value(process, chosen)
    loss = max(b - o for b, o in zip(best, own, strict=True))
    bound = plan.certificate.distance_bound  # type: ignore[attr-defined]
    assert loss <= Fraction(bound)


@given(processes(most_states=3, most_actions=2))
def test_no_policy_of_all_is_better(process: MarkovDecisionProcess) -> None:
    plan = solve(process)
    all_values = (policy_value(process, policy) for policy in all_policies(process))
    best = [max(column) for column in zip(*all_values, strict=True)]
    np.testing.assert_allclose(plan.values, [float(v) for v in best], atol=1e-9)


@given(processes(most_states=3, most_actions=2, discounts=(0.5, 1.0)), st.integers(1, 3))
def test_finite_horizons_by_all_histories(process: MarkovDecisionProcess, horizon: int) -> None:
    plan = solve(process, horizon=horizon)
    exact = [float(best_by_histories(process, s, horizon)) for s in range(process.n_states)]
    np.testing.assert_allclose(plan.values[-1], exact, atol=1e-12)
    again = policy_values(process, plan.policy)
    np.testing.assert_allclose(again[-1], exact, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse", "chain"])
def test_methods_agree_on_larger_processes(kind: str) -> None:
    rng = np.random.default_rng(1)
    n = 510
    if kind == "dense":
        transitions = rng.random((3, n, n)) ** 8
        transitions /= transitions.sum(axis=2, keepdims=True)
        discount = 0.99
    elif kind == "sparse":
        transitions = [_random_sparse(rng, n, 5) for _ in range(3)]
        discount = 0.95
    else:
        ahead = sparse.diags_array(np.ones(n - 1), offsets=1, shape=(n, n)).tolil()
        ahead[n - 1, 0] = 1.0
        back = sparse.diags_array(np.ones(n - 1), offsets=-1, shape=(n, n)).tolil()
        back[0, 0] = 1.0
        transitions = [ahead.tocsr(), (0.4 * ahead + 0.6 * back).tocsr()]
        discount = 0.9999
    rewards = rng.random((n, len(transitions)))
    process = MarkovDecisionProcess(transitions, rewards, discount)
    # Sweeps over a long chain take their time; that they would is why "auto" watches them.
    slow = ("value_iteration", "modified_policy_iteration") if kind == "chain" else ()
    plans = [solve(process, method=method) for method in METHODS if method not in slow]
    for plan in plans[1:]:
        reach = sum(one.certificate.details["values_within"] for one in (plan, plans[0]))
        assert np.abs(plan.values - plans[0].values).max() <= reach
        assert plan.certificate.converged
    own = policy_values(process, plans[0].policy)
    within = plans[0].certificate.details["values_within"]
    assert (plans[0].values - own).max() <= plans[0].certificate.distance_bound + within


def _random_sparse(rng: np.random.Generator, n: int, k: int) -> object:
    rows = np.repeat(np.arange(n), k)
    matrix = sparse.csr_array((rng.random(n * k), (rows, rng.integers(0, n, n * k))), shape=(n, n))
    return sparse.diags_array(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix


def test_a_free_loop_is_worth_nothing_and_left_for_more() -> None:
    # 0 and 1 lead to each other for nothing; 1 may go on to an end that costs 1 or gives 2.
    def world(gift: float) -> MarkovDecisionProcess:
        table = {
            "a": {"on": [(1.0, "b", 0.0)]},
            "b": {"back": [(1.0, "a", 0.0)], "out": [(1.0, "end", gift)]},
        }
        return MarkovDecisionProcess.from_outcomes(table)

    stay, leave = solve(world(-1.0)), solve(world(2.0))
    assert stay.values.tolist() == [0.0, 0.0, 0.0]
    assert stay.policy["b"] == "back"
    assert leave.values.tolist() == [2.0, 2.0, 0.0]
    assert [leave.policy["a"], leave.policy["b"]] == ["on", "out"]


def test_a_loop_that_cannot_be_left_is_named() -> None:
    table = {"a": {"go": [(1.0, "b", -1.0)]}, "b": {"go": [(1.0, "a", -1.0)]}}
    process = MarkovDecisionProcess.from_outcomes(table)
    with pytest.raises(InputError, match="From 'a', 'b' no policy ends the process"):
        solve(process)


def test_rewards_that_cancel_have_no_sum() -> None:
    table = {
        "a": {"go": [(1.0, "b", -1.0)], "out": [(1.0, "end", 0.0)]},
        "b": {"go": [(1.0, "a", 1.0)]},
    }
    with pytest.raises(InputError, match="cancel out going round among 'a', 'b'"):
        solve(MarkovDecisionProcess.from_outcomes(table))


def test_bad_questions() -> None:
    process = GridWorld.notes().process
    with pytest.raises(InputError, match="A method is one of 'auto', 'value_iteration'"):
        solve(process, method="magic")
    with pytest.raises(
        InputError, match="A plan is made for a MarkovDecisionProcess or a GridWorld"
    ):
        solve("somewhere")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="tol is a number above 0"):
        solve(process, tol=0.0)
    with pytest.raises(InputError, match="A horizon is a number of steps from 1 on, got 0"):
        solve(process, horizon=0)


def test_a_range_of_rewards_is_where_the_policy_stays_best() -> None:
    rng = np.random.default_rng(3)
    transitions = rng.random((3, 5, 5))
    transitions /= transitions.sum(axis=2, keepdims=True)
    rewards = rng.random((5, 3))
    process = MarkovDecisionProcess(transitions, rewards, 0.9)
    plan = solve(process)
    for action in range(3):
        low, high = plan.reward_range(2, action)
        assert low <= rewards[2, action] <= high
        inside, outside = (low + 1e-6, high - 1e-6), (low - 1e-3, high + 1e-3)
        for value, same in ((v, v in inside) for v in (*inside, *outside)):
            if np.isfinite(value):
                changed = rewards.copy()
                changed[2, action] = value
                other = solve(MarkovDecisionProcess(transitions, changed, 0.9))
                assert (other.policy == plan.policy) == same


def test_a_free_loop_is_no_reason_to_refuse_a_gain_on_the_way() -> None:
    # Waiting costs nothing; a round through b and c pays 4, then costs 5.
    table = {
        "a": {"wait": [(1.0, "a", 0.0)], "go": [(0.5, "b", 0.0), (0.5, "a", 0.0)]},
        "b": {"on": [(1.0, "c", 4.0)]},
        "c": {"on": [(1.0, "a", -5.0)], "out": [(1.0, "end", -4.5)]},
    }
    plan = solve(MarkovDecisionProcess.from_outcomes(table))
    assert plan.values.tolist() == [0.0, -0.5, -4.5, 0.0]
    assert plan.policy["a"] == "wait"
    table["b"]["on"] = [(1.0, "c", 5.0)]
    with pytest.raises(InputError, match=r"Rewards that are not zero cancel out .*'a', 'b', 'c'"):
        solve(MarkovDecisionProcess.from_outcomes(table))


@given(st.integers(0, 10**6))
def test_free_loops_and_gains_on_the_way_have_the_limit_of_discounts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    table: dict[int, dict[int, list[tuple[float, int, float]]]] = {}
    for s in range(n):
        moves = int(rng.integers(1, 4))
        rewards = rng.choice([0.0, 0.0, -3.0, 1.0 if s == 0 else -1.0], moves)
        targets = rng.choice(n, (moves, 2))
        steps = zip(targets.tolist(), rewards.tolist(), strict=True)
        table[s] = {a: [(0.5, t, r) for t in two] for a, (two, r) in enumerate(steps)}
        table[s][moves] = [(1.0, n, -2.0)]
    near = solve(MarkovDecisionProcess.from_outcomes(table, 1 - 1e-8)).values
    process, refusal = MarkovDecisionProcess.from_outcomes(table), ""
    try:
        values = solve(process).values
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert "cancel out" in refusal or near.max() > 1e5
    else:
        np.testing.assert_allclose(values, near, atol=1e-4)


def test_values_that_are_less_exact_than_the_policy_say_so() -> None:
    slow = [[[1.0, 0, 0], [0, 1.0, 0], [0.01, 0, 0.99]]]
    process = MarkovDecisionProcess(slow, [[0.3], [-2.0], [0.0]], 0.9999)
    plan = solve(process, method="value_iteration", tol=1e-3)
    within = plan.certificate.details["values_within"]
    assert np.abs(plan.values[:2] - [3000.0, -20_000.0]).max() <= within
    assert within > 1.0
    assert f"the values are within {within:.2g} of the best ones" in repr(plan)
    assert "the values are within" not in repr(solve(process))


def test_actions_are_as_good_within_what_is_asked() -> None:
    table = {"a": {"x": [(1.0, "end", 1.0)], "y": [(1.0, "end", 1.0 - 1e-12)]}}
    table["a"]["z"] = [(1.0, "end", 0.9)]
    plan = solve(MarkovDecisionProcess.from_outcomes(table))
    assert plan.optimal_actions("a") == ["x", "y"]
    assert plan.optimal_actions("a", within=0.0) == ["x"]
    assert plan.optimal_actions("a", within=0.2) == ["x", "y", "z"]
    assert plan.optimal_actions("end", within=0.2) == []
