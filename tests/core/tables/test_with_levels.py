"""Levels and indicators in arrays and frames of every library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novum.core.tables import with_columns, with_levels

GONE = np.array([False, True, False])


def cells(X: Any, place: int) -> list[Any]:
    if isinstance(X, pd.DataFrame):
        return list(X.iloc[:, place])
    return list(X.to_series(place)) if isinstance(X, pl.DataFrame) else X.column(place).to_pylist()


FRAMES: list[Any] = [
    pd.DataFrame({"c": pd.Categorical(["a", None, "b"]), "n": [1, 2, 3]}, index=[5, 5, 7]),
    pd.DataFrame({"c": ["a", None, "b"], "n": [1, 2, 3]}),
    pl.DataFrame({"c": ["a", None, "b"], "n": [1, 2, 3]}),
    pl.DataFrame({"c": pl.Series(["a", None, "b"], dtype=pl.Categorical), "n": [1, 2, 3]}),
    pa.table({"c": pa.array(["a", None, "b"]), "n": [1, 2, 3]}),
    pa.table({"c": pa.array(["a", None, "b"]).dictionary_encode(), "n": [1, 2, 3]}),
]


@pytest.mark.parametrize("X", FRAMES, ids=lambda X: type(X).__module__)
def test_frames_get_levels_and_indicators(X: Any) -> None:
    found = with_levels(X, {0: (GONE, "none")})
    assert cells(found, 0) == ["a", "none", "b"]
    wide = with_columns(found, ["gone"], GONE[:, None].astype(float))
    assert cells(wide, 2) == [0.0, 1.0, 0.0]
    assert type(wide) is type(X)
    # What came in is as it was.
    assert cells(X, 1) == [1, 2, 3]
    assert [cell for cell in cells(X, 0) if isinstance(cell, str)] == ["a", "b"]


def test_categorical_types_survive() -> None:
    ordered = pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1]), pa.array(["small", "large"]), ordered=True
    )
    found = with_levels(pa.table({"c": ordered}), {0: (GONE, "large")})
    assert found.schema.field(0).type.ordered
    assert found.column(0).combine_chunks().dictionary.to_pylist() == ["small", "large"]
    levels = pl.Enum(["small", "large"])
    frame = pl.DataFrame({"c": pl.Series(["small", None, "large"], dtype=levels)})
    assert with_levels(frame, {0: (GONE, "large")}).schema["c"] == levels
    pandas = with_levels(FRAMES[0], {0: (GONE, "none")})
    assert pandas["c"].cat.categories.tolist() == ["a", "b", "none"]
    assert pandas.index.tolist() == [5, 5, 7]


def test_nan_of_polars_is_filled_too() -> None:
    frame = pl.DataFrame({"c": [1.0, float("nan"), 2.0]})
    assert with_levels(frame, {0: (GONE, 0)})["c"].to_list() == [1.0, 0.0, 2.0]


def test_arrays_get_levels_and_indicators() -> None:
    X = np.array([["a"], [None], ["b"]], object)
    found = with_columns(with_levels(X, {0: (GONE, "none")}), ["gone"], GONE[:, None] * 1.0)
    assert found.tolist() == [["a", 0.0], ["none", 1.0], ["b", 0.0]]
    assert with_columns(X, [], np.empty((3, 0))) is X
