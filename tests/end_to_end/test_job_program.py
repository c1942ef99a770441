"""model.py makes the model of the run again, also in a process of its own."""

from __future__ import annotations

import contextlib
import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.record import RunRecord
from novum.core import load
from tests.apps.job.runs import (
    labeled,
    numbered,
    quick,
    run_on,
    task_and_parts,
)
from tests.apps.small_runs import small_runs


@pytest.fixture(scope="module", autouse=True)
def _small_runs() -> Iterator[None]:
    with small_runs():
        yield


def program_model(folder: Path) -> Any:
    """The model that model.py makes when it is run from its folder."""
    with contextlib.chdir(folder):
        runpy.run_path("model.py", run_name="__main__")
    return load(folder / "model_again.novum")


def model_of_a_process(folder: Path) -> Any:
    """The model that model.py makes in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(folder / "model.py")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return load(folder / "model_again.novum")


@pytest.mark.parametrize(
    "case",
    [
        "classes",
        "numbers",
        "weights",
        *(
            pytest.param(case, marks=pytest.mark.slow)
            for case in ("unlabeled", "whole numbers", "no refit")
        ),
    ],
)
def test_the_program_makes_the_same_model(tmp_path: Path, case: str) -> None:
    columns: dict[str, Any] = numbered(90) if case == "numbers" else labeled(90)
    more: dict[str, Any] = {"models": ("forest",) if case == "classes" else ("tree",)}
    if case == "unlabeled":
        columns["y"][4] = columns["y"][30] = None
        columns["number"] = list(range(90))
    elif case == "whole numbers":
        columns["y"] = [int(label == "b") for label in columns["y"]]
    elif case == "no refit":
        more["refit"] = False
    elif case == "weights":
        columns["w"] = [0.25 if i % 3 else 4.0 for i in range(90)]
        more["weight"] = "w"
    record: RunRecord = run_on(tmp_path, columns, **more)
    assert record.chosen.family == more["models"][0]
    out = tmp_path / "out"
    roles = {"weight": "w"} if case == "weights" else {}
    task, _ = task_and_parts(quick(str(tmp_path / "t.csv"), **roles))
    expected = load(out / "model.novum")
    found = model_of_a_process(out) if case == "classes" else program_model(out)
    method = "predict" if case == "numbers" else "predict_proba"
    np.testing.assert_array_equal(getattr(found, method)(task.X), getattr(expected, method)(task.X))
    np.testing.assert_array_equal(found.predict(task.X), expected.predict(task.X))


def test_records_of_a_run_are_json(tmp_path: Path) -> None:
    run_on(tmp_path, labeled(60), models=("tree",))
    for name in ("run.json", "plan.json", "request.json"):
        assert json.loads((tmp_path / "out" / name).read_text())["format"] == 1
