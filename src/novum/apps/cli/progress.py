"""What a user sees while a command works: a moving bar on a terminal, lines everywhere else.

A ticker in a thread of its own keeps both alive: the bar moves while nothing is reported, and where
lines are written there is one at least every few seconds. So silence means that something is wrong.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from novum.apps.cli.streams import remarks, say

if TYPE_CHECKING:
    from rich.console import Console

    from novum.apps.job.record import PlanRecord


# --- Time that remains ----------------------------------------------------------------------------
# How much of a run is left, from the forecasts of its plan and the pace so far.
#
# The pace is the time that finished work took over the time that was forecast for it, drawn to 1
# while little is finished; work under way counts up to its forecast,
#
#     left = pace * (forecast of the present work not yet used + forecasts of what follows).

# Fits of the last stage: settings, learning curve, judged fit, fit for use, importances.
_LAST_FITS = 12
_LAST_SECONDS = 3.0
_DRAWING_SECONDS = 3.0
_STACK_MEMBERS = 3


@dataclass
class Remaining:
    """Work in order, each with its forecast.

    Attributes
    ----------
    forecasts : mapping of str to float
        Titles with seconds, in the order of the work.

    Examples
    --------
    >>> work = Remaining({"a": 10.0, "b": 10.0})
    >>> work.begin("a", now=0.0)
    >>> work.seconds(now=5.0), work.share(now=5.0)
    (15.0, 0.25)
    """

    forecasts: Mapping[str, float]
    _present: str = field(init=False, default="")
    _began: float = field(init=False, default=0.0)
    _used: float = field(init=False, default=0.0)
    _forecast_of_used: float = field(init=False, default=0.0)

    def begin(self, title: str, now: float) -> None:
        """Work of that title begins and the one before is finished; unknown titles are ignored."""
        if title == self._present or title not in self.forecasts:
            return
        if self._present:
            self._used += now - self._began
            self._forecast_of_used += self.forecasts[self._present]
        self._present, self._began = title, now

    def seconds(self, now: float) -> float:
        """Seconds that are left."""
        return self._pace * self._open_forecast(now)

    def share(self, now: float) -> float:
        """Of the whole that is done, between 0 and 1."""
        total = sum(self.forecasts.values())
        return 1.0 - self._open_forecast(now) / total if total > 0 else 1.0

    @property
    def _pace(self) -> float:
        doubt = 0.1 * sum(self.forecasts.values())
        known = self._forecast_of_used + doubt
        return (self._used + doubt) / known if known > 0 else 1.0

    def _open_forecast(self, now: float) -> float:
        if not self._present:
            return sum(self.forecasts.values())
        titles = list(self.forecasts)
        later = titles[titles.index(self._present) + 1 :]
        used = (now - self._began) / self._pace
        # Work that takes longer than forecast is never quite done.
        own = self.forecasts[self._present]
        return max(own - used, 0.05 * own) + sum(self.forecasts[title] for title in later)


def forecasts_of(plan: PlanRecord, stack: str, judging: str, drawing: str) -> dict[str, float]:
    """Titles of the work of a run with their forecasts.

    Parameters
    ----------
    plan : PlanRecord
    stack, judging, drawing : str
        Titles of the trial of stacks, of the stage after the trials, and of the report's.
    """
    tried = [trial for trial in plan.trials if trial.n_fits > 0]
    found = {trial.title: trial.forecast_seconds for trial in tried}
    one_fit = sorted((t.forecast_seconds / t.n_fits for t in tried), reverse=True)
    n_stacked = plan.repeats * plan.folds * (plan.inner_folds + 1)
    found[stack] = n_stacked * sum(one_fit[:_STACK_MEMBERS])
    found[judging] = _LAST_SECONDS + _LAST_FITS * max(one_fit, default=0.0)
    found[drawing] = _DRAWING_SECONDS
    return found


# Seconds between two lines, so that nobody waits five for a sign of life.
MOST_SILENCE = 3.0
_TICK = 0.25

Clock = Callable[[], float]


class Progress:
    """Stages and steps of a command, shown as they come; a context manager.

    Parameters
    ----------
    first : str
        Stage to begin with.
    console : Console, optional
        Default: standard error.
    clock : callable
        Seconds of a monotone clock.
    """

    def __init__(
        self, first: str, console: Console | None = None, clock: Clock = time.monotonic
    ) -> None:
        self.console = remarks() if console is None else console
        self._clock = clock
        self._began = clock()
        self._stage, self._step = first, ""
        self._work: Remaining | None = None
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._show: Any = _Bar(self.console) if self.console.is_terminal else _Lines(self.console)

    # What the work reports

    def stage(self, title: str) -> None:
        """A new stage begins."""
        with self._lock:
            self._stage, self._step = title, ""
            self._begin(title)
            self._show.news(self._text(), self._share())

    def step(self, title: str, done: int, total: int) -> None:
        """Of the present stage, `done` of `total` steps are finished, and `title` is next."""
        with self._lock:
            # A step without a title ends the last one; the next stage follows at once.
            if title:
                self._step = f"{title} ({min(done + 1, total)} of {total})"
                self._begin(title)
                self._show.news(self._text(), self._share())

    def expect(self, work: Remaining) -> None:
        """From now on the remaining time is known."""
        with self._lock:
            self._work = work

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing moves meanwhile, so that results can be written."""
        with self._lock:
            self._show.stop()
            yield
            if not self._over.is_set():
                self._show.start(self._text())

    # The ticker

    def __enter__(self) -> Self:
        self._show.start(self._text())
        threading.Thread(target=self._keep_alive, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with self._lock:
            self._show.stop()

    def tick(self) -> None:
        """Shows that time goes by."""
        with self._lock:
            if not self._over.is_set():
                self._show.tick(self._text(), self._share(), self._clock())

    def _keep_alive(self) -> None:
        while not self._over.wait(_TICK):
            self.tick()

    # Words

    def _begin(self, title: str) -> None:
        if self._work is not None:
            self._work.begin(title, self._clock())

    def _share(self) -> float | None:
        return None if self._work is None else self._work.share(self._clock())

    def _text(self) -> str:
        now = self._clock()
        what = f"{self._stage}: {self._step}" if self._step else self._stage
        left = "" if self._work is None else f", about {_time(self._work.seconds(now))} left"
        return f"[{_time(now - self._began)}] {what}{left}"


class _Lines:
    """A line for everything new, and one after some silence."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: float | None = None
        self._fresh = False

    def start(self, text: str) -> None:
        if self._last is None:
            self.news(text, None)

    def news(self, text: str, _share: float | None) -> None:
        say(self._console, text)
        self._fresh = True

    def tick(self, text: str, _share: float | None, now: float) -> None:
        if self._fresh or self._last is None:
            self._fresh, self._last = False, now
        elif now - self._last >= MOST_SILENCE:
            say(self._console, text)
            self._last = now

    def stop(self) -> None:
        """Lines need no cleaning up."""


class _Bar:
    """One line that moves."""

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        text = TextColumn("{task.description}", markup=False)
        self._bars = Progress(SpinnerColumn(), BarColumn(24), text, console=console, transient=True)
        self._task = self._bars.add_task("", total=None)

    def start(self, text: str) -> None:
        self.tick(text, None, 0.0)
        self._bars.start()

    def news(self, text: str, share: float | None) -> None:
        self.tick(text, share, 0.0)

    def tick(self, text: str, share: float | None, _now: float) -> None:
        from novum.core.text import printable

        total = None if share is None else 1.0
        self._bars.update(
            self._task, description=printable(text), total=total, completed=share or 0.0
        )

    def stop(self) -> None:
        self._bars.stop()


def _time(seconds: float) -> str:
    """Whole seconds, or minutes and seconds.

    Examples
    --------
    >>> _time(7.4), _time(83.0)
    ('7 s', '1 min 23 s')
    """
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"
