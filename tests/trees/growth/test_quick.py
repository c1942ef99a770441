"""The quick searches: the best of all cuts, the number of codes, and clean scratch after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import Floats
from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR
from novum.trees.growth.histogram_kernels import (
    cut_all_pairs,
    cut_all_sums,
    cut_few_rows,
    cut_marked_pairs,
    mark_pairs,
)
from tests.trees import node_sums as by_hand
from tests.trees.node_sums import TIE

Found = tuple[float, int, int, int]
seeds = st.integers(0, 10**6)
leasts = st.sampled_from([0.0, 2.0, 5.0])


class Rows:
    """Rows of one column of codes with labels or numbers, some of a larger table."""

    def __init__(self, seed: int, n_classes: int, n_codes: int, n: int = 40) -> None:
        rng = np.random.default_rng(seed)
        self.codes = rng.integers(0, n_codes, (n, 3)).astype(np.uint8)
        # Codes at both ends of all four words of the bitmap.
        self.codes[:2, 1] = [0, n_codes - 1]
        self.labels = rng.integers(0, max(n_classes, 1), (n, 1)).astype(np.int32)
        self.numbers = rng.integers(-5, 6, (n, 1)) / 4.0
        self.rows = rng.permutation(n).astype(np.int32)
        self.weight = rng.integers(1, 5, n) / 2.0
        self.n_codes, self.n_classes = n_codes, n_classes
        self.start, self.stop = 5, n - 3

    def table(self) -> by_hand.Floats:
        """Sums by code of the rows from `start` to `stop`."""
        here = self.rows[self.start : self.stop]
        weight = self.weight[self.start : self.stop]
        codes = self.codes[here, 1].astype(int)
        if self.n_classes:
            table = np.zeros((self.n_codes, self.n_classes))
            np.add.at(table, (codes, self.labels[here, 0]), weight)
            return table
        table = np.zeros((self.n_codes, 2))
        stats = np.column_stack([np.ones(len(here)), self.numbers[here, 0]])
        np.add.at(table, codes, weight[:, None] * stats)
        return table


def expected(rows: Rows, criterion: int, least: float) -> Found:
    """(gain, code, next code, number of codes) by trying all cuts."""
    table = rows.table()
    starts = by_hand.starts_of(criterion, (rows.n_classes,))
    order = by_hand.present_codes(table, criterion, starts)
    best, place = by_hand.first_best(by_hand.cuts(table, order, criterion, starts, least=least))
    if place < 0:
        return best, -1, -1, len(order)
    return pytest.approx(best, abs=1e-9), int(order[place]), int(order[place + 1]), len(order)


def padded(table: by_hand.Floats) -> Floats:
    sums = np.zeros(256 * table.shape[1])
    sums[: table.size] = table.ravel()
    return sums


# --- Pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("n_codes", [3, 30, 255])
@given(seed=seeds, least=leasts)
def test_pairs(n_classes: int, n_codes: int, seed: int, least: float) -> None:
    rows = Rows(seed, n_classes, n_codes)
    classes = n_classes == 2
    table = rows.table()
    sums, bits = np.zeros(512), np.zeros(4, np.uint64)
    mark_pairs(
        (rows.codes, rows.labels, rows.numbers),
        (rows.rows, rows.weight),
        rows.start,
        rows.stop,
        1,
        classes,
        sums,
        bits,
    )
    np.testing.assert_allclose(sums, padded(table), rtol=1e-14)
    marked = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
    here = rows.rows[rows.start : rows.stop]
    np.testing.assert_array_equal(marked, np.unique(rows.codes[here, 1]))

    whole = table.sum(axis=0)
    weight = whole.sum() if classes else whole[0]
    known = (classes, (weight, whole[1]), (least, TIE))
    wanted = expected(rows, GINI if classes else SQUARED_ERROR, least)
    factor = 2.0 if classes else 1.0
    for found in (
        cut_all_pairs(sums.copy(), n_codes, *known),
        cut_marked_pairs(sums, bits, *known),
    ):
        gain = found[0] * factor if found[1] >= 0 else found[0]
        assert (gain, *found[1:]) == wanted
    assert not sums.any()
    assert not bits.any()


def test_reading_all_pairs_clears_them() -> None:
    sums = np.array([1.0, 2.0, 0.0, 0.0, 3.0, 1.0])
    found = cut_all_pairs(sums, 3, True, (7.0, 3.0), (0.0, TIE))
    assert found[1:] == (0, 2, 2)
    assert not sums.any()


def test_without_rows_there_is_no_cut() -> None:
    nothing = (-1.0, -1, -1, 0)
    assert cut_all_pairs(np.zeros(6), 3, True, (0.0, 0.0), (0.0, TIE)) == nothing
    bits = np.zeros(4, np.uint64)
    assert cut_marked_pairs(np.zeros(6), bits, True, (0.0, 0.0), (0.0, TIE)) == nothing


# --- Many classes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
@pytest.mark.parametrize("n_classes", [2, 5])
@given(seed=seeds, least=leasts, n_codes=st.sampled_from([4, 255]))
def test_many_classes(
    criterion: int, n_classes: int, seed: int, least: float, n_codes: int
) -> None:
    rows = Rows(seed, n_classes, n_codes)
    table = rows.table()
    total, entropy = table.sum(axis=0), criterion == ENTROPY
    scratch = np.zeros((6, n_classes))
    heads, nexts = np.full(256, -1, np.int32), np.empty(64, np.int32)
    bits = np.zeros(4, np.uint64)
    found = cut_few_rows(
        (rows.codes, rows.labels, rows.numbers),
        (rows.rows, rows.weight),
        rows.start,
        rows.stop,
        1,
        entropy,
        (total, total.sum()),
        (least, TIE),
        (heads, nexts, bits),
        scratch,
    )
    wanted = expected(rows, criterion, least)
    assert tuple(found) == wanted
    assert (heads == -1).all()
    assert not bits.any()

    sums = table.ravel().copy()
    found = cut_all_sums(
        sums, n_codes, entropy, (total, total.sum()), (least, TIE), np.zeros((6, n_classes))
    )
    assert tuple(found) == wanted
    assert not sums.any()
    # Only the first two rows of the scratch are free.
    assert not scratch[2:].any()


@pytest.mark.parametrize("entropy", [False, True])
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e20])
def test_cuts_without_gain_count_at_any_weight(scale: float, entropy: bool) -> None:
    """Two codes with equal class shares: the gain is 0, and rounding must not hide the cut."""
    table = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]]) * scale / 3
    total = table.sum(axis=0)
    tie = 1e-10 * total.sum()
    gain, *found = cut_all_sums(
        table.ravel().copy(), 2, entropy, (total, total.sum()), (0.0, tie), np.zeros((6, 3))
    )
    assert found == [0, 1, 2]
    assert 0 <= gain <= 1e-12 * total.sum()


def test_a_tiny_weight_behind_a_huge_one_is_no_nan() -> None:
    """1e20 + 1 is 1e20: after the heavy row nothing is left of its class."""
    codes = np.array([[0], [1], [2]], np.uint8)
    labels = np.array([[0], [0], [1]], np.int32)
    weight = np.array([1e20, 1.0, 1e20])
    total = np.array([1e20, 1e20])
    gain, code, after, count = cut_few_rows(
        (codes, labels, np.empty((3, 0))),
        (np.arange(3, dtype=np.int32), weight),
        0,
        3,
        0,
        True,
        (total, 2e20),
        (0.5, 1e10),
        (np.full(256, -1, np.int32), np.empty(8, np.int32), np.zeros(4, np.uint64)),
        np.zeros((6, 2)),
    )
    assert gain == pytest.approx(2e20)
    assert code < 2 <= after + 1
    assert count == 3
