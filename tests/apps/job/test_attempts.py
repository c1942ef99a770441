"""What was fitted is never lost: every step that explains, judges or compares fails in turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from novum.apps.job import ending
from novum.apps.job.attempts import Attempts, failed
from novum.apps.job.job import LEADERBOARD, resume
from novum.apps.job.record import RunRecord
from novum.apps.job.record_model import Estimate
from novum.core import load
from novum.core.errors import ReportWarning
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.apps.job.runs import labeled, numbered, read_csv, run_on

STEPS = {
    "profile_table": "job",
    "find": "job",
    "compare_scores": "choosing",
    "verdict": "job",
    "comparison_record": "job",
    "not_done": "job",
    "all_answers": "ending",
    "with_coverage": "ending",
    "measured": "ending",
    "_judged": "ending",
    "column_importances": "ending",
    "certificate_lines": "ending",
    "explain": "ending",
    "find_saving": "ending",
    "find_mistakes": "ending",
    "dependences": "ending",
    "contributions": "ending",
    "curve_in_time": "ending",
}


def broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("a fault")


def checked(folder: Path, record: RunRecord) -> None:
    """Leaderboard and model are there and right."""
    lines = read_csv(folder / LEADERBOARD)
    assert [line["model"] for line in lines] == [row.title for row in record.leaderboard]
    assert {line["chosen"] for line in lines} == {"yes", "no"}
    row = pa.table({"u": [0.0], "v": [0.0], "noise": [0.0], "c": ["red"]})
    assert load(folder / "model.novum").predict(row).shape == (1,)
    assert (folder / "run.json").exists()


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_costs_its_own_section(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"novum.apps.job.{STEPS[step]}.{step}", broken)
    with pytest.warns(ReportWarning, match="ZeroDivisionError: a fault") as said:
        record = run_on(tmp_path, labeled(60), models=("tree",))
    checked(tmp_path / "out", record)
    sentences = [str(one.message) for one in said if one.category is ReportWarning]
    assert len(sentences) == 1
    assert sentences[0] in record.not_done
    assert record.chosen.family == "tree"


@pytest.mark.parametrize("value", [float("nan"), object()])
def test_a_result_that_no_record_can_hold_is_a_failure_of_its_step(value: Any) -> None:
    attempts = Attempts()
    found = attempts("The mean", lambda: Estimate(value, None, None), lambda _: None)
    assert found is None
    assert attempts.sentences[0].startswith("The mean could not be made (")


def test_ctrl_c_and_exit_are_no_failures() -> None:
    for kind in (KeyboardInterrupt, SystemExit):

        def stopped(kind: type[BaseException] = kind) -> None:
            raise kind

        with pytest.raises(kind):
            Attempts()("The mean", stopped, lambda _: None)


def test_reasons_are_one_line_of_bounded_length() -> None:
    said = failed("The mean", ValueError("a\nb\x1b[2J" + "x" * 10_000))
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 500


def test_where_the_last_fit_fails_the_judged_model_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, calls = ending.fitted, []

    def second_fails(model: Any, rows: Any) -> Any:
        calls.append(rows.X.num_rows)
        return fit(model, rows) if len(calls) == 1 else broken()

    monkeypatch.setattr(ending, "fitted", second_fails)
    with pytest.warns(ReportWarning, match="in place of the judged model"):
        record = run_on(tmp_path, labeled(60), models=("tree",))
    assert len(calls) == 2
    assert not record.chosen.refitted_on_all
    # The program makes the same model again from the rows that it has learned from.
    positions = json.loads((tmp_path / "out" / "learned_rows.json").read_text())
    assert len(positions) == calls[0]


def test_a_family_whose_fits_fail_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DecisionTreeClassifier, "fit", broken)
    with pytest.warns(ReportWarning, match="Fits of decision tree could not be made"):
        record = run_on(tmp_path, labeled(60))
    assert [row.family for row in record.leaderboard] == ["naive_bayes", "constant"]
    assert any("Fits of decision tree" in sentence for sentence in record.not_done)


def test_where_the_chosen_model_cannot_be_fitted_the_next_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, calls = ending.fitted, []

    def first_fails(model: Any, rows: Any) -> Any:
        calls.append(model)
        return fit(model, rows) if len(calls) > 1 else broken()

    monkeypatch.setattr(ending, "fitted", first_fails)
    with pytest.warns(ReportWarning, match="the best model left, could not be made"):
        record = run_on(tmp_path, labeled(60))
    assert [row.is_chosen for row in record.leaderboard[:2]] == [False, True]
    assert record.chosen.family == record.leaderboard[1].family
    assert "The next model is taken." in record.chosen.reason
    checked(tmp_path / "out", record)
    chosen = [line["chosen"] for line in read_csv(tmp_path / "out" / LEADERBOARD)]
    assert chosen[:2] == ["no", "yes"]


def test_where_every_family_fails_the_run_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(DecisionTreeRegressor, "fit", broken)
        with pytest.raises(ZeroDivisionError):
            run_on(tmp_path, numbered(60), models=("tree",))
    # Once the fault is gone, the run goes on.
    assert resume(tmp_path / "out").chosen.family == "tree"
