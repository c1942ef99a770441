"""Consoles, sentences, tables and JSON."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

from novum.apps.cli.streams import output, remarks, say, table_of, write_json

EVIL = "a\x1b[2Jb\u202ec[bold]"


def written(console: Console) -> str:
    stream = console.file
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


def console(**more: bool) -> Console:
    return Console(file=io.StringIO(), markup=False, highlight=False, width=200, **more)  # type: ignore[arg-type]


def test_sentences_and_cells_cannot_steer_a_terminal() -> None:
    there = console(force_terminal=True)
    say(there, EVIL)
    there.print(table_of([(EVIL, "left"), ("n", "right")], [[EVIL, "1"]]))
    text = written(there)
    assert text.count(r"a\x1b[2Jb\u202ec[bold]") == 3
    assert "\x1b[2J" not in text


def test_a_sentence_in_a_file_is_one_line() -> None:
    there = Console(file=io.StringIO(), width=20)
    say(there, "word " * 30)
    assert written(there).count("\n") == 1


def test_results_and_remarks_go_to_their_streams(capsys: pytest.CaptureFixture[str]) -> None:
    say(output(), "result")
    say(remarks(), "remark")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("result\n", "remark\n")


def test_tables_in_a_file_are_wide_unless_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert output().width == 110
    monkeypatch.setenv("COLUMNS", "70")
    assert output().width == 70


def test_json_has_no_nan_and_keeps_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    content = {"nan": float("nan"), "inf": [-float("inf")], 1: (np.float64(0.1), np.int64(2))}
    write_json({**content, "text": "ü\x1b", "is": True, "none": None})
    out = capsys.readouterr().out
    assert out.isascii()
    assert json.loads(out, parse_constant=pytest.fail) == {
        "nan": None,
        "inf": [None],
        "1": [0.1, 2],
        "text": "ü\x1b",
        "is": True,
        "none": None,
    }
