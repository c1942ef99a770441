"""Losses, worst rows, groups and savings against counts by hand and reference tests."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, root_mean_squared_error

from novum.apps.job.building import build
from novum.apps.job.families import family
from novum.apps.job.job import metric_of
from novum.apps.job.mistakes import (
    FEWEST_ROWS,
    Losses,
    answer_texts,
    find_mistakes,
    find_saving,
    telling_rows,
)
from novum.apps.job.outputs import Predictions
from novum.apps.job.record_json import from_json, to_json
from novum.apps.job.record_model import MistakesRecord, SavingRecord
from novum.apps.job.table.task import Task
from novum.core.decisions import WorkingPoint
from novum.evaluation import holm_adjusted, scorer
from tests.apps.job.runs import labeled, numbered
from tests.apps.job.table.tables import task_of


def answers_of(
    task: Task, predicted: Any, probabilities: Any = None, decisions: Any = None
) -> Predictions:
    return Predictions(
        np.arange(task.n_rows), "hold-out", task.y, predicted, probabilities, decisions
    )


def of_two(n: int = 60, wrong: Any = ()) -> tuple[Task, Predictions]:
    """Two classes, all right but for some rows; the truth of row i gets 0.9 or 0.01 (i + 1)."""
    task = task_of(**labeled(n))
    assert task.classes is not None
    true = np.searchsorted(task.classes, task.y)
    p = np.full(n, 0.9)
    p[list(wrong)] = 0.01 * (np.array(list(wrong), float) % 40 + 1)
    both = np.empty((n, 2))
    both[np.arange(n), true], both[np.arange(n), 1 - true] = p, 1 - p
    return task, answers_of(task, task.classes[both.argmax(axis=1)], both)


# --- Worst rows -----------------------------------------------------------------------------------


def test_wrong_rows_are_those_that_were_surest() -> None:
    task, answers = of_two(wrong=(5, 2, 9))
    found = find_mistakes(answers, task.X, task, ["v", "c"])
    assert (found.kind, found.n_wrong) == ("wrong", 3)
    assert [row.row for row in found.worst] == [3, 6, 10]
    first = found.worst[0]
    assert first.probability == pytest.approx(0.03)
    assert (first.true, first.decided) == (task.y[2], "ab".replace(task.y[2], ""))
    # The columns given come first.
    assert [name for name, _ in first.cells] == ["v", "c", "u", "noise"]
    assert dict(first.cells)["c"] == task.X.column("c")[2].as_py()
    assert from_json(to_json(found), MistakesRecord) == found
    assert len(find_mistakes(answers, task.X, task, max_worst=1).worst) == 1


def test_costs_count_what_is_paid_beyond_the_best_action() -> None:
    point = WorkingPoint(
        classes=("a", "b"),
        priors=(0.5, 0.5),
        cost=((0.0, 5.0, 1.0), (9.0, 0.0, 1.0)),
        actions=("leave", "treat", "test"),
    )
    base = task_of(**labeled(40))
    task = Task(**{**_fields(base), "point": point})
    decided = np.array(["leave", "treat", "test", "leave"] * 10)
    answers = answers_of(task, task.y, np.full((40, 2), 0.5), decided)
    losses = Losses.of(answers, task)
    cost = {"a": {"leave": 0, "treat": 5, "test": 1}, "b": {"leave": 9, "treat": 0, "test": 1}}
    expected = [cost[str(y)][str(d)] for y, d in zip(task.y, decided, strict=True)]
    assert losses.kind == "cost"
    assert losses.values.tolist() == expected
    found = find_mistakes(answers, task.X, task)
    assert found.n_wrong == sum(value > 0 for value in expected)
    assert found.worst[0].loss == max(expected)
    assert answer_texts(answers, 0) == (str(task.y[0]), "leave")


def _fields(task: Task) -> dict[str, Any]:
    names = [name for name in Task.__dataclass_fields__ if name not in ("labeled", "unlabeled")]
    return {name: getattr(task, name) for name in names}


def test_numbers_are_ranked_by_their_distance() -> None:
    task = task_of(**numbered(50))
    off = np.zeros(50)
    off[[7, 30]] = -3.0, 2.0
    found = find_mistakes(answers_of(task, task.y + off), task.X, task)
    assert (found.kind, found.n_wrong) == ("distance", 0)
    assert [row.row for row in found.worst] == [8, 31]
    assert [row.loss for row in found.worst] == pytest.approx([3.0, 2.0])
    assert found.worst[0].probability is None


def test_rows_worth_a_look_are_extremes_and_the_worst_each_once() -> None:
    task, answers = of_two(wrong=(5,))
    # Row 5 gets 0.06, so all rows are as sure but for it: 0.94 is more than 0.9.
    assert telling_rows(answers, task) == [
        (0, "the least sure answer"),
        (5, "the worst error"),
    ]
    numbers = task_of(**numbered(50))
    predicted = numbers.y + np.eye(50)[11]
    rows = dict(telling_rows(answers_of(numbers, predicted), numbers))
    assert rows[11] == "the worst error"
    assert len(rows) <= 3
    right = answers_of(numbers, numbers.y)
    assert [why for _, why in telling_rows(right, numbers)] == [
        "the highest prediction",
        "the lowest prediction",
    ]


# --- Groups ---------------------------------------------------------------------------------------


def test_a_bad_group_is_found_with_the_test_of_welch() -> None:
    columns = numbered(200, seed=1)
    task = task_of(**columns)
    rng = np.random.default_rng(0)
    in_group = np.array(columns["c"]) == "y"
    off = np.abs(rng.normal(size=200)) + 4.0 * in_group
    found = find_mistakes(answers_of(task, task.y + off), task.X, task)
    first = found.groups[0]
    assert (first.column, first.group, first.n_rows) == ("c", "y", in_group.sum())
    assert first.loss.value == pytest.approx(off[in_group].mean())
    assert first.others == pytest.approx(off[~in_group].mean())
    # Three levels, and four quarters of two columns of numbers.
    assert found.n_groups == 3 + 2 * 4
    plain = [
        stats.ttest_ind(off[rows], off[~rows], equal_var=False, alternative="greater").pvalue
        for rows in _groups_by_hand(columns)
    ]
    assert first.p_value == pytest.approx(holm_adjusted(plain).min(), rel=1e-9)
    assert all(
        a.p_value is not None and b.p_value is not None and a.p_value <= b.p_value
        for a, b in itertools.pairwise(found.groups)
    )


def _groups_by_hand(columns: dict[str, Any]) -> list[np.ndarray]:
    found = [np.array(columns["c"]) == level for level in "xyz"]
    for name in "uv":
        values = np.array(columns[name])
        edges = [-np.inf, *np.quantile(values, [0.25, 0.5, 0.75]), np.inf]
        found += [(values > low) & (values <= high) for low, high in itertools.pairwise(edges)]
    return found


def test_without_a_bad_group_none_is_clear() -> None:
    """Holm's adjustment keeps all false alarms below 5 % (here of 40 tables)."""
    alarms = 0
    for seed in range(40):
        task = task_of(**numbered(120, seed=seed))
        off = np.abs(np.random.default_rng(1000 + seed).normal(size=120))
        groups = find_mistakes(answers_of(task, task.y + off), task.X, task).groups
        alarms += any(group.p_value is not None and group.p_value < 0.05 for group in groups)
    # P(more than 6 of 40 | 5 %) < 0.004.
    assert alarms <= 6


