"""The one line about a slow compilation, on a real terminal in a fresh process."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """
from novum.numerics.jit import kernel

@kernel("float64(float64)")
def inner(x):
    s = 0.0
    for i in range(10):
        s += x * i
    return s

@kernel("float64(float64)")
def slow_one(x):
    return inner(x) + 1.0

@kernel("float64(float64)")
def slow_two(x):
    return x - 1.0
"""

PROBE = """
import novum.numerics.jit_notice as notice
notice.PATIENCE_SECONDS = {patience}
import noticed_kernels
assert noticed_kernels.slow_one(1.0) == 46.0
assert noticed_kernels.slow_two(1.0) == 0.0
"""

LINE = "novum: compiling slow_one once for this machine; `novum warmup` does it ahead"


def standard_error(folder: Path, patience: float, *, terminal: bool) -> str:
    (folder / "noticed_kernels.py").write_text(KERNELS)
    reading, writing = pty.openpty() if terminal else os.pipe()
    with os.fdopen(writing, "wb") as sink:
        subprocess.run(
            [sys.executable, "-c", PROBE.format(patience=patience)],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)]),
                "NUMBA_CACHE_DIR": str(folder / "cache"),
                "NUMBA_DISABLE_JIT": "0",
            },
            stderr=sink,
            check=True,
            timeout=100,
        )
        # The line fits the terminal's buffer, so reading while the writer is open cannot block
        # on more than a final mark.
        os.write(sink.fileno(), b"END\n")
        content = b""
        while not content.rstrip().endswith(b"END"):
            content += os.read(reading, 4096)
    os.close(reading)
    return content.decode().replace("\r\n", "\n").removesuffix("END\n")


@pytest.mark.slow
def test_one_line_for_nested_and_later_compilations(tmp_path: Path) -> None:
    # Patience far below any compilation: every one of the three would speak.
    assert standard_error(tmp_path, 0.001, terminal=True) == f"{LINE}\n"
    # The second process loads from the disk cache, which is no compilation.
    assert standard_error(tmp_path, 0.001, terminal=True) == ""


@pytest.mark.parametrize(("patience", "terminal"), [(60.0, True), (0.001, False)])
def test_silent_when_quick_or_not_on_a_terminal(
    tmp_path: Path, patience: float, terminal: bool
) -> None:
    assert standard_error(tmp_path, patience, terminal=terminal) == ""
