"""From table to task: features and what is left out, roles, refusals, and files to judge on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.request import Request
from novum.apps.job.table.formalizing import formalize, formalize_like
from novum.apps.job.table.reading import read, read_like
from novum.core.errors import InputError
from novum.trees import DecisionTreeClassifier
from tests.apps.job.table.tables import csv, loaded, task_of

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
Y = np.where(X > 0, "yes", "no").tolist()


def test_columns_left_out_have_their_reasons() -> None:
    request = Request("t.csv", "y", weight="w", group="g", time="t")
    task = task_of(
        request=request,
        row=np.arange(N),
        x=X,
        name=[f"N{i}" for i in range(N)],
        born=[f"2001-01-{1 + i % 28:02d}" for i in range(N)],
        note=[f"a long note number {i}" for i in range(N)],
        same=np.ones(N),
        none=[None] * N,
        color=["red", "blue"] * (N // 2),
        w=np.ones(N),
        g=["a", "b"] * (N // 2),
        t=np.arange(N) / 3,
        y=Y,
    )
    assert task.features == ("x", "born", "note", "color")
    assert task.X.column_names == ["x", "born", "note", "color"]
    assert (task.columns.dates, task.columns.texts) == (("born",), ("note",))
    assert task.columns.levels == ("color",)
    kinds = {name: kind for name, kind, _ in task.kinds}
    assert kinds["born"] == "date"
    assert kinds["note"] == "text"
    assert kinds["row"] == "id"
    assert {column.name: column.nature for column in task.left_out} == {
        "row": "identifier",
        "name": "identifier",
        "same": "constant",
        "none": "empty",
        "w": "weight",
        "g": "group",
        "t": "time",
        "y": "target",
    }
    assert all(column.reason for column in task.left_out)


def test_learners_take_the_task_as_it_is() -> None:
    task = task_of(x=X, c=[None, "a"] * (N // 2), y=[None, *Y[1:]])
    rows = task.rows()
    model = DecisionTreeClassifier().fit(rows.X, rows.y)
    assert tuple(model.classes_.tolist()) == task.record().classes == ("no", "yes")
    assert len(model.predict(task.X)) == N


def test_rows_without_a_target_are_said() -> None:
    assert task_of(x=X, y=[None, *Y[1:]]).sentences[-1].startswith("1 row has no target")
    assert task_of(x=X, y=[None, None, *Y[2:]]).sentences[-1].startswith("2 rows have no target")
    assert not any("no target" in said for said in task_of(x=X, y=Y).sentences)


def test_priors_are_shares_of_the_weight() -> None:
    request = Request("t.csv", "y", weight="w", cost_fn=2.0)
    task = task_of(request=request, x=[1, 2, 3, 4], w=[1, 1, 3, 3], y=["a", "a", "b", "b"])
    assert task.point is not None
    assert task.point.priors.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"same": np.ones(N), "y": Y}, "no column left to learn from: 'same' is constant"),
        ({"x": [np.inf, *X[1:]], "y": Y}, "'x' is infinite in data row 1, 1 such cell in all"),
        ({"x": X, "y": ["a"] * N}, "one class only"),
        ({"x": X, "y": [None] * N}, "missing in all 40 rows"),
    ],
)
def test_refusals(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        task_of(**columns)


def test_weights_of_no_sense_are_refused() -> None:
    request = Request("t.csv", "y", weight="w")
    with pytest.raises(InputError, match="'w' is -1 in data row 1"):
        task_of(request=request, x=X, y=Y, w=[-1, *np.ones(N - 1)])
    zero = [0.0 if label == "yes" else 1.0 for label in Y]
    with pytest.raises(InputError, match="All rows of class 'yes' have weight 0"):
        task_of(request=request, x=X, y=Y, w=zero)


def test_the_table_itself_is_not_changed() -> None:
    table = loaded("y", x=X, y=Y)
    before = table.table.to_pydict()
    formalize(table, Request("t.csv", "y"))
    assert table.table.to_pydict() == before


# --- A file to judge on ---------------------------------------------------------------------------

TABLE = "x,c,y\n1,a,no\n2,b,yes\n3,a,no\n4,b,yes\n"


def judged(folder: Path, text: str, **more: Any) -> Any:
    request = Request(csv(folder, TABLE), "y", test="test.csv", **more)
    table = read(request)
    task = formalize(table, request)
    found = read_like(csv(folder, text, "test.csv"), table, (*task.features, "y"))
    return formalize_like(found, task, request)


def test_classes_keep_their_codes(tmp_path: Path) -> None:
    found = judged(tmp_path, "c,y,x\nnew,yes,7\na,?,8\n")
    assert found.coded.tolist() == [1, -1]
    assert found.features == ("x", "c")
    assert found.rows().y.tolist() == ["yes"]
    assert found.X.column("c").to_pylist() == ["new", "a"]


def test_strange_classes_and_no_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test\.csv has the class 'maybe' of 'y'.*'no', 'yes'"):
        judged(tmp_path, "x,c,y\n1,a,maybe\n")
    with pytest.raises(InputError, match=r"test\.csv has no value of 'y' in any row"):
        judged(tmp_path, "x,c,y\n1,a,?\n")
    with pytest.raises(InputError, match="'x' is infinite in data row 1"):
        judged(tmp_path, "x,c,y\ninf,a,no\n")


@pytest.mark.parametrize("task", ["auto", "multiclass", "regression"])
def test_targets_of_numbers(tmp_path: Path, task: Any) -> None:
    text = "x,y\n" + "".join(f"{i / 3},{i % 3}\n" for i in range(15))
    request = Request(csv(tmp_path, text), "y", task=task)
    table = read(request)
    first = formalize(table, request)
    other = read_like(csv(tmp_path, "x,y\n1,2\n2,0\n", "test.csv"), table, ("x", "y"))
    found = formalize_like(other, first, request)
    assert found.rows().y.tolist() == [2, 0]
    assert found.rows().y.dtype == first.y.dtype
