"""Statistics of filling: NumPy's means and medians, repetition, sums and removal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import check_sample
from novum.data.filling import FillMissing
from novum.data.filling.filling_columns import FillingColumns, median
from novum.numerics import Floats
from tests.data.scaling.tables import small_tables


def columns_of(X: Floats, center: str) -> FillingColumns:
    sample = check_sample(FillMissing(), X, target="none", allow_missing=True)
    return FillingColumns.of(sample, center)


@given(small_tables())
def test_centers_are_those_of_the_known_cells(X: Floats) -> None:
    for center, function in (("mean", np.mean), ("median", np.median)):
        found = columns_of(X, center).centers()
        for j, column in enumerate(X.T):
            cells = column[~np.isnan(column)]
            if cells.size:
                assert found[j] == pytest.approx(function(cells), abs=1e-14)
            else:
                assert np.isnan(found[j])
    assert np.isnan(columns_of(X, "constant").centers()).all()


@given(small_tables(), small_tables())
@pytest.mark.parametrize("center", ["mean", "median", "constant"])
def test_parts_make_the_whole_and_come_off(center: str, A: Floats, B: Floats) -> None:
    a, b = columns_of(A, center), columns_of(B, center)
    whole = columns_of(np.concatenate([A, B]), center)
    assert (a + b).isclose(whole)
    left = (a + b) - b
    np.testing.assert_array_equal(left.missing, a.missing)
    np.testing.assert_allclose(left.centers(), a.centers(), atol=1e-13)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=8))
def test_weighted_medians_are_medians_of_repeated_values(pairs: list[tuple[int, int]]) -> None:
    weights: dict[int, int] = {}
    for value, count in pairs:
        weights[value] = weights.get(value, 0) + count
    values = np.array(sorted(weights), float)
    counts = np.array([weights[int(value)] for value in values], float)
    assert median(values, counts) == np.median(np.repeat(values, counts.astype(int)))


def test_large_numbers_do_not_overflow() -> None:
    assert median(np.array([1.6e308, 1.7e308]), np.ones(2)) == pytest.approx(1.65e308)


def test_other_parameters_and_other_rows_are_refused() -> None:
    X = np.array([[1.0, np.nan]])
    with pytest.raises(InputError, match="different parameters"):
        columns_of(X, "mean") + columns_of(X, "median")
    with pytest.raises(InputError, match="never added"):
        columns_of(X, "constant") - columns_of(np.array([[1.0, 2.0]]), "constant")
