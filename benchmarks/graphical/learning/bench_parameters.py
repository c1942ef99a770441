"""Conditional tables from complete data."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.clock import Clock
from benchmarks.graphical.likelihood import held_out
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def parameters(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter = make(data)
    with clock("learn"):
        bn = adapter.parameters(data)
    return lambda: held_out(adapter, bn, data)


workload(
    "graphical.learning.parameters.alarm",
    Recipe(network, "alarm", rows=rows(100_000), test=rows(20_000)),
    parameters,
    [Peer("pyagrum", lambda _: PyAgrum()), Peer("pgmpy", lambda _: Pgmpy())],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=45.0,
    quality=Quality("test_log_likelihood", tolerance=1e-3),
    note="100k rows, one added count",
)
