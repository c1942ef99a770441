"""A run that was stopped or killed goes on, repeats no fold and ends with the same bytes."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from novum.apps.job.job import resume, run
from novum.apps.job.record_json import read_record, write_record
from novum.apps.job.request import Request
from novum.core.errors import InputError
from novum.trees import DecisionTreeClassifier
from tests.apps.job.runs import (
    StopError,
    Told,
    labeled,
    quick,
    same_results,
    write_csv,
)
from tests.apps.small_runs import small_runs


@pytest.fixture(scope="module", autouse=True)
def _small_runs() -> Iterator[None]:
    with small_runs():
        yield


def journal_lines(folder: Path) -> dict[str, list[bytes]]:
    return {
        path.name: path.read_bytes().splitlines() for path in (folder / "trials").glob("*.jsonl")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing has stopped."""
    folder = tmp_path_factory.mktemp("whole")
    table = write_csv(folder / "t.csv", labeled(90))
    run(quick(table, models=("tree", "naive_bayes"), preset="standard", repeats=1), folder / "out")
    return folder


@pytest.mark.parametrize("stop_at", [0, 2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_stopped_run_goes_on_without_repeating_folds(
    tmp_path: Path, whole: Path, stop_at: int
) -> None:
    request = read_record(whole / "out" / "request.json", Request)
    stopped = tmp_path / "stopped"
    with pytest.raises(StopError):
        run(request, stopped, Told(stop_at=stop_at))
    assert not (stopped / "run.json").exists()
    before = journal_lines(stopped)
    assert len(before) == min(stop_at, 3) + (5 if stop_at == 4 else 0)
    resume(stopped)
    after = journal_lines(stopped)
    for name, lines in before.items():
        # Finished lines stay as they are and nothing is added to a finished family.
        assert after[name] == lines
    same_results(whole / "out", stopped)


def test_a_run_stopped_within_a_family_repeats_no_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(90))
    request = quick(table, models=("tree",))
    run(request, tmp_path / "whole")
    fit = DecisionTreeClassifier.fit
    calls: list[int] = []

    def stops(self: Any, X: Any, y: Any, *more: Any, **named: Any) -> Any:
        calls.append(len(y))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return fit(self, X, y, *more, **named)

    stopped = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(DecisionTreeClassifier, "fit", stops)
        with pytest.raises(KeyboardInterrupt):
            run(request, stopped)
    # A header and three folds.
    kept = journal_lines(stopped)["tree.jsonl"]
    assert len(kept) == 4
    calls.clear()
    calls += [0] * 4
    at_steps: list[int] = []
    told = Told()
    told.step = lambda *_: at_steps.append(len(calls) - 4)  # type: ignore[method-assign]
    with monkeypatch.context() as patch:
        patch.setattr(DecisionTreeClassifier, "fit", stops)
        resume(stopped, told)
    assert journal_lines(stopped)["tree.jsonl"][:4] == kept
    # Before the constant answer, before the tree, and after the two folds that were left.
    assert at_steps == [0, 0, 2]
    same_results(tmp_path / "whole", stopped)


def test_warnings_of_finished_folds_are_in_the_record_of_a_resumed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import warnings

    fit = DecisionTreeClassifier.fit

    def warns(self: Any, X: Any, y: Any, *more: Any, **named: Any) -> Any:
        warnings.warn("a doubtful fit", RuntimeWarning, stacklevel=2)
        return fit(self, X, y, *more, **named)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", warns)
    table = write_csv(tmp_path / "t.csv", labeled(90))
    request = quick(table)
    whole = run(request, tmp_path / "whole")
    assert any("a doubtful fit" in sentence for sentence in whole.not_done)
    with pytest.raises(StopError):
        run(request, tmp_path / "stopped", Told(stop_at=3))
    assert resume(tmp_path / "stopped").not_done == whole.not_done


KILLED = """
import sys
from pathlib import Path
from novum.apps.job import job
from novum.apps.job.record_json import read_record
from novum.apps.job.request import Request
job.speed_probe = lambda: 1.0
job.run(read_record(Path(sys.argv[1]), Request), Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", labeled(90))
    request = quick(table, models=("tree", "forest"))
    run(request, tmp_path / "whole")
    write_record(request, tmp_path / "request.json")
    folder = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "request.json"), str(folder)],
        stderr=subprocess.PIPE,
    )
    wait_for_folds(process, folder / "trials" / "forest.jsonl")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "run.json").exists()
    before = journal_lines(folder)
    assert len(before["forest.jsonl"]) >= 3
    # What a process that dies in the middle of a line leaves.
    with (folder / "trials" / "forest.jsonl").open("ab") as file:
        file.write(b'{"key": "torn')
    resume(folder)
    after = journal_lines(folder)
    assert after["tree.jsonl"] == before["tree.jsonl"]
    kept = before["forest.jsonl"]
    assert after["forest.jsonl"][: len(kept)] == kept
    assert len(after["forest.jsonl"]) == 6
    same_results(tmp_path / "whole", folder)


def wait_for_folds(process: Any, journal: Path) -> None:
    """Until two folds of the journal are finished."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if process.poll() is not None:
            pytest.fail(f"The process ended by itself: {process.stderr.read().decode()}")
        with contextlib.suppress(FileNotFoundError):
            if journal.read_bytes().count(b"\n") >= 3:
                return
        time.sleep(0.002)
    pytest.fail("No fold was finished in two minutes.")


def test_what_may_not_be_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no run .*request\.json.*--output"):
        resume(tmp_path)
    columns = labeled(90)
    table = write_csv(tmp_path / "t.csv", columns)
    request = quick(table, models=("tree",))
    stopped = tmp_path / "stopped"
    with pytest.raises(StopError):
        run(request, stopped, Told(stop_at=1))
    with pytest.raises(InputError, match=r"other settings.*--output.*--resume"):
        run(replace(request, seed=1), stopped)
    columns["u"][0] = 7.5
    write_csv(tmp_path / "t.csv", columns)
    with pytest.raises(InputError, match=r"t\.csv has changed since this run began"):
        resume(stopped)
    write_csv(tmp_path / "t.csv", {**columns, "u": labeled(90)["u"]})
    resume(stopped)
    with pytest.raises(InputError, match="a finished run, which is not overwritten"):
        run(request, stopped)
