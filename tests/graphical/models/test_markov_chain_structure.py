"""Classes, periods and stationary shares, against powers of the matrix and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical.models.markov_chain_structure import (
    communicating_classes,
    hitting_probabilities,
    hitting_times,
    is_closed,
    period_of,
    reaches,
    stationary_of,
)

seeds = st.integers(0, 2**31 - 1)


def random_matrix(seed: int, most: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    P = rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.3, 0.6]))
    P[np.arange(n), rng.integers(0, n, n)] += 0.1
    return P / P.sum(axis=1, keepdims=True)


@given(seeds)
def test_classes_by_powers(seed: int) -> None:
    P = random_matrix(seed)
    n = len(P)
    leads = np.linalg.matrix_power((P > 0) + np.eye(n), n) > 0
    for own in communicating_classes(P):
        for i in range(n):
            assert (i in own) == bool(leads[own[0], i] and leads[i, own[0]])
        assert is_closed(P, own) == (not any(leads[own[0], j] for j in range(n) if j not in own))


@given(seeds)
def test_period_by_powers(seed: int) -> None:
    P = random_matrix(seed)
    for own in communicating_classes(P):
        power, lengths = np.eye(len(P)), []
        for t in range(1, 4 * len(P) ** 2):
            power = ((power @ P) > 0).astype(float)
            if power[own[0], own[0]] > 0:
                lengths.append(t)
        assert period_of(P, own) == (math.gcd(*lengths) if lengths else 0)


@given(seeds)
def test_stationary_stays(seed: int) -> None:
    P = random_matrix(seed)
    for own in communicating_classes(P):
        if is_closed(P, own):
            pi = stationary_of(P, own)
            np.testing.assert_allclose(pi @ P, pi, atol=1e-14)
            assert pi.sum() == pytest.approx(1.0)
            assert (pi[own] > 0).all()


def test_stationary_keeps_digits_of_tiny_shares() -> None:
    # Up with 1e-9, down with 0.5: shares fall by 2e-9 at each step, by detailed balance.
    n, up, down = 8, Fraction(1, 10**9), Fraction(1, 2)
    P = np.zeros((n, n))
    for i in range(n):
        if i + 1 < n:
            P[i, i + 1] = float(up)
        if i:
            P[i, i - 1] = float(down)
        P[i, i] = 1 - P[i].sum()
    shares = [(up / down) ** i for i in range(n)]
    wanted = [float(s / sum(shares)) for s in shares]
    np.testing.assert_allclose(stationary_of(P, list(range(n))), wanted, rtol=1e-12)


def birth_and_death(up: list[float], down: list[float]) -> np.ndarray:
    P = np.diag(up, 1) + np.diag(down, -1)
    return P + np.diag(1 - P.sum(axis=1))


def test_stationary_shares_on_both_sides_of_a_valley() -> None:
    # By detailed balance shares fall by a tenth at each of 400 steps, and rise as much again.
    up, down = [0.05] * 400 + [0.5] * 400, [0.5] * 400 + [0.05] * 400
    depth = np.minimum(np.arange(801), np.arange(801)[::-1])
    wanted = 0.1**depth / (0.1**depth).sum()
    P = birth_and_death(up, down)
    np.testing.assert_allclose(stationary_of(P, list(range(801))), wanted, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("small", [0.3, 1e-9, 1e-17, 1e-60])
def test_hitting_keeps_digits_where_states_are_hardly_left(small: float) -> None:
    # Up with the small chance, down with 0.5: the steps to the end are sums of ratios.
    n = 5
    P = birth_and_death([small] * n, [0.5] * n)
    ratio = Fraction(1, 2) / Fraction(small)
    climb = [sum(ratio**k for k in range(i + 1)) for i in range(n)]
    steps = [
        sum((climb[i] for i in range(start, n)), Fraction(0)) / Fraction(small)
        for start in range(n)
    ]
    np.testing.assert_allclose(hitting_times(P, [n])[:n], [float(s) for s in steps], rtol=1e-13)
    np.testing.assert_array_equal(hitting_probabilities(P, [n]), np.ones(n + 1))
    P[0] = np.eye(n + 1)[0]
    ruin = [
        float(sum(ratio**k for k in range(i)) / sum(ratio**k for k in range(n)))
        for i in range(n + 1)
    ]
    np.testing.assert_allclose(hitting_probabilities(P, [n]), ruin, rtol=1e-13)


def test_gamblers_ruin() -> None:
    n, p = 7, 0.4
    P = np.zeros((n, n))
    P[0, 0] = P[-1, -1] = 1
    for i in range(1, n - 1):
        P[i, i + 1], P[i, i - 1] = p, 1 - p
    r = (1 - p) / p
    i = np.arange(n)
    wins = (1 - r**i) / (1 - r ** (n - 1))
    np.testing.assert_allclose(hitting_probabilities(P, [n - 1]), wins, atol=1e-13)
    lasts = i / (1 - 2 * p) - (n - 1) / (1 - 2 * p) * wins
    np.testing.assert_allclose(hitting_times(P, [0, n - 1]), lasts, atol=1e-12)
    assert np.isinf(hitting_times(P, [n - 1])[:-1]).all()
    assert reaches(P, [n - 1]).tolist() == [False, *[True] * 6]


@given(seeds)
def test_hitting_by_iteration(seed: int) -> None:
    P = random_matrix(seed)
    target = seed % len(P)
    h = np.zeros(len(P))
    h[target] = 1
    walk = P.copy()
    walk[target] = np.eye(len(P))[target]
    for _ in range(40):
        walk = walk @ walk
    np.testing.assert_allclose(hitting_probabilities(P, [target]), walk[:, target], atol=1e-8)
    times = hitting_times(P, [target])
    np.testing.assert_array_equal(np.isfinite(times), walk[:, target] > 1 - 1e-9)
    for i in np.flatnonzero(np.isfinite(times)):
        if i != target:
            used = P[i] > 0
            assert times[i] == pytest.approx(1 + P[i, used] @ times[used])
