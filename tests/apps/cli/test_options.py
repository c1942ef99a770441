"""Shared options mean the same in every command."""

from __future__ import annotations

import pytest

from tests.apps.cli.commands import invoke


@pytest.mark.parametrize("command", ["run", "predict", "evaluate", "report", "profile", "models"])
def test_every_command_can_show_where_an_error_comes_from(command: str) -> None:
    done = invoke(command, "--help")
    assert done.exit_code == 0
    assert "--debug" in done.stdout


@pytest.mark.parametrize("command", ["run", "evaluate", "profile", "models"])
def test_results_can_be_had_as_json(command: str) -> None:
    assert "--json" in invoke(command, "--help").stdout
