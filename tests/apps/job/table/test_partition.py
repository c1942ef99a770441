"""The hold-out: nothing lost, nothing on both sides, shares kept, groups whole, the latest rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.request import Request
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.partition import Parts, apportion, data_record, set_aside
from novum.apps.job.table.reading import read
from novum.apps.job.table.task import Task
from novum.core.errors import InputError
from tests.apps.job.table.tables import csv, loaded, task_of

RNG = np.random.default_rng(0)


def parted(task: Task, **more: Any) -> Parts:
    parts = set_aside(task, Request("t.csv", "y", **more))
    together = np.concatenate([parts.train, parts.holdout, parts.unlabeled])
    assert sorted(together.tolist()) == list(range(task.n_rows)), "a row is lost or there twice"
    return parts


def classes_task(n: int = 200, **more: Any) -> Task:
    y = np.where(np.arange(n) % 10 == 0, "rare", "usual").tolist()
    return task_of(x=RNG.normal(size=n), y=[None, *y[1:]], **more)


def test_classes_keep_their_shares() -> None:
    task = classes_task()
    parts = parted(task, holdout=0.2)
    assert len(parts.holdout) == 40
    counts = np.bincount(task.coded[parts.holdout])
    assert counts.tolist() == [4, 36]
    assert parts.unlabeled.tolist() == [0]
    judging = parts.judging(task)
    assert judging is not None
    assert judging.n_rows == parts.n_holdout == 40
    assert parts.training(task).n_rows == 159


def test_numbers_keep_their_law() -> None:
    y = RNG.exponential(size=1000)
    task = task_of(x=RNG.normal(size=1000), y=y)
    parts = parted(task, holdout=0.3)
    tenths = np.quantile(y, np.linspace(0, 1, 11)[1:-1])
    counts = np.bincount(np.searchsorted(tenths, y[parts.holdout]), minlength=10)
    assert counts.tolist() == [30] * 10


def test_the_seed_and_nothing_else_decides() -> None:
    task = classes_task()
    first = parted(task, seed=3).holdout
    np.random.seed(99)  # noqa: NPY002
    assert parted(task, seed=3).holdout.tolist() == first.tolist()
    assert parted(task, seed=4).holdout.tolist() != first.tolist()
    assert first.tolist() == sorted(first.tolist())


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.floats(0.01, 0.9))
def test_apportioned_rows_are_as_wanted_and_leave_one(counts: list[int], share: float) -> None:
    sizes = np.array(counts)
    wanted = round(share * sizes.sum())
    takes = apportion(sizes, wanted)
    assert takes.sum() == min(wanted, (sizes - 1).sum())
    assert ((takes >= 0) & (takes <= np.maximum(sizes - 1, 0))).all()
    if (sizes * share <= sizes - 1).all():
        # Largest remainders: no stratum is off by a whole row.
        assert (np.abs(takes - sizes * (wanted / sizes.sum())) < 1 + 1e-9).all()


def test_groups_stay_together_and_shares_near() -> None:
    n = 600
    groups = np.repeat(np.arange(60), 10)
    y = np.where(RNG.random(n) < 0.3, "a", "b").tolist()
    request = Request("t.csv", "y", group="g")
    task = task_of(request=request, x=RNG.normal(size=n), g=[f"p{g}" for g in groups], y=y)
    parts = parted(task, holdout=0.25, group="g")
    assert not set(groups[parts.train]) & set(groups[parts.holdout])
    assert abs(len(parts.holdout) - 150) <= 10
    share = np.mean(np.array(y)[parts.holdout] == "a")
    assert abs(share - np.mean(np.array(y) == "a")) < 0.05
    assert "groups, drawn at random as wholes" in parts.way


def test_many_groups() -> None:
    n = 24_000
    request = Request("t.csv", "y", group="g")
    groups = np.arange(n) // 2
    task = task_of(request=request, x=RNG.normal(size=n), g=groups, y=RNG.normal(size=n))
    parts = parted(task, holdout=0.2, group="g")
    assert not set(groups[parts.train]) & set(groups[parts.holdout])
    assert abs(len(parts.holdout) - 4800) <= 2


def test_two_groups_leave_one_on_each_side() -> None:
    request = Request("t.csv", "y", group="g")
    task = task_of(request=request, x=range(10), g=list("aaaaabbbbb"), y=[0, 1] * 5)
    parts = parted(task, holdout=0.1, group="g")
    assert len(parts.holdout) == 5


def test_the_latest_rows_are_judged_on() -> None:
    n = 100
    time = RNG.permutation(n) // 5
    request = Request("t.csv", "y", time="t")
    task = task_of(request=request, x=RNG.normal(size=n), t=time, y=RNG.normal(size=n))
    parts = parted(task, holdout=0.22, time="t")
    # Five rows for each time: 20 is the nearest to 22 that cuts no time in two.
    assert len(parts.holdout) == 20
    assert time[parts.train].max() < time[parts.holdout].min()
    assert (np.diff(time[parts.train]) >= 0).all()


def test_groups_in_time_are_taken_whole() -> None:
    request = Request("t.csv", "y", time="t", group="g")
    task = task_of(
        request=request, x=range(9), t=[1, 9, 2, 3, 4, 5, 6, 7, 8], g=list("aabbccddd"), y=range(9)
    )
    parts = parted(task, holdout=0.3, time="t", group="g")
    # Group a ends last (at 9) and has two rows; with d (ends at 8) it would be five.
    assert sorted(parts.holdout.tolist()) == [0, 1]


def test_a_class_of_one_row_is_learned_from() -> None:
    task = task_of(x=np.arange(21) / 2, y=["a"] * 10 + ["b"] * 10 + ["c"])
    assert 20 in parted(task, holdout=0.4).train


def test_nothing_is_set_aside_on_request() -> None:
    task = classes_task()
    parts = parted(task, holdout=0.0)
    assert len(parts.train) == 199
    assert parts.judging(task) is None
    assert parts.way == "none set aside"


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ({"x": range(3), "y": [1.5, 2.5, 3.0]}, {"holdout": 0.1}, "too few rows on one side"),
        ({"x": range(3), "y": ["a", "b", "c"]}, {"holdout": 0.4}, "every class has one row only"),
        ({"x": range(9), "t": [5] * 9, "y": [0, 1, 1] * 3}, {"time": "t"}, "have the same time"),
        (
            {"x": range(9), "t": range(9), "y": ["a"] * 6 + ["b"] * 3},
            {"time": "t", "holdout": 0.4},
            "class a only is left to learn from",
        ),
    ],
)
def test_refusals(columns: dict[str, Any], more: dict[str, Any], message: str) -> None:
    request = Request("t.csv", "y", **more)
    with pytest.raises(InputError, match=message):
        set_aside(task_of(request=request, **columns), request)


# --- Files ----------------------------------------------------------------------------------------


def test_a_file_takes_the_place_of_a_share(tmp_path: Path) -> None:
    table = csv(tmp_path, "x,y,w\n1,a,1\n2,b,1\n3,a,1\n4,b,1\n5,?,1\n")
    test = csv(tmp_path, "y,x,w\nb,9,2\n?,8,1\n", "test.csv")
    request = Request(table, "y", test=test, weight="w")
    found = read(request)
    task = formalize(found, request)
    parts = set_aside(task, request, found)
    assert parts.train.tolist() == [0, 1, 2, 3]
    assert parts.holdout.size == 0
    judging = parts.judging(task)
    assert judging is not None
    assert judging.y.tolist() == ["b"]
    assert judging.weight is not None
    assert judging.weight.tolist() == [2.0]
    assert parts.way == "the file test.csv: 1 rows, 1 more without a target"
    record = data_record(found, task, parts)
    assert (record.n_train, record.n_holdout, record.n_without_target) == (4, 1, 1)
    with pytest.raises(InputError, match="Pass `loaded` too"):
        set_aside(task, request)


def test_the_table_itself_is_no_test(tmp_path: Path) -> None:
    text = "x,y\n1,a\n2,b\n"
    request = Request(csv(tmp_path, text), "y", test=csv(tmp_path, text, "copy.csv"))
    found = read(request)
    with pytest.raises(InputError, match=r"copy\.csv is the table itself, byte for byte"):
        set_aside(formalize(found, request), request, found)


def test_the_record_accounts_for_all_rows_and_columns() -> None:
    request = Request("t.csv", "y")
    found = loaded("y", x=RNG.normal(size=50), one=[1] * 50, y=[None, *"ab" * 24, "a"])
    task = formalize(found, request)
    record = data_record(found, task, set_aside(task, request))
    assert record.n_rows == record.n_train + record.n_holdout + record.n_without_target == 50
    assert len(record.features) + len(record.left_out) == record.n_columns == 3
    assert ("one", "constant: every cell is 1") in record.left_out
