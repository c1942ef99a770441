"""CPU seconds, wall seconds and growth of the peak resident size, phase by phase.

Only what runs inside `with clock("phase"):` counts. CPU seconds are those of the whole process, all
threads together, so a library that starts threads of its own gains nothing. The peak is the
kernel's own high-water mark (Linux), reset at the start of a phase: a short-lived temporary counts
as much as the result.
"""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Iterator
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


class Clock:
    """What a protocol wraps around the calls that count.

    A phase entered twice adds its seconds and keeps the larger memory.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("fit"):
    ...     total = sum(range(1000))
    >>> list(clock.cpu), clock.cpu["fit"] >= 0.0
    (['fit'], True)
    """

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}
        self.memory: dict[str, float] = {}

    @contextlib.contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        gc.collect()
        resident = reset_peak()
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.cpu[phase] = self.cpu.get(phase, 0.0) + cpu
        self.wall[phase] = self.wall.get(phase, 0.0) + wall
        grown = max(peak_memory() - resident, 0.0)
        self.memory[phase] = max(self.memory.get(phase, 0.0), grown)


def reset_peak() -> float:
    """Forgets the high-water mark and returns the resident size now, in MB (NaN off Linux)."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return math.nan
    return _status("VmRSS")


def peak_memory() -> float:
    """The high-water mark of the resident size, in MB (NaN off Linux)."""
    try:
        return _status("VmHWM")
    except OSError:
        return math.nan


def _status(key: str) -> float:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    return math.nan
