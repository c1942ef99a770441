"""Counting columns of any frame into a joint table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError, MissingValuesError
from novum.distributions.joint_table import JointTable
from novum.distributions.joint_table_counts import counted_columns

COLUMNS = {
    "play": ["no", "yes", "yes", "no"],
    "wind": [True, False, False, False],
    "n": [1, 2, 2, 1],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_frame_is_counted_alike(make: Any) -> None:
    counts, names, states, ordered = counted_columns(make(COLUMNS))
    assert names == ("play", "wind", "n")
    assert states == (("no", "yes"), (False, True), (1, 2))
    assert ordered == ()
    assert counts[0, 0, 0] == 1
    assert counts[1, 0, 1] == 2
    assert counts.sum() == 4


rows = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=40)


@given(rows)
def test_counts_are_those_of_a_counter(rows: list[tuple[str, int]]) -> None:
    table = JointTable.from_frame({"x": [r[0] for r in rows], "y": [r[1] for r in rows]})
    for (x, y), count in Counter(rows).items():
        assert table.probability({"x": x, "y": y}) == pytest.approx(count / len(rows), rel=1e-12)


@given(rows)
def test_weight_two_is_the_row_twice(rows: list[tuple[str, int]]) -> None:
    columns = {"x": [r[0] for r in rows], "y": [r[1] for r in rows]}
    twice = {name: values * 2 for name, values in columns.items()}
    weighted = JointTable.from_frame(columns, sample_weight=[2.0] * len(rows))
    assert weighted.isclose(JointTable.from_frame(twice), tolerance=1e-15)
    assert weighted.sample_size == 2 * len(rows)


def test_declared_orders_and_unused_levels_are_kept() -> None:
    sizes = pd.Categorical(["s", "l"], categories=["s", "m", "l"], ordered=True)
    table = JointTable.from_frame(pd.DataFrame({"size": sizes}))
    assert table.states == (("s", "m", "l"),)
    assert table.ordered == ("size",)


def test_columns_are_chosen_by_name() -> None:
    assert JointTable.from_frame(COLUMNS, ["n", "play"]).names == ("n", "play")
    assert JointTable.from_frame(COLUMNS, "n").names == ("n",)


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        ({"x": [1, 2]}, "y", "no column 'y'; there are x"),
        ({"x": [1, 2], "y": [1]}, None, "'y' has 1 rows and 'x' 2"),
        ({}, None, "at least one column"),
        ({"x": []}, None, "from no rows"),
        (np.eye(2), None, "got ndarray"),
    ],
)
def test_what_cannot_be_counted_is_named(frame: Any, columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JointTable.from_frame(frame, columns)


def test_missing_cells_are_not_dropped_silently() -> None:
    with pytest.raises(MissingValuesError, match="'x' has 2 missing cells, the first at row 1"):
        JointTable.from_frame({"x": ["a", None, None]})


def test_a_table_of_identifiers_is_refused_by_its_size() -> None:
    ids = {name: np.arange(9000) for name in ("a", "b")}
    with pytest.raises(MemoryLimitError, match="81000000 cells"):
        JointTable.from_frame(ids)
