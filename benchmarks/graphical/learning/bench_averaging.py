"""How sure edges are: exact sums over orders against graphs of resampled tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.networks import network
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

VARIABLES = 18
SAMPLES = 200


class Exact:
    """Novum's sums over all orders."""

    def edges(self, data: Data, names: list[str]) -> dict[frozenset[str], float]:
        from novum.graphical import edge_probabilities

        found = edge_probabilities(data.frame[names])
        return {frozenset((a, b)): joined for a, b, joined, _ in found.rows()}


class Resampled:
    """Shares of resampled tables whose graph, learned by a search of Novum, has an edge."""

    def edges(self, data: Data, names: list[str]) -> dict[frozenset[str], float]:
        from novum.graphical import bootstrap_edges

        found = bootstrap_edges(data.frame[names], samples=SAMPLES)
        return {frozenset((a, b)): joined for a, b, joined, _ in found.rows()}


class ResampledPyAgrum:
    """The same by pyAgrum's hill climbing."""

    def __init__(self) -> None:
        self.adapter = PyAgrum()

    def edges(self, data: Data, names: list[str]) -> dict[frozenset[str], float]:
        rng = np.random.default_rng(0)
        shares: dict[frozenset[str], float] = {}
        for _ in range(SAMPLES):
            frame = data.frame[names].iloc[rng.integers(0, len(data.frame), len(data.frame))]
            learner = self.adapter.gum.BNLearner(frame.astype(object))
            learner.useScoreBIC()
            learner.useGreedyHillClimbing()
            graph = learner.learnDAG()
            for a, b in graph.arcs():
                pair = frozenset((learner.nameFromId(a), learner.nameFromId(b)))
                shares[pair] = shares.get(pair, 0.0) + 1 / SAMPLES
        return shares


def sure_edges(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Mean squared error of the probabilities that two variables are joined in the true graph."""
    adapter: Any = make(data)
    names = data.nodes[:VARIABLES]
    with clock("edges"):
        found = adapter.edges(data, names)

    def figures() -> Figures:
        true = {frozenset(edge) for edge in data.edges}
        pairs = [frozenset((a, b)) for i, a in enumerate(names) for b in names[:i]]
        errors = [(found.get(pair, 0.0) - (pair in true)) ** 2 for pair in pairs]
        return {"squared error": float(np.mean(errors))}

    return figures


workload(
    "graphical.learning.averaging.edges",
    Recipe(network, "alarm", rows=rows(1_000)),
    sure_edges,
    [
        Peer("bootstrap, pyagrum hill climbing", lambda _: ResampledPyAgrum()),
        Peer("bootstrap, novum's default search", lambda _: Resampled()),
    ],
    novum=Peer("novum exact", lambda _: Exact(), ours=True),
    target=1.0,
    quality=Quality("squared error", "low", 0.3),
    limit=300,
    note="18 variables of alarm, 1k rows; exact sums over orders, bootstrap of 200",
)
