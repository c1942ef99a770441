"""The most probable configuration: given nothing, and given a tenth of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.graphical.first_use import KNOWN, opened
from benchmarks.graphical.likelihood import log_likelihood
from benchmarks.graphical.networks import network
from benchmarks.graphical.novum_adapter import Novum
from benchmarks.graphical.pgmpy_adapter import Pgmpy
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Quality, workload


def first_use(peer: PyAgrum | Novum, bn: Any) -> None:
    """What a peer can do with the small network: pyAgrum finds no explanation there."""
    if isinstance(peer, PyAgrum):
        peer.marginals(bn, [KNOWN])
    else:
        peer.explanations(bn, [KNOWN])


def explain(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean log-probability of the assignments found."""
    adapter, bn = opened(make, data, first_use)
    with clock("prior"):
        adapter.explanations(bn, [{}])
    with clock("evidence"):
        found = adapter.explanations(bn, data.cases)

    def figures() -> Figures:
        if not all(data.labels.keys() <= assignment.keys() for assignment in found):
            raise RuntimeError("an assignment leaves nodes out")
        judge = PyAgrum()
        tables = judge.tables(judge.load(data.path))
        codes = {
            v: np.array([data.labels[v].index(str(assignment[v])) for assignment in found])
            for v in data.nodes
        }
        return {"log_probability": log_likelihood(tables, data, codes)}

    return figures


# Of mildew's cases pyAgrum answers the first and not the second; on the others it answers nothing.
CASES = {"alarm": 5, "win95pts": 5, "andes": 2, "mildew": 1}
for name, cases in CASES.items():
    workload(
        f"graphical.inference.explanation.{name}",
        Recipe(network, name, cases=cases),
        explain,
        [
            Peer("pyagrum", lambda _: PyAgrum()),
            Peer("pgmpy", lambda _: Pgmpy(), slow=True),
        ],
        novum=Peer("novum", lambda _: Novum(), ours=True),
        target=12.0,
        quality=Quality("log_probability", tolerance=1e-6),
        limit=120,
        note=f"once without evidence; {cases} case(s), 10 % observed",
    )
