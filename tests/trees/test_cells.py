"""Cells of a sample: schema order, missing as NaN, unseen levels apart from missing ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from novum.core.schema import MISSING, UNSEEN, Column, Kind, Schema
from novum.core.validation import Sample
from novum.trees.cells import UNSEEN_CELL, cells_of
from novum.trees.classifier import DecisionTreeClassifier

SCHEMA = Schema(
    (
        Column("color", Kind.NOMINAL, ("blue", "red")),
        Column("age"),
        Column("size", Kind.ORDINAL, ("S", "M", "L")),
        Column("height"),
    )
)


def test_columns_stand_in_the_order_of_the_schema() -> None:
    codes = np.array([[1, 2], [0, 0]], np.int32)
    cells = cells_of(Sample(SCHEMA, np.array([[30.0, 1.5], [40.0, np.nan]]), codes))
    np.testing.assert_array_equal(cells, [[1, 30, 2, 1.5], [0, 40, 0, np.nan]])
    assert cells.flags.c_contiguous


def test_missing_and_unseen_levels() -> None:
    """An order has no place for a level it does not know: there it is missing."""
    codes = np.array([[MISSING, MISSING], [UNSEEN, UNSEEN]], np.int32)
    cells = cells_of(Sample(SCHEMA, np.zeros((2, 2)), codes))
    np.testing.assert_array_equal(cells[:, 0], [np.nan, UNSEEN_CELL])
    np.testing.assert_array_equal(cells[:, 2], [np.nan, np.nan])
    assert UNSEEN_CELL < 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_are_passed_on_as_they_are(order: str) -> None:
    numbers = np.asarray(np.arange(6.0).reshape(3, 2), order=order)  # type: ignore[call-overload]
    sample = Sample(Schema.of_array(2), numbers, np.empty((3, 0), np.int32))
    cells = cells_of(sample)
    np.testing.assert_array_equal(cells, numbers)
    assert cells.flags.c_contiguous
    assert np.shares_memory(cells, numbers) == (order == "C")


def test_through_a_model() -> None:
    frame = pd.DataFrame({"c": ["a", None, "b"], "x": [1.0, 2.0, np.nan]})
    model = DecisionTreeClassifier().fit(frame, [0, 1, 1])
    np.testing.assert_array_equal(model._cells(frame), [[0, 1], [np.nan, 2], [1, np.nan]])
    cells = model._cells(pd.DataFrame({"c": ["z"], "x": [3.0]}))
    assert cells.tolist() == [[UNSEEN_CELL, 3.0]]
