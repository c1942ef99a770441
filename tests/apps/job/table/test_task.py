"""The task as a value: rows with and without targets, and its record."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from novum.apps.job.request import Request
from novum.core.errors import InputError
from tests.apps.job.table.tables import task_of

X = [1.0, 2.5, 3.0, 4.0, 5.0, 6.0]


def test_rows_without_a_target_are_kept_aside() -> None:
    task = task_of(x=X, y=["b", None, "a", "b", None, "a"])
    assert task.labeled.tolist() == [0, 2, 3, 5]
    assert task.unlabeled.tolist() == [1, 4]
    assert task.n_rows == task.X.num_rows == 6
    assert task.y.tolist() == ["b", "a", "b", "a"]
    assert task.class_counts().tolist() == [2, 2]
    with pytest.raises(InputError, match="Row 1 has no target"):
        task.rows([0, 1])


def test_rows_carry_all_that_learners_take() -> None:
    request = Request("t.csv", "y", weight="w", group="g", time="t")
    task = task_of(
        request=request, x=X, y=X[::-1], w=[1, 2, 3, 4, 5, 6], g=list("aabbcc"), t=X[::-1]
    )
    rows = task.rows([4, 1])
    assert rows.n_rows == 2
    assert rows.X.to_pydict() == {"x": [5.0, 2.5]}
    assert rows.y.tolist() == [2.5, 5.0]
    assert rows.weight is not None
    assert rows.weight.tolist() == [5.0, 2.0]
    assert rows.groups is not None
    assert rows.groups.tolist() == [2, 0]
    assert rows.order is not None
    assert rows.order.tolist() == [1, 4]


def test_numbers_and_their_missing_targets() -> None:
    task = task_of(x=X, y=[0.5, 1.5, np.nan, 2.0, 7.5, 1.0])
    assert task.kind == "regression"
    assert task.unlabeled.tolist() == [2]
    assert task.y.tolist() == [0.5, 1.5, 2.0, 7.5, 1.0]
    assert task.classes is None
    assert task.record().classes == ()


def test_the_record_holds_plain_values() -> None:
    request = Request("t.csv", "y", prior=0.25, cost_fn=8.0)
    record = task_of(request=request, x=X, y=[0, 1, 0, 1, 0, 1]).record()
    assert record.classes == ("0", "1")
    assert record.positive == "1"
    assert record.priors == (0.75, 0.25)
    assert record.cost == ((0.0, 1.0), (8.0, 0.0))
    assert record.actions == ("0", "1")
    assert (record.metric, record.greater_is_better) == ("bayes_risk", False)
    assert all(isinstance(value, float) for row in record.cost for value in row)


def test_features_one_by_one_and_by_name() -> None:
    task = task_of(x=X, c=list("ababab"), y=X)
    assert [cells.name for cells in task.each_feature()] == ["x", "c"]
    assert task.feature("c").values.tolist() == [0, 1, 0, 1, 0, 1]
    assert task.cells_at(0, np.array([2, 0])).values.tolist() == [3.0, 1.0]


def test_it_is_frozen() -> None:
    task = task_of(x=X, y=X)
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.metric = "mae"  # type: ignore[misc]
