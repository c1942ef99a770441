"""Rows of tables as numbers of states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from novum.core.errors import InputError, UnseenLevelWarning
from novum.graphical import BayesianNetwork
from novum.graphical.models.row_codes import frame_of_codes, read_rows

HALF = [0.5, 0.5]


def network() -> BayesianNetwork:
    return (
        BayesianNetwork()
        .add("text", table=HALF)
        .add("number", table=HALF, states=[1, 0])
        .add("truth", table=HALF, states=[False, True])
        .add("digit", table=HALF, states=["1", "0"])
    )


@pytest.mark.parametrize(
    ("name", "cells", "codes"),
    [
        ("text", ["false", None, "true"], [1, -1, 0]),
        ("text", [True, False, None], [0, 1, -1]),
        ("number", [0, 1, 1.0], [1, 0, 0]),
        ("number", ["0", "1", None], [1, 0, -1]),
        ("truth", [True, None, False], [1, -1, 0]),
        ("truth", ["true", "False", None], [1, 0, -1]),
        ("digit", [0, 1, 1], [1, 0, 0]),
        # A column of whole numbers with a missing cell becomes one of floats in pandas.
        ("digit", [0.0, np.nan, 1.0], [1, -1, 0]),
    ],
)
def test_cells_match_states_by_value_and_by_writing(
    name: str, cells: list[Any], codes: list[int]
) -> None:
    model = network()
    place = model.places[name]
    for rows in ({name: cells}, pd.DataFrame({name: cells}), [{name: cell} for cell in cells]):
        found = read_rows(model, rows)
        assert found[:, place].tolist() == codes
        assert (np.delete(found, place, axis=1) == -1).all()


def test_missing_cells_of_every_kind_are_unknown() -> None:
    model = network()
    frames = [
        pd.DataFrame({"text": pd.array(["true", pd.NA], "string")}),
        pd.DataFrame({"text": pd.Categorical(["true", None])}),
        pl.DataFrame({"text": ["true", None]}),
        pa.table({"text": ["true", None]}),
        pd.DataFrame({"text": ["true", np.nan]}),
    ]
    for frame in frames:
        assert read_rows(model, frame)[:, 0].tolist() == [0, -1]
    assert read_rows(model, {"text": [None, None]})[:, 0].tolist() == [-1, -1]
    assert read_rows(model, pd.DataFrame({"text": []})).shape == (0, 4)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"text": ["true", "maybe"]}, "'text' has 'maybe' in row 1, which is no state"),
        ({"text": ["ture"]}, "did you mean 'true'"),
        ({"number": [True]}, "has True in row 0"),
        ({"other": [1]}, "No column is a node"),
        ({"text": ["true"], "number": [1, 0]}, "has 2 rows and others have 1"),
        ([], "got a list of 0 items"),
        ([1, 2], "Rows are a data frame"),
        (None, "got NoneType"),
        (np.zeros((2, 2)), "got ndarray"),
        (pd.DataFrame([["true", "true"]], columns=["text", "text"]), "'text' occurs twice"),
        (pd.DataFrame({"text": pd.to_datetime(["2020-01-01"])}), "dates or times"),
    ],
)
def test_wrong_rows_are_refused_in_words(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rows(network(), rows)


def test_cells_that_are_no_state_may_be_unknown_with_a_warning() -> None:
    with pytest.warns(UnseenLevelWarning, match="'maybe' in row 1.*2 such cells are taken as"):
        found = read_rows(network(), {"text": ["true", "maybe", "no"]}, strict=False)
    assert found[:, 0].tolist() == [0, -1, -1]


def test_codes_become_frames_and_come_back() -> None:
    model = network()
    codes = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    for frame in ("arrow", "pandas", "polars"):
        made = frame_of_codes(model.variables, codes, frame)
        assert np.array_equal(read_rows(model, made), codes)
    mixed = BayesianNetwork().add("m", table=[0.3, 0.3, 0.4], states=["a", 2, True])
    made = frame_of_codes(mixed.variables, np.array([[0], [1], [2]]))
    assert made.column("m").to_pylist() == ["a", "2", "True"]
    assert read_rows(mixed, made).ravel().tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="'arrow', 'pandas' or 'polars', got 'dask'"):
        frame_of_codes(model.variables, codes, "dask")
