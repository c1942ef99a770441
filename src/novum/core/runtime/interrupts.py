"""Interruptible work: long loops in slices of about a tenth of a second.

A compiled kernel cannot be interrupted, so a long loop calls it for some blocks at a time and comes
back to Python in between, where Ctrl-C, progress and time limits act. How many blocks go into a
call adapts to their measured time; how the rows are cut into blocks does not. A kernel that keeps
one accumulator per block, or carries its state from block to block in order, therefore gives the
same bits however fast the machine is.

A single LAPACK call is one such piece of work that cannot be sliced. `long_call` says before how
long it will take, and lets another thread make it, so that Ctrl-C ends the wait for it.

What Ctrl-C can end, a clock can end: inside of `deadline` work that is useful before its end stops
there with what it has, and all other work raises `OutOfTime`, in any thread.
"""

from __future__ import annotations

import contextvars
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from novum.core.text import printable
from novum.numerics import wait_for

Result = TypeVar("Result")

TARGET_SECONDS = 0.1
LONG_CALL_SECONDS = 1.0
# Estimates from which on a call is waited for: they are cautious, and a thread costs little.
WAITED_SECONDS = 0.1
# A cautious rate of dense float64 factorizations on one core; announcements may err by a few times.
FLOPS_PER_SECOND = 5e9


class Pacer:
    """How many blocks the next call should take, from how long the last one took.

    Parameters
    ----------
    target : float
        Seconds that a call should last; work of even cost stays below twice this.

    Examples
    --------
    >>> pacer = Pacer(target=0.1)
    >>> pacer.record(0.001); pacer.blocks
    8
    >>> pacer.record(0.2); pacer.blocks
    4
    """

    def __init__(self, target: float = TARGET_SECONDS) -> None:
        if not target > 0:
            raise ValueError(f"The target of a pacer is a time above 0 seconds, got {target!r}.")
        self.target = target
        self.blocks = 1

    def record(self, seconds: float) -> None:
        """Adapt to a call of `blocks` blocks that lasted `seconds`."""
        # At most eightfold at once: the first blocks may be cheaper than those that follow.
        factor = min(self.target / seconds, 8.0) if seconds > 0 else 8.0
        self.blocks = max(1, int(self.blocks * factor))


