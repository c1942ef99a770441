"""Markov chains: dynamics, long runs, mixing, simulation, and input that is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError, MemoryLimitError
from novum.graphical.inference.limits import TimeLimitError
from novum.graphical.inference.protocol import Trust
from novum.graphical.models.markov_chain import MarkovChain
from tests.graphical.models.test_markov_chain_structure import random_matrix

WEATHER = {"sunny": {"sunny": 0.9, "rainy": 0.1}, "rainy": {"sunny": 0.5, "rainy": 0.5}}


def test_dynamics() -> None:
    chain = MarkovChain(WEATHER)
    assert chain.after("rainy", 2).values[0] == pytest.approx(0.5 * 0.9 + 0.5 * 0.5)
    assert chain.after({"sunny": 1.0}, 0).values.tolist() == [1.0, 0.0]
    course = chain.course([0.5, 0.5], 3)
    for t in range(4):
        np.testing.assert_allclose(course[t], chain.after([0.5, 0.5], t).values, atol=1e-15)


def test_regular_is_sufficient_not_necessary() -> None:
    chain = MarkovChain([[1, 0], [0.5, 0.5]])
    assert not chain.is_regular
    assert not chain.is_irreducible
    assert chain.stationary().values.tolist() == [1.0, 0.0]
    assert chain.recurrent_states == (0,)
    assert chain.transient_states == (1,)
    # Half of what is left at each step: the distance after t steps is 2^-t.
    assert chain.distance(3) == pytest.approx(1 / 8)
    assert chain.time_to_mix(0.25) == 2
    assert chain.spectral_gap == pytest.approx(0.5)


@given(st.integers(0, 2**31 - 1))
def test_regular_means_a_positive_power(seed: int) -> None:
    P = random_matrix(seed, most=5)
    n = len(P)
    power = np.linalg.matrix_power((P > 0).astype(float), (n - 1) ** 2 + 1) > 0
    # A regular matrix of n states is positive by then (Wielandt 1950).
    assert MarkovChain(P).is_regular == bool(power.all())


@given(st.integers(0, 2**31 - 1))
def test_limit_is_the_long_run(seed: int) -> None:
    P = random_matrix(seed, most=5)
    chain = MarkovChain(P)
    # Averages over many steps, by doubling: mean of the first 2^k distributions.
    mean, power = np.eye(len(P)), P.copy()
    for _ in range(40):
        mean = (mean + mean @ power) / 2
        power = power @ power
        # Rounding doubles with every squaring unless rows are kept at one.
        power /= power.sum(axis=1, keepdims=True)
        mean /= mean.sum(axis=1, keepdims=True)
    for state in chain.states:
        np.testing.assert_allclose(chain.limit(state).values, mean[int(state)], atol=1e-8)


@given(st.integers(0, 2**31 - 1), st.sampled_from([0.3, 0.1, 0.01]))
def test_time_to_mix_by_stepping(seed: int, tolerance: float) -> None:
    chain = MarkovChain(random_matrix(seed, most=4))
    found = chain.time_to_mix(tolerance)
    if math.isinf(found):
        assert chain.spectral_gap == 0.0
        return
    assert chain.distance(int(found)) <= tolerance + 1e-12
    if found:
        assert chain.distance(int(found) - 1) > tolerance - 1e-12


def test_several_classes_and_periods() -> None:
    chain = MarkovChain(
        [[0, 1, 0, 0], [1, 0, 0, 0], [0.25, 0, 0.5, 0.25], [0, 0, 0, 1]], states=list("abcd")
    )
    kinds = [(own.states, own.is_closed, own.period) for own in chain.classes]
    assert kinds == [(("a", "b"), True, 2), (("c",), False, 1), (("d",), True, 1)]
    assert [p.values.tolist() for p in chain.stationary_distributions()] == [
        [0.5, 0.5, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
    with pytest.raises(InputError, match="2 closed classes"):
        chain.stationary()
    assert chain.limit("c").values == pytest.approx([0.25, 0.25, 0, 0.5])
    assert chain.time_to_mix() == math.inf
    assert chain.spectral_gap == 0
    assert chain.period("a") == 2
    assert chain.hitting_probabilities("d")["c"] == pytest.approx(0.5)
    assert chain.hitting_times("a", "d")["c"] == pytest.approx(2.0)


def test_simulated_shares_lie_within_their_errors() -> None:
    chain = MarkovChain(WEATHER)
    scores = []
    for seed in range(100):
        found = chain.simulated_stationary(2000, burn_in=50, random_state=seed)
        scores.append((found.values[0] - 5 / 6) / found.errors[0])
    # False alarm with probability 1e-6.
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 100)
    assert low < np.sum(np.square(scores)) < high
    assert found.diagnosis.trusted


def test_simulation_notices_several_classes() -> None:
    chain = MarkovChain([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]])
    found = chain.simulated_stationary(2000, burn_in=10, random_state=0)
    assert not found.diagnosis.trusted
    assert "stationary_distributions" in found.diagnosis.sentence


def test_walks_that_agree_prove_little_where_no_step_forgets() -> None:
    # From no state of a ring is there a step to all, so nothing bounds what the walks share.
    ring = MarkovChain(np.roll(np.eye(6), 1, axis=1) * 0.5 + np.roll(np.eye(6), -1, axis=1) * 0.5)
    found = ring.simulated_stationary(20_000, random_state=0)
    assert found.diagnosis.trust is Trust.NO_FAULT_FOUND
    assert "No fault found" in found.diagnosis.sentence
    assert (np.abs(found.values - 1 / 6) <= 5 * found.errors).all()
    # A step from anywhere goes to the first state with a chance of 1/1000: 104 and 80 times.
    rare = MarkovChain(0.999 * ring.transition + 0.001 * np.eye(6)[0])
    assert rare.simulated_stationary(26_000, random_state=0).diagnosis.trust is Trust.PROVED
    assert not rare.simulated_stationary(20_000, random_state=0).diagnosis.trusted


def test_walks_follow_the_matrix() -> None:
    P = np.array([[0.0, 0.3, 0.0, 0.7], [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], [0, 0.5, 0.5, 0]])
    walk = MarkovChain(P).sample(0, 40_000, random_state=1)
    counts = np.zeros((4, 4))
    np.add.at(counts, (walk[:-1], walk[1:]), 1)
    assert walk[0] == 0
    assert not counts[P == 0].any()
    for i in range(4):
        used = P[i] > 0
        if used.sum() > 1:
            wanted = counts[i].sum() * P[i, used]
            assert stats.chisquare(counts[i, used], wanted).pvalue > 1e-6
    assert MarkovChain(P).sample(0, 10, random_state=1) == walk[:11]


def test_shown() -> None:
    assert repr(MarkovChain(WEATHER)) == "MarkovChain of 2 states 'sunny', 'rainy'; regular"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.after("snow", 1), "no state 'snow'"),
        (lambda c: c.after("sunny", -1), "steps is a whole number of at least 0"),
        (lambda c: c.after([0.5, 0.5, 0.0], 1), "for each of 2 states"),
        (lambda c: c.after([0.5, 0.9], 1), "sum to 1; they sum to 1.4"),
        (lambda c: c.hitting_times(), "Name at least one state"),
        (lambda c: c.time_to_mix(0.0), "tolerance must exceed 0"),
        (lambda c: c.time_to_mix(1.0), "tolerance is a number from 0 to below 1"),
        (lambda c: c.simulated_stationary(2), "steps is a whole number of at least 8"),
        (lambda c: c.simulated_stationary(chains=0), "chains is a whole number of at least 1"),
    ],
)
def test_bad_questions(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(MarkovChain(WEATHER))


def test_single_state() -> None:
    chain = MarkovChain([[1.0]], states=["only"])
    assert chain.is_regular
    assert chain.time_to_mix() == 0
    assert chain.spectral_gap == 1


def test_walks_beyond_the_memory_are_refused() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(MemoryLimitError, match=r"of 100000000000 steps needs 1.6 TB .* after\("):
        chain.course(0, 10**11)
    with pytest.raises(MemoryLimitError, match="A walk of 100000000000 steps needs"):
        chain.sample(0, 10**11)
    with pytest.raises(MemoryLimitError, match="by 4 walks of 10000000000000 steps"):
        chain.simulated_stationary(10**13)
    with pytest.raises(MemoryLimitError, match="by 1000000000 walks of 1000 steps"):
        chain.simulated_stationary(1000, chains=10**9)
    with pytest.raises(TimeLimitError, match="would take about"):
        chain.simulated_stationary(10**8, chains=10**6)
    assert chain.after(0, 10**18).values[0] == pytest.approx(2 / 3)
