"""Scores of columns: what is read, counted and refused before any test runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from novum.core.errors import InputError
from novum.evaluation.selection.column_scores import (
    ColumnReader,
    ConstantColumnsWarning,
    listed,
    read_columns,
)
from novum.evaluation.selection.column_tests import AssociationTest, f_classif, f_regression
from tests.evaluation.selection.selection_tables import mixed_frame, two_classes


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0.5, 1.5, 2.5], False),
        ([0, 1, 0], True),
        ([0.0, 1.0, 0.0], True),
        (["a", "b", "a"], True),
        ([True, False, True], True),
    ],
)
def test_what_the_target_is(y: list[object], classes: bool) -> None:
    sample = read_columns(ColumnReader(), [[1.0], [2.0], [3.0]], y, "auto")
    assert (sample.classes is not None) == classes


def test_rows_are_those_where_a_column_is_known() -> None:
    frame, y = mixed_frame()
    sample = read_columns(ColumnReader(), frame, y, "auto")
    found = AssociationTest().of(sample)
    assert found.n_known.tolist() == frame.notna().sum().tolist()
    known = frame["size"].notna().to_numpy()
    alone = AssociationTest()(frame.loc[known, ["size"]], y[known])
    assert found.scores[1] == pytest.approx(alone[0][0], rel=1e-12)


def test_sparse_columns() -> None:
    X, y = two_classes()
    X[np.abs(X) < 0.5] = 0
    np.testing.assert_allclose(f_classif(sparse.csc_array(X), y)[0], f_classif(X, y)[0])


def test_columns_without_any_cell() -> None:
    X, y = two_classes(40, 2)
    frame = pd.DataFrame({"gone": np.nan, "x": X[:, 0]}, index=range(40))
    with pytest.warns(ConstantColumnsWarning, match="'gone'"):
        scores, p_values = f_classif(frame, y)
    assert (scores[0], p_values[0]) == (0, 1)


def test_one_column_of_targets_is_a_target() -> None:
    X, _ = two_classes()
    y = X[:, :1] + 1
    np.testing.assert_allclose(f_regression(X, y)[0], f_regression(X, y[:, 0])[0])


def test_refusals() -> None:
    with pytest.raises(InputError, match="one class only, 'a'"):
        f_classif([[1.0], [2.0]], ["a", "a"])
    with pytest.raises(InputError, match="requires y"):
        f_classif([[1.0], [2.0]], None)


def test_names_in_messages() -> None:
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list("abcdefg")).endswith("and 2 more")
