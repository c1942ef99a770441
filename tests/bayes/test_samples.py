"""Cells in the user's terms: levels in place of codes, missing as None, tables of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from novum.bayes import GaussianClassifier, GaussianNB
from novum.bayes.explanation import checked_row_count, drawn_table, row_cells
from novum.core.errors import InputError
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Sample, Schema

SCHEMA = Schema(
    (
        Column("color", Kind.NOMINAL, ("blue", "red")),
        Column("age"),
        Column("grade", Kind.ORDINAL, ("low", "high")),
    )
)


def test_cells_of_a_row() -> None:
    sample = Sample(SCHEMA, np.array([[3.5]]), np.array([[1, MISSING]], np.int32))
    assert row_cells(sample) == ("red", 3.5, None)
    sample = Sample(SCHEMA, np.array([[np.nan]]), np.array([[UNSEEN, 0]], np.int32))
    assert row_cells(sample) == ("(a new level)", None, "low")


def test_cells_of_a_sparse_row() -> None:
    rows = sparse.csr_matrix([[0.0, 2.0]])
    sample = Sample(Schema.of_array(2), rows, np.empty((1, 0), np.int32))
    assert row_cells(sample) == (0.0, 2.0)


def test_drawn_tables() -> None:
    cells = {0: np.array([1, -1], np.int32), 1: np.array([2.0, np.nan]), 2: np.array([1, 0])}
    table = drawn_table(SCHEMA, cells)
    assert table.to_pydict() == {
        "color": ["red", None],
        "age": [2.0, None],
        "grade": ["high", "low"],
    }
    assert pa.types.is_dictionary(table.schema.field("grade").type)
    array = drawn_table(Schema.of_array(2), {0: np.array([1.0, 2.0]), 1: np.array([3.0, 4.0])})
    assert array.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("n", [-1, 2.5, True, None, "3"])
def test_only_whole_numbers_of_rows_are_drawn(n: Any) -> None:
    with pytest.raises(InputError, match=r"whole number of at least 0, got"):
        checked_row_count(n)
    with pytest.raises(InputError, match=r"whole number of at least 0, got"):
        GaussianNB().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).sample(n)
    with pytest.raises(InputError, match=r"whole number of at least 0, got"):
        GaussianClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).sample(n)


def test_numbers_of_rows_may_be_numpy_integers() -> None:
    assert checked_row_count(np.int32(3)) == 3
    assert checked_row_count(0) == 0
