"""The goal of a run: positive class, working point, measure, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.request import Request
from novum.apps.job.table.formalizing import Goal, read_goal
from novum.core.errors import InputError
from novum.evaluation.measures.catalog import measure_names
from tests.apps.job.table.tables import csv

TWO, THREE = np.array(["no", "yes"]), np.array(["a", "b", "c"])
SHARES = np.array([0.8, 0.2])


def binary(**more: Any) -> Goal:
    return read_goal(Request("t", "y", **more), "binary", TWO, SHARES)


def multiclass(**more: Any) -> Goal:
    return read_goal(Request("t", "y", **more), "multiclass", THREE, np.full(3, 1 / 3))


def regression(**more: Any) -> Goal:
    return read_goal(Request("t", "y", **more), "regression", None, None)


def test_defaults() -> None:
    found = binary()
    assert (found.positive, found.point, found.metric, found.greater_is_better) == (
        "yes",
        None,
        "accuracy",
        True,
    )
    assert multiclass().positive is None
    assert (regression().metric, regression().greater_is_better) == ("rmse", False)


def test_binary_points() -> None:
    point = binary(prior=0.1, cost_fn=5.0, cost_fp=2.0).point
    assert point is not None
    assert point.priors.tolist() == [0.9, 0.1]
    assert point.cost.tolist() == [[0, 2], [5, 0]]
    # What is not given: the share of the rows, and costs of 1.
    point = binary(cost_fn=3.0).point
    assert point is not None
    np.testing.assert_allclose(point.priors, SHARES)
    assert point.cost.tolist() == [[0, 1], [3, 0]]


def test_the_positive_class_may_be_the_first() -> None:
    found = binary(positive="no", prior=0.3, cost_fn=5.0)
    assert found.positive == "no"
    assert found.point is not None
    assert found.point.classes == ("no", "yes")
    np.testing.assert_allclose(found.point.priors, [0.3, 0.7])
    # Missing a "no" costs 5.
    assert found.point.cost.tolist() == [[0, 5], [1, 0]]


def test_costs_from_a_table(tmp_path: Path) -> None:
    path = csv(tmp_path, "true,no,yes,ask\nyes,9,0,2\nno,0,1,2\n", "cost.csv")
    found = binary(cost=path)
    assert found.point is not None
    assert found.point.cost.tolist() == [[0, 1, 2], [9, 0, 2]]
    assert found.point.action_names == ("no", "yes", "ask")
    np.testing.assert_allclose(found.point.priors, SHARES)
    assert found.metric == "bayes_risk"
    given = binary(cost=path, prior=0.5, positive="no").point
    assert given is not None
    assert given.priors.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("make", "more", "message"),
    [
        (binary, {"positive": "maybe"}, "'maybe' is none of the classes 'no', 'yes'"),
        (multiclass, {"positive": "a"}, "is for two classes, but the target has 3 classes"),
        (regression, {"positive": "a"}, "has numbers"),
        (multiclass, {"cost_fn": 2.0}, "--cost-fn is for two classes.*--cost"),
        (regression, {"prior": 0.5}, "--prior is for decisions between classes"),
        (regression, {"cost": "c.csv"}, "--cost is for decisions between classes"),
        (binary, {"cost_fp": -1.0}, "cost_fp is a finite cost of at least 0"),
        (binary, {"cost": "nowhere.csv"}, "'nowhere.csv' cannot be read: No such file"),
        (binary, {"cost": "c.csv", "cost_fn": 1.0}, "--cost and --cost-fn both give costs"),
        (binary, {"metric": "rmse"}, "rmse is not for classes.*accuracy"),
        (regression, {"metric": "accuracy"}, "accuracy is not for numbers.*rmse"),
        (binary, {"metric": "bayes_risk"}, "cost at a working point"),
        (multiclass, {"metric": "recall"}, "Take recall_macro"),
        (multiclass, {"metric": "roc_auc"}, "Take roc_auc_ovr"),
        (binary, {"metric": "acuracy"}, "Did you mean 'accuracy'"),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**more)


def test_cost_tables_of_other_classes_are_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, "true,no,perhaps\nno,0,1\nperhaps,1,0\n", "cost.csv")
    with pytest.raises(InputError, match=r"cost\.csv' cannot be used.*'perhaps'.*'yes'"):
        binary(cost=path)


def test_advised_measures_exist() -> None:
    assert {"accuracy", "rmse", "roc_auc_ovr", "recall_macro"} <= set(measure_names())
    assert multiclass(metric="recall_macro").metric == "recall_macro"
    assert binary(metric="neg_log_loss").metric == "log_loss"
