"""All single-node marginals, exactly: without evidence, with a tenth of the nodes observed, and
with other states of nodes that were asked about before.

Novum's tables come from the same file at full precision; pyAgrum reads BIF in single precision, so
their posteriors differ by that.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.likelihood import flat
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, workload

LAZY = "pyagrum lazy"
SHAFER = "pyagrum shafer-shenoy"
ELIMINATION = "pgmpy variable elimination"
PROPAGATION = "pgmpy belief propagation"
MAKES = {
    LAZY: lambda _: PyAgrum(),
    SHAFER: lambda _: PyAgrum("ShaferShenoyInference"),
    ELIMINATION: lambda _: Pgmpy(),
    PROPAGATION: lambda _: Pgmpy("BeliefPropagation"),
}
# Network: times from scratch without evidence, evidence cases, pgmpy's engines that finish.
NETWORKS = {
    "asia": (50, 50, [ELIMINATION, PROPAGATION]),
    "alarm": (20, 50, [ELIMINATION, PROPAGATION]),
    "hailfinder": (20, 20, [ELIMINATION]),
    "win95pts": (20, 20, [ELIMINATION]),
    "pathfinder": (2, 5, [ELIMINATION]),
    "andes": (5, 5, [ELIMINATION]),
    "pigs": (2, 5, []),
    "mildew": (1, 3, [ELIMINATION]),
    "water": (1, 3, []),
    "barley": (1, 3, []),
    "munin1": (1, 1, []),
    "diabetes": (1, 1, []),
    "link": (1, 1, []),
    "munin": (1, 1, []),
}
TOO_LONG = {("link", LAZY), ("link", SHAFER), ("munin1", SHAFER)}


def marginals(
    make: Callable[[Data], PyAgrum | Pgmpy], data: Data, clock: Clock
) -> Callable[[], Figures]:
    adapter, bn = opened(make, data, lambda peer, bn: peer.marginals(bn, [KNOWN]))
    with clock("prior"):
        for _ in range(data.repeat):
            prior = adapter.marginals(bn, [{}])
    with clock("evidence"):
        posterior = adapter.marginals(bn, data.cases)
    if hasattr(adapter, "again"):
        adapter.again(bn, data.cases[:1])
        with clock("same nodes"):
            adapter.again(bn, data.same)
    return lambda: {"_prior": flat(prior, data.nodes), "_posterior": flat(posterior, data.nodes)}


for name, (repeat, cases, slow) in NETWORKS.items():
    workload(
        f"graphical.inference.junction.{name}",
        Recipe(network, name, cases=cases, repeat=repeat),
        marginals,
        [
            Peer(peer, MAKES[peer], slow=peer in slow or (name, peer) in TOO_LONG)
            for peer in (LAZY, SHAFER, *slow)
        ],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=7.0,
        limit=90,
        note=f"all marginals: without evidence, {repeat} time(s) from scratch; with 10 % of the "
        f"nodes observed, {cases} case(s)",
    )
