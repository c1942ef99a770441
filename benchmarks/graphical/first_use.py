"""Peers that have been used once before the clock starts.

A first call in a process loads code: machine code from the cache, libraries. `benchmarks.startup`
measures that; here it would hide what a call costs from then on, so everybody answers a question
about a small network first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.graphical.networks import plain_file
from benchmarks.peers import Make
from benchmarks.recipes import Data, scratch_folder

# A network beyond textbook size, and something to know about it.
SMALL = "asia"
KNOWN = {"xray": "yes"}


def opened(make: Make, data: Data, use: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """A peer and the network of the workload, after `use(peer, small network)`."""
    adapter: Any = make(data)
    use(adapter, adapter.load(str(plain_file(SMALL, scratch_folder(data, "bench-first-")))))
    return adapter, adapter.load(data.path)
