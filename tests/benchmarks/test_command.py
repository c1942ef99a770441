"""Command: choosing, running, writing both files, and the status for a missed target."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import command, measuring, registry
from tests.benchmarks.toys import tiny_workload, toy


@pytest.fixture
def toys_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The registry replaced by one toy workload; the environment kept as it was."""
    trace = tmp_path / "trace"
    workload = tiny_workload(
        [toy("rival", trace), toy("sluggish", trace, slow=True)],
        toy("novum", trace, ours=True),
        target=1e6,
    )
    monkeypatch.setattr(registry, "load_workloads", lambda: {workload.name: workload})
    monkeypatch.setattr(measuring, "MOST_ROUNDS", 3)
    for variable in command.THREAD_VARIABLES:
        monkeypatch.setenv(variable + "_NUM_THREADS", "1")
    return tmp_path / "results"


@pytest.mark.slow
def test_a_run_prints_the_ratios_and_writes_both_files(
    toys_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["toys", "--results", str(toys_only)]) == 0
    printed = capsys.readouterr().out
    assert "| toys.tiny |" in printed
    assert "missed" in printed
    stored = json.loads((toys_only / "results.json").read_text())
    assert stored["meta"]["clock"] == "cpu"
    assert stored["meta"]["scale"] == "normal"
    assert set(stored["results"]["toys.tiny"]) == {"novum", "rival"}
    assert "## toys.tiny" in (toys_only / "results.md").read_text()


@pytest.mark.slow
def test_check_turns_a_missed_target_into_a_status(toys_only: Path) -> None:
    assert command.main(["--check", "--results", str(toys_only)]) == 1


@pytest.mark.slow
def test_report_reads_the_stored_figures_again(toys_only: Path) -> None:
    command.main(["--results", str(toys_only), "--slow"])
    (toys_only / "results.md").unlink()
    trace = toys_only.parent / "trace"
    calls = trace.read_text()
    assert command.main(["--report", "--results", str(toys_only)]) == 0
    assert "sluggish" in (toys_only / "results.md").read_text()
    assert trace.read_text() == calls


@pytest.mark.slow
def test_figures_of_other_conditions_do_not_mix(toys_only: Path) -> None:
    command.main(["--results", str(toys_only)])
    meta: dict[str, Any] = {"threads": 1, "clock": "cpu", "scale": "normal"}
    file = toys_only / "results.json"
    assert "toys.tiny" in command.stored(file, meta)
    assert command.stored(file, meta | {"threads": 2}) == {}


def test_rivals_are_chosen_by_pattern_but_novum_always_runs(tmp_path: Path) -> None:
    workload = tiny_workload(
        [toy("a one", tmp_path), toy("b", tmp_path), toy("a slow", tmp_path, slow=True)],
        toy("novum", tmp_path, ours=True),
    )
    names = [peer.name for peer in command.taking_part(workload, ["a*"], slow=False)]
    assert names == ["novum", "a one"]


def test_the_list_names_target_and_rivals(
    toys_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--list"]) == 0
    assert "rival, sluggish (slow)" in capsys.readouterr().out
    assert not toys_only.exists()


def test_a_wrong_name_is_one_clear_line(
    toys_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["nonsense", "--results", str(toys_only)]) == 2
    assert "No workload matches 'nonsense'" in capsys.readouterr().err
