"""Starting commands as a user does, or inside the test where a process adds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from novum.apps.cli import _application

# A run that takes a second or two.
CHEAP = ("--preset", "quick", "--models", "tree,naive_bayes")


def invoke(*arguments: Any) -> Any:
    """Inside this process: `exit_code`, `stdout` and `stderr`."""
    return CliRunner().invoke(_application(), [str(argument) for argument in arguments])


def environment() -> dict[str, str]:
    """Of a process whose output is read by a program."""
    plain = {"NO_COLOR": "1", "PYTHONWARNINGS": "default"}
    return {key: value for key, value in os.environ.items() if key != "COLUMNS"} | plain


def start(*arguments: Any, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """A process of its own that goes on."""
    return subprocess.Popen(
        [sys.executable, "-m", "novum", *(str(argument) for argument in arguments)],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def novum(*arguments: Any, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """A process of its own, finished."""
    process = start(*arguments, cwd=cwd, **more)
    try:
        out, err = process.communicate(timeout=240)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def last_line(text: str) -> str:
    """What was said last."""
    return text.strip().splitlines()[-1]
