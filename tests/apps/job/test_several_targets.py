"""Several targets at once: the same rows for all, a model for each, one of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import novum
from novum.apps.job import job
from novum.apps.job.job import resume, run
from novum.apps.job.joint_results import (
    all_right,
    joined_predictions,
    prediction_lines,
    verdict,
)
from novum.apps.job.record import SeveralRecord
from novum.apps.job.several import read_run, with_targets
from novum.apps.job.shared_rows import joint_task
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.reading import read
from novum.apps.report import render
from novum.core import load
from novum.core.errors import InputError, ReportWarning
from novum.ensemble import TargetModels
from tests.apps.job.runs import Told, quick, read_csv, write_csv

TARGETS = ("size", "kind", "grade")


def several(n: int = 80, seed: int = 0) -> dict[str, Any]:
    """A number, two classes and three levels that hang on two columns; some cells are missing."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, n)).round(4)
    size = (2 * u - v + 0.3 * rng.normal(size=n)).round(4)
    grade = np.array(["low", "medium", "high"])[np.digitize(u, [-0.5, 0.5])]
    return {
        "u": u.tolist(),
        "v": v.tolist(),
        "size": [None if i % 9 == 0 else x for i, x in enumerate(size.tolist())],
        "kind": [None if i % 10 == 1 else "ab"[x > 0] for i, x in enumerate(v.tolist())],
        "grade": grade.tolist(),
    }


def asked(table: str, **more: Any) -> Any:
    given: dict[str, Any] = {"targets": TARGETS, "models": ("tree",), **more}
    return quick(table, None, **given)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[SeveralRecord, Path]:
    folder = tmp_path_factory.mktemp("several")
    levels = (("grade", ("low", "medium", "high")),)
    request = asked(write_csv(folder / "t.csv", several()), levels=levels)
    record = run(request, folder / "out")
    assert isinstance(record, SeveralRecord)
    return record, folder / "out"


def test_each_target_has_its_own_task(finished: tuple[SeveralRecord, Path]) -> None:
    record, _ = finished
    assert [one.task.kind for one in record.runs] == ["regression", "binary", "ordinal"]
    assert [one.task.target for one in record.runs] == list(TARGETS)
    for one in record.runs:
        assert one.data.features == ("u", "v")
        others = [name for name, reason in one.data.left_out if reason == "another target"]
        assert set(others) == set(TARGETS) - {one.task.target}


