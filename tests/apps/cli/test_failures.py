"""Errors as sentences and exit codes."""

from __future__ import annotations

import errno
import warnings

import pytest
import typer

from novum.apps.cli.failures import guarded, sentence
from novum.core.errors import FileFormatError, InputError, MemoryLimitError


def test_a_problem_with_the_input_keeps_its_own_words() -> None:
    error = InputError("Column 'a' is empty.\nLeave it out.")
    error.add_note("This happened in x.json.")
    assert sentence(error) == "Column 'a' is empty. Leave it out. This happened in x.json."


def test_advice_for_programmers_becomes_advice_for_users() -> None:
    error = FileFormatError("It is free text. Leave it out by `columns=`.")
    assert sentence(error) == "It is free text. Leave it out of the file."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file", "t.csv"), "There is no 't.csv'. Check the name"),
        (PermissionError(13, "denied", "t.csv"), "Permission is denied for 't.csv'. Allow it"),
        (IsADirectoryError(21, "dir", "x"), "The path 'x' is a folder, or goes through a file."),
        (OSError(errno.ENOSPC, "No space left"), "The disk is full, or a limit on files is"),
        (OSError(errno.EFBIG, "too large", "x"), "reached at 'x'. Make room; what was finished"),
        (OSError(errno.EIO, "Input/output error"), "The system refused: Input/output error. Check"),
        (MemoryError(), "The memory is used up. Give the run fewer rows or columns."),
        (MemoryLimitError("Needs 9 GB."), "Needs 9 GB."),
        (ModuleNotFoundError("no", name="duckdb"), "needs the package duckdb: pip install"),
        (ZeroDivisionError(), "should not: ZeroDivisionError. Run again with --debug"),
        (ValueError("a\x1b[2J\n" + "x" * 5000), r"ValueError: a\x1b[2J x"),
    ],
)
def test_every_error_is_one_safe_line(error: Exception, said: str) -> None:
    text = sentence(error)
    assert said in text
    assert len(text.splitlines()) == 1
    assert len(text) <= 2000
    assert "\x1b" not in text


def raising(error: BaseException) -> typer.models.CommandFunctionType:  # type: ignore[type-var]
    @guarded
    def command(debug: bool = False) -> None:
        del debug
        raise error

    return command  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("Wrong. Do this."), 1, "Wrong. Do this.\n"),
        (KeyError("x"), 1, "KeyError: 'x'. Run again with --debug to see where.\n"),
        (KeyboardInterrupt(), 130, "Stopped.\n"),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        raising(error)()
    assert ended.value.exit_code == code
    captured = capsys.readouterr()
    assert captured.err.endswith(said)
    assert "Traceback" not in captured.err
    assert not captured.out


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        raising(KeyError("x"))(debug=True)
    assert ended.value.exit_code == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("error", [typer.BadParameter("no"), typer.Exit(0), BrokenPipeError()])
def test_what_the_command_line_handles_itself_passes(error: Exception) -> None:
    with pytest.raises(type(error)):
        raising(error)()


def test_warnings_are_remarks_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    @guarded
    def command() -> None:
        for _ in range(2):
            warnings.warn("Column 'a\x1b'\nis odd.", stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    command()
    assert capsys.readouterr().err == "Note: Column 'a\\x1b' is odd.\n"
