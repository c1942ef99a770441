"""Forks of a process with several threads, in an interpreter of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

# Children that hang are ended by their own alarm, and count as lost.
_PRELUDE = """
import os, signal, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Forks of many threads, from Python 3.12 on.

def succeeds(function):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if function() else 1)
    return os.waitpid(child, 0)[1] == 0

def while_inside(enter, then):
    # What `then` gives while another thread is inside `enter()`.
    inside, leave = threading.Event(), threading.Event()
    def stay():
        with enter():
            inside.set()
            leave.wait()
    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()
    try:
        return then()
    finally:
        leave.set()
        thread.join()
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def output(code: str) -> str:
    """What a fresh interpreter prints, whose children are made by `succeeds(function)`."""
    return subprocess.run(
        [sys.executable, "-c", _PRELUDE + textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    ).stdout.strip()