def test_rows_and_folds_are_the_same_for_all(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    lines = [read_csv(folder / one / "predictions.csv") for one in record.folders]
    aside = [{x["row"] for x in own if x["answered"] == "hold-out"} for own in lines]
    train = [{x["row"] for x in own if x["answered"] == "out of fold"} for own in lines]
    assert not set.union(*aside) & set.union(*train)
    # A row whose one target is missing is used for the others.
    assert len(aside[2]) + len(train[2]) == 80
    for own, known in ((0, several()["size"]), (1, several()["kind"])):
        has = {str(i + 1) for i, cell in enumerate(known) if cell is not None}
        assert aside[own] == aside[2] & has
        assert train[own] == train[2] & has
    # Out-of-fold answers stand fold by fold, in the same order of folds.
    order = [[x["row"] for x in own if x["answered"] == "out of fold"] for own in lines]
    places = {row: place for place, row in enumerate(order[2])}
    assert [places[row] for row in order[0]] == sorted(places[row] for row in order[0])


def test_one_model_answers_for_all(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    model = load(folder / "model.novum")
    assert isinstance(model, TargetModels)
    rows = pd.DataFrame({"u": [-2.0, 2.0], "v": [1.0, -1.0]})
    found = model.predict(rows)
    assert list(found.columns) == list(TARGETS)
    assert found["grade"].tolist() == ["low", "high"]
    assert found["kind"].tolist() == ["b", "a"]
    for one, name in zip(record.folders, TARGETS, strict=True):
        alone = load(folder / one / "model.novum")
        assert np.asarray(alone.predict(rows)).tolist() == found[name].tolist()


def test_predictions_and_leaderboard_have_all_targets(
    finished: tuple[SeveralRecord, Path],
) -> None:
    record, folder = finished
    lines = read_csv(folder / "predictions.csv")
    assert [int(line["row"]) for line in lines] == list(range(1, 81))
    assert lines[0]["answered size"] == "no target"
    assert lines[0]["target size"] == ""
    assert lines[0]["prediction size"]
    assert lines[0]["answered grade"] in ("out of fold", "hold-out")
    assert {"probability kind=a", "probability grade=high"} <= set(lines[0])
    assert {"lower size", "upper size", "set kind", "set grade"} <= set(lines[0])
    board = read_csv(folder / "leaderboard.csv")
    assert [line["target"] for line in board] == [
        name for name, one in zip(TARGETS, record.runs, strict=True) for _ in one.leaderboard
    ]
    assert {line["measure"] for line in board} == {"rmse", "accuracy", "mean level error"}


def test_the_record_and_the_page_show_every_target(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    page = render(record)
    assert render(read_run(folder / "run.json")) == page
    for place, name in enumerate(TARGETS):
        assert f'id="target-{place + 1}"' in page
        assert f"{name} by " in record.verdict[0]
        assert record.verdict[place + 1].startswith(f"{name}: ")
    assert "could not be made" not in page
    assert "targets are clearly better predicted" in page
    # No identifier occurs twice, which would mix up the pictures.
    ids = [part.split('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))


def test_several_classes_are_also_judged_together(finished: tuple[SeveralRecord, Path]) -> None:
    record, folder = finished
    runs = dict(zip(record.targets, record.runs, strict=True))
    lines = {
        name: prediction_lines(folder / one / "predictions.csv")
        for name, one in zip(record.targets, record.folders, strict=True)
    }
    assert all_right(lines, runs) == record.measures == ()
    both = ("kind", "grade")
    ((name, found),) = all_right({n: lines[n] for n in both}, {n: runs[n] for n in both})
    assert name == "all targets right"
    joint = read_csv(folder / "predictions.csv")
    judged = [x for x in joint if x["answered kind"] == x["answered grade"] == "hold-out"]
    hits = [all(x[f"target {n}"] == x[f"prediction {n}"] for n in both) for x in judged]
    assert found.value == pytest.approx(np.mean(hits))
    said = verdict({n: runs[n] for n in both}, ((name, found),))
    assert "All targets at once are right" in said[-1]


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    columns = several(60)
    more: dict[str, Any] = {"targets": ("size", "kind"), "folds": 2}
    request = asked(write_csv(tmp_path / "t.csv", columns), **more)
    with pytest.raises(KeyboardInterrupt):
        run(request, tmp_path / "a", _StopsAtSecond())
    assert (tmp_path / "a" / "targets" / "1_size" / "run.json").exists()
    assert not (tmp_path / "a" / "run.json").exists()
    resume(tmp_path / "a")
    # The plan of a run can be given to another, which nothing interrupts.
    given = asked(request.table, targets=more["targets"], models=(), plan=str(tmp_path / "a"))
    assert isinstance(run(given, tmp_path / "b"), SeveralRecord)
    for one in ("", "targets/1_size", "targets/2_kind"):
        again = [(tmp_path / run / one / "predictions.csv").read_bytes() for run in "ab"]
        assert again[0] == again[1]


class _StopsAtSecond(Told):
    """Stops as Ctrl-C does when the models of the second target are tried."""

    def stage(self, title: str) -> None:
        super().stage(title)
        if title == "kind: trying models":
            raise KeyboardInterrupt


def test_a_target_that_fails_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_csv(tmp_path / "t.csv", several(60))
    real = job.run_trials

    def fails(plan: Any, rows: Any, *more: Any, **named: Any) -> Any:
        if rows.kind == "binary":
            raise ValueError("the disk of the imagination is full")
        return real(plan, rows, *more, **named)

    monkeypatch.setattr(job, "run_trials", fails)
    with pytest.warns(ReportWarning, match="The run of 'kind' could not be made"):
        record = run(asked(table, targets=("size", "kind")), tmp_path / "out")
    assert isinstance(record, SeveralRecord)
    assert record.targets == ("size",)
    assert load(tmp_path / "out" / "model.novum").targets == ["size"]


def test_names_in_one_text_are_several_unless_it_is_a_column(tmp_path: Path) -> None:
    columns = several(60)
    columns["a, b"] = columns.pop("kind")
    table = write_csv(tmp_path / "t.csv", columns)
    assert with_targets(quick(table, "a, b")).targets == ()
    assert with_targets(quick(table, "size, grade")).targets == ("size", "grade")


def test_frames_come_back_with_all_targets() -> None:
    frame = pd.DataFrame(several(60))
    found = novum.run(frame, ["size", "kind"], preset="quick", models=["tree"], budget="60s", cv=2)
    assert set(found.leaderboard["target"]) == {"size", "kind"}
    answers = found.model.predict(frame.drop(columns=["size", "kind"]))
    assert list(answers.columns) == ["size", "kind"]
    assert len(found.predictions) == 60
    assert found.explain(row=0, target="kind")["column"][0] == "start"
    assert "2 targets" in repr(found)
    assert "<h1>" in found.report().page


def test_strata_are_never_smaller_than_asked(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", several())
    tasks = []
    for name in TARGETS:
        request = quick(table, name, targets=TARGETS)
        tasks.append(formalize(read(request), request))
    joint = joint_task(tasks, 5)
    assert joint.class_counts().min() >= 5
    assert len(joint.labeled) == 80


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"targets": ("size", "size")}, "--target names 'size' twice"),
        ({"targets": ("size", "kin")}, "no column 'kin' to be the target. Did you mean 'kind'"),
        ({"cost_fn": 2.0}, "--cost-fn is for one target, and --target names 3"),
        ({"positive": "a"}, "--positive is for one target"),
        ({"kind": (("kind", "drop"),)}, "--kind kind=drop does not go with the target"),
        ({"weight": "size"}, "cannot be the target and the weight"),
        ({"plan": "nowhere"}, "has no plan of these targets"),
        ({"metric": "mae"}, "--metric mae is not for classes"),
    ],
)
def test_misuse_gets_one_sentence(tmp_path: Path, more: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(asked(write_csv(tmp_path / "t.csv", several()), **more), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_joint_files_are_safe_in_a_spreadsheet() -> None:
    line = {"row": "1", "answered": "hold-out", "target": "'=x", "prediction": "'=x"}
    head, row = joined_predictions({"=sum": [line]}, None)
    assert head == ["row", "answered =sum", "target =sum", "prediction =sum"]
    assert row == ["1", "hold-out", "'=x", "'=x"]
    named, _ = joined_predictions({"y": [{**line, "=id": "7"}]}, "=id")
    assert named[0] == "'=id"
