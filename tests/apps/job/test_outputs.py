"""The files: cells no spreadsheet runs, all rows with an answer, and a program that can be run."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.building import build, candidate
from novum.apps.job.families import FAMILIES, Family, family
from novum.apps.job.outputs import (
    Made,
    Predictions,
    check_folder,
    model_script,
    own_folder,
    safe_cell,
    write_predictions,
)
from novum.apps.job.record_json import write_record
from novum.apps.job.request import Request
from novum.apps.job.trials import LearningRows, stack_of
from novum.core import load
from novum.core.errors import InputError
from novum.core.learners import Pipeline
from novum.core.sources import is_number_text
from novum.data.scaling import StandardScaler
from novum.linear import LogisticRegression
from tests.apps.job.runs import labeled, plan_of, read_csv, write_csv

ROLES = [(row, kind) for row in FAMILIES for kind in ("binary", "regression") if row.role(kind)]


# --- Cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_written_as_text(start: str) -> None:
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("label", ["-1", "+1", "-2.5e3", "+", "-"])
def test_labels_that_are_numbers_or_signs_stay_as_they_came(label: str) -> None:
    assert safe_cell(label) == label


@given(value=st.text())
def test_no_text_starts_like_a_formula_and_none_is_lost(value: str) -> None:
    found = safe_cell(value)
    is_plain = value in ("+", "-") or is_number_text(value)
    assert is_plain or not found.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert found in (value, f"'{value}")


@given(value=st.integers() | st.floats(allow_nan=False))
def test_numbers_stay_numbers(value: float) -> None:
    assert safe_cell(value) is value


# --- The folder -----------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from novum.apps.job.outputs import own_folder
with own_folder(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_one_run_s_until_its_process_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="Another run writes to"), own_folder(folder):
            pass
        holder.kill()
        holder.wait()
    with own_folder(folder):
        assert list(folder.iterdir()) == []


def test_a_run_that_never_began_leaves_no_folder(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    for folder in (new, old):
        with pytest.raises(ValueError, match="bad target"), own_folder(folder):
            raise ValueError("bad target")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written to"), own_folder(tmp_path / "file/x"):
        pass


def test_a_request_without_a_plan_makes_room_for_another(tmp_path: Path) -> None:
    write_record(Request("iris", models=("trees",)), tmp_path / "request.json")
    mended = Request("iris", models=("tree",))
    check_folder(mended, tmp_path)
    plan = tmp_path / "targets" / "species" / "plan.json"
    plan.parent.mkdir(parents=True)
    plan.touch()
    with pytest.raises(InputError, match="holds a run with other settings"):
        check_folder(mended, tmp_path)


# --- Predictions ----------------------------------------------------------------------------------


def test_lines_are_the_answers(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    held = Predictions(
        np.array([4, 0]),
        "hold-out",
        np.array(["no", "=yes"]),
        np.array(["no", "no"]),
        np.array([[0.75, 0.25], [0.5, 0.5]]),
        np.array(["wait", "treat"]),
    )
    free = Predictions(np.array([2]), "no target", None, np.array(["=yes"]), np.array([[0.1, 0.9]]))
    assert write_predictions(path, iter([held, free]), ["no", "=yes"]) == 3
    assert path.read_bytes().decode().splitlines() == [
        "row,answered,target,prediction,decision,probability no,probability =yes",
        "5,hold-out,no,no,wait,0.75,0.25",
        "1,hold-out,'=yes,no,treat,0.5,0.5",
        "3,no target,,'=yes,,0.1,0.9",
    ]


def test_numbers_are_written_with_all_their_digits(tmp_path: Path) -> None:
    values = np.array([0.1 + 0.2, -1e-300, 12345678.912345678])
    part = Predictions(np.arange(3), "hold-out", values, values)
    assert write_predictions(tmp_path / "p.csv", [part], None) == 3
    lines = read_csv(tmp_path / "p.csv")
    assert [float(line["prediction"]) for line in lines] == values.tolist()
    assert [float(line["target"]) for line in lines] == values.tolist()
    assert list(lines[0]) == ["row", "answered", "target", "prediction"]


def test_without_answers_there_is_a_header(tmp_path: Path) -> None:
    assert write_predictions(tmp_path / "p.csv", [], ["a", "b"]) == 0
    assert (tmp_path / "p.csv").read_text().strip() == (
        "row,answered,target,prediction,probability a,probability b"
    )


def test_labels_with_commas_quotes_and_lines_survive(tmp_path: Path) -> None:
    labels = np.array(["a,b", 'say "x"', "two\nlines", "ü"])
    part = Predictions(np.arange(4), "hold-out", labels, labels)
    write_predictions(tmp_path / "p.csv", [part], None)
    assert [line["prediction"] for line in read_csv(tmp_path / "p.csv")] == labels.tolist()


# --- The program ----------------------------------------------------------------------------------


def made_again(script: str) -> Any:
    """The model of a program, without its fit."""
    tree = ast.parse(script)
    kept: list[ast.stmt] = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "model")
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(kept, []), "model.py", "exec"), names)
    return names["model"]


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=[f"{r.name}-{k}" for r, k in ROLES])
def test_every_candidate_is_made_again(row: Family, kind: str) -> None:
    role = row.role(kind)
    assert role is not None
    for number in range(len(role.candidates)):
        model = build(row, kind, seed=7)
        model.set_params(**candidate(row, kind, number, model, 7))
        script = model_script(Made(model, "t.csv", "y"))
        again = made_again(script)
        assert type(again) is type(model)
        assert repr(sorted(again.get_params().items(), key=str)) == repr(
            sorted(model.get_params().items(), key=str)
        )
        assert len(script.splitlines()) <= 20


def test_a_stack_is_made_again() -> None:
    import pyarrow as pa

    columns = labeled(40)
    y = np.array(columns.pop("y"))
    rows = LearningRows("binary", pa.table(columns), y)
    stack = stack_of({"linear": 2, "boosting": 1}, plan_of("tree", seed=3), rows)
    again = made_again(model_script(Made(stack, "t.csv", "y")))
    assert repr(again) == repr(stack)
    np.testing.assert_array_equal(
        again.fit(rows.X, y).predict_proba(rows.X), stack.fit(rows.X, y).predict_proba(rows.X)
    )


def test_strange_names_are_quoted(tmp_path: Path) -> None:
    columns = labeled(30)
    columns["tar'get\"; import os"] = columns.pop("y")
    columns["left\\out"] = list(range(30))
    path = write_csv(tmp_path / "it's.csv", columns)
    model = Pipeline([("scale", StandardScaler()), ("learner", LogisticRegression(C=0.1))])
    script = model_script(Made(model, path, "tar'get\"; import os", ("left\\out",)))
    (tmp_path / "model.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = load(tmp_path / "model_again.novum")
    assert found.steps[0][1].schema_.names == ("u", "v", "noise", "c")
    assert found.get_params()["learner__C"] == 0.1


def test_bundled_tables_are_loaded_by_name() -> None:
    script = model_script(Made(family_model("tree"), "iris", "species"))
    assert "load('iris')" in script
    assert "read(" not in script
    assert "read('iris.csv')" in model_script(Made(family_model("tree"), "iris.csv", "species"))


def family_model(name: str) -> Any:
    return build(family(name), "binary", seed=0)
