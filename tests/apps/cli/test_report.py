"""`novum report`: the same run, the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.apps.cli.commands import invoke, last_line


def test_the_report_is_a_function_of_the_record(costly_run: Path, tmp_path: Path) -> None:
    shutil.copy(costly_run / "run.json", tmp_path / "run.json")
    for asked in (tmp_path, tmp_path / "run.json"):
        (tmp_path / "report.html").unlink(missing_ok=True)
        done = invoke("report", asked)
        assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'report.html'}\n"), done.output
        same = (costly_run / "report.html").read_bytes()
        assert (tmp_path / "report.html").read_bytes() == same
    assert invoke("report", tmp_path, "--output", tmp_path / "other.html").exit_code == 0
    assert (tmp_path / "other.html").read_bytes() == same


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    empty = invoke("report", tmp_path)
    assert empty.exit_code == 1
    assert "Name the folder that novum run wrote to." in last_line(empty.stderr)
    (tmp_path / "request.json").write_text("{}")
    assert f"novum run --resume {tmp_path}" in last_line(invoke("report", tmp_path).stderr)
    (tmp_path / "run.json").write_text('{"format": 1, "record": {}}')
    broken = invoke("report", tmp_path)
    assert broken.exit_code == 1
    assert "does not have the fields of a run" in last_line(broken.stderr)
    assert "run.json" in last_line(broken.stderr)
    assert "There is no" in last_line(invoke("report", tmp_path / "nowhere").stderr)
