"""Tables as codes of states."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from novum.core.errors import InputError
from novum.distributions import StateAxis
from novum.graphical.learning.coded_table import read_table


def test_frames_arrays_and_mappings_give_the_same_codes() -> None:
    cells = {"a": ["x", "y", "x"], "b": ["u", None, "v"]}
    coded = [read_table(t) for t in (cells, pd.DataFrame(cells), pl.DataFrame(cells))]
    for table in coded:
        assert table.codes.tolist() == [[0, 1, 0], [0, -1, 1]]
        assert table.has_missing
        assert table.total == 3.0
    array = read_table(np.array([["x", "u"], ["y", "v"]], object))
    assert array.codes.tolist() == [[0, 1], [0, 1]]


def test_declared_levels_count_and_numbers_become_intervals() -> None:
    frame = pd.DataFrame(
        {"a": pd.Categorical(["x", "y"] * 50, categories=["x", "y", "z"]), "b": np.arange(100.0)}
    )
    coded = read_table(frame)
    assert coded.cards.tolist() == [3, 6]
    assert coded.intervals[0] is None
    assert coded.intervals[1] is not None
    assert np.bincount(coded.codes[1]).min() >= 16


def test_equal_rows_once() -> None:
    coded = read_table({"a": ["x", "y", "x", None]}, sample_weight=[1, 2, 3, 4]).distinct()
    assert coded.codes.tolist() == [[0, 1, -1]]
    assert coded.weights is not None
    assert coded.weights.tolist() == [4.0, 2.0, 4.0]


def test_states_that_are_given_are_kept() -> None:
    axes = (StateAxis("a", ("y", "x", "z")),)
    coded = read_table({"a": ["x", "y", "x"], "other": [1, 2, 3]}, axes, sample_weight=[1, 0, 1])
    assert coded.codes.tolist() == [[1, 1]]
    again = read_table(read_table({"a": ["x", "y"]}), axes)
    assert again.codes.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("table", "variables", "sentence"),
    [
        ({"a": [None, None], "b": [1, 2]}, None, "every cell is missing"),
        ({"a": ["x"], "b": ["x", "y"]}, None, "one cell for each row"),
        ({"a": ["x"]}, (StateAxis("b", ("x",)),), "no column for 'b'"),
        ({"a": ["w"]}, (StateAxis("a", ("x", "y")),), "'w' in row 0, which is no state"),
        (np.zeros((2, 2)), (StateAxis("a", ("x",)),), "a column for each of the 1 variables"),
    ],
)
def test_bad_tables_are_refused(table: object, variables: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_table(table, variables)  # type: ignore[arg-type]


def test_categories_that_are_the_states_are_read_as_they_are() -> None:
    axes = (StateAxis("a", ("y", "x")), StateAxis("b", (1, 2)))
    cells = {"b": [2, 1, 1], "a": ["x", None, "y"]}
    frame = pd.DataFrame(
        {
            "b": pd.Categorical(cells["b"], categories=[1, 2]),
            "a": pd.Categorical(cells["a"], categories=["y", "x"]),
        }
    )
    assert read_table(frame, axes).codes.tolist() == [[1, -1, 0], [1, 0, 0]]
    other = frame.assign(a=frame["a"].cat.reorder_categories(["x", "y"]))
    for rows in (cells, pd.DataFrame(cells), other):
        assert read_table(rows, axes).codes.tolist() == [[1, -1, 0], [1, 0, 0]]
