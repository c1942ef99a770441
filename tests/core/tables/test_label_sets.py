"""Targets of one label or of many: the three forms, their way back, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from novum.core.errors import InputError, MissingValuesError
from novum.core.tables import labels_like, read_labels, share_of_equal_rows

sets = st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=8).filter(any)


@given(sets)
def test_sets_are_read_as_by_scikit_learn(rows: list[set[str]]) -> None:
    target = read_labels(rows, "Learner")
    other = MultiLabelBinarizer().fit(rows)
    assert target.classes.tolist() == other.classes_.tolist()
    np.testing.assert_array_equal(target.indicator.toarray(), other.transform(rows))


@given(sets)
def test_sets_come_back(rows: list[set[str]]) -> None:
    target = read_labels(rows, "Learner")
    hits = np.column_stack([target.column(k) for k in range(len(target.classes))]) == 1
    assert [set(row) for row in labels_like("sets", target.classes, hits)] == rows


TABLE = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("y", "form"),
    [
        (TABLE, "indicator"),
        (TABLE.astype(bool), "indicator"),
        (TABLE.astype(float), "indicator"),
        (TABLE.tolist(), "indicator"),
        (pd.DataFrame(TABLE, columns=list("xyz")), "indicator"),
        (pl.DataFrame(TABLE), "indicator"),
        (sparse.csr_matrix(TABLE), "sparse indicator"),
        (sparse.coo_array(TABLE), "sparse indicator"),
        ([{0, 2}, {2}, set(), {0, 1, 2}], "sets"),
        (pd.Series([{0, 2}, {2}, set(), {0, 1, 2}]), "sets"),
    ],
)
def test_every_container_of_many_labels(y: Any, form: str) -> None:
    target = read_labels(y, "Learner")
    assert target.form == form
    assert target.is_multilabel
    assert target.n_rows == 4
    assert target.classes.tolist() == [0, 1, 2]
    for k in range(3):
        np.testing.assert_array_equal(target.column(k), TABLE[:, k])
    np.testing.assert_array_equal(target.counts(), TABLE.sum(axis=0))
    weight = np.array([1.0, 2.0, 0.5, 3.0])
    np.testing.assert_array_equal(target.counts(weight), weight @ TABLE)
    np.testing.assert_array_equal(target.rows(np.array([3, 1])).column(0), [1, 0])
    back = labels_like(form, target.classes, TABLE == 1)
    assert share_of_equal_rows(form, y, back) == 1.0


@pytest.mark.parametrize("y", [["b", "a", "b"], [True, False, True], [7, 3, 7]])
def test_one_label_for_each_row(y: list[Any]) -> None:
    target = read_labels(y, "Learner")
    assert target.form == "classes"
    assert not target.is_multilabel
    assert target.classes[target.codes].tolist() == y
    np.testing.assert_array_equal(target.column(1), [1, 0, 1])
    np.testing.assert_array_equal(target.counts(np.array([1.0, 2.0, 4.0])), [2.0, 5.0])
    kept = target.rows(np.array([0, 2]))
    assert kept.classes.tolist() == [y[0]]
    assert kept.codes.tolist() == [0, 0]


def test_equal_rows_are_counted_whole_and_weighted() -> None:
    found = np.array([[1, 0], [1, 1], [0, 0]])
    assert share_of_equal_rows("indicator", [[1, 0], [1, 0], [0, 0]], found) == pytest.approx(2 / 3)
    assert share_of_equal_rows("sets", [{"a"}, set()], [{"a"}, {"b"}], [3.0, 1.0]) == 0.75


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "target y is None"),
        ([[1, 2], [0, 1]], r"holds 2 where only 0 and 1"),
        ([[1.0, np.nan], [0.0, 1.0]], "y1.*missing|missing.*y1"),
        ([["a", "b"], ["c", "d"]], "MultiOutputClassifier"),
        ([{"a"}, "b"], "row 1 is 'b'"),
        ([set(), set()], "None of the 2 sets"),
        ([{"a", 1}], "mixes"),
        ([["a"], ["a", "b"]], "given as sets"),
    ],
)
def test_other_targets_are_refused(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(y, "Learner")


def test_a_missing_cell_of_an_indicator_is_named() -> None:
    with pytest.raises(MissingValuesError, match="y1"):
        read_labels(np.array([[1, None], [0, 1]], object), "Learner")
