"""Structure by score: hill climbing and its relatives under BIC and BDeu."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.causal_learn_adapter import CausalLearn
from benchmarks.graphical.learning.patterns import structure
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

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


def scored_structure(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The criterion BIC of the graph that a search ends with, counted here for everybody."""
    adapter = make(data)
    with clock("search"):
        edges, _ = adapter.structure(data)

    def figures() -> Figures:
        frame = data.frame.astype(str)
        parents = {v: [a for a, b in edges if b == v] for v in data.nodes}
        total = 0.0
        for v, above in parents.items():
            cells = frame.groupby([*above, v]).size()
            rows_of = cells.groupby(level=above).transform("sum") if above else len(frame)
            total += float((cells * np.log(cells / rows_of)).sum())
            free = (len(data.labels[v]) - 1) * np.prod([len(data.labels[a]) for a in above])
            total -= float(free) * np.log(len(frame)) / 2
        return {"score": total}

    return figures


def _searching(search: str) -> Make:
    return lambda _: Novum(search=search)


PEERS = [
    Peer("pyagrum hill climbing", lambda _: PyAgrum()),
    Peer("pyagrum tabu", lambda _: PyAgrum(search="LocalSearchWithTabuList")),
]
for NAME in ("alarm", "hailfinder", "win95pts"):
    for SEARCH in ("HillClimbing", "Tabu"):
        workload(
            f"graphical.learning.search.{NAME}_{SEARCH.lower()}",
            Recipe(network, NAME, rows=rows(20_000)),
            scored_structure,
            [PEERS[SEARCH == "Tabu"]],
            novum=Peer("novum", _searching(SEARCH), ours=True),
            target=7.0,
            quality=Quality("score", tolerance=0.001),
            limit=120,
            note=f"{NAME}, 20k rows, BIC, the same kind of search on both sides",
        )
for NAME in ("alarm", "child", "insurance", "hailfinder", "win95pts"):
    workload(
        f"graphical.learning.search.{NAME}_default",
        Recipe(network, NAME, rows=rows(20_000)),
        scored_structure,
        PEERS,
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=1.0,
        quality=Quality("score", tolerance=0.0),
        limit=120,
        note=f"{NAME}, 20k rows, the default search against every search by BIC",
    )
