"""Thresholds and divisions with missing rows on either side, against all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing_columns import (
    CRITERION,
    ENTROPY,
    GINI,
    MIN_LEAF,
    SQUARED_ERROR,
)
from novum.trees.growth.search_kernels import MOST_LISTED, cut_numbers, divide_levels
from tests.trees import node_sums as by_hand
from tests.trees.node_sums import TIE

seeds = st.integers(0, 10**6)
CASES = [
    (GINI, (2,)),
    (GINI, (4,)),
    (ENTROPY, (2,)),
    (SQUARED_ERROR, (1,)),
    (SQUARED_ERROR, (1, 1)),
]


class Node:
    """Sums of a few codes, those of missing rows, and scratch as `find_split` prepares it."""

    def __init__(self, seed: int, criterion: int, sizes: tuple[int, ...]) -> None:
        rng = np.random.default_rng(seed)
        self.criterion, self.starts = criterion, by_hand.starts_of(criterion, sizes)
        self.table = by_hand.random_table(rng, MOST_LISTED, criterion, sizes, n_rows=14)
        self.missing = by_hand.random_table(rng, 1, criterion, sizes, n_rows=5)[0]
        self.levels = by_hand.present_codes(self.table, criterion, self.starts)
        self.known = self.table.sum(axis=0)
        self.n_stats = self.table.shape[1]
        self.scratch = np.zeros((6, self.n_stats))
        self.scratch[3], self.scratch[4] = self.missing, self.known
        self.scratch[5] = self.known + self.missing
        self.scratch[:2] = np.nan

    def cut(self, *, both_ways: bool, least: float = 0.0) -> tuple[float, int, int]:
        gain, place, branch = cut_numbers(
            self.table.ravel().copy(),
            len(self.levels),
            both_ways,
            self.rules(least),
            self.search(np.zeros(MOST_LISTED, np.int8)),
            TIE,
            (0, -np.inf, np.inf),
        )
        return gain, int(place), int(branch)

    def rules(self, least: float = 0.0) -> tuple[np.ndarray, ...]:
        options, limits = np.zeros(10, np.int64), np.zeros(3)
        options[CRITERION], limits[MIN_LEAF] = self.criterion, least
        return self.starts, options, limits

    def search(self, branch: np.ndarray) -> tuple[np.ndarray, ...]:
        order, closed = np.empty(8, np.int64), np.zeros(8, bool)
        return self.levels, order, closed, np.empty(8), branch, self.scratch

    def cuts(self, *, on_left: bool, least: float) -> list[float | None]:
        begin = self.missing if on_left else np.zeros(self.n_stats)
        return by_hand.cuts(
            self.table,
            self.levels,
            self.criterion,
            self.starts,
            least=least,
            begin=begin,
            whole=self.known + self.missing,
        )


@pytest.mark.parametrize(("criterion", "sizes"), CASES)
@given(seed=seeds, least=st.sampled_from([0.0, 4.0]))
def test_thresholds_of_known_rows(
    criterion: int, sizes: tuple[int, ...], seed: int, least: float
) -> None:
    node = Node(seed, criterion, sizes)
    gains = by_hand.cuts(node.table, node.levels, criterion, node.starts, least=least)
    best, place = by_hand.first_best(gains)
    assert node.cut(both_ways=False, least=least) == (pytest.approx(best, abs=1e-9), place, -1)


@pytest.mark.parametrize(("criterion", "sizes"), CASES)
@given(seed=seeds, least=st.sampled_from([0.0, 4.0]))
def test_missing_rows_on_the_better_side(
    criterion: int, sizes: tuple[int, ...], seed: int, least: float
) -> None:
    """Of equals the lowest threshold, then missing rows on the left."""
    node = Node(seed, criterion, sizes)
    left, right = (node.cuts(on_left=on_left, least=least) for on_left in (True, False))
    found = node.cut(both_ways=True, least=least)
    pairs = [value for pair in zip(left, right, strict=True) for value in pair]
    best, place = by_hand.first_best(pairs)
    if place < 0:
        assert found == (-1.0, -1, -1)
    else:
        assert found == (pytest.approx(best, abs=1e-9), place // 2, place % 2)
    np.testing.assert_array_equal(node.scratch[2], 0.0)
    np.testing.assert_array_equal(node.scratch[3], node.missing)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("criterion", "sizes"), CASES)
@given(seed=seeds, both_ways=st.booleans())
def test_divisions_with_missing_rows(
    criterion: int, sizes: tuple[int, ...], single: bool, both_ways: bool, seed: int
) -> None:
    node = Node(seed, criterion, sizes)
    branch = np.full(MOST_LISTED, 7, np.int8)
    gain, side = divide_levels(
        node.table.ravel().copy(),
        len(node.levels),
        single,
        both_ways,
        node.rules(),
        node.search(branch),
        TIE,
    )
    ways = by_hand.divisions(node.table, node.levels, criterion, node.starts, single=single)
    if not both_ways:
        assert gain == pytest.approx(max(ways.values()), abs=1e-9)
        assert side == -1
        return
    whole = node.known + node.missing
    gains = {}
    for chosen in ways:
        head = node.table[list(chosen)].sum(axis=0)
        for where, part in ((0, head + node.missing), (1, head)):
            gains[chosen, where] = by_hand.gain(part, whole, criterion, node.starts)
    found = frozenset(np.flatnonzero(branch == 0).tolist())
    assert gain == pytest.approx(gains[found, int(side)], abs=1e-9)
    assert gain == pytest.approx(max(value for value in gains.values() if value), abs=1e-9)
