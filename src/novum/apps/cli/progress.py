"""What a user sees while a command works: a moving bar on a terminal, lines everywhere else.

A ticker in a thread of its own keeps both alive: the bar moves while nothing is reported, and where
lines are written there is one at least every few seconds. So silence means that something is wrong.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from novum.apps.cli.streams import remarks, say

if TYPE_CHECKING:
    from rich.console import Console


# --- Time that remains ----------------------------------------------------------------------------
# How much of a run is left, from its forecasts and the pace so far.
#
# The pace is the time that finished work took over the time that was forecast for it, drawn to 1
# while little is finished. Of the work under way, elapsed time e and finished share s say e / s;
# while nothing is finished its forecast f does, and beyond two thirds of that what usually does:
# as long again by half.


@dataclass
class Remaining:
    """Work in order, each with its forecast.

    Attributes
    ----------
    forecasts : mapping of str to float
        Titles with seconds, in the order of the work.
    end : float
        Time of the clock when all is over at the latest.

    Examples
    --------
    >>> work = Remaining({"a": 10.0, "b": 10.0})
    >>> work.begin("a", now=0.0)
    >>> work.seconds(now=5.0), work.share(now=5.0)
    (15.0, 0.25)
    >>> work.advance(0.25)
    >>> work.seconds(now=5.0)
    25.0
    """

    forecasts: Mapping[str, float]
    end: float = math.inf
    _present: str = field(init=False, default="")
    _began: float = field(init=False, default=0.0)
    _done: float = field(init=False, default=0.0)
    _used: float = field(init=False, default=0.0)
    _forecast_of_used: float = field(init=False, default=0.0)

    def begin(self, title: str, now: float) -> None:
        """Work of that title begins and the one before is finished; unknown titles are ignored."""
        if title == self._present or title not in self.forecasts:
            return
        if self._present:
            self._used += now - self._began
            self._forecast_of_used += self.forecasts[self._present]
        self._present, self._began, self._done = title, now, 0.0

    def advance(self, share: float) -> None:
        """Of the present work this share is finished."""
        self._done = share

    def seconds(self, now: float) -> float:
        """Seconds that are left."""
        left = self._own(now) + self._pace * self._later
        return min(left, self.end - now) if self.end > now else left

    def share(self, now: float) -> float:
        """Of the whole that is done, between 0 and 1."""
        elapsed = self._used + (now - self._began if self._present else 0.0)
        total = elapsed + self.seconds(now)
        return elapsed / total if total > 0 else 1.0

    @property
    def _pace(self) -> float:
        doubt = 0.1 * sum(self.forecasts.values())
        known = self._forecast_of_used + doubt
        return (self._used + doubt) / known if known > 0 else 1.0

    @property
    def _later(self) -> float:
        titles = list(self.forecasts)
        first = titles.index(self._present) + 1 if self._present else 0
        return sum(self.forecasts[title] for title in titles[first:])

    def _own(self, now: float) -> float:
        if not self._present:
            return 0.0
        elapsed = now - self._began
        if self._done > 0:
            return elapsed * (1.0 - self._done) / self._done
        expected = self._pace * self.forecasts[self._present]
        return max(expected - elapsed, 0.5 * elapsed) if elapsed > 0 else expected


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

    def advance(self, share: float) -> None:
        """Of the present step, this share is finished."""
        with self._lock:
            if self._work is not None:
                self._work.advance(share)

    def expect(self, forecasts: Mapping[str, float], limit: float = math.inf) -> None:
        """From now on the remaining time is known; everything ends `limit` after the beginning."""
        with self._lock:
            self._work = Remaining(forecasts, self._began + limit)

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
