"""`novum run --task clusters` as a user starts it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.cli.commands import invoke


def test_groups_from_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = ("run", "iris", "--task", "clusters", "--preset", "quick", "--output", str(folder))
    done = invoke(*options)
    assert done.exit_code == 0
    assert "2 groups" in done.output
    assert (folder / "report.html").exists()
    again = invoke(*options[:-1], str(tmp_path / "again"), "--json")
    assert json.loads(again.stdout)["record"]["n_groups"] == 2
    assert invoke(*options, "--quiet").exit_code != 0
