"""Conditional tables by EM from data with missing cells."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.clock import Clock
from benchmarks.graphical.likelihood import held_out
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

ITERATIONS = 10


def expectation(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter = make(data)
    with clock("learn"):
        bn = adapter.expectation(data, ITERATIONS)
    return lambda: held_out(adapter, bn, data)


for name in ("asia", "child"):
    workload(
        f"graphical.learning.expectation.{name}",
        Recipe(network, name, rows=rows(2_000), test=rows(20_000), missing=0.1),
        expectation,
        [Peer("pyagrum", lambda _: PyAgrum())],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=150.0,
        quality=Quality("test_log_likelihood", tolerance=5e-3),
        note="2000 rows, 10 % of the cells missing, 10 iterations; pgmpy's EM takes only wholly "
        "latent nodes",
    )
