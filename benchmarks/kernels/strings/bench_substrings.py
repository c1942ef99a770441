"""The all-substrings kernel. A peer maps strings to a Gram matrix.

No other library has it; the bar is 5 microseconds for a pair of 300 characters. 400 strings have
160,000 pairs, of which the symmetry leaves half: 0.4 s of CPU time are the bar of the workload, and
the figure `microseconds` is the time for one of these pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import strings
from benchmarks.peers import Make, Peer, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

MICROSECONDS = 5.0


class Counted:
    """Plain Python: every substring of a string in a dict."""

    def gram(self, sample: list[str]) -> np.ndarray:
        counts = [_substrings(text) for text in sample]
        K = np.zeros((len(sample), len(sample)))
        for i, a in enumerate(counts):
            for j, b in enumerate(counts[: i + 1]):
                K[i, j] = K[j, i] = sum(n * b[part] for part, n in a.items() if part in b)
        return K


def _substrings(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for i in range(len(text)):
        for j in range(i + 1, len(text) + 1):
            counts[text[i:j]] = counts.get(text[i:j], 0) + 1
    return counts


def similarities(make: Make, data: Data, clock: Clock) -> Callable[[], Mapping[str, Any]]:
    """All pairs; the CPU time of one pair, once everything is loaded, is the figure of quality."""
    kernel = make(data)
    with clock("gram"):
        K = kernel.gram(data.strings)

    def figures() -> Mapping[str, Any]:
        began = time.process_time()
        kernel.gram(data.strings)
        seconds = time.process_time() - began
        n_pairs = len(K) * (len(K) + 1) / 2
        return {"microseconds": 1e6 * seconds / n_pairs, "trace": np.trace(K), "_gram": K}

    return figures


workload(
    "kernels.strings.substrings",
    Recipe(strings, rows(400, quick=60), 300, "ACGT"),
    similarities,
    [Peer("Python dicts", lambda _data: Counted(), slow=True)],
    novum=novum("novum.kernels.strings.substrings:Substrings"),
    target=100.0,
    quality=Quality("microseconds", better="low", required=MICROSECONDS),
    note="400 DNA strings of length 300, all pairs; automata are built inside the time",
)
