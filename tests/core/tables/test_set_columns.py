"""Columns of any table: taken, exchanged and filled without changing its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.core.tables import (
    as_table,
    cells_of,
    column_names,
    column_places,
    columns_of,
    set_columns,
)

FRAME = pd.DataFrame(
    {"a": [1.0, 2.0, 3.0], "c": pd.Categorical(["x", None, "y"]), "b": [True, False, True]},
    index=[5, 7, 9],
)
TABLES: dict[str, Any] = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME, preserve_index=False),
    "array": np.array([[1.0, "x", True], [2.0, None, False], [3.0, "y", True]], object),
}


def cells(X: Any) -> list[list[Any]]:
    """Rows as plain lists, missing cells None."""
    if isinstance(X, np.ndarray):
        return X.tolist()
    frame = X if isinstance(X, pd.DataFrame) else X.to_pandas()
    rows = frame.astype(object).to_numpy()
    return [[None if pd.isna(cell) else cell for cell in row] for row in rows]


@pytest.mark.parametrize("kind", list(TABLES))
def test_columns_come_from_other_rows(kind: str) -> None:
    X = TABLES[kind]
    before = cells(X)
    order = np.array([2, 0, 1])
    found = set_columns(X, {j: cells_of(X, j, order) for j in (0, 1)})
    assert type(found) is type(X)
    assert cells(found) == [[3.0, "y", True], [1.0, "x", False], [2.0, None, True]]
    assert cells(X) == before
    if kind == "pandas":
        assert found.index.tolist() == [5, 7, 9]
        assert found.dtypes.equals(FRAME.dtypes)


@pytest.mark.parametrize("kind", list(TABLES))
def test_columns_are_filled(kind: str) -> None:
    X = TABLES[kind]
    found = set_columns(X, {0: np.full(3, 2.5), 1: cells_of(X, 1, np.full(3, 2))})
    assert type(found) is type(X)
    assert [row[:2] for row in cells(found)] == [[2.5, "y"]] * 3
    if kind == "pandas":
        assert found["c"].dtype == FRAME["c"].dtype


@pytest.mark.parametrize("kind", list(TABLES))
def test_columns_are_taken_in_order(kind: str) -> None:
    found = columns_of(TABLES[kind], np.array([2, 0]))
    assert type(found) is type(TABLES[kind])
    assert cells(found) == [[True, 1.0], [False, 2.0], [True, 3.0]]


def test_labels_that_are_no_text() -> None:
    X = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    found = set_columns(X, {1: cells_of(X, 1, np.array([2, 1, 0]))})
    assert found.to_numpy().tolist() == [[0, 5], [2, 3], [4, 1]]
    assert column_names(X) == ("0", "1")


def test_reading() -> None:
    assert as_table(FRAME) is FRAME
    assert isinstance(as_table(pa.RecordBatch.from_pydict({"a": [1]})), pa.Table)
    masked = np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]])
    assert np.isnan(as_table(masked)[0, 1])
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        as_table([1, 2, 3])
    with pytest.raises(InputError, match="permuting changes whole columns"):
        as_table(sparse.eye_array(3), dense_for="permuting")


@pytest.mark.parametrize("item", ["z", 3, -4, True, 1.5])
def test_unknown_columns_are_named(item: Any) -> None:
    with pytest.raises(InputError, match=r"`columns` names .*, but X has no such column"):
        column_places([item], ["a", "b", "c"])
