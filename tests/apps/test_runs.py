"""The main job in Python: the run of the command line, from frames and with plain results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import novum
from novum.apps import Report, Run
from novum.apps.job.record import RunRecord
from novum.apps.job.record_json import read_record
from novum.core.errors import InputError
from tests.apps.job.runs import labeled, numbered

QUICK: dict[str, Any] = {"preset": "quick", "models": ["tree", "naive_bayes"]}


def frame(n: int = 80) -> pd.DataFrame:
    return pd.DataFrame(labeled(n))


def test_a_frame_gives_frames_of_its_library() -> None:
    for table, kind in ((frame(), pd.DataFrame), (pl.DataFrame(labeled(80)), pl.DataFrame)):
        found = novum.run(table, "y", **QUICK)
        assert isinstance(found, Run)
        assert isinstance(found.leaderboard, kind)
        assert isinstance(found.predictions, kind)
        assert list(found.leaderboard["model"])[:1] == [found.record.leaderboard[0].title]
        assert str(found) == "\n".join(found.record.verdict)


def test_the_model_answers_for_frames_and_files_say_the_same(tmp_path: Path) -> None:
    table = frame()
    found = novum.run(table, "y", **QUICK)
    answers = found.model.predict(table.drop(columns="y"))
    assert set(answers) <= set(table["y"])
    kept = found.save(tmp_path / "kept")
    names = {"report.html", "model.novum", "predictions.csv", "leaderboard.csv", "run.json"}
    assert names <= {path.name for path in kept.iterdir()}
    assert read_record(kept / "run.json", RunRecord).leaderboard == found.record.leaderboard
    with pytest.raises(InputError, match="not empty"):
        found.save(kept)


def test_answers_come_with_intervals_of_the_coverage_asked_for() -> None:
    table = pd.DataFrame(numbered(80))
    found = novum.run(table, "y", preset="quick", models=["tree"], coverage=0.7)
    inside = found.predictions["target"].between(
        found.predictions["lower"], found.predictions["upper"]
    )
    left_out = found.predictions["answered"] == "out of fold"
    # The quantile of their own errors: 0.7 (n + 1) of n.
    assert 0.7 <= inside[left_out].mean() <= 0.75
    assert found.record.holdout.coverage.promised == 0.7


def test_the_command_line_and_python_agree(tmp_path: Path) -> None:
    from tests.apps.cli.commands import invoke

    frame().to_csv(tmp_path / "t.csv", index=False)
    given = ("--target", "y", "--preset", "quick", "--models", "tree,naive_bayes", "--quiet")
    done = invoke("run", tmp_path / "t.csv", *given, "--output", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    theirs = json.loads((tmp_path / "out" / "run.json").read_text())["record"]
    ours = novum.run(tmp_path / "t.csv", "y", **QUICK).record
    assert [row["fold_scores"] for row in theirs["leaderboard"]] == [
        list(row.fold_scores) for row in ours.leaderboard
    ]
    assert tuple(theirs["verdict"]) == ours.verdict


def test_costs_by_class_and_action() -> None:
    costs = {"a": {"a": 0, "b": 1, "ask": 0.3}, "b": {"a": 8, "b": 0, "ask": 0.3}}
    found = novum.run(frame(), "y", cost=costs, **QUICK)
    assert found.record.task.metric == "bayes_risk"
    assert found.record.task.actions == ("a", "b", "ask")
    assert "A decision costs" in found.record.verdict[1]
    with pytest.raises(InputError, match=r"cost\['b'\] has no 'b'"):
        novum.run(frame(), "y", cost={"a": {"a": 0, "b": 1}, "b": {"a": 8}}, **QUICK)


def test_the_report_is_a_page_in_a_frame_that_may_do_nothing() -> None:
    table = frame().rename(columns={"x": "<script>alert(1)</script>"})
    report = novum.run(table, "y", **QUICK).report()
    assert isinstance(report, Report)
    shown = report._repr_html_()
    assert shown.startswith("<iframe sandbox srcdoc=")
    assert "<script" not in shown


def test_a_budget_is_planned_for_and_its_plan_can_be_repeated(tmp_path: Path) -> None:
    table = pd.DataFrame(numbered(200))
    found = novum.run(table, "y", budget="30s", output=tmp_path / "first", **QUICK)
    assert found.record.plan.budget_seconds == 30.0
    again = novum.run(table, "y", plan=tmp_path / "first", preset="quick")
    assert again.record.plan == found.record.plan
    for one, other in zip(found.record.leaderboard, again.record.leaderboard, strict=True):
        assert (one.family, one.fold_scores) == (other.family, other.fold_scores)


def test_without_a_budget_the_plan_is_the_same_on_every_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plans = []
    for factor in (0.1, 10.0):
        monkeypatch.setattr("novum.apps.job.job.speed_probe", lambda factor=factor: factor)
        plans.append(novum.run(frame(), "y", **QUICK).record.plan)
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": [[1.0]]}, "data frame, a path or the name"),
        ({"table": np.zeros((3, 2))}, "data frame, a path or the name"),
        ({"target": "yy"}, "Did you mean"),
        ({"preset": "fast"}, "none of quick, standard, thorough"),
        ({"task": "ranking"}, "none of auto"),
        ({"budget": "soon"}, "no time above 0"),
        ({"budget": -3}, "no time above 0"),
        ({"cv": "1x1"}, "no cross-validation"),
        ({"holdout": 1.5}, "a share from 0 to 0.9"),
        ({"coverage": 1.0}, "coverage lies between 0 and 1"),
        ({"jobs": 0}, "-1 for all cores"),
        ({"models": "oak"}, "no family 'oak'"),
        ({"plan": "nowhere.json"}, "cannot be read"),
        ({"cost": {"a": 1}}, "mapping of true classes"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        novum.run(**{"table": frame(20), "target": "y", **QUICK, **given})


def test_a_plan_of_another_kind_of_target_is_refused(tmp_path: Path) -> None:
    novum.run(frame(), "y", output=tmp_path / "classes", **QUICK)
    with pytest.raises(InputError, match="not for this task"):
        novum.run(pd.DataFrame(numbered(60)), "y", plan=tmp_path / "classes")
    with pytest.raises(InputError, match="Leave out --models"):
        novum.run(frame(), "y", plan=tmp_path / "classes", models="tree")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(InputError, match="is no plan"):
        novum.run(frame(), "y", plan=tmp_path / "bad.json")


def test_contributions_of_a_row_add_up_to_its_prediction() -> None:
    for table in (frame(), pd.DataFrame(numbered(80))):
        found = novum.run(table, "y", **QUICK)
        shown = found.explain(3)
        assert shown["column"].tolist()[:: len(shown) - 1] == ["start", "prediction"]
        values = shown["contribution"].to_numpy()
        assert values[:-1].sum() == pytest.approx(values[-1], abs=1e-9)
        assert {*table.columns} - {"y"} == {*shown["column"]} - {"start", "prediction"}
        with pytest.raises(InputError, match="position from 0 to 79"):
            found.explain(80)
