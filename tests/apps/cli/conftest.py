"""Runs that several tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.cli.commands import CHEAP, invoke
from tests.apps.small_runs import small_runs


@pytest.fixture(scope="session")
def iris_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three classes."""
    return _finished(tmp_path_factory, "iris")


@pytest.fixture(scope="session")
def costly_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two classes at a working point."""
    more = ("--cost-fn", "10", "--cost-fp", "1", "--positive", "DIE")
    return _finished(tmp_path_factory, "hepatitis", *more)


@pytest.fixture(scope="session")
def cars_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of numbers."""
    return _finished(tmp_path_factory, "auto_mpg")


def _finished(folders: pytest.TempPathFactory, table: str, *more: str) -> Path:
    folder = folders.mktemp(table) / "run"
    with small_runs():
        done = invoke("run", table, *CHEAP, "--output", folder, "--debug", *more)
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of one width, whatever runs the tests."""
    monkeypatch.setenv("COLUMNS", "140")
