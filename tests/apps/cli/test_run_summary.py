"""The text of a run, from a record alone."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from novum.apps.cli.run_summary import (
    MOST_FINDINGS,
    show_findings,
    show_result,
    show_understanding,
    written,
)
from novum.apps.job.record import Finding
from tests.apps.report.sample_records import binary_record


def console() -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=200, markup=False, highlight=False), stream


def test_the_leaderboard_has_intervals_times_and_one_star() -> None:
    out, stream = console()
    record = binary_record()
    show_result(out, record, {"report": "r/report.html", "model": "my run/model.novum"})
    text = stream.getvalue()
    lines = text.splitlines()
    for standing in record.leaderboard:
        (line,) = [one for one in lines if f" {standing.title} " in one and "[" in one]
        assert line.startswith("*") == standing.is_chosen
        assert line.rstrip().endswith("s")
    assert all(sentence in text for sentence in record.verdict)
    assert "report      r/report.html" in text
    assert "novum predict 'my run/model.novum' TABLE" in text


def test_the_understanding_counts_all_rows() -> None:
    out, stream = console()
    record = binary_record()
    data = replace(record.data, left_out=(("a\x1b[2J", "an identifier"),), n_without_target=3)
    show_understanding(out, data, record.task, record.findings)
    text = stream.getvalue()
    assert f"{data.n_rows:,} rows" in text
    assert "3 without a target" in text
    assert r"Models do not see 'a\x1b[2J' (an identifier)." in text.replace("\\\\", "\\")
    assert "\x1b[2J" not in text
    assert all(finding.text in text for finding in record.findings)


def test_the_last_of_many_findings_are_left_to_the_report() -> None:
    out, stream = console()
    count = MOST_FINDINGS + 3
    show_findings(out, [Finding("leak", "danger", (), f"no. {i}.", "Look.") for i in range(count)])
    lines = stream.getvalue().splitlines()
    assert lines[0] == "15 findings"
    assert lines[1] == "  danger, leak: no. 0. Look."
    assert lines[-1] == "  and 3 more, which the report lists."


def test_only_files_that_are_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("")
    assert written(tmp_path) == {"record": str(tmp_path / "run.json")}
