"""Frames: kinds, order, unused levels and missing cells survive in every library."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novum.core.errors import InputError
from novum.core.tables import to_frame

TABLE = pa.table(
    {
        "n": [1.5, None],
        "c": pa.array(["b", None]).dictionary_encode(),
        "o": pa.DictionaryArray.from_arrays(
            pa.array([2, None], pa.int32()), ["low", "mid", "high"], ordered=True
        ),
        "k": [2, None],
    }
)


def test_arrow_is_the_table_itself() -> None:
    assert to_frame(TABLE, "arrow") is TABLE


def test_pandas() -> None:
    frame = to_frame(TABLE, "pandas")
    assert frame["n"].isna().tolist() == [False, True]
    assert isinstance(frame["c"].dtype, pd.CategoricalDtype)
    assert frame["o"].cat.ordered
    assert frame["o"].cat.categories.tolist() == ["low", "mid", "high"]
    assert frame["o"].tolist()[0] == "high"
    assert frame["o"].isna().tolist() == [False, True]


def test_polars() -> None:
    frame = to_frame(TABLE, "polars")
    assert frame.columns == ["n", "c", "o", "k"]
    assert frame["o"].dtype == pl.Enum(["low", "mid", "high"])
    assert frame["c"].dtype == pl.Categorical
    assert frame["c"].to_list() == ["b", None]
    assert frame["o"].to_list() == ["high", None]
    assert frame["k"].to_list() == [2, None]


def test_other_libraries_are_refused() -> None:
    with pytest.raises(InputError, match="'arrow', 'pandas' or 'polars', got 'dask'"):
        to_frame(TABLE, "dask")  # type: ignore[arg-type]


def test_an_absent_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        to_frame(TABLE, "polars")
