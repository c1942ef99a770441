"""Interruptible work: long loops in slices of about a tenth of a second.

A compiled kernel cannot be interrupted, so a long loop calls it for some blocks at a time and comes
back to Python in between, where Ctrl-C, progress and time limits act. How many blocks go into a
call adapts to their measured time; how the rows are cut into blocks does not. A kernel that keeps
one accumulator per block, or carries its state from block to block in order, therefore gives the
same bits however fast the machine is.

A single LAPACK call is one such piece of work that cannot be sliced. `long_call` says before how
long it will take, and lets another thread make it, so that Ctrl-C ends the wait for it.

What Ctrl-C can end, a clock can end: `time_limit` raises `OutOfTime` in the same places.
"""

from __future__ import annotations

import math
import signal
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
        taken = pacer.blocks
        stop = min(n_items, start + taken * block)
        began = clock()
        yield start, stop
        # A last slice that is not full says little about the time of a full one.
        if stop - start == taken * block:
            pacer.record(clock() - began)
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
    return wait_for(function) if seconds >= WAITED_SECONDS else function()


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


# --- Limits of time -------------------------------------------------------------------------------


class OutOfTime(KeyboardInterrupt):
    """The time that a block of `time_limit` may take is over; raised wherever Ctrl-C would be."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Ends the block by `OutOfTime` if it takes longer, wherever Ctrl-C would be answered.

    A signal of the system's timer interrupts the main thread. In other threads, and where a system
    has no such timer, the block runs to its end. Limits may be nested, and the timer of somebody
    else goes on afterwards.

    Parameters
    ----------
    seconds : float
        May be infinite; nothing or less ends the block at once.

    Examples
    --------
    >>> try:
    ...     with time_limit(0.01):
    ...         time.sleep(10)
    ... except OutOfTime:
    ...     print("after a moment")
    after a moment
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not math.isfinite(seconds) or not is_main or not hasattr(signal, "setitimer"):
        yield
        return
    inside = True

    def end(_signal: int, _frame: object) -> None:
        if inside:
            raise OutOfTime

    began = time.monotonic()
    handler = signal.signal(signal.SIGALRM, end)
    # Again every second: code that is called back from C may have to ignore an exception.
    outer, interval = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6), 1.0)
    sklearn = sys.modules.get("sklearn")
    settings = sklearn.get_config() if sklearn else {}
    try:
        yield
    except OutOfTime:
        # Learners of others, too, may have been about to put scikit-learn's settings back.
        if sklearn:
            sklearn.set_config(**settings)
        raise
    finally:
        inside = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if outer > 0:
            left = max(outer - (time.monotonic() - began), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, interval)
