"""Rows that trees learn from: labels, class weights, and what replaces missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.presets import c45
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.training import (
    CellRows,
    class_factors,
    common_values,
    read_classes,
    read_numbers,
    replaced_cells,
    takes_several,
)

NAN = np.nan
X = np.arange(6.0)[:, None]


def read(y: Any, weight: Any = None, class_weight: Any = None) -> CellRows:
    return read_classes(DecisionTreeClassifier(), X, y, weight, class_weight)


# --- Targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [False, True])
def test_one_target_of_labels(column: bool) -> None:
    labels = np.array(["b", "a", "b", "c", "a", "a"])
    rows = read(labels[:, None] if column else labels)
    assert rows.classes is not None
    assert rows.classes[0].tolist() == ["a", "b", "c"]
    assert rows.targets.ravel().tolist() == [1, 0, 1, 2, 0, 0]
    assert rows.n_classes == (3,)
    assert rows.weight.tolist() == [1.0] * 6


def test_several_targets_have_classes_of_their_own() -> None:
    y = np.array([["a", "u"], ["b", "v"], ["a", "w"], ["b", "u"], ["a", "v"], ["c", "u"]])
    rows = read(y)
    assert [labels.tolist() for labels in rows.classes or ()] == [list("abc"), list("uvw")]
    assert rows.targets.tolist() == [[0, 0], [1, 1], [0, 2], [1, 0], [0, 1], [2, 0]]


def test_classes_of_rows_without_weight_are_unknown() -> None:
    weight = [1, 1, 1, 1, 1, 0]
    one = read(list("ababac"), weight)
    assert [labels.tolist() for labels in one.classes or ()] == [["a", "b"]]
    several = read(np.column_stack([list("ababac"), list("uuvvux")]), weight)
    assert [labels.tolist() for labels in several.classes or ()] == [["a", "b"], ["u", "v"]]
    assert several.n_rows == 5


def test_numbers() -> None:
    rows = read_numbers(DecisionTreeRegressor(), X, np.arange(12.0).reshape(6, 2), None)
    assert rows.targets.shape == (6, 2)
    assert rows.classes is None
    assert rows.n_classes is None
    assert rows.targets.flags.c_contiguous


def test_who_takes_several_targets() -> None:
    assert takes_several(DecisionTreeClassifier())
    assert not takes_several(c45())


def test_some_of_the_rows() -> None:
    rows = read(list("ababac"), np.arange(1.0, 7.0)).rows(np.array([4, 1]))
    assert rows.cells.ravel().tolist() == [4.0, 1.0]
    assert rows.weight.tolist() == [5.0, 2.0]
    assert rows.targets.ravel().tolist() == [0, 1]


# --- Class weights --------------------------------------------------------------------------------

TWO = np.column_stack([[0, 0, 0, 0, 1, 1], [3, 4, 3, 5, 4, 3]])


@pytest.mark.parametrize(
    ("y", "class_weight"),
    [
        (TWO[:, 0], "balanced"),
        (TWO[:, 0], {0: 2.0, 1: 0.5}),
        (TWO[:, 0], {1: 7}),
        (TWO, "balanced"),
        (TWO, [{0: 2.0}, {3: 0.25, 5: 4.0}]),
        (TWO, ["balanced", "balanced"]),
    ],
)
def test_class_weights_are_scikit_learns(y: Any, class_weight: Any) -> None:
    found = read(y, None, class_weight)
    given = class_weight
    if isinstance(given, list) and isinstance(given[0], str):
        given = "balanced"
    elif isinstance(given, list):
        given = [{**dict.fromkeys(np.unique(y[:, t]), 1.0), **g} for t, g in enumerate(given)]
    elif isinstance(given, dict):
        given = {**dict.fromkeys(np.unique(y), 1.0), **given}
    np.testing.assert_allclose(found.weight, compute_sample_weight(given, y), rtol=1e-14)


@given(st.lists(st.integers(1, 5), min_size=6, max_size=6))
def test_balanced_by_weight_is_balanced_by_rows(weight: list[int]) -> None:
    """Every class has the same total, whether rows are weighted or repeated."""
    y = TWO[:, 0]
    rows = read(y, weight, "balanced")
    totals = np.bincount(rows.targets[:, 0], rows.weight)
    np.testing.assert_allclose(totals, sum(weight) / 2, rtol=1e-12)
    repeated = np.repeat(y, weight)
    expected = compute_sample_weight("balanced", repeated)
    np.testing.assert_allclose(np.repeat(rows.weight / weight, weight), expected, rtol=1e-12)


def test_a_class_of_weight_zero_is_left_out_and_stays_a_class() -> None:
    rows = read(list("ababac"), None, {"b": 0.0})
    assert rows.n_rows == 4
    assert rows.n_classes == (3,)


def test_factors_of_some_rows_balance_only_the_classes_they_have() -> None:
    rows = read(TWO[:, 0]).rows(np.arange(4))
    assert class_factors(rows, "balanced", rows.weight).tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("y", "class_weight", "message"),
    [
        (TWO[:, 0], {7: 1.0}, "names the class 7, which y does not have; its classes are 0, 1"),
        (TWO[:, 0], {0: -1.0}, "no finite number of at least 0"),
        (TWO[:, 0], {0: np.inf}, "no finite number of at least 0"),
        (TWO[:, 0], {0: 0.0, 1: 0.0}, "gives every row weight 0"),
        (TWO, [{0: 1.0}], "1 for 2 targets"),
        (TWO, ["balanced", "other"], "or 'balanced'; got 'other'"),
        (TWO, [1.0, 2.0], "a dict of classes and weights.*got 1.0"),
    ],
)
def test_wrong_class_weights(y: Any, class_weight: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(y, None, class_weight)


# --- Replacing missing cells ----------------------------------------------------------------------

SCHEMA = Schema(
    (
        Column("color", Kind.NOMINAL, ("blue", "green", "red")),
        Column("age"),
        Column("size", Kind.ORDINAL, ("S", "M", "L")),
        Column("nothing"),
    )
)


def table() -> CellRows:
    cells = np.array(
        [
            [0.0, 1.0, 0.0, NAN],
            [0.0, 2.0, 1.0, NAN],
            [2.0, 10.0, 2.0, NAN],
            [NAN, NAN, NAN, NAN],
            [1.0, 4.0, 2.0, NAN],
            [NAN, NAN, NAN, NAN],
        ]
    )
    targets = np.array([[0], [0], [1], [0], [1], [1]])
    weight = np.array([1.0, 1.0, 3.0, 1.0, 1.0, 1.0])
    return CellRows(SCHEMA, cells, targets, weight, (np.array(["n", "y"]),))


def test_the_most_common_value_counts_weight() -> None:
    """Red has weight 3; the weighted median of 1, 2, 4 and 10 (three times) is 4 or 10."""
    found = common_values(table())
    np.testing.assert_array_equal(found, [2.0, 4.0, 2.0, NAN])


def test_replacing_by_the_column() -> None:
    rows = table()
    before = rows.cells.copy()
    found, counts = replaced_cells(rows, common_values(rows), by_class=False)
    np.testing.assert_array_equal(found.cells[[3, 5]], [[2.0, 4.0, 2.0, NAN]] * 2)
    assert counts == {"color": 2, "age": 2, "size": 2}
    np.testing.assert_array_equal(rows.cells, before)
    np.testing.assert_array_equal(found.cells[[0, 1, 2, 4]], before[[0, 1, 2, 4]])


def test_replacing_by_the_class() -> None:
    rows = table()
    found, counts = replaced_cells(rows, common_values(rows), by_class=True)
    np.testing.assert_array_equal(found.cells[3], [0.0, 1.0, 0.0, NAN])
    np.testing.assert_array_equal(found.cells[5], [2.0, 10.0, 2.0, NAN])
    assert counts == {"color": 2, "age": 2, "size": 2}


def test_a_class_without_a_cell_takes_that_of_the_column() -> None:
    cells = np.array([[5.0], [7.0], [NAN]])
    rows = CellRows(
        Schema.of_array(1), cells, np.array([[0], [0], [1]]), np.ones(3), (np.arange(2),)
    )
    found, counts = replaced_cells(rows, common_values(rows), by_class=True)
    assert found.cells.ravel().tolist() == [5.0, 7.0, 5.0]
    assert counts == {"x0": 1}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=12))
def test_the_median_of_weights_is_that_of_repeated_rows(pairs: list[tuple[int, int]]) -> None:
    x, w = np.array(pairs, float).T
    rows = CellRows(Schema.of_array(1), x[:, None], np.zeros((len(x), 1)), w, None)
    repeated = np.sort(np.repeat(x, w.astype(int)))
    assert common_values(rows)[0] == repeated[(len(repeated) - 1) // 2]


def test_nothing_missing_is_nothing_replaced() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    assert DecisionTreeClassifier(missing="most_common").fit(frame, [0, 1]).replaced_ == {}
