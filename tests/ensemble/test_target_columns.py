"""Columns of targets: what is read, what is refused, and tables with columns added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.ensemble.target_columns import (
    joined,
    read_label_columns,
    read_number_columns,
    with_previous,
)

TABLE = np.array([[1, 0], [0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("y", "form"),
    [
        (TABLE, "indicator"),
        (TABLE.tolist(), "indicator"),
        (pd.DataFrame(TABLE), "indicator"),
        (sparse.csr_matrix(TABLE), "sparse indicator"),
        ([{0}, set(), {0, 1}], "sets"),
        (np.array([{0}, set(), {0, 1}], object), "sets"),
    ],
)
def test_indicators_and_sets_come_and_go(y: Any, form: str) -> None:
    found = read_label_columns(y, "Learner")
    assert found.form == form
    np.testing.assert_array_equal(np.column_stack(found.columns), TABLE)
    assert [c.tolist() for c in found.classes] == [[0, 1], [0, 1]]
    back = joined(form, found.names, found.columns)
    if form == "sets":
        assert [set(row) for row in back] == [{0}, set(), {0, 1}]
    else:
        np.testing.assert_array_equal(np.asarray(sparse.csr_matrix(back).todense()), TABLE)


def test_columns_of_labels_have_their_own_classes() -> None:
    found = read_label_columns([["a", "x"], ["b", "x"], ["c", "y"]], "Learner")
    assert [c.tolist() for c in found.classes] == [["a", "b", "c"], ["x", "y"]]
    fewer = found.rows(np.array([0, 1]))
    assert [c.tolist() for c in fewer.classes] == [["a", "b"], ["x"]]
    assert joined("labels", None, fewer.columns).tolist() == [["a", "x"], ["b", "x"]]
    numbers = read_label_columns([[1, 7], [2, 7], [3, 5]], "Learner")
    assert [c.tolist() for c in numbers.classes] == [[1, 2, 3], [5, 7]]


@pytest.mark.parametrize("read", [read_label_columns, read_number_columns])
def test_one_column_is_refused(read: Any) -> None:
    with pytest.raises(InputError, match="at least two dimensions for Learner"):
        read([1, 0, 1], "Learner")
    with pytest.raises(InputError, match="y is None"):
        read(None, "Learner")


def test_missing_targets_are_refused() -> None:
    with pytest.raises(InputError, match="missing"):
        read_number_columns([[1.0, np.nan]], "Learner")
    with pytest.raises(InputError, match="missing"):
        read_label_columns(np.array([["a", None], ["b", "x"]], object), "Learner")


# --- Tables with columns added --------------------------------------------------------------------

ADDED = np.array([[0.5], [1.5]])


def test_arrays_and_sparse_tables() -> None:
    assert with_previous([[1, 2], [3, 4]], ADDED).tolist() == [[1, 2, 0.5], [3, 4, 1.5]]
    mixed = with_previous([[1, "a"], [2, "b"]], ADDED)
    assert mixed.tolist() == [[1, "a", 0.5], [2, "b", 1.5]]
    thin = with_previous(sparse.csc_matrix([[1.0], [0.0]]), ADDED)
    assert thin.format == "csr"
    assert thin.toarray().tolist() == [[1.0, 0.5], [0.0, 1.5]]
    table = np.eye(2)
    assert with_previous(table, np.empty((2, 0))) is table


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_keep_their_kinds_and_get_free_names(make: Any) -> None:
    frame = make({"kind": ["a", "b"], "previous_0": [1, 2]})
    found = with_previous(frame, ADDED)
    assert type(found) is type(frame)
    names = getattr(found, "column_names", None) or list(found.columns)
    assert names == ["kind", "previous_0", "previous_0_"]
    assert np.asarray(found["previous_0_"]).tolist() == [0.5, 1.5]
    assert np.asarray(found["kind"]).tolist() == ["a", "b"]


def test_the_index_of_pandas_does_not_matter() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 7])
    found = with_previous(frame, ADDED)
    assert found["previous_0"].tolist() == [0.5, 1.5]
    assert found.index.tolist() == [7, 7]
    numbered = with_previous(pd.DataFrame([[1.0], [2.0]]), ADDED)
    assert np.asarray(numbered).tolist() == [[1.0, 0.5], [2.0, 1.5]]
