"""The best graph of all: dynamic programming and A* against searches that prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.clock import Clock
from benchmarks.graphical.networks import network
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


class Searched:
    """A search of Novum over the first variables of a network."""

    def __init__(self, search: str, variables: int, criterion: str = "BIC") -> None:
        self.search, self.variables, self.criterion = search, variables, criterion

    def learned(self, data: Data) -> Any:
        from novum import graphical

        names = data.nodes[: self.variables]
        return graphical.learn_structure(
            data.frame[names],
            getattr(graphical, self.criterion)(),
            getattr(graphical, self.search)(),
        )


def best(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Score of the graph."""
    adapter = make(data)
    with clock("search"):
        learned = adapter.learned(data)
    return lambda: {"score": learned.score}


def compared(variables: int) -> None:
    """The workload of the first variables of alarm."""
    workload(
        f"graphical.learning.exact.best{variables}",
        Recipe(network, "alarm", rows=rows(1_000)),
        best,
        [
            Peer("own tabu", lambda _: Searched("Tabu", variables)),
            Peer("own A*", lambda _: Searched("BestFirst", variables)),
        ],
        novum=Peer("novum exact", lambda _: Searched("Exact", variables), ours=True),
        target=0.01,
        quality=Quality("score"),
        limit=300,
        note=f"{variables} variables of alarm, 1k rows, BIC, proved; 1 s is asked for 20",
    )


compared(20)
compared(30)
workload(
    "graphical.learning.exact.dirichlet20",
    Recipe(network, "alarm", rows=rows(1_000)),
    best,
    [Peer("own tabu", lambda _: Searched("Tabu", 20, "BDeu"))],
    novum=Peer("novum exact", lambda _: Searched("Exact", 20, "BDeu"), ours=True),
    target=0.001,
    quality=Quality("score"),
    limit=300,
    note="20 variables of alarm, 1k rows, BDeu without a limit of parents, proved",
)
