"""The most probable explanation of a tenth of the nodes."""

from __future__ import annotations

from collections.abc import Callable

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


def explain(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """The mean log-probability of the assignments found."""
    adapter, bn = opened(make, data, lambda peer, bn: peer.explanations(bn, [KNOWN]))
    with clock("explain"):
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


for name, cases in {"alarm": 5, "win95pts": 5, "andes": 2, "mildew": 3}.items():
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
        note=f"{cases} case(s), 10 % observed",
    )
