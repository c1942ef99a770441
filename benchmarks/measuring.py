"""Measures the peers of one workload, interleaved: A B C A B C ..., the minimum is kept.

Interleaving spreads a disturbance over all peers; the minimum forgets it. Everyone has at least
`repeats` repetitions, and quick work more, until the rounds have taken `ROUND_SECONDS`. A rival
that is slow and far behind decides nothing and stops after its first repetition, unless the target
is held against it; the table says so. The first repetition is kept by itself: it includes
compilation.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peers import Peer
from benchmarks.recipes import Scale
from benchmarks.registry import Workload
from benchmarks.worker import NOT_INSTALLED, RAN, Answer, Worker, explain

ROUND_SECONDS = 2.0
MOST_ROUNDS = 25
SLOW_SECONDS = 3.0
FAR_BEHIND = 1.5


@dataclass(frozen=True)
class Settings:
    """How a run measures."""

    repeats: int = 3
    clock: str = "cpu"
    gigabytes: float = 6.0
    scale: Scale = Scale.NORMAL


@dataclass
class Outcome:
    """What is known of a peer after the run: minima of time, maxima of memory, by phase."""

    status: str = RAN
    message: str = ""
    ours: bool = False
    other_method: bool = False
    cpu: dict[str, float] = field(default_factory=dict)
    wall: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    quality: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    repetitions: int = 0

    @property
    def ran(self) -> bool:
        return self.status == RAN and self.repetitions > 0

    def seconds(self, clock: str) -> dict[str, float]:
        return self.wall if clock == "wall" else self.cpu

    def total(self, clock: str) -> float:
        return sum(self.seconds(clock).values())


Say = Callable[[str], None]


def measure(
    workload: Workload, peers: Sequence[Peer], settings: Settings, say: Say = print
) -> dict[str, Outcome]:
    """Runs `peers` on the workload; every one of them has an outcome, also where it failed."""
    outcomes = {
        peer.name: Outcome(ours=peer.ours, other_method=peer.other_method) for peer in peers
    }
    started = time.perf_counter()
    try:
        data = workload.data(settings.scale)
    except Exception as failure:
        _without_data(outcomes, explain(failure, settings.gigabytes), workload, say)
        return outcomes
    say(f"{workload.name}  (data {time.perf_counter() - started:.1f} s)")
    gc.collect()
    gc.freeze()
    workers = {peer.name: Worker(workload, peer, data, settings.gigabytes) for peer in peers}
    try:
        _rounds(workload, workers, outcomes, settings, say)
    finally:
        for worker in workers.values():
            worker.close()
        gc.unfreeze()
    return outcomes


def _without_data(outcomes: dict[str, Outcome], why: Answer, workload: Workload, say: Say) -> None:
    say(f"{workload.name}  no data: {why.message}")
    for outcome in outcomes.values():
        outcome.status = why.status if why.status == NOT_INSTALLED else "error"
        outcome.message = f"no data: {why.message}"


def _rounds(
    workload: Workload,
    workers: dict[str, Worker],
    outcomes: dict[str, Outcome],
    settings: Settings,
    say: Say,
) -> None:
    reference: dict[str, Any] = {}
    spent, done = 0.0, 0
    while workers and (done < settings.repeats or (spent < ROUND_SECONDS and done < MOST_ROUNDS)):
        for name in list(workers):
            answer, outcome = workers[name].repeat(), outcomes[name]
            if answer.status != RAN:
                outcome.status, outcome.message = answer.status, answer.message
                say(f"    {name:28s} {answer.status}: {answer.message}")
                workers.pop(name).close()
                continue
            spent += sum(answer.cpu.values())
            if outcome.repetitions == 0:
                _begin(outcome, answer, reference, settings.clock)
                say(f"    {name:28s} {_summary(outcome)}")
            _merge(outcome, answer)
        done += 1
        if done == 1:
            for name in _far_behind(workload, workers, outcomes, settings.clock):
                workers.pop(name).close()


def _begin(outcome: Outcome, answer: Answer, reference: dict[str, Any], clock: str) -> None:
    outcome.first = dict(answer.wall if clock == "wall" else answer.cpu)
    outcome.notes = answer.notes
    for figure, value in answer.quality.items():
        if figure.startswith("_"):
            same = reference.setdefault(figure, value)
            outcome.quality["difference" + figure] = largest_difference(same, value)
        else:
            outcome.quality[figure] = float(value)


def _merge(outcome: Outcome, answer: Answer) -> None:
    for kept, new, pick in (
        (outcome.cpu, answer.cpu, min),
        (outcome.wall, answer.wall, min),
        (outcome.memory, answer.memory, max),
    ):
        for phase, value in new.items():
            kept[phase] = pick(kept.get(phase, value), value)
    outcome.repetitions += 1


def _far_behind(
    workload: Workload, running: dict[str, Worker], outcomes: dict[str, Outcome], clock: str
) -> list[str]:
    totals = {name: outcomes[name].total(clock) for name in running}
    best = min(totals.values(), default=math.inf)
    return [
        name
        for name, total in totals.items()
        if total > SLOW_SECONDS
        and total > FAR_BEHIND * best
        and name != workload.against
        and not outcomes[name].ours
    ]


def largest_difference(reference: Any, value: Any) -> float:
    """Largest absolute difference of two arrays; NaN where the shapes differ."""
    a, b = np.asarray(reference, float), np.asarray(value, float)
    return float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else math.nan


def _summary(outcome: Outcome) -> str:
    times = "  ".join(f"{phase} {value:.4f} s" for phase, value in outcome.first.items())
    figures = "  ".join(f"{figure}={value:.6g}" for figure, value in outcome.quality.items())
    return "   ".join(filter(None, (times, figures, "; ".join(outcome.notes))))
