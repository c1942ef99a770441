"""Peers that have been used before the clock starts.

First calls in a process load code: machine code from the cache, libraries, and whatever an
interpreter makes of functions it meets again and again. `benchmarks.startup` measures a first call;
here these would hide what a call costs from then on, so everybody answers some questions about a
small network first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.graphical.networks import plain_file
from benchmarks.peers import Make
from benchmarks.recipes import Data, scratch_folder

# A network beyond textbook size, something to know about it, and how often it is asked.
SMALL = "asia"
KNOWN = {"xray": "yes"}
USES = 20


def opened(make: Make, data: Data, use: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """A peer and the network of the workload, after uses of the peer with a small network."""
    adapter: Any = make(data)
    small = adapter.load(str(plain_file(SMALL, scratch_folder(data, "bench-first-"))))
    for _ in range(USES):
        use(adapter, small)
    return adapter, adapter.load(data.path)
