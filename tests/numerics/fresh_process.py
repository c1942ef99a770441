"""Kernels of a written package in fresh interpreters, with a disk cache of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def run(code: str, folder: Path, **environment: str) -> str:
    """Output of a fresh interpreter that sees the folder's parent; its cache is in there too."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, **surroundings(folder), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout


def surroundings(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join([str(folder.parent), *filter(None, sys.path)]),
        "NUMBA_CACHE_DIR": str(folder.parent / "cache"),
        # Sources are rewritten within one second, which the stamp of a .pyc could miss.
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_DISABLE_JIT": "0",
    }
