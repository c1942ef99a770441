"""Loopy propagation given a tenth of the nodes, for a number of iterations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.inference.exact import network_with_marginals
from benchmarks.graphical.likelihood import flat
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

ITERATIONS = 20


def propagate(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean error of the marginals."""
    adapter, bn = opened(make, data, lambda peer, bn: peer.loopy(bn, KNOWN, 2))
    with clock("propagate"):
        for _ in range(data.n):
            found = adapter.loopy(bn, data.cases[0], ITERATIONS)
    return lambda: {"error": np.abs(flat([found], data.nodes) - data.posterior).mean()}


for name in ("alarm", "hailfinder", "andes", "munin1"):
    workload(
        f"graphical.inference.belief_propagation.{name}",
        Recipe(network_with_marginals, name, rows(30)),
        propagate,
        [Peer("pyagrum", lambda _: PyAgrum())],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=50.0,
        quality=Quality("error", "low", 0.1),
        note=f"{ITERATIONS} iterations of flooding, from scratch, 30 times; 10 % observed",
    )
