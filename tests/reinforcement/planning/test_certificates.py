"""Bounds from bad guesses: never below the truth, and infinite where nothing is proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.reinforcement import MarkovDecisionProcess
from novum.reinforcement.planning.loss_bound import loss_bound
from tests.oracles.decision_processes import best_values, policy_value, rational_pairs
from tests.strategies.decision_processes import ending_processes, processes


def check(process: MarkovDecisionProcess, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    best = best_values(process)
    guess = np.array([float(v) for v in best]) + noise * rng.normal(size=len(best))
    states = rational_pairs(process)
    chosen = [own[rng.integers(len(own))] for own in states]
    try:
        own = policy_value(process, chosen)
    except StopIteration:
        return  # A policy that does not end has no values.
    bound = loss_bound(
        process.pairs, process.discount, guess, np.array([pair[0] for pair in chosen])
    )
    loss = max(b - o for b, o in zip(best, own, strict=True))
    if np.isfinite(bound.loss):
        assert loss <= Fraction(bound.loss)
        for s, value in enumerate(best):
            assert Fraction(float(bound.lower[s])) <= value <= Fraction(float(bound.upper[s]))


@given(processes(), st.integers(0, 10**6), st.sampled_from([0.0, 1e-12, 1e-3, 1.0]))
def test_with_a_discount(process: MarkovDecisionProcess, seed: int, noise: float) -> None:
    check(process, seed, noise)


@given(ending_processes(), st.integers(0, 10**6), st.sampled_from([0.0, 1e-12, 1e-3]))
def test_without_a_discount(process: MarkovDecisionProcess, seed: int, noise: float) -> None:
    check(process, seed, noise)
