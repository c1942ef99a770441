"""Kernel rows: products by definition, and a cache that never returns the wrong row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.svm.solver.row_cache import KernelRows, RowCache, pieces
from tests.svm.quadratic_problems import GramRows, cloud, gaussian

K = gaussian(cloud(40)[0])


@pytest.mark.parametrize("whole", [True, False])
def test_products_and_blocks_are_those_of_the_matrix(
    whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not whole:
        monkeypatch.setattr("novum.svm.solver.row_cache.WHOLE_ROWS", 0)
        monkeypatch.setattr("novum.svm.solver.row_cache._PIECE_ENTRIES", 100)
    rows = KernelRows(GramRows(K))
    chosen, amounts = np.array([3, 7, 30, 1]), np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(rows.product(chosen, amounts), amounts @ K[chosen], atol=1e-14)
    at = np.array([0, 39])
    np.testing.assert_allclose(
        rows.product_at(at, chosen, amounts), (amounts @ K[chosen])[at], atol=1e-14
    )
    np.testing.assert_array_equal(rows.block(chosen), K[np.ix_(chosen, chosen)])
    np.testing.assert_allclose(rows.gram(), K, atol=1e-16)


@given(st.lists(st.lists(st.integers(0, 39), min_size=1, max_size=6), min_size=1, max_size=20))
def test_the_cache_holds_what_it_says(requests: list[list[int]]) -> None:
    cache = RowCache(GramRows(K), budget=0, block=6)
    assert cache.capacity == 12
    for wanted in requests:
        slots = cache.slots(np.array(wanted))
        np.testing.assert_array_equal(cache.rows[slots], K[wanted].astype(np.float32))


def test_rows_that_fit_are_computed_once() -> None:
    cache = RowCache(GramRows(K), budget=10**9, block=8)
    for start in (0, 8, 16, 24, 32):
        cache.slots(np.arange(start, start + 8))
    computed = cache.computed
    for _ in range(5):
        for start in (0, 8, 16, 24, 32):
            cache.slots(np.arange(start, start + 8))
    before = cache.computed
    for start in (0, 8, 16, 24, 32):
        cache.slots(np.arange(start, start + 8))
    assert computed == 40
    assert cache.computed == before


def test_products_of_cached_rows_add_up() -> None:
    cache = RowCache(GramRows(K), budget=10**9, block=8)
    chosen, amounts = np.array([5, 5, 9, 2, 30]), np.array([1.0, 0.5, -1.0, 2.0, 3.0])
    out = np.ones(40)
    cache.add_product(cache.slots(chosen), amounts, out)
    np.testing.assert_allclose(out, 1 + amounts @ K[chosen].astype(np.float32), rtol=1e-12)


def test_pieces_cover_everything() -> None:
    cuts = pieces(10, 2**18)
    assert [cut.stop - cut.start for cut in cuts] == [2] * 5
    assert pieces(0, 5) == []


def test_a_check_ends_products_and_leaves_what_is_held() -> None:
    K = np.eye(2000)
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) > 1:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        KernelRows(GramRows(K), check=check).product(np.arange(2000), np.ones(2000))
    calls.clear()
    cache = RowCache(GramRows(K), 0, 1000, check)
    with pytest.raises(TimeoutError):
        cache.slots(np.arange(1000))
    held = np.arange(cache.computed)
    calls.clear()
    np.testing.assert_array_equal(cache.rows[cache.slots(held)], K[held])
    assert not calls
