"""Rows for ensembles: containers stay what they are, weight zero is absent, messages are clear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from novum.bayes import TextClassifier
from novum.core.errors import InputError
from novum.ensemble.rows import beside, columns_of, training_rows
from novum.ensemble.voting import VotingClassifier, VotingRegressor
from novum.linear import Ridge
from tests.ensemble.ensemble_tables import mixed


def reader() -> Any:
    return VotingRegressor([("ridge", Ridge())])


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, sparse.csr_array, np.asarray]
)
def test_containers_stay_what_they_are(make: Any) -> None:
    X = make(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}))
    cut = training_rows(reader(), X, [1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
    assert type(cut.table) is type(X)
    assert (cut.n_rows, cut.n_given, cut.kept.tolist()) == (2, 3, [0, 2])  # type: ignore[union-attr]


def test_texts_pass_to_members_that_read_texts() -> None:
    model = VotingClassifier([("a", TextClassifier()), ("b", TextClassifier())])
    texts = ["good and kind", "bad and evil", "very good", "very bad"]
    model.fit(texts, ["+", "-", "+", "-"])
    assert model.predict(["good", "bad"]).tolist() == ["+", "-"]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([1.0, 2.0], [1, 2], r"Expected 2D array, got an array of shape \(2,\)"),
        ([[1.0], [2.0, 3.0]], [1, 2], "inhomogeneous shape"),
        (np.empty((0, 2)), [], r"0 sample\(s\)"),
        ([[1.0], [2.0]], [1.0], "X has 2 rows, but y has 1"),
        ([[1.0], [2.0]], None, "requires y to be passed"),
        ([[1.0], [2.0]], [1.0, np.nan], "missing"),
    ],
)
def test_what_cannot_be_used_is_named(X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        training_rows(reader(), X, y)


def test_classes_that_only_rows_of_weight_zero_have_are_absent() -> None:
    model = VotingClassifier([("ridge", Ridge())])
    found = training_rows(model, [[0.0]] * 4, list("cabc"), [1, 0, 2, 1], target="classes")
    assert found.classes.tolist() == ["b", "c"]
    assert found.target.tolist() == [1, 0, 1]
    assert found.class_shares.tolist() == [0.5, 0.5]
    assert found.given[1].tolist() == [2, 0, 1, 2]


def test_several_labels_are_coded_by_column() -> None:
    model = VotingClassifier([("ridge", Ridge())])
    found = training_rows(model, [[0.0]] * 3, [[0, 1], [1, 1], [0, 0]], target="labels")
    assert [c.tolist() for c in found.classes] == [[0, 1], [0, 1]]
    assert found.target.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert training_rows(model, [[0.0]] * 2, ["x", "y"], target="labels").classes.tolist() == [
        "x",
        "y",
    ]


def test_a_target_with_one_column_becomes_flat_and_says_so() -> None:
    with pytest.warns(DataConversionWarning):
        found = training_rows(reader(), [[0.0]] * 2, [[1.0], [2.0]], target="one number")
    assert found.target.shape == (2,)


def test_arguments_are_cut_to_the_rows_that_count() -> None:
    found = training_rows(reader(), [[0.0]] * 3, [1.0, 2.0, 3.0], [1.0, 0.0, 1.0])
    params = {"price": [10, 20, 30], "mode": "fast"}
    assert found.cut(params) == {"price": [10, 30], "mode": "fast"}
    assert found.cut(params, np.array([1, 1])) == {"price": [30, 30], "mode": "fast"}
    whole = training_rows(reader(), [[0.0]] * 3, [1.0, 2.0, 3.0])
    assert whole.cut(params) == params


def test_columns_of_any_container() -> None:
    X = np.arange(6.0).reshape(2, 3)
    chosen = np.array([2, 0])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert columns_of(X, chosen).tolist() == [[2, 0], [5, 3]]
    assert columns_of(sparse.csr_array(X), chosen).toarray().tolist() == [[2, 0], [5, 3]]
    assert columns_of(frame, chosen).columns.tolist() == ["c", "a"]
    twice = columns_of(pl.from_pandas(frame), np.array([1, 1, 1]))
    assert twice.columns == ["b", "b (2)", "b (3)"]
    assert twice["b (3)"].to_list() == [1, 4]


def test_predictions_beside_a_table() -> None:
    said, names = np.array([[0.1], [0.9]]), np.array(["m"], object)
    assert beside(said, names, np.array([[1.0], [2.0]])).tolist() == [[0.1, 1.0], [0.9, 2.0]]
    thin = beside(said, names, sparse.csr_array([[1.0], [0.0]]))
    assert sparse.issparse(thin)
    assert thin.toarray().tolist() == [[0.1, 1.0], [0.9, 0.0]]
    number = beside(said, names, pd.DataFrame({"a": [1, 2]}))
    assert isinstance(number, np.ndarray)
    frame = mixed(2)[0]
    for table in (frame, pl.from_pandas(frame)):
        found = beside(said, names, table)
        assert type(found) is type(table)
        assert list(found.columns) == ["m", *frame.columns]
    with pytest.raises(InputError, match="X has a column 'm', the name of a member's"):
        beside(said, names, frame.rename(columns={"age": "m"}))
