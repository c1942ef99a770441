"""`novum run --task novelty`: rows that stand out, with reasons, from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job import novelty
from novum.apps.job.request import Request
from novum.core.files import load
from tests.apps.cli.commands import invoke, last_line


def write_table(path: Path, n: int = 60) -> None:
    rng = np.random.default_rng(0)
    lines = ["name,size,weight,color,kind"]
    for i in range(n):
        size, weight = rng.normal(10, 1), rng.normal(5, 1)
        color, kind = rng.choice(["red", "blue"]), "usual"
        if i in (3, 40):
            size, kind = 40.0 + i, "odd"
        cell = "" if i == 7 else f"{weight:.3f}"
        lines.append(f"<b>{i}</b>,{size:.3f},{cell},{color},{kind}")
    path.write_text("\n".join(lines) + "\n")


def test_unusual_rows_with_reasons(tmp_path: Path) -> None:
    table, folder = tmp_path / "things.csv", tmp_path / "run"
    write_table(table)
    options = ("--task", "novelty", "--id", "name", "--kind", "kind=drop", "--preset", "quick")
    done = invoke("run", table, *options, "--output", folder, "--quiet")
    assert done.exit_code == 0, done.stderr
    record = json.loads((folder / "run.json").read_text())
    assert {row["row"] for row in record["unusual"][:2]} == {4, 41}
    assert all(row["reasons"][0][0] == "size" for row in record["unusual"][:2])
    assert "were not compared: 1 cell is missing, and it needs all of them." in done.stdout
    with (folder / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    assert max(rows, key=lambda row: float(row["consensus"]))["row"] in ("4", "41")
    page = (folder / "report.html").read_text()
    assert "What is unusual here" in page
    assert "<b>3</b>" not in page
    model = load(folder / "model.novum")
    assert hasattr(model, "score_samples")


def test_a_class_says_what_is_novel(tmp_path: Path) -> None:
    table, folder = tmp_path / "things.csv", tmp_path / "run"
    write_table(table)
    options = ("--task", "novelty", "--target", "kind", "--kind", "name=drop", "--preset", "quick")
    done = invoke("run", table, *options, "--output", folder, "--json", "--quiet")
    found = json.loads(done.stdout)["record"]
    assert found["detectors"][0]["area"][0] > 0.9
    assert "rarer class of 'kind'" in " ".join(found["verdict"])


def test_networks_take_part_and_tell_what_they_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setitem(novelty._TREES, "standard", 10)
    table, folder = tmp_path / "things.csv", tmp_path / "run"
    write_table(table)
    options = ("--task", "novelty", "--id", "name", "--kind", "kind=drop")
    done = invoke("run", table, *options, "--output", folder, "--quiet")
    assert done.exit_code == 0, done.stderr
    record = json.loads((folder / "run.json").read_text())
    names = {detector["name"] for detector in record["detectors"]}
    assert {"autoencoder", "variational autoencoder", "isolation forest", "mixture"} <= names
    first = record["unusual"][0]
    assert float(first["expected"]["size"]) < 30 < float(first["reasons"][0][1])
    assert f"(expected {first['expected']['size']})" in done.stdout
    assert "(expected" in (folder / "report.html").read_text()
    assert load(folder / "model.novum").predict


def test_networks_are_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    rows = np.random.default_rng(0).normal(size=(20, 2))

    def reason(**settings: Any) -> str | None:
        request = Request("t.csv", task="novelty", **settings)
        return novelty._detectors(rows, request)[1].get("autoencoder")

    assert reason() is None
    assert reason(preset="quick") is None
    assert reason(budget_seconds=30.0) == "the budget is below a minute"
    monkeypatch.setitem(novelty._NETWORK_CELLS, "standard", 10)
    assert "--preset thorough takes the time" in str(reason())
    for home in ("evaluation.detector_bench", "apps.job.novelty"):
        monkeypatch.setattr(f"novum.{home}.has_torch", lambda: False)
    assert "pip install '.[neural]'" in str(reason())


def test_what_does_not_go_with_it(tmp_path: Path) -> None:
    table = tmp_path / "things.csv"
    write_table(table)
    wrong = invoke("run", table, "--task", "novelty", "--metric", "accuracy")
    assert wrong.exit_code == 1
    assert "--metric does not go with --task novelty" in last_line(wrong.stderr)
    short = tmp_path / "short.csv"
    short.write_text("a,b\n1,2\n3,4\n5,6\n")
    few = invoke("run", short, "--task", "novelty", "--output", tmp_path / "few")
    assert few.exit_code == 1
    assert "need 10 rows, got 3" in last_line(few.stderr)


@pytest.mark.parametrize(("task", "rows"), [("novelty", "scores"), ("clusters", "assignments")])
def test_pictures_that_fail_cost_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, rows: str
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr(f"novum.apps.job.{task}._charts", fail)
    table, folder = tmp_path / "things.csv", tmp_path / "run"
    write_table(table)
    options = ("--task", task, "--preset", "quick", "--kind", "name=drop")
    done = invoke("run", table, *options, "--output", folder, "--quiet")
    assert done.exit_code == 0, done.stderr
    assert "Pictures could not be drawn (RuntimeError: no ink)." in done.stdout
    for name in (f"{rows}.csv", "run.json", "report.html", "model.novum"):
        assert (folder / name).exists() or (task == "clusters" and name == "model.novum")


@pytest.mark.parametrize("task", [pytest.param("novelty", marks=pytest.mark.slow), "clusters"])
def test_an_interrupted_run_is_done_again_and_its_report_drawn_again(
    tmp_path: Path, task: str
) -> None:
    table, folder = tmp_path / "things.csv", tmp_path / "run"
    write_table(table)
    options = ("--task", task, "--preset", "quick", "--kind", "name=drop", "--output", folder)
    assert invoke("run", table, *options, "--quiet").exit_code == 0
    page, record = (folder / "report.html").read_bytes(), folder / "run.json"
    assert f"nothing to go on with. Its report is drawn again by novum report {folder}" in (
        last_line(invoke("run", "--resume", folder).stderr)
    )
    # The same bytes, from the record and the table.
    other = tmp_path / "other.html"
    done = invoke("report", folder, "--output", other)
    assert (done.exit_code, done.stdout) == (0, f"{other}\n"), done.output
    assert other.read_bytes() == page
    verdict = json.loads(record.read_text())["verdict"]
    # Novelty is stopped before its record is written, groups while the report is drawn.
    for path in (record, folder / "report.html")[task == "clusters" :]:
        path.unlink()
    assert invoke("run", "--resume", folder, "--quiet").exit_code == 0
    assert json.loads(record.read_text())["verdict"] == verdict
    assert (folder / "report.html").exists()
    table.write_text(table.read_text() + "<b>60</b>,9.9,5.5,red,usual\n")
    changed = invoke("report", folder)
    assert changed.exit_code == 1
    assert "other n rows than are recorded in" in last_line(changed.stderr)


@pytest.mark.parametrize("task", ["novelty", "clusters"])
def test_a_table_of_constants_is_said_without_a_target(tmp_path: Path, task: str) -> None:
    table = tmp_path / "same.csv"
    table.write_text("a,b\n" + "1,x\n" * 20)
    done = invoke("run", table, "--task", task, "--output", tmp_path / "run")
    assert done.exit_code == 1
    said = last_line(done.stderr)
    assert "'a' is constant: every cell is 1" in said
    assert "Add columns that tell rows apart." in said
    assert "target" not in said
