"""One node at a time, with all that does not matter for it left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, workload

ASKED = 30


def ask(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    adapter, bn = opened(make, data, lambda peer, bn: peer.queries(bn, [("lung", KNOWN)]))
    rng = np.random.default_rng(5)
    nodes = [str(v) for v in rng.choice(data.nodes, ASKED)]
    known = data.cases[0]
    with clock("prior"):
        prior = adapter.queries(bn, [(v, {}) for v in nodes])
    given = [(v, {w: s for w, s in known.items() if w != v}) for v in nodes]
    with clock("evidence"):
        posterior = adapter.queries(bn, given)
    return lambda: {"_prior": np.concatenate(prior), "_posterior": np.concatenate(posterior)}


NETWORKS = (
    "asia", "alarm", "hailfinder", "win95pts", "andes", "pathfinder", "pigs", "mildew", "water",
    "barley", "munin", "munin1", "diabetes",
)  # fmt: skip
for name in NETWORKS:
    workload(
        f"graphical.inference.elimination.{name}",
        Recipe(network, name, cases=1),
        ask,
        [Peer("pyagrum lazy", lambda _: PyAgrum())],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=6.0,
        limit=90,
        note=f"{ASKED} nodes, one after the other; without evidence and with 10 % observed",
    )
