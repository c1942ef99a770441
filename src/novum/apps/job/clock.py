"""The time of a run: what its stages take, what is left of its budget, and who is told.

A budget covers everything until the report lies there. Its parts have their ends, as shares of it,

    trials 0.65, fits of the chosen model 0.8, judgment and explanations 0.93, then the report,

and what would last beyond its end is made smaller or given up. Without a budget nothing depends on
time, so that a run gives the same on every machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from novum.apps.job.record import DataRecord, Finding, TaskRecord
from novum.core.runtime import deadline

JUDGING, DRAWING = "judging the chosen model", "drawing the report"
END_OF_TRIALS, END_OF_FITS, END_OF_JUDGMENT = 0.65, 0.8, 0.93
# Even a budget that is used up leaves this much for a step that nothing can be given in place of.
LEAST_SECONDS = 2.0


class Listener(Protocol):
    """Who is told how a run goes."""

    def stage(self, title: str) -> None:
        """A new stage begins."""

    def step(self, title: str, done: int, total: int) -> None:
        """Of the present stage, `done` of `total` steps are finished, and `title` is next."""

    def advance(self, share: float) -> None:
        """Of the present step, this share is done."""

    def expect(self, forecasts: Mapping[str, float], limit: float) -> None:
        """Seconds that steps and stages will take, by their titles, and all of them at most."""

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        """How the table and the task were understood, before anything is tried."""


class Silent:
    """Tells nobody."""

    def stage(self, title: str) -> None:
        del title

    def step(self, title: str, done: int, total: int) -> None:
        del title, done, total

    def advance(self, share: float) -> None:
        del share

    def expect(self, forecasts: Mapping[str, float], limit: float) -> None:
        del forecasts, limit

    def understood(self, data: DataRecord, task: TaskRecord, findings: tuple[Finding, ...]) -> None:
        del data, task, findings


class Clock:
    """Times the stages of a run, and knows how much of the budget is left.

    Parameters
    ----------
    budget : float or None
        Seconds; None for a run that takes as long as it takes.
    listener : Listener, optional

    Examples
    --------
    >>> Clock(None).until(0.5), Clock(100.0).until(0.5) > 49
    (inf, True)
    """

    def __init__(self, budget: float | None, listener: Listener | None = None) -> None:
        self.budget = math.inf if budget is None else budget
        self.listener: Listener = listener or Silent()
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()

    @property
    def is_limited(self) -> bool:
        return math.isfinite(self.budget)

    def until(self, share: float) -> float:
        """Seconds until this share of the budget is used; infinite without one."""
        return share * self.budget - (time.perf_counter() - self._began)

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """A part of the run that people are told of."""
        self.listener.stage(title)
        began = time.perf_counter()
        yield
        self.seconds[title] = time.perf_counter() - began

    @contextmanager
    def within(self, share: float) -> Iterator[None]:
        """Fits of the block end when this share of the budget is used, or raise `OutOfTime`."""
        with deadline(max(self.until(share), LEAST_SECONDS)):
            yield
