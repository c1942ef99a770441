"""Structure by score: hill climbing and its relatives under BIC and BDeu."""

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

DATA = Recipe(network, "alarm", rows=rows(20_000))
CLOSE = Quality("distance", "low", 0.3)

workload(
    "graphical.learning.search.bic",
    DATA,
    structure,
    [
        Peer("pyagrum hill climbing", lambda _: PyAgrum()),
        Peer("pyagrum tabu", lambda _: PyAgrum(search="LocalSearchWithTabuList")),
        Peer("pgmpy hill climbing", lambda _: Pgmpy(), slow=True),
    ],
    novum=Peer("novum", lambda _: Novum(), ours=True),
    target=7.0,
    quality=CLOSE,
    limit=120,
    note="alarm, 20k rows, BIC; distance between the patterns of equivalence",
)
workload(
    "graphical.learning.search.bdeu",
    DATA,
    structure,
    [
        Peer("pyagrum hill climbing", lambda _: PyAgrum(score="BDeu")),
        Peer("pgmpy hill climbing", lambda _: Pgmpy(score="bdeu"), slow=True),
        Peer("causal-learn GES", lambda _: CausalLearn("GES"), slow=True),
    ],
    novum=Peer("novum", lambda _: Novum(score="BDeu"), ours=True),
    target=7.0,
    quality=CLOSE,
    limit=120,
    note="alarm, 20k rows, BDeu",
)
workload(
    "graphical.learning.search.tabu",
    DATA,
    structure,
    [
        Peer("pyagrum hill climbing", lambda _: PyAgrum()),
        Peer("pyagrum tabu", lambda _: PyAgrum(search="LocalSearchWithTabuList")),
    ],
    novum=Peer("novum tabu", lambda _: Novum(search="Tabu"), ours=True),
    target=7.0,
    quality=CLOSE,
    limit=120,
    note="alarm, 20k rows, BIC, single edges only on both sides",
)
