"""Summaries of columns: exact while small, and never wrong by more than they say."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.sums import total
from novum.core.tables import Schema
from novum.numerics import Floats
from novum.trees.growth.coding import TableCoding
from novum.trees.scale.survey import ColumnSketch, capacity_of, edges_of

VALUES = st.lists(st.integers(-6, 6).map(lambda k: k / 4), min_size=1, max_size=40)


def true_ranks(sketch: ColumnSketch, x: Floats, w: Floats) -> float:
    """The largest error of a rank, by the definition, at all places where ranks change."""
    ordered = np.argsort(x)
    places = np.unique(x)
    below = np.searchsorted(x[ordered], places, side="right")
    ranks = np.cumsum(w[ordered], dtype=np.longdouble)[below - 1]
    found = np.array([sketch.rank(place) for place in places])
    # Ranks are never too large: weight moves up.
    assert (found <= ranks + 1e-9 * w.sum()).all()
    return float((ranks - found).max())


# --- Exact ----------------------------------------------------------------------------------------


@given(x=VALUES, y=VALUES, whole=st.booleans())
def test_few_values_are_kept_as_they_are(x: list[float], y: list[float], whole: bool) -> None:
    a, b = np.array(x), np.array(y)
    weights = [None, None] if whole else [1 + np.arange(a.size) % 3, 1 + np.arange(b.size) % 2]
    parts = [
        ColumnSketch.of(v, None if w is None else w.astype(float))
        for v, w in zip((a, b), weights, strict=True)
    ]
    sketch = parts[0] + parts[1]
    both = np.concatenate([a, b])
    weight = np.ones(both.size) if whole else np.concatenate(weights).astype(float)
    values = np.unique(both)
    np.testing.assert_array_equal(sketch.values, values)
    np.testing.assert_array_equal(sketch.weights, [weight[both == v].sum() for v in values])
    assert sketch.is_exact
    assert sketch.isclose(parts[1] + parts[0])


def test_no_rows_and_missing_cells_add_nothing() -> None:
    sketch = ColumnSketch.of(np.array([1.0, np.nan, 3.0]))
    assert (sketch + sketch.zero()).isclose(sketch)
    assert ColumnSketch.of(np.array([np.nan])).weight == 0.0
    assert sketch.weight == 2.0
    assert (2.0 * sketch).weight == 4.0
    assert not (2.0 * sketch).isclose(sketch)
    assert np.isnan(sketch.zero().median())
    assert sketch.zero().edges(10).size == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [2, 17, 255, None])
def test_bins_are_those_of_the_table_in_memory(max_bins: int | None, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(3000, 1)).round(3)
    weight = rng.integers(1, 4, 3000).astype(float) if weighted else None
    expected = TableCoding.of(Schema.of_array(1), cells, weight, max_bins).edges[0]
    parts = [
        ColumnSketch.of(cells[rows, 0], None if weight is None else weight[rows])
        for rows in np.array_split(np.arange(3000), 7)
    ]
    np.testing.assert_array_equal(reduce(add, parts).edges(max_bins), expected)


def test_the_median_is_that_of_the_rows() -> None:
    x = np.array([5.0, 1.0, 2.0, 9.0, 9.0])
    assert ColumnSketch.of(x).median() == 5.0
    assert ColumnSketch.of(x, np.array([1.0, 1.0, 5.0, 1.0, 1.0])).median() == 2.0


# --- Compressed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["normal", "ascending", "heavy", "weighted"])
@pytest.mark.parametrize("n_chunks", [1, 7, 64])
def test_ranks_are_wrong_by_no_more_than_the_bound(law: str, n_chunks: int) -> None:
    rng = np.random.default_rng(1)
    n, capacity = 20_000, 400
    x = rng.normal(size=n)
    weight = np.ones(n)
    if law == "ascending":
        x = np.sort(x)
    if law == "heavy":
        x[rng.random(n) < 0.6] = 0.25
        x[rng.random(n) < 0.1] = -1.5
    if law == "weighted":
        weight = rng.exponential(size=n) ** 3
    parts = [
        ColumnSketch.of(x[rows], weight[rows], capacity)
        for rows in np.array_split(np.arange(n), n_chunks)
    ]
    sketch = total(parts)
    assert not sketch.is_exact
    assert sketch.values.size <= capacity
    assert set(sketch.values) <= set(x)
    assert sketch.weight == pytest.approx(weight.sum(), rel=1e-12)
    found = true_ranks(sketch, x, weight)
    assert found <= sketch.error * (1 + 1e-12)
    # The bound that the module states: 2 W / K for each of 1 + log2(chunks) compressions.
    levels = 1 + np.ceil(np.log2(n_chunks))
    assert sketch.error < levels * 2 * weight.sum() / (capacity // 4)


def test_values_that_stand_out_keep_their_weight() -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(size=5000), np.full(3000, 0.5)])
    sketch = ColumnSketch.of(x, capacity=200)
    place = int(np.searchsorted(sketch.values, 0.5))
    assert sketch.values[place] == 0.5
    assert sketch.weights[place] == 3000


def test_bins_of_a_summary_have_nearly_equal_weight() -> None:
    rng = np.random.default_rng(3)
    x = rng.exponential(size=200_000)
    parts = [ColumnSketch.of(part) for part in np.array_split(x, 8)]
    sketch = total(parts)
    edges = sketch.edges(100)
    ranks = np.searchsorted(np.sort(x), edges, side="right")
    wanted = x.size * np.arange(1, 100) / 100
    # A cut lies within one of the kept values, of weight W / 8192, beside the errors of ranks.
    assert np.abs(ranks - wanted).max() <= sketch.error + 2 * x.size / 8192


def test_the_same_parts_give_the_same_bits() -> None:
    x = np.random.default_rng(4).normal(size=9000)
    first, again = (
        total(ColumnSketch.of(part, capacity=300) for part in np.array_split(x, 5))
        for _ in range(2)
    )
    assert first.values.tobytes() == again.values.tobytes()
    assert first.weights.tobytes() == again.weights.tobytes()


# --- Sizes ----------------------------------------------------------------------------------------


def test_wide_tables_keep_fewer_values() -> None:
    assert capacity_of(1) == capacity_of(64) == 32_768
    assert capacity_of(10**6) == 2_048
    assert all(n * capacity_of(n) <= 2**21 for n in (64, 100, 1000))


def test_sketches_of_other_capacity_do_not_add_up() -> None:
    a, b = ColumnSketch.of(np.ones(1), capacity=10), ColumnSketch.of(np.ones(1), capacity=20)
    with pytest.raises(InputError, match="capacity 10 and 20 do not add up"):
        a + b


def test_edges_of_one_value_are_none() -> None:
    assert edges_of(np.array([3.0]), np.array([7.0]), 255).size == 0
