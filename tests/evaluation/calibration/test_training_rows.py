"""Training rows: zero weights are absent, folds follow, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.calibration.training_rows import training_rows
from tests.evaluation.calibration.calibration_tables import classes


def test_rows_of_weight_zero_are_absent() -> None:
    X, y = classes(12, K=3)
    weight = np.where(y == "c", 0.0, 2.0)
    rows = training_rows(GaussianNB(), X, y, weight)
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
    rows = training_rows(GaussianNB(), X, y, weight)
    kept = np.flatnonzero(weight)
    for (train, test), (whole_train, whole_test) in zip(
        rows.folds(KFold(3)), KFold(3).split(X), strict=True
    ):
        assert kept[train].tolist() == [i for i in whole_train if weight[i]]
        assert kept[test].tolist() == [i for i in whole_test if weight[i]]
    masks = [(np.arange(12) >= 6, np.arange(12) < 6)]
    assert [len(part) for part in rows.folds(masks)[0]] == [4, 4]
    assert len(rows.folds(2)) == 2


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
        training_rows(GaussianNB(), X, y)