def test_missing_cells_are_a_group_and_small_groups_are_none() -> None:
    columns = numbered(80)
    columns["u"] = [None if i < 20 else value for i, value in enumerate(columns["u"])]
    columns["c"] = ["rare" if i < FEWEST_ROWS - 1 else "x" for i in range(80)]
    task = task_of(**columns)
    off = np.where(np.arange(80) < 20, 5.0, 0.1) + 0.01 * np.arange(80)
    found = find_mistakes(answers_of(task, task.y + off), task.X, task)
    assert (found.groups[0].column, found.groups[0].group) == ("u", "missing")
    assert all(group.group != "rare" for group in found.groups)
    fewer = find_mistakes(answers_of(task, task.y + off), task.X, task, ["v"], max_columns=1)
    assert fewer.n_groups == 4


def test_all_right_and_all_wrong_have_no_groups_and_extremes_have() -> None:
    task, answers = of_two(wrong=())
    found = find_mistakes(answers, task.X, task)
    assert (found.worst, found.groups, found.n_wrong) == ((), (), 0)
    red = np.flatnonzero(np.array(task.X.column("c").to_pylist()) == "red")
    task, answers = of_two(wrong=red)
    found = find_mistakes(answers, task.X, task)
    assert (found.groups[0].column, found.groups[0].group) == ("c", "red")
    assert found.groups[0].p_value is not None
    assert found.groups[0].p_value < 1e-6


