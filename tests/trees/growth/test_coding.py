"""Codes of cells: the definition, exact small columns, bins of equal weight, nasty numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.growth.coding import (
    MAX_LEVELS,
    NARROW_CODES,
    NARROW_MISSING,
    QUANTILE_ROWS,
    TableCoding,
    midpoints,
)
from novum.trees.training import UNSEEN_CELL

ONE = Schema.of_array(1)
finite = st.floats(allow_nan=False, allow_infinity=False)
cells = st.floats(allow_nan=True, allow_infinity=False)
TINY = 5e-324


def coding_of(x: object, weight: object = None, max_bins: int | None = 255) -> TableCoding:
    given_weight = None if weight is None else np.asarray(weight, float)
    return TableCoding.of(ONE, np.asarray(x, float)[:, None], given_weight, max_bins)


def codes_of(coding: TableCoding, x: object) -> list[int]:
    return coding.codes(np.asarray(x, float)[:, None]).ravel().tolist()


# --- Midpoints ------------------------------------------------------------------------------------


@given(finite, finite)
def test_a_midpoint_parts_its_values(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    if low == high:
        return
    t = midpoints(np.array([low]), np.array([high]))[0]
    assert low <= t < high


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        (-1.7e308, 1.7e308, 0.0),
        (1.5 * 2.0**1023, 1.75 * 2.0**1023, 1.625 * 2.0**1023),
        (0.0, TINY, 0.0),
        (-TINY, 0.0, -TINY),
        (1e16, 1e16 + 2, 1e16),
    ],
)
def test_midpoints_without_room_or_range(low: float, high: float, expected: float) -> None:
    assert midpoints(np.array([low]), np.array([high]))[0] == expected


# --- Codes ----------------------------------------------------------------------------------------


@given(st.lists(cells, min_size=1, max_size=40), st.sampled_from([2, 3, 255, None]))
def test_a_code_is_the_number_of_edges_below(x: list[float], max_bins: int | None) -> None:
    coding = coding_of(x, max_bins=max_bins)
    edges = coding.edges[0]
    assert (np.diff(edges) > 0).all()
    assert np.isfinite(edges).all()
    assert coding.n_codes[0] == len(edges) + 1 <= (max_bins or len(x) + 1)
    for value, code in zip(x, codes_of(coding, x), strict=True):
        assert code == (NARROW_MISSING if np.isnan(value) else (edges < value).sum())


@given(st.lists(cells, min_size=1, max_size=40))
def test_few_distinct_values_have_a_code_each(x: list[float]) -> None:
    for max_bins in (255, None):
        found = np.array(codes_of(coding_of(x, max_bins=max_bins), x))
        known = ~np.isnan(x)
        ranks = np.unique(np.array(x)[known], return_inverse=True)[1]
        np.testing.assert_array_equal(found[known], ranks)


def test_signed_zeros_are_one_value() -> None:
    coding = coding_of([-0.0, 0.0, 1.0])
    assert coding.n_codes[0] == 2
    assert codes_of(coding, [-0.0, 0.0, TINY, -TINY]) == [0, 0, 0, 0]


def test_neighboring_floats_are_two_values() -> None:
    a = np.nextafter(3.0, 4.0)
    coding = coding_of([3.0, a, TINY, 2 * TINY, 1.7e308, -1.7e308])
    assert coding.n_codes[0] == 6
    assert codes_of(coding, [-1.7e308, TINY, 2 * TINY, 3.0, a, 1.7e308]) == list(range(6))


def test_numbers_beyond_training_take_the_outer_codes() -> None:
    coding = coding_of([1.0, 2.0, 3.0])
    assert codes_of(coding, [-1e308, 0.0, 1e308, np.inf, -np.inf]) == [0, 0, 2, 2, 0]


def test_a_column_without_a_cell_has_one_code() -> None:
    for max_bins in (255, None):
        coding = coding_of([np.nan, np.nan], max_bins=max_bins)
        assert coding.n_codes[0] == 1
        assert codes_of(coding, [np.nan, 7.0]) == [NARROW_MISSING, 0]


@pytest.mark.parametrize("narrow", [True, False])
def test_levels_are_their_own_codes(narrow: bool) -> None:
    n_levels = 5 if narrow else 300
    levels = tuple(f"{i:03d}" for i in range(n_levels))
    schema = Schema((Column("c", Kind.NOMINAL, levels), Column("s", Kind.ORDINAL, tuple("SML"))))
    table = np.array([[0.0, 2.0], [n_levels - 1.0, 0.0], [np.nan, np.nan], [UNSEEN_CELL, 1.0]])
    coding = TableCoding.of(schema, table)
    assert coding.is_narrow == narrow
    assert coding.nominal.tolist() == [True, False]
    assert coding.n_codes.tolist() == [n_levels, 3]
    assert coding.missing == (NARROW_MISSING if narrow else n_levels)
    codes = coding.codes(table)
    assert codes.dtype == (np.uint8 if narrow else np.int32)
    assert codes.flags.c_contiguous
    nothing = coding.missing
    assert codes.tolist() == [[0, 2], [n_levels - 1, 0], [nothing, nothing], [nothing, 1]]


def test_a_byte_holds_255_levels_and_the_missing_code() -> None:
    for n_levels in (NARROW_CODES, NARROW_CODES + 1):
        levels = tuple(f"{i:03d}" for i in range(n_levels))
        schema = Schema((Column("c", Kind.NOMINAL, levels),))
        table = np.array([[n_levels - 1.0], [np.nan]])
        coding = TableCoding.of(schema, table)
        assert coding.is_narrow == (n_levels == NARROW_CODES)
        assert coding.codes(table).ravel().tolist() == [n_levels - 1, coding.missing]
        assert coding.missing not in range(n_levels)


@given(hnp.arrays(float, (30, 2), elements=st.sampled_from([-1.0, 0.0, 2.5, 7.0, np.nan])))
def test_wide_codes_are_the_narrow_ones(table: np.ndarray) -> None:
    schema = Schema.of_array(2)
    narrow = TableCoding.of(schema, table)
    long = np.column_stack(
        [np.r_[table[:, 0], np.arange(400.0)], np.r_[table[:, 1], np.zeros(400)]]
    )
    wide = TableCoding.of(schema, long, None, None)
    assert not wide.is_narrow
    edges = (narrow.edges[0], wide.edges[1])
    for j, coding in enumerate((narrow, wide)):
        found = coding.codes(table)[:, j].astype(int)
        expected = [(edges[j] < x).sum() if x == x else coding.missing for x in table[:, j]]
        assert found.tolist() == expected


def test_ranges_are_the_extremes_of_every_code() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 2))
    table[rng.random(table.shape) < 0.1] = np.nan
    for max_bins in (7, None):
        coding = TableCoding.of(Schema.of_array(2), table, None, max_bins)
        codes = coding.codes(table)
        low, high = coding.ranges(codes, table)
        for j in range(2):
            for code in range(int(coding.n_codes[j])):
                here = table[codes[:, j] == code, j]
                assert (low[j, code], high[j, code]) == (here.min(), here.max())


# --- Bins of equal weight -------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [2, 16, 255])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_have_nearly_equal_weight(max_bins: int, weighted: bool) -> None:
    """No bin is off by more than the heaviest row on either side."""
    rng = np.random.default_rng(1)
    x = rng.lognormal(size=5000)
    weight = rng.integers(1, 6, 5000).astype(float) if weighted else np.ones(5000)
    coding = coding_of(x, weight if weighted else None, max_bins)
    amounts = np.bincount(codes_of(coding, x), weight)
    assert len(amounts) == max_bins
    assert np.abs(amounts - weight.sum() / max_bins).max() <= 2 * weight.max()


@given(st.lists(st.tuples(st.integers(-30, 30), st.integers(1, 4)), min_size=1, max_size=60))
def test_weights_are_repetitions(pairs: list[tuple[int, int]]) -> None:
    x, weight = np.array(pairs, float).T
    weighted = coding_of(x, weight, 5)
    repeated = coding_of(np.repeat(x, weight.astype(int)), None, 5)
    assert weighted.edges[0].tolist() == repeated.edges[0].tolist()


def test_a_heavy_value_fills_its_bin() -> None:
    """Half of the rows are 0: one code for them, all others for the rest."""
    x = np.r_[np.zeros(5000), np.random.default_rng(0).random(5000)]
    coding = coding_of(x, None, 100)
    assert codes_of(coding, [0.0]) == [0]
    assert 49 <= coding.n_codes[0] <= 51


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e307])
def test_bins_do_not_depend_on_units(scale: float) -> None:
    x = np.random.default_rng(2).random(1000)
    found = codes_of(coding_of(x * scale, None, 10), x * scale)
    assert found == codes_of(coding_of(x, None, 10), x)


# --- Large tables ---------------------------------------------------------------------------------


def test_large_tables_with_few_values_are_exact() -> None:
    """A value in one row of many is found, though quantiles come from a choice of rows."""
    x = np.random.default_rng(3).integers(0, 200, 5 * QUANTILE_ROWS).astype(float)
    x[77] = 1000.5
    x[5:9] = np.nan
    coding = coding_of(x)
    assert coding.n_codes[0] == 201
    assert codes_of(coding, [1000.5]) == [200]


def test_many_values_that_come_late_are_found() -> None:
    x = np.r_[np.zeros(2 * QUANTILE_ROWS), np.arange(2 * QUANTILE_ROWS)]
    assert coding_of(x).n_codes[0] > 100


def test_large_tables_have_bins_of_nearly_equal_weight() -> None:
    x = np.random.default_rng(4).normal(size=5 * QUANTILE_ROWS)
    coding = coding_of(x, None, 50)
    share = np.bincount(codes_of(coding, x)) / len(x)
    # Quantiles of 20,000 rows: five standard errors of a share of 1/50.
    assert np.abs(share - 0.02).max() < 5 * np.sqrt(0.02 / QUANTILE_ROWS)


def test_rare_cells_of_a_large_table_are_all_read() -> None:
    rng = np.random.default_rng(5)
    x = np.full(6 * QUANTILE_ROWS, np.nan)
    x[rng.choice(len(x), 250, replace=False)] = rng.normal(size=250)
    assert coding_of(x).n_codes[0] == 250
    x[rng.choice(len(x), 900, replace=False)] = rng.normal(size=900)
    assert coding_of(x).n_codes[0] == 255


# --- Too many levels ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.NOMINAL, Kind.ORDINAL])
def test_too_many_levels(kind: Kind) -> None:
    levels = tuple(map(str, range(MAX_LEVELS + 1)))
    schema = Schema((Column("id", kind, levels),))
    with pytest.raises(InputError, match=r"'id' has 65537 levels.*65536.*leave it out, or group"):
        TableCoding.of(schema, np.zeros((1, 1)))
    most = Schema((Column("id", kind, levels[:-1]),))
    assert TableCoding.of(most, np.zeros((1, 1))).n_codes[0] <= MAX_LEVELS
