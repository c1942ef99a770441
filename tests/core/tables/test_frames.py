"""Rows for members: containers stay what they are, and rows that are no cells are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.core.tables import as_rows, checked_rows


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, sparse.csr_array, np.asarray]
)
def test_containers_stay_what_they_are(make: Any) -> None:
    X = make(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}))
    model = GaussianNB()
    assert checked_rows(model, X, reset=True) is X
    assert model.n_features_in_ == 2
    assert hasattr(model, "feature_names_in_") == (make not in (sparse.csr_array, np.asarray))


def test_record_batches_lists_and_masked_arrays() -> None:
    batch = pa.record_batch({"a": [1.0, 2.0]})
    assert as_rows(batch).column_names == ["a"]
    assert as_rows([[1, "x"], [2, "y"]]).dtype == object
    assert as_rows([[1, 2.5]]).dtype == float
    masked = np.ma.masked_array([[1.0], [2.0]], [[False], [True]])
    assert np.isnan(as_rows(masked)[1, 0])


@pytest.mark.parametrize(
    "rows",
    [
        ["a text", "another"],
        [{"a": 1}, {"b": 2}],
        [["some", "tokens"], ["one"]],
        np.array(["a text", None], object),
        pd.Series(["a text", "another"]),
        pl.Series(["a text", "another"]),
    ],
    ids=["texts", "dicts", "tokens", "objects", "pandas", "polars"],
)
def test_rows_that_are_no_cells_are_left_alone(rows: Any) -> None:
    model = GaussianNB()
    assert checked_rows(model, rows, reset=True) is rows
    assert checked_rows(model, rows, reset=False) is rows
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"Expected 2D array, got an array of shape \(2,\)"),
        (pd.Series([1.0, 2.0]), "Reshape your data"),
        (np.zeros((2, 2, 2)), "Reshape your data"),
        ([[1.0], [2.0, 3.0]], "inhomogeneous shape"),
        (np.empty((0, 2)), r"0 sample\(s\)"),
        (np.empty((2, 0)), r"0 feature\(s\)"),
        (None, "X is None"),
    ],
)
def test_what_cannot_be_used_is_named(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_rows(GaussianNB(), X, reset=True)


def test_columns_are_compared_with_those_of_the_fit() -> None:
    model = GaussianNB()
    checked_rows(model, [[1.0, 2.0]], reset=True)
    with pytest.raises(ValueError, match="2 features"):
        checked_rows(model, [[1.0]], reset=False)
