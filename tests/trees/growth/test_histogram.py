"""Sums by code and the codes that occur: direct sums, direct sets, and a clean bitmap after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.histogram_kernels import (
    fill,
    occupied_by_bits,
    occupied_by_scan,
    occupied_wide,
)

seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("kind", [np.uint8, np.int32])
@given(seed=seeds)
def test_sums_by_code(seed: int, kind: type, classes: bool, n_targets: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_codes = 30, 5
    codes = rng.integers(0, n_codes, (n, 4)).astype(kind)
    sizes = [3, 2][:n_targets]
    begins = [0, 3][:n_targets]
    labels = np.column_stack(
        [begin + rng.integers(0, size, n) for begin, size in zip(begins, sizes, strict=True)]
    ).astype(np.int32)
    numbers = rng.normal(size=(n, n_targets))
    n_stats = sum(sizes) if classes else 1 + n_targets
    rows = rng.integers(0, n, n).astype(np.int32)
    weight = rng.random(n)
    chosen = np.array([3, 1, 99])
    # What is there already is added to.
    out = np.full((4, n_codes * n_stats), 0.5)
    table, entries = (codes, labels, numbers), (rows, weight)
    fill(table, entries, 4, 25, chosen, 2, n_stats, classes, out)
    for f, column in enumerate(chosen[:2]):
        expected = np.full((n_codes, n_stats), 0.5)
        for i in range(4, 25):
            code = codes[rows[i], column]
            if classes:
                expected[code, labels[rows[i]]] += weight[i]
            else:
                expected[code] += weight[i] * np.append(1.0, numbers[rows[i]])
        np.testing.assert_allclose(out[f].reshape(n_codes, n_stats), expected, rtol=1e-12)
    assert (out[2:] == 0.5).all()


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_codes_by_scan(met: list[bool]) -> None:
    sums = np.zeros((len(met), 2))
    # Moments of numbers may cancel, weights not.
    sums[met] = [1.5, 0.0]
    out = np.full(len(met) + 1, -7)
    count = occupied_by_scan(sums.ravel(), len(met), 2, out)
    assert out[:count].tolist() == np.flatnonzero(met).tolist()


@pytest.mark.parametrize("with_missing", [False, True])
@given(seed=seeds, n_codes=st.sampled_from([1, 64, 65, 255]))
def test_codes_by_bits(seed: int, n_codes: int, with_missing: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, (20, 2)).astype(np.uint8)
    rows = rng.permutation(20).astype(np.int32)
    if with_missing:
        codes[rows[5:8], 1] = 255
    bits, out = np.zeros(6, np.uint64), np.full(258, -7)
    count = occupied_by_bits(codes, rows, 3, 17, 1, 255, bits, out)
    expected = np.unique(codes[rows[3:17], 1])
    assert out[:count].tolist() == expected[expected != 255].tolist()
    assert not bits.any()


@pytest.mark.parametrize("n_codes", [256, 64 * 64, 64 * 64 + 1, 65_536, 64**3, 300_000])
@given(seed=seeds, with_missing=st.booleans())
def test_codes_of_wide_columns(n_codes: int, seed: int, with_missing: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, (25, 2)).astype(np.int32)
    codes[0, 1], codes[1, 1] = 0, n_codes - 1
    missing = n_codes
    if with_missing:
        codes[4:6, 1] = missing
    rows = np.arange(25, dtype=np.int32)
    words = (missing + 1) // 64 + 1
    bits = np.zeros(words + words // 64 + 1 + words // 4096 + 4, np.uint64)
    out = np.full(40, -7)
    count = occupied_wide(codes, rows, 0, 25, 1, missing, bits, out)
    expected = np.unique(codes[:, 1])
    assert out[:count].tolist() == expected[expected != missing].tolist()
    assert not bits.any()


def test_no_rows_have_no_codes() -> None:
    codes, rows = np.zeros((3, 1), np.uint8), np.arange(3, dtype=np.int32)
    bits, out = np.zeros(6, np.uint64), np.empty(8, np.int64)
    assert occupied_by_bits(codes, rows, 1, 1, 0, 255, bits, out) == 0
    assert occupied_by_scan(np.zeros(6), 3, 2, out) == 0
    assert (
        occupied_wide(codes.astype(np.int32), rows, 1, 1, 0, 300, np.zeros(12, np.uint64), out) == 0
    )
