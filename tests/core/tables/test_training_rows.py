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
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold

from novum.bayes import GaussianNB, TextClassifier
from novum.core.errors import InputError
from novum.core.tables import TrainingRows
from novum.ensemble.voting import VotingClassifier, VotingRegressor
from novum.linear import Ridge
from tests.evaluation.calibration.calibration_tables import classes


def reader() -> Any:
    return VotingRegressor([("ridge", Ridge())])


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, sparse.csr_array, np.asarray]
)
def test_containers_stay_what_they_are(make: Any) -> None:
    X = make(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}))
    cut = TrainingRows.of(reader(), X, [1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
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
        TrainingRows.of(reader(), X, y)


def test_classes_that_only_rows_of_weight_zero_have_are_absent() -> None:
    model = VotingClassifier([("ridge", Ridge())])
    found = TrainingRows.of(model, [[0.0]] * 4, list("cabc"), [1, 0, 2, 1], target="classes")
    assert found.classes.tolist() == ["b", "c"]
    assert found.target.tolist() == [1, 0, 1]
    assert found.class_shares.tolist() == [0.5, 0.5]
    assert found.given[1].tolist() == [2, 0, 1, 2]


def test_several_labels_are_coded_by_column() -> None:
    model = VotingClassifier([("ridge", Ridge())])
    found = TrainingRows.of(model, [[0.0]] * 3, [[0, 1], [1, 1], [0, 0]], target="labels")
    assert [c.tolist() for c in found.classes] == [[0, 1], [0, 1]]
    assert found.target.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert TrainingRows.of(model, [[0.0]] * 2, ["x", "y"], target="labels").classes.tolist() == [
        "x",
        "y",
    ]


def test_a_target_with_one_column_becomes_flat_and_says_so() -> None:
    with pytest.warns(DataConversionWarning):
        found = TrainingRows.of(reader(), [[0.0]] * 2, [[1.0], [2.0]], target="one number")
    assert found.target.shape == (2,)


def test_arguments_are_cut_to_the_rows_that_count() -> None:
    found = TrainingRows.of(reader(), [[0.0]] * 3, [1.0, 2.0, 3.0], [1.0, 0.0, 1.0])
    params = {"price": [10, 20, 30], "mode": "fast"}
    assert found.cut(params) == {"price": [10, 30], "mode": "fast"}
    assert found.cut(params, np.array([1, 1])) == {"price": [30, 30], "mode": "fast"}
    whole = TrainingRows.of(reader(), [[0.0]] * 3, [1.0, 2.0, 3.0])
    assert whole.cut(params) == params


# --- Classifiers around a classifier --------------------------------------------------------------


def classifier_rows(X: Any, y: Any, weight: Any = None) -> TrainingRows:
    return TrainingRows.of(GaussianNB(), X, y, weight, target="classes", least_classes=2)


def test_rows_of_weight_zero_are_absent() -> None:
    X, y = classes(12, K=3)
    weight = np.where(y == "c", 0.0, 2.0)
    rows = classifier_rows(X, y, weight)
    assert rows.classes.tolist() == ["a", "b"]
    assert (rows.n_rows, rows.class_shares.tolist()) == (8, [0.5, 0.5])
    assert rows.labels.tolist() == y[y != "c"].tolist()
    np.testing.assert_array_equal(
        rows.cut({"price": np.arange(12)})["price"], np.flatnonzero(y != "c")
    )
    np.testing.assert_array_equal(rows.cut({"p": np.arange(12)}, np.array([1]))["p"], [1])


def test_folds_of_given_rows_are_folds_of_kept_rows() -> None:
    X, y = classes(12, K=3)
    weight = np.where(y == "c", 0.0, 1.0)
    rows = classifier_rows(X, y, weight)
    kept = np.flatnonzero(weight)
    for (train, test), (whole_train, whole_test) in zip(
        rows.folds(PredefinedSplit(np.arange(12) // 4)),
        PredefinedSplit(np.arange(12) // 4).split(),
        strict=True,
    ):
        assert kept[train].tolist() == [i for i in whole_train if weight[i]]
        assert kept[test].tolist() == [i for i in whole_test if weight[i]]
    masks = [(np.arange(12) >= 6, np.arange(12) < 6)]
    assert [len(part) for part in rows.folds(masks)[0]] == [4, 4]
    assert len(rows.folds(2)) == 2


@pytest.mark.parametrize("cv", [3, KFold(3), StratifiedKFold(3, shuffle=True, random_state=5)])
def test_absent_rows_take_no_part_in_dividing(cv: Any) -> None:
    X, y = classes(17, K=2, seed=3)
    weight = np.ones(17)
    weight[[0, 3, 4, 5, 11]] = 0.0
    kept = weight > 0
    whole, alone = classifier_rows(X, y, weight), classifier_rows(X[kept], y[kept])
    for ours, theirs in zip(whole.folds(cv), alone.folds(cv), strict=True):
        for rows, wanted in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(rows, wanted)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 2)), [0, 1], "X has 3 rows, but y has 2"),
        (np.zeros((2, 2)), None, "requires y"),
        (np.zeros((0, 2)), [], "0 sample"),
        (np.zeros((2, 0)), [0, 1], "0 feature"),
        (np.zeros(2), [0, 1], "Reshape your data"),
        (np.zeros((2, 1)), [1, 1], "one class 1 only"),
    ],
)
def test_bad_input_is_named(X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classifier_rows(X, y)
