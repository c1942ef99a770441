"""Parts of counts: together they are the counts again, and each kind is chosen where it pays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.kernels.count_rows import (
    WORDS_AT_ONCE,
    CompressedCounts,
    FeatureKinds,
    Kind,
    SplitRows,
    chosen_kinds,
    lists_of,
    split,
)

SINGLE = np.dtype(np.float32)


def dense_of(part: CompressedCounts, n_columns: int) -> np.ndarray:
    shape = (part.starts.size - 1, n_columns)
    return sparse.csr_array((part.counts, part.columns, part.starts), shape=shape).toarray()


def low_of(counts: np.ndarray, kinds: FeatureKinds) -> np.ndarray:
    """What the bits hold, by their definition."""
    one, two = (kinds.kinds == kind for kind in (Kind.ONE_BIT, Kind.TWO_BITS))
    return np.where(one, np.minimum(counts, 1), np.where(two, counts % 4, 0))


def example() -> tuple[np.ndarray, FeatureKinds, SplitRows]:
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.choice([3.0, 0.3, 0.05, 0.005], 900), (150, 900))
    matrix = sparse.csr_array(counts.astype(np.int32))
    kinds = chosen_kinds(matrix, SINGLE)
    return counts, kinds, split(matrix, kinds, SINGLE)


def test_frequent_features_are_columns() -> None:
    counts, kinds, rows = example()
    assert (kinds.sizes > 0).all()
    np.testing.assert_array_equal(rows.dense, counts[:, kinds.kinds == Kind.DENSE])
    np.testing.assert_array_equal(dense_of(rows.entries, 900), counts)


def test_shared_bits_are_the_product_of_the_low_parts() -> None:
    counts, kinds, rows = example()
    low = low_of(counts, kinds)
    assert low.max() == 3
    weights = np.repeat(2.0 ** kinds.shifts.astype(float), WORDS_AT_ONCE)
    shared = rows.bits[:, None, :] & rows.partner_words(kinds).T[None, :, :]
    np.testing.assert_array_equal(np.bitwise_count(shared) @ weights, low @ low.T)


def test_lists_name_the_rows_of_a_feature_in_order() -> None:
    counts, kinds, rows = example()
    every, high = lists_of(rows, kinds)
    is_dense = kinds.kinds == Kind.DENSE
    np.testing.assert_array_equal(dense_of(every, 150).T, np.where(is_dense, 0, counts))
    exceeding = np.where(is_dense | (kinds.kinds == Kind.RARE), 0, counts - low_of(counts, kinds))
    assert exceeding.any()
    np.testing.assert_array_equal(dense_of(high, 150).T, exceeding)
    for lists in (every, high):
        for first, last in zip(lists.starts[:-1], lists.starts[1:], strict=True):
            assert (np.diff(lists.columns[first:last]) > 0).all()


def test_double_precision_has_no_bits() -> None:
    counts, _, _ = example()
    kinds = chosen_kinds(sparse.csr_array(counts.astype(np.int32)), np.dtype(np.float64))
    assert kinds.sizes[Kind.ONE_BIT] == kinds.sizes[Kind.TWO_BITS] == 0


@pytest.mark.parametrize(
    ("rows", "count", "kind"),
    [(1, 1, Kind.RARE), (90, 1, Kind.ONE_BIT), (90, 9, Kind.DENSE), (3, 9, Kind.RARE)],
)
def test_kinds_by_how_many_rows_have_how_much(rows: int, count: int, kind: Kind) -> None:
    counts = np.zeros((100, 1), np.int32)
    counts[:rows] = count
    assert chosen_kinds(sparse.csr_array(counts), SINGLE).kinds[0] == kind


def test_features_without_a_kind_are_left_out() -> None:
    counts, kinds, rows = example()
    wider = np.hstack([counts, np.ones((150, 3), int)])
    again = split(sparse.csr_array(wider.astype(np.int32)), kinds, SINGLE)
    np.testing.assert_array_equal(again.dense, rows.dense)
    np.testing.assert_array_equal(again.bits, rows.bits)
    np.testing.assert_array_equal(again.exceeding, rows.exceeding)
