"""Indices of compiled inference are within their arrays: kernels do not check that themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1] / "graphical" / "inference"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_kernel_of_inference_leaves_its_arrays(tmp_path: Path) -> None:
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", str(TESTS), "-m", "not slow"],
        env={**os.environ, **checked},
        cwd=TESTS.parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
