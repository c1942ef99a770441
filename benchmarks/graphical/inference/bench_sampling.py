"""Forward sampling of whole rows and as a data frame, and likelihood weighting."""

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


def sample(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean error of the marginals."""
    adapter, bn = opened(make, data, lambda peer, bn: peer.to_frame(peer.sample(bn, 10)))
    with clock("sample"):
        drawn = adapter.sample(bn, data.n)
    with clock("table"):
        frame = adapter.to_frame(drawn)

    def figures() -> Figures:
        found = {
            v: np.array([np.mean(frame[v].astype(str) == label) for label in data.labels[v]])
            for v in data.nodes
        }
        return {
            "error": np.abs(flat([found], data.nodes) - data.prior).mean(),
            "rows_per_second": data.n / max(clock.cpu["sample"], 1e-9),
        }

    return figures


workload(
    "graphical.inference.sampling.alarm",
    Recipe(network_with_marginals, "alarm", rows(100_000)),
    sample,
    [Peer("pyagrum", lambda _: PyAgrum()), Peer("pgmpy", lambda _: Pgmpy())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=30.0,
    quality=Quality("error", "low", 1.0),
    note="forward sampling, 100k rows; table: as a data frame",
)


def weigh(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean error of the marginals given a tenth of the nodes."""
    adapter, bn = opened(make, data, lambda peer, bn: peer.weighted(bn, KNOWN, 100))
    with clock("weigh"):
        found = adapter.weighted(bn, data.cases[0], data.n)
    return lambda: {"error": np.abs(flat([found], data.nodes) - data.posterior).mean()}


workload(
    "graphical.inference.sampling.weighting.alarm",
    Recipe(network_with_marginals, "alarm", rows(20_000)),
    weigh,
    [Peer("pyagrum", lambda _: PyAgrum())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=200.0,
    quality=Quality("error", "low", 1.0),
    note="likelihood weighting, 20k rows, 10 % observed",
)
