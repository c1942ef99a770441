"""Structure by tests of independence."""

from __future__ import annotations

from benchmarks.graphical.causal_learn_adapter import CausalLearn
from benchmarks.graphical.learning.patterns import structure
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Peer
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload

workload(
    "graphical.learning.constraint",
    Recipe(network, "alarm", rows=rows(20_000)),
    structure,
    [
        Peer("pyagrum PC", lambda _: PyAgrum(search="PC")),
        Peer("pyagrum MIIC", lambda _: PyAgrum(search="MIIC")),
        Peer("causal-learn PC", lambda _: CausalLearn()),
        Peer("pgmpy PC", lambda _: Pgmpy(search="PC"), slow=True),
    ],
    novum=Peer("novum PC", lambda _: Novum(search="PC"), ours=True),
    target=20.0,
    quality=Quality("distance", "low", 0.3),
    limit=120,
    note="alarm, 20k rows, alpha 0.01",
)
