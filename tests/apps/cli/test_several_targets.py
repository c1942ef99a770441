"""Several targets and ordered levels on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.cli.commands import invoke
from tests.apps.job.runs import read_csv, write_csv
from tests.apps.job.test_ordinal_task import graded
from tests.apps.job.test_several_targets import several

QUICK = ("--preset", "quick", "--models", "tree")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("several_cli")
    table = write_csv(path / "t.csv", several(60))
    done = invoke("run", table, "--target", "size,kind", *QUICK, "--output", path / "out")
    assert done.exit_code == 0, done.stderr
    assert "size: Predictions of" in done.stdout
    assert done.stdout.count("Leaderboard") == 2
    assert (path / "out" / "report.html").exists()
    assert (path / "out" / "targets" / "2_kind" / "report.html").exists()
    return path


def test_a_saved_model_predicts_all_targets(folder: Path) -> None:
    done = invoke(
        "predict", folder / "out" / "model.novum", folder / "t.csv", "--output", folder / "p.csv"
    )
    assert done.exit_code == 0, done.stderr
    lines = read_csv(folder / "p.csv")
    assert len(lines) == 60
    assert {"prediction size", "prediction kind", "probability kind=b"} <= set(lines[0])


def test_a_saved_model_is_judged_on_all_targets_or_one(folder: Path) -> None:
    model, table = folder / "out" / "model.novum", folder / "t.csv"
    done = invoke("evaluate", model, table, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["targets"]
    assert set(found) == {"size", "kind"}
    assert found["kind"]["rows_seen_in_training"] == 54
    alone = invoke("evaluate", model, table, "--target", "kind", "--json")
    assert json.loads(alone.stdout)["overall"] == found["kind"]["overall"]
    assert "learned from" in alone.stderr
    page = invoke("evaluate", model, table, "--html", folder / "page.html")
    assert page.exit_code == 2
    assert "name it with --target" in page.stderr.replace("\n", " ").replace("│", " ")


def test_the_report_is_drawn_again_to_the_same_bytes(folder: Path) -> None:
    before = (folder / "out" / "report.html").read_bytes()
    done = invoke("report", folder / "out", "--output", folder / "again.html")
    assert done.exit_code == 0, done.stderr
    assert (folder / "again.html").read_bytes() == before


def test_a_model_of_levels_is_used_in_their_order(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", graded(60))
    levels = ("--levels", "y=low,medium,high")
    run = ("run", table, "--target", "y", *levels, "--preset", "quick", "--models", "ordinal")
    done = invoke(*run, "--output", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "'low' < 'medium' < 'high'" in done.stdout
    judged = invoke("evaluate", tmp_path / "out" / "model.novum", table, "--json")
    found = json.loads(judged.stdout)
    assert found["classes"] == ["low", "medium", "high"]
    assert {"mean_level_error", "quadratic_kappa"} <= set(found["overall"])
    answers = tmp_path / "p.csv"
    done = invoke("predict", tmp_path / "out" / "model.novum", table, "--output", answers)
    assert done.exit_code == 0, done.stderr
    assert list(read_csv(answers)[0])[-3:] == [
        "probability low",
        "probability medium",
        "probability high",
    ]
    wrong = invoke("run", table, "--target", "y", "--levels", "y=low,high", *QUICK)
    assert wrong.exit_code == 1
    assert "none of the levels that --levels lists" in wrong.stderr
