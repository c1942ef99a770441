"""Draws of the kernels: in range, alike, without replacement, and the same from the same state."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing_columns import MAX_CUTS, RANDOM_CUT
from novum.trees.growth.search_kernels import choose_cuts, close_all_but, draw


def state_of(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 2**64, 1, dtype=np.uint64)


# --- Draws ----------------------------------------------------------------------------------------


@given(st.integers(1, 2**64 - 1), st.integers(1, 2**31))
def test_a_draw_is_below_its_bound(seed: int, n: int) -> None:
    state = np.array([seed], np.uint64)
    drawn = [draw(state, n) for _ in range(20)]
    assert min(drawn) >= 0
    assert max(drawn) < n
    assert state[0] != 0


def test_the_generator_is_xorshift64_star() -> None:
    """The recurrence in Python's integers."""
    word, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    state = np.array([word], np.uint64)
    for _ in range(100):
        word ^= word >> 12
        word ^= (word << 25) & mask
        word ^= word >> 27
        high = ((word * 2685821657736338717) & mask) >> 32
        assert draw(state, 1000) == (high * 1000) >> 32
        assert int(state[0]) == word


@pytest.mark.parametrize("n", [2, 7, 100])
def test_draws_are_alike(n: int) -> None:
    state, n_draws = state_of(0), 20_000
    counts = np.bincount([draw(state, n) for _ in range(n_draws)], minlength=n)
    chi_square = ((counts - n_draws / n) ** 2 / (n_draws / n)).sum()
    # Five standard deviations of a chi-square with n - 1 degrees of freedom.
    assert chi_square < n - 1 + 5 * np.sqrt(2 * (n - 1))


# --- Closed places --------------------------------------------------------------------------------


@given(st.integers(1, 10**9), st.integers(1, 30), st.data())
def test_as_many_places_stay_open_as_asked(seed: int, n: int, data: st.DataObject) -> None:
    n_open = data.draw(st.integers(0, n))
    closed = np.zeros(n + 2, bool)
    close_all_but(state_of(seed), n, n_open, closed)
    assert (~closed[:n]).sum() == n_open
    assert not closed[n:].any()


def test_every_choice_of_places_is_equally_likely() -> None:
    state, closed, n_draws = state_of(1), np.zeros(5, bool), 10_000
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(n_draws):
        close_all_but(state, 5, 2, closed)
        chosen = tuple(np.flatnonzero(~closed).tolist())
        counts[chosen] = counts.get(chosen, 0) + 1
    assert len(counts) == comb(5, 2)
    share = np.array(list(counts.values())) / n_draws
    assert np.abs(share - 0.1).max() < 5 * np.sqrt(0.09 / n_draws)


# --- Cuts that are tried --------------------------------------------------------------------------


def chosen_cuts(
    seed: int, *, nominal: bool, single: bool = False, random_cut: int = 0, max_cuts: int = 0
) -> tuple[int, np.ndarray, np.ndarray]:
    """Four levels at 0, 1, 2 and 10 of six codes: (shuffled, levels, closed)."""
    levels = np.array([0, 2, 3, 5, 255, 0, 0])
    low = np.array([[0.0, np.inf, 1.0, 2.0, np.inf, 10.0]])
    high = np.where(np.isfinite(low), low, -np.inf)
    options = np.zeros(10, np.int64)
    options[RANDOM_CUT], options[MAX_CUTS] = random_cut, max_cuts
    columns = (np.array([6]), np.array([nominal]), np.zeros(1, np.int64), low, high)
    closed = np.ones(8, bool)
    order, branch = np.zeros(7, np.int64), np.zeros(7, np.int8)
    search = (levels, order, closed, np.zeros(7), branch, np.zeros((6, 2)))
    shuffled = choose_cuts(columns, options, state_of(seed), search, 0, 4, single)
    return shuffled, levels, closed


def test_without_chance_all_cuts_are_open() -> None:
    shuffled, levels, closed = chosen_cuts(0, nominal=False)
    assert shuffled == 0
    assert not closed[:5].any()
    assert levels[:4].tolist() == [0, 2, 3, 5]


def test_a_random_cut_of_numbers_follows_their_distances() -> None:
    counts = np.zeros(3)
    for seed in range(1000):
        shuffled, levels, closed = chosen_cuts(seed, nominal=False, random_cut=1)
        assert shuffled == 0
        assert levels[:4].tolist() == [0, 2, 3, 5]
        assert (~closed[:3]).sum() == 1
        counts += ~closed[:3]
    expected = np.array([0.1, 0.1, 0.8])
    limits = 5 * np.sqrt(expected * (1 - expected) / 1000)
    assert (np.abs(counts / 1000 - expected) < limits).all()


def test_a_random_division_of_levels_reaches_every_set() -> None:
    sets = set()
    for seed in range(300):
        shuffled, levels, closed = chosen_cuts(seed, nominal=True, random_cut=1)
        assert shuffled == 1
        assert sorted(levels[:4]) == [0, 2, 3, 5]
        assert (~closed[:3]).sum() == 1
        head = frozenset(levels[: np.flatnonzero(~closed[:3])[0] + 1].tolist())
        sets.add(head if 0 in head else frozenset({0, 2, 3, 5}) - head)
    assert len(sets) == 2**3 - 1


@pytest.mark.parametrize(
    ("nominal", "single", "n_places"), [(False, False, 3), (True, False, 3), (True, True, 4)]
)
@pytest.mark.parametrize("max_cuts", [1, 2])
def test_a_limit_of_cuts(nominal: bool, single: bool, n_places: int, max_cuts: int) -> None:
    """Single levels are one more than cuts of an order: each of them against the rest."""
    opened = np.zeros(n_places)
    for seed in range(600):
        shuffled, _, closed = chosen_cuts(seed, nominal=nominal, single=single, max_cuts=max_cuts)
        assert shuffled == 0
        assert (~closed[:n_places]).sum() == max_cuts
        opened += ~closed[:n_places]
    share = max_cuts / n_places
    assert np.abs(opened / 600 - share).max() < 5 * np.sqrt(share * (1 - share) / 600)


def test_a_limit_that_is_not_reached_closes_nothing() -> None:
    for max_cuts in (3, 9):
        assert not chosen_cuts(0, nominal=False, max_cuts=max_cuts)[2][:5].any()
