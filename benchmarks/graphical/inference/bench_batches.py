"""Posteriors of all nodes for many rows, each with another tenth of the nodes observed."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.likelihood import flat
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, workload


def batch(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter, bn = opened(make, data, lambda peer, bn: peer.batch(bn, [KNOWN]))
    with clock("rows"):
        found = adapter.batch(bn, data.cases)
    return lambda: {"_posterior": flat([found], data.nodes)}


for name, (cases, target) in {
    "asia": (1000, 100.0),
    "alarm": (1000, 100.0),
    "hailfinder": (1000, 100.0),
    "win95pts": (1000, 100.0),
    "andes": (200, 30.0),
}.items():
    workload(
        f"graphical.inference.batches.{name}",
        Recipe(network, name, cases=cases),
        batch,
        [Peer("pyagrum shafer-shenoy", lambda _: PyAgrum("ShaferShenoyInference"))],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=target,
        limit=120,
        note=f"{cases} rows, 10 % observed",
    )
