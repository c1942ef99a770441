"""One line on a terminal when a compilation makes somebody wait.

Numba announces the begin and the end of every compilation; loading from the disk cache is silent.
A timer started at the outermost begin prints the line if the end has not come within a second:

    novum: compiling <name> once for this machine; `novum warmup` does it ahead

At most once per process, and never where standard error is not a terminal.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from novum.numerics.shared_state import fork_safe_lock

PATIENCE_SECONDS = 1.0

_installed = False
_install_lock = fork_safe_lock()


class SlowCompilation:
    """Counts nested compilations as one and speaks once."""

    def __init__(self) -> None:
        self._depth = 0
        self._timer: threading.Timer | None = None
        self._has_spoken = False

    def started(self, name: str) -> None:
        # Numba holds its compiler lock here, so begins and ends of threads cannot interleave.
        self._depth += 1
        if self._depth > 1 or self._has_spoken or not _is_terminal():
            return
        self._timer = threading.Timer(PATIENCE_SECONDS, self._speak, (name,))
        self._timer.daemon = True
        self._timer.start()

    def ended(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _speak(self, name: str) -> None:
        self._has_spoken = True
        print(
            f"novum: compiling {name} once for this machine; `novum warmup` does it ahead",
            file=sys.stderr,
            flush=True,
        )


def announce_slow_compilations() -> None:
    """Install the listener; further calls do nothing."""
    global _installed
    with _install_lock:
        if _installed:
            return
        _installed = True
        from numba.core import event

        watch = SlowCompilation()

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                data = event.data or {}
                watch.started(getattr(data.get("dispatcher"), "__name__", "a kernel"))

            def on_end(self, event: Any) -> None:  # noqa: ARG002 (Numba's interface)
                watch.ended()

        event.register("numba:compile", Listener())


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        # No standard error at all (pythonw), or one that is closed.
        return False
