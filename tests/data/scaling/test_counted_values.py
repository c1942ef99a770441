"""Counted values: counting by hand, uniting and removing, and the account of compression."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.data.scaling.counted_values import CountedValues
from novum.numerics import Floats
from tests.data.scaling.tables import small_tables


def definition(X: Floats, weight: Floats) -> list[dict[float, float]]:
    """Weights of the known values of every column, cell by cell."""
    out = []
    for column in X.T:
        counts: Counter[float] = Counter()
        for value, amount in zip(column, weight, strict=True):
            if not np.isnan(value):
                counts[float(value)] += amount
        out.append(dict(counts))
    return out


def as_dicts(counts: CountedValues) -> list[dict[float, float]]:
    columns = [counts.column(j) for j in range(counts.n_columns)]
    return [dict(zip(v.tolist(), w.tolist(), strict=True)) for v, w in columns]


@given(small_tables(), st.booleans())
def test_it_is_its_definition(X: Floats, weighted: bool) -> None:
    weight = np.arange(1.0, len(X) + 1) if weighted else np.ones(len(X))
    found = CountedValues.of(X, weight if weighted else None)
    assert as_dicts(found) == definition(X, weight)
    for j in range(found.n_columns):
        assert (np.diff(found.column(j)[0]) > 0).all()
    np.testing.assert_allclose(found.totals, (weight[:, None] * ~np.isnan(X)).sum(axis=0))


@given(small_tables(), small_tables())
def test_parts_unite_and_come_off(A: Floats, B: Floats) -> None:
    a, b = CountedValues.of(A), CountedValues.of(B)
    both = CountedValues.of(np.concatenate([A, B]))
    assert (a + b).isclose(both)
    assert (both - b).isclose(a)
    assert (both - both).values.size == 0
    assert (2.0 * a).isclose(a + a)
    assert (a + 0.0 * a).isclose(a)


def test_negative_zero_is_zero_and_order_does_not_matter() -> None:
    found = CountedValues.of(np.array([[0.0], [-0.0], [-1.0]]))
    assert as_dicts(found) == [{-1.0: 1.0, 0.0: 2.0}]
    cells = CountedValues.of_cells(np.array([1, 0, 1]), np.array([5.0, 2.0, 5.0]), np.ones(3), 3)
    assert as_dicts(cells) == [{2.0: 1.0}, {5.0: 2.0}, {}]


def test_fractions_of_weights_leave_no_trace() -> None:
    X = np.full((10, 1), 3.0)
    part = CountedValues.of(X[:1], np.array([0.1]))
    left = CountedValues.of(X, np.full(10, 0.1))
    for _ in range(10):
        left = left - part
    assert left.values.size == 0


def test_what_was_never_there_cannot_be_removed() -> None:
    a, b = CountedValues.of(np.array([[1.0]])), CountedValues.of(np.array([[2.0]]))
    with pytest.raises(InputError, match="value 2 of numeric column 0 has weight 0, and 1 is to"):
        a - b
    with pytest.raises(InputError, match="value 1 of numeric column 0 has weight 1, and 2 is to"):
        a - (a + a)
    with pytest.raises(InputError, match="same columns"):
        a + CountedValues.of(np.ones((1, 2)))
    with pytest.raises(InputError, match="limits 0 and 10 do not combine"):
        a + CountedValues.of(np.ones((1, 1)), limit=10)
    with pytest.raises(InputError, match="finite number of times"):
        -1.0 * a
    with pytest.raises(InputError, match="wrong lengths"):
        CountedValues(np.array([0, 2]), np.ones(1), np.ones(1), np.zeros(1))


# --- Bounded memory -------------------------------------------------------------------------------


def true_below(X: Floats, x: Floats) -> Floats:
    return np.searchsorted(np.sort(X), x).astype(float)


def test_a_limit_bounds_memory_and_the_error_it_admits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 1))
    parts = [CountedValues.of(part, limit=200) for part in np.array_split(X, 16)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    values, weights = whole.column(0)
    assert len(values) <= 200
    assert weights.sum() == pytest.approx(20_000)
    assert values[0] == X.min()
    assert values[-1] == X.max()
    at = np.quantile(X, np.linspace(0.01, 0.99, 50))
    below = np.concatenate([[0.0], np.cumsum(weights)])[np.searchsorted(values, at)]
    worst = np.abs(below - true_below(X[:, 0], at)).max()
    assert worst <= whole.rank_error[0]
    # The tree of sums has a few levels, each of which adds a run of 1/200 of the weight or so.
    assert worst < 0.02 * 20_000
    with pytest.raises(InputError, match="compressed, so single ones cannot be taken away"):
        whole - parts[0]


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    X = np.arange(20.0)[:, None]
    limited = CountedValues.of(X, limit=20)
    assert limited.rank_error.tolist() == [0.0]
    assert as_dicts(limited) == as_dicts(CountedValues.of(X))
    assert (limited - limited).limit == 20


def test_one_heavy_value_keeps_its_weight() -> None:
    X = np.concatenate([np.zeros(10_000), np.arange(1.0, 101.0)])[:, None]
    values, weights = CountedValues.of(X, limit=20).column(0)
    assert weights[values == 0.0].tolist() == [10_000.0]
