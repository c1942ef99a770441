"""`novum version`, also as `python -m novum`."""

from __future__ import annotations

import platform
from pathlib import Path

import novum as library
from tests.apps.cli.commands import novum


def test_the_version_is_said(tmp_path: Path) -> None:
    done = novum("version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"novum {library.__version__}, Python {platform.python_version()}\n"
