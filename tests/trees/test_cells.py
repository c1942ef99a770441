"""Cells of a sample: schema order, missing as NaN, unseen levels apart from missing ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import MemoryLimitError, UnseenLevelWarning
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Sample, Schema
from novum.ensemble import AdaBoostClassifier, AdaBoostRegressor
from novum.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.training import UNSEEN_CELL, cells_of, has_missing

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
    with pytest.warns(UnseenLevelWarning, match="'c' has 1 cells"):
        cells = model._cells(pd.DataFrame({"c": ["z"], "x": [3.0]}))
    assert cells.tolist() == [[UNSEEN_CELL, 3.0]]


def test_missing_cells_of_either_kind_are_seen() -> None:
    whole = Sample(SCHEMA, np.zeros((2, 2)), np.zeros((2, 2), np.int32))
    assert not has_missing(whole)
    assert has_missing(Sample(SCHEMA, np.array([[0.0, np.nan]]), np.zeros((1, 2), np.int32)))
    assert has_missing(Sample(SCHEMA, np.zeros((1, 2)), np.array([[0, MISSING]], np.int32)))


# --- Sparse tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "csr_array"])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(criterion="gain_ratio", missing="auto"),
        DecisionTreeRegressor(max_bins=None),
        RandomForestClassifier(5, random_state=0, oob_score=False),
        RandomForestRegressor(5, random_state=0, bootstrap=False),
        ExtraTreesClassifier(5, random_state=0),
        AdaBoostClassifier(n_estimators=5),
        AdaBoostRegressor(n_estimators=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_tables_are_read_as_dense_ones(model: Any, format: str) -> None:
    """Words by document: most counts are zero, and a few are missing."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (120, 15)).astype(float)
    y = counts[:, 0] + counts[:, 1] > counts[:, 2]
    counts[rng.random(counts.shape) < 0.02] = np.nan
    table = (
        sparse.csr_array(counts)
        if format == "csr_array"
        else sparse.coo_matrix(counts).asformat(format)
    )
    model.fit(counts, y * 1)
    expected = model.predict(counts)
    np.testing.assert_array_equal(model.predict(table), expected)
    model.fit(table, y * 1)
    np.testing.assert_array_equal(model.predict(counts), expected)
    np.testing.assert_array_equal(model.predict(table), expected)


def test_a_sparse_table_that_does_not_fit_is_refused_with_its_price(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.arange(3000)
    table = sparse.csr_array((np.ones(3000), (rows, 16 * rows)), shape=(3000, 50_000))
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100MB")
    with pytest.raises(MemoryLimitError, match=r"3,000 rows and 50,000 columns.*1\.2 GB"):
        RandomForestClassifier(5).fit(table, rows % 2)
