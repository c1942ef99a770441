"""One column in brief: NumPy's quantiles, moments and histograms, levels, extreme numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.table.profile import column_record
from novum.core.tables import Kind
from tests.apps.job.table.tables import numbers, words

floats = st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=1, max_size=40)


@given(floats)
def test_numbers_agree_with_numpy(values: list[float | None]) -> None:
    found = column_record(numbers(*values), None)
    known = np.array([value for value in values if value is not None])
    assert found.n_missing == len(values) - known.size
    assert found.n_distinct == len(np.unique(known))
    if not known.size:
        assert (found.quantiles, found.mean, found.histogram_counts) == ((), None, ())
        return
    expected = np.quantile(known, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(found.quantiles, expected, rtol=1e-12, atol=1e-9)
    assert found.mean == pytest.approx(known.mean(), rel=1e-12, abs=1e-9)
    if known.size > 1:
        assert found.deviation == pytest.approx(known.std(ddof=1), rel=1e-9, abs=1e-9)
    else:
        assert found.deviation is None
    assert sum(found.histogram_counts) == known.size


def test_histograms_agree_with_numpy() -> None:
    x = np.random.default_rng(0).normal(size=500)
    found = column_record(numbers(*x), None)
    counts, edges = np.histogram(x, bins=20)
    np.testing.assert_allclose(found.histogram_edges, edges)
    assert list(found.histogram_counts) == counts.tolist()


def test_whole_numbers_have_a_bar_each() -> None:
    found = column_record(numbers(1, 1, 2, 4), None)
    assert found.histogram_edges == (0.5, 1.5, 2.5, 3.5, 4.5)
    assert found.histogram_counts == (2, 1, 0, 1)


def test_constant_and_extreme_numbers() -> None:
    same = column_record(numbers(3, 3), None)
    assert (same.histogram_edges, same.histogram_counts) == ((3.0, 3.0), (2,))
    huge = column_record(numbers(-1.7e308, 1.7e308, 0, np.inf), None)
    assert huge.mean == 0
    assert huge.quantiles == (-1.7e308, -8.5e307, 0.0, 8.5e307, 1.7e308)
    assert np.isfinite(huge.histogram_edges).all()
    assert sum(huge.histogram_counts) == 3


def test_levels_the_most_frequent_first() -> None:
    cells = words(*["b"] * 3, "a", "c", "c", None)
    found = column_record(cells, None)
    assert found.levels == (("b", 3), ("c", 2), ("a", 1))
    assert (found.kind, found.n_missing, found.n_distinct) == ("nominal", 1, 3)
    many = column_record(words(*[f"l{i:02d}" for i in range(15)] * 3), None)
    assert len(many.levels) == 10
    assert (many.n_other_levels, many.n_other_rows) == (5, 15)


def test_ordered_levels_keep_their_order() -> None:
    found = column_record(words("low", "high", "high", kind=Kind.ORDINAL), None)
    assert found.kind == "ordinal"
    assert found.levels == (("low", 1), ("high", 2))


def test_dates_texts_and_truth_values() -> None:
    assert column_record(words("2024-01-01", "2024-01-02"), None).kind == "date"
    texts = words(*[f"seen {i} times today" for i in range(30)])
    assert column_record(texts, None).kind == "text"
    assert column_record(words(True, False, True), None).levels == (("True", 2), ("False", 1))
