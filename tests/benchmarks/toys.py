"""Toy peers on a tiny workload, for the tests of the harness."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Quality, Workload


class Toy:
    """Notes each call in a file and returns a given answer."""

    def __init__(self, name: str, answer: float, trace: Path, action: Callable[[], Any]) -> None:
        self.name, self.answer, self.trace, self.action = name, answer, trace, action

    def fit(self, values: list[int]) -> None:
        with self.trace.open("a") as file:
            file.write(self.name + "\n")
        self.action()
        self.total = sum(values)


def toy(
    name: str,
    trace: Path,
    answer: float = 1.0,
    action: Callable[[], Any] = lambda: None,
    **options: Any,
) -> Peer:
    return Peer(name, lambda _: Toy(name, answer, trace, action), **options)


def protocol(make: Make, data: Data, clock: Clock) -> Figures:
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.values)
    return {"score": estimator.answer, "_answer": [estimator.answer, 0.0]}


def tiny() -> Data:
    return Data(values=list(range(100)))


def tiny_workload(rivals: list[Peer], ours: Peer | None = None, **options: Any) -> Workload:
    options = {"quality": Quality("score"), "limit": 30.0, **options}
    return Workload("toys.tiny", Recipe(tiny), protocol, rivals, novum=ours, **options)
