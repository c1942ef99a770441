"""Calls that Ctrl-C cannot stop, made where it need not: in a thread that the caller waits for.

Python raises `KeyboardInterrupt` in the main thread, between two of its instructions. A call into
a library that lasts for seconds delays it until the end; a call that comes back to Python often,
such as a compilation, gets it at places that were not made for it, where it is turned into other
errors or lost. The main thread therefore waits, which can be interrupted at once, while another
thread makes the call. What the other thread does then ends by itself.
"""

from __future__ import annotations

import atexit
import contextvars
import math
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar
from weakref import WeakSet

from novum.numerics.blas_threads import holds_one_thread, one_blas_thread

Result = TypeVar("Result")

_calls: WeakSet[threading.Thread] = WeakSet()
# On some systems only waiting with a limit can be interrupted.
_LONGEST_WAIT = 0.1


def wait_for(function: Callable[..., Result], *arguments: Any, seconds: float = math.inf) -> Result:
    """`function(*arguments)`, which the main thread leaves as soon as Ctrl-C is pressed.

    After `seconds` it is left, too, by a `TimeoutError`. In other threads, which Ctrl-C does not
    reach, it is a plain call unless there is such a limit. The function must not change what
    somebody uses who caught the interrupt: until it ends, it goes on.

    Examples
    --------
    >>> wait_for(divmod, 7, 2)
    (3, 1)
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main and seconds == math.inf:
        return function(*arguments)
    results: list[Result] = []
    errors: list[BaseException] = []
    over = threading.Event()

    def run() -> None:
        try:
            # Some BLAS libraries have a limit for each thread.
            with one_blas_thread() if is_limited else nullcontext():
                results.append(context.run(function, *arguments))
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    context, is_limited = contextvars.copy_context(), holds_one_thread()
    thread = threading.Thread(target=run, name="novum call", daemon=True)
    _calls.add(thread)
    thread.start()
    end = time.monotonic() + seconds
    while not over.wait(min(_LONGEST_WAIT, max(seconds, 0.0))):
        if time.monotonic() >= end:
            raise TimeoutError
    if errors:
        raise errors.pop()
    return results.pop()


def _wait_for_the_rest() -> None:
    """At the end of a process: libraries must not be unloaded while a call is inside.

    A process that ends by an interrupt itself is killed by it, and unloads nothing.
    """
    if getattr(sys, "last_type", None) is not KeyboardInterrupt:
        for thread in list(_calls):
            thread.join()


atexit.register(_wait_for_the_rest)
