"""Gibbs sampling given a tenth of the nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.inference.exact import network_with_marginals
from benchmarks.graphical.likelihood import flat
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def gibbs(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean error of the marginals."""
    adapter, bn = opened(make, data, lambda peer, bn: peer.gibbs(bn, KNOWN, 200))
    with clock("gibbs"):
        found = adapter.gibbs(bn, data.cases[0], data.n)
    draws = data.n * len(data.nodes)
    return lambda: {
        "error": np.abs(flat([found], data.nodes) - data.posterior).mean(),
        "draws_per_second": draws / max(clock.cpu["gibbs"], 1e-9),
    }


workload(
    "graphical.inference.markov_chain.alarm",
    Recipe(network_with_marginals, "alarm", rows(5_000)),
    gibbs,
    [
        Peer("pyagrum", lambda _: PyAgrum()),
        Peer("pgmpy (no evidence)", lambda _: Pgmpy(), slow=True),
    ],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=70.0,
    quality=Quality("error", "low", 1.0),
    note="5000 sweeps over 37 nodes, 10 % observed",
)