# --- Saving ---------------------------------------------------------------------------------------


def fitted_pair(task: Task, name: str) -> tuple[Any, Any]:
    rows = task.rows()
    both = (build(family(n), task.kind, seed=0) for n in (name, "constant"))
    model, constant = (one.fit(rows.X, rows.y) for one in both)
    return model, constant


def test_saving_is_the_difference_of_the_measures() -> None:
    task = task_of(**labeled(120))
    model, constant = fitted_pair(task, "tree")
    rows = task.rows()
    found = find_saving(model, constant, rows, metric_of(task), seed=0, n_resamples=50)
    ours = accuracy_score(rows.y, model.predict(rows.X))
    assert found.metric == "accuracy"
    assert found.answer == str(constant.predict(rows.X)[0])
    assert found.model.value == pytest.approx(ours)
    assert found.constant.value == pytest.approx(0.5)
    assert found.saved.value == pytest.approx(ours - 0.5)
    assert found.saved.low is not None
    assert found.saved.high is not None
    assert 0.2 < found.saved.low < ours - 0.5 < found.saved.high
    assert from_json(to_json(found), SavingRecord) == found
    again = find_saving(model, constant, rows, metric_of(task), seed=0, n_resamples=50)
    assert again == found


def test_less_error_is_saved_error_and_no_resamples_are_no_interval() -> None:
    task = task_of(**numbered(120))
    model, constant = fitted_pair(task, "linear")
    rows = task.rows()
    found = find_saving(model, constant, rows, scorer("rmse"), seed=0, n_resamples=0)
    ours = root_mean_squared_error(rows.y, model.predict(rows.X))
    theirs = float(np.std(rows.y))
    assert found.model.value == pytest.approx(ours)
    assert found.saved.value == pytest.approx(theirs - ours)
    assert (found.saved.low, found.saved.high) == (None, None)


def test_the_constant_takes_the_best_action_at_the_point() -> None:
    task = task_of(**labeled(120))
    model, constant = fitted_pair(task, "tree")
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])
    point = WorkingPoint(classes=("a", "b"), priors=(0.5, 0.5), cost=cost)
    metric = scorer("bayes_risk", point=point)
    found = find_saving(model, constant, task.rows(), metric, seed=0, n_resamples=20)
    # Always b costs 1 for half of the rows, always a costs 5.
    assert found.answer == "b"
    assert found.constant.value == pytest.approx(0.5)
    decided = model.at(point).decide(task.X)
    true, chosen = (np.searchsorted(["a", "b"], labels) for labels in (task.y, decided))
    assert found.model.value == pytest.approx(cost[true, chosen].mean())


def test_levels_that_the_table_does_not_have_are_a_group_of_their_own() -> None:
    task, answers = of_two(60, wrong=range(12))
    cells = ["violet"] * 12 + task.X.column("c").to_pylist()[12:-2] + [None] * 2
    X = task.X.set_column(task.features.index("c"), "c", pa.array(cells))
    found = find_mistakes(answers, X, task, ["c"])
    new = next(group for group in found.groups if "does not have" in group.group)
    assert (new.column, new.n_rows, new.loss.value, new.others) == ("c", 12, 1.0, 0.0)


def test_texts_of_cells_are_plain() -> None:
    task = task_of(**numbered(20))
    answers = answers_of(task, task.y + 67_412.0)
    assert answer_texts(answers, 0)[1] == "67,410"