def time_sliced(
    n_items: int,
    *,
    block: int = 1,
    pacer: Pacer | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[tuple[int, int]]:
    """Bounds `(start, stop)` of consecutive slices that take about `pacer.target` seconds each.

    Every bound but the last is a multiple of `block`, and the slices cover `0 ... n_items` in
    order. Where they are cut depends on measured time, the blocks do not.

    Parameters
    ----------
    n_items : int
        Rows, or steps, in all.
    block : int
        Rows that belong together in the arithmetic.
    pacer : Pacer, optional
        Keep one across several loops over the same work to start at its pace.
    clock : callable
        Seconds of a monotone clock.

    Examples
    --------
    >>> total = 0
    >>> for start, stop in time_sliced(10, block=4):
    ...     assert start % 4 == 0
    ...     total += sum(range(start, stop))
    >>> total
    45
    """
    if block < 1 or n_items < 0:
        raise ValueError(f"Cannot cut {n_items} items into blocks of {block}.")
    pacer = Pacer() if pacer is None else pacer
    start = 0
    while start < n_items:
        check_cancelled()
        # A slice before a deadline takes at most half of the time that is left.
        left = seconds_left()
        haste = min(1.0, left / (2 * pacer.target)) if left > 0 else 1.0
        taken = max(1, int(pacer.blocks * haste))
        stop = min(n_items, start + taken * block)
        began = clock()
        yield start, stop
        # A last slice that is not full says little about the time of a full one.
        if stop - start == taken * block:
            pacer.record((clock() - began) * pacer.blocks / taken)
        start = stop


# --- Calls that cannot be sliced ------------------------------------------------------------------


def estimated_seconds(flops: float) -> float:
    """Rough time of a dense factorization or product with this many operations on one core.

    Examples
    --------
    >>> estimated_seconds(2 * 5000**3 / 3) > 10
    True
    """
    return flops / FLOPS_PER_SECOND


def long_call(
    function: Callable[[], Result],
    flops: float,
    what: str,
    *,
    note: Callable[[str], None] | None = None,
) -> Result:
    """`function()`, one call into a library that cannot be sliced; Ctrl-C ends the wait for it.

    What an interrupt leaves behind goes on in its thread until it ends. So the function changes
    nothing that others hold.

    Parameters
    ----------
    function : callable without arguments
    flops : float
        Operations it takes, roughly; a call of less than a tenth of a second is just made.
    what : str
        The work, for `announce_long_call`.
    note : callable, optional
        See `announce_long_call`.

    Examples
    --------
    >>> long_call(lambda: 6 * 7, 1e9, "a product")
    42
    """
    seconds = estimated_seconds(flops)
    announce_long_call(seconds, what, note=note)
    if seconds < WAITED_SECONDS:
        return function()
    try:
        return wait_for(function, seconds=seconds_left())
    except TimeoutError:
        raise OutOfTime from None


def announce_long_call(
    seconds_estimate: float, what: str, *, note: Callable[[str], None] | None = None
) -> bool:
    """Say before a call that shows no progress how long it will take; silent for short ones.

    The line goes to `note` (of a progress display) if given, else to a terminal, else nowhere.

    Parameters
    ----------
    seconds_estimate : float
        Expected duration; below one second nothing is said.
    what : str
        The work, such as `"eigenvalues of a 20000 x 20000 matrix"`.
    note : callable, optional
        Takes the line, usually `progress.note`.

    Returns
    -------
    bool
        Whether the call counts as long.

    Examples
    --------
    >>> announce_long_call(0.2, "a small factorization")
    False
    >>> announce_long_call(90, "a large factorization", note=print)
    a large factorization: about 90 s without a sign of progress
    True
    """
    if not seconds_estimate >= LONG_CALL_SECONDS:
        return False
    line = f"{printable(what)}: about {seconds_estimate:.2g} s without a sign of progress"
    if note is not None:
        note(line)
    elif on_terminal():
        print(line, file=sys.stderr, flush=True)
    return True


def on_terminal() -> bool:
    """Whether someone reads standard error as it is written."""
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


# --- Ends ----------------------------------------------------------------------------------------


class Cancelled(Exception):  # noqa: N818  (an outcome, not a fault)
    """Raised inside a task whose caller was interrupted; never reaches the caller."""


class OutOfTime(KeyboardInterrupt):
    """The deadline came before there was anything of use; raised wherever Ctrl-C would be."""


_stop: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar(
    "novum_stop", default=None
)
_end: contextvars.ContextVar[float] = contextvars.ContextVar("novum_deadline", default=math.inf)
_is_kept: contextvars.ContextVar[bool] = contextvars.ContextVar("novum_is_kept", default=False)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Fits inside of the block end after so many seconds, with what they have by then.

    Whatever works in rounds, passes or trees looks at the clock between them; its certificate says
    *stopped early*, and `details["stopped_by"]` is "deadline". What has no use before its end
    raises `OutOfTime` and leaves no trace. Deadlines may be nested: the earlier one holds. They
    reach all threads of the fits, and none but them.

    Parameters
    ----------
    seconds : float
        May be infinite; nothing or less ends fits at once.

    Examples
    --------
    >>> with deadline(0.0):
    ...     is_late()
    True
    >>> is_late()
    False
    """
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def seconds_left() -> float:
    """Seconds until the deadline, infinite without one."""
    end = _end.get()
    return end if end == math.inf else end - time.monotonic()


def is_late() -> bool:
    """Whether the deadline has come; without one nobody looks at a clock."""
    end = _end.get()
    return end != math.inf and time.monotonic() >= end


def stops_at_deadline() -> bool:
    """Whether the deadline has come, for a driver that then ends with what it has.

    What is left of the fit is no longer interrupted by the deadline, and the rounds of further
    drivers end after the first.
    """
    late = is_late()
    if late:
        _is_kept.set(True)
    return late


@contextmanager
def own_deadline() -> Iterator[None]:
    """A fit, whose driver may end it at the deadline with what there is."""
    token = _is_kept.set(_is_kept.get())
    try:
        yield
    finally:
        _is_kept.reset(token)


def check_cancelled() -> None:
    """Ends this task if its caller was interrupted, or its deadline has come.

    Long work calls it every 200 ms or so. Where neither tasks nor a deadline are at work it does
    nothing: Ctrl-C arrives as `KeyboardInterrupt`.
    """
    stop = _stop.get()
    if stop is not None and stop.is_set():
        raise Cancelled
    if is_late() and not _is_kept.get():
        raise OutOfTime


def stops_with(event: threading.Event) -> contextvars.Context:
    """The caller's context, in which work ends once the event is set."""
    context = contextvars.copy_context()
    context.run(_stop.set, event)
    return context
