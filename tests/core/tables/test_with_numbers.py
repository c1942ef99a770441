"""Putting numbers back: every container, with what is not a number untouched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novum.core.tables import Column, Kind, Schema, output_library, with_numbers
from novum.data.scaling import StandardScaler

MIXED = Schema((Column("a"), Column("b", Kind.NOMINAL, ("x", "y"))))
NUMBERS = np.array([[0.5], [np.nan]])


def test_arrays_of_numbers_become_the_numbers() -> None:
    assert with_numbers(np.eye(2), Schema.of_array(2), np.ones((2, 2))).tolist() == [[1, 1], [1, 1]]


def test_codes_of_categories_stay_numbers() -> None:
    X = np.array([[7, 1], [8, 2]])
    found = with_numbers(X, MIXED, NUMBERS)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[0.5, 1.0], [np.nan, 2.0]])
    np.testing.assert_array_equal(with_numbers(X.tolist(), MIXED, NUMBERS), found)
    np.testing.assert_array_equal(X, [[7, 1], [8, 2]])


@pytest.mark.parametrize("rows", [[[7, "x"], [8, None]], [(7, True), (8, False)]])
def test_lists_keep_the_types_of_other_cells(rows: Any) -> None:
    found = with_numbers(rows, MIXED, NUMBERS)
    assert [row[1] for row in found.tolist()] == [row[1] for row in rows]
    assert found[0, 0] == 0.5


def test_pandas_keeps_index_labels_and_types() -> None:
    frame = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.Categorical(["x", "y"])})
    frame.index = pd.Index(["r", "s"])
    found = with_numbers(frame, MIXED, NUMBERS)
    pd.testing.assert_series_equal(found["b"], frame["b"])
    assert found["a"].tolist()[0] == 0.5
    assert np.isnan(found["a"].tolist()[1])
    assert frame["a"].tolist()[0] == 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_frame_turns_into_the_library_asked_for(make: Any, library: str) -> None:
    found = with_numbers(make({"a": [1.0, 2.0], "b": ["x", "y"]}), MIXED, NUMBERS, library)
    assert isinstance(found, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert list(found["b"]) == ["x", "y"]


def test_the_library_is_that_of_set_output() -> None:
    model = StandardScaler()
    assert output_library(model) is None
    assert output_library(model.set_output(transform="polars")) == "polars"
    assert output_library(model.set_output(transform="default")) is None
