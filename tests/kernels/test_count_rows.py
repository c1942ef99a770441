"""Rows of counts: every path gives the integer product, in the order and type asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import MemoryLimitError
from novum.kernels import count_rows
from novum.kernels.count_rows import CountRows
from novum.numerics import Integers


def random_counts(n: int, n_features: int, seed: int) -> Integers:
    """Features of many rows and of few, with counts of mostly 1, of a few, and of more."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.9, 0.3, 0.1, 0.02], n_features)
    levels = np.array([[0.02, 0.2, 0.9]]).repeat(-(-n_features // 3), 0).ravel()[:n_features]
    excess = rng.integers(1, 5, (n, n_features)) * (rng.random((n, n_features)) < levels)
    return (1 + excess // 2 + excess % 2) * (rng.random((n, n_features)) < shares)


def rows_of(counts: Integers) -> CountRows:
    return CountRows(sparse.csr_array(counts.astype(np.int32)))


@pytest.fixture(params=[0, 2**62], ids=["compiled", "plain"])
def _path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", request.param)


@pytest.mark.usefixtures("_path")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "n_features"), [(1, 5), (40, 700), (300, 1200), (20, 0), (0, 3)])
def test_products_are_the_integer_products(n: int, n_features: int, dtype: type) -> None:
    counts = random_counts(n, n_features, seed=n)
    rows = rows_of(counts)
    expected = counts @ counts.T
    gram = rows.gram(dtype)
    assert gram.dtype == dtype
    assert gram.flags.c_contiguous
    np.testing.assert_array_equal(gram, expected)
    np.testing.assert_array_equal(rows.cross(rows, dtype), expected)
    np.testing.assert_array_equal(rows.squares, np.diag(expected))


@pytest.mark.usefixtures("_path")
def test_sides_of_different_size_and_width() -> None:
    counts = random_counts(200, 300, seed=1)
    few, many = counts[:30], counts[30:, :120]
    expected = few[:, :120] @ many.T
    np.testing.assert_array_equal(rows_of(few).cross(rows_of(many)), expected)
    np.testing.assert_array_equal(rows_of(many).cross(rows_of(few)), expected.T)
    assert rows_of(many).cross(rows_of(few)).flags.c_contiguous


@pytest.mark.usefixtures("_path")
def test_parts_are_rows_of_the_whole() -> None:
    counts = random_counts(200, 300, seed=2)
    rows, gram = rows_of(counts), counts @ counts.T
    mask = np.arange(200) % 7 == 0
    for chosen in (np.array([5, 3, 3, 199]), slice(10, 90, 2), mask):
        np.testing.assert_array_equal(rows.take(chosen).cross(rows), gram[chosen])
        np.testing.assert_array_equal(rows.take(chosen).gram(), gram[chosen][:, chosen])


def test_all_kinds_of_features_take_part() -> None:
    # Else the tests above would say nothing about bits and lists.
    kinds = rows_of(random_counts(300, 1200, seed=300)).index.kinds
    assert (kinds.sizes > 0).all()


def test_large_counts_are_exact_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", 0)
    counts = random_counts(60, 50, seed=3)
    counts[:, 0] = 2**20 + np.arange(60)
    rows = rows_of(counts)
    assert rows.index.precision == np.float64
    # 2^40 and more: single precision could not hold a single one of these numbers.
    np.testing.assert_array_equal(rows.gram(), counts @ counts.T)
    small = rows_of(counts[:, 1:])
    assert small.index.precision == np.float32
    np.testing.assert_array_equal(rows.cross(small), counts[:, :-1] @ counts[:, 1:].T)


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(1, 90), st.integers(0, 2**32 - 1))
def test_compiled_and_plain_products_have_the_same_bits(n: int, width: int, seed: int) -> None:
    rows = rows_of(random_counts(n, width, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", 0)
        compiled = rows.gram()
        patch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", 2**62)
        assert rows.gram().tobytes() == compiled.tobytes()


@pytest.mark.usefixtures("_path")
def test_left_rows_may_be_scaled() -> None:
    counts = random_counts(300, 1200, seed=300)
    factors = np.where(np.arange(1200) % 5 == 0, 3, 1)
    rows = rows_of(counts)
    scaled = rows.scaled(factors)
    expected = (counts * factors) @ counts.T
    np.testing.assert_array_equal(rows.gram(left=scaled), expected)
    np.testing.assert_array_equal(scaled.cross(rows), expected)
    np.testing.assert_array_equal(rows.rowwise(scaled), np.diag(expected))


@pytest.mark.usefixtures("_path")
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["left out", "kept"])
def test_features_that_one_row_has_alone(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rows, "LONE_SHARE", share)
    counts = np.hstack([random_counts(40, 30, seed=4), 2 * np.eye(40, dtype=int)])
    rows, factors = rows_of(counts), np.where(np.arange(70) < 50, 1, 4)
    np.testing.assert_array_equal(rows.gram(), counts @ counts.T)
    scaled = rows.scaled(factors)
    np.testing.assert_array_equal(rows.gram(left=scaled), (counts * factors) @ counts.T)
    # To another sample, which may share them, they are features like any other.
    np.testing.assert_array_equal(rows.take([3, 3]).cross(rows), counts[[3, 3]] @ counts.T)


def test_no_row_shares_a_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", 0)
    np.testing.assert_array_equal(rows_of(3 * np.eye(5, dtype=int)).gram(), 9 * np.eye(5))


def test_single_precision_up_to_the_last_exact_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_rows, "COMPILED_FROM_ADDITIONS", 0)
    for largest, precision in ((2**12 - 1, np.float32), (2**12, np.float64)):
        rows = rows_of(np.full((3, 1), largest))
        assert rows.index.precision == precision
        np.testing.assert_array_equal(rows.gram(), np.full((3, 3), largest**2))
    # The cheap bound is too coarse here: one large count, and many small ones in the same row.
    mixed = rows_of(np.array([[2**11] + [1] * 9]))
    assert mixed.index.precision == np.float32


def test_a_matrix_beyond_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1kB")
    rows = rows_of(np.ones((20, 1)))
    for work in (rows.gram, lambda: rows.cross(rows)):
        with pytest.raises(MemoryLimitError, match=r"400 similarities needs 3\.2 kB.*take"):
            work()
