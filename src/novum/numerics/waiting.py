"""Calls that Ctrl-C cannot stop, made where it need not: in a thread that the caller waits for.

Python raises `KeyboardInterrupt` in the main thread, between two of its instructions. A call into
a library that lasts for seconds delays it until the end; a call that comes back to Python often,
such as a compilation, gets it at places that were not made for it, where it is turned into other
errors or lost. The main thread therefore waits, which can be interrupted at once, while another
thread makes the call. What the other thread does then ends by itself, and nobody waits for it.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

# On some systems only waiting with a limit can be interrupted.
_LONGEST_WAIT = 0.1


def wait_for(function: Callable[..., Result], *arguments: Any) -> Result:
    """`function(*arguments)`, which the main thread leaves as soon as Ctrl-C is pressed.

    In other threads, which Ctrl-C does not reach, it is a plain call. The function must not change
    what somebody uses who caught the interrupt: until it ends, it goes on.

    Examples
    --------
    >>> wait_for(divmod, 7, 2)
    (3, 1)
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results: list[Result] = []
    errors: list[BaseException] = []
    over = threading.Event()

    def run() -> None:
        try:
            results.append(context.run(function, *arguments))
        except BaseException as error:
            errors.append(error)
        finally:
            over.set()

    context = contextvars.copy_context()
    # A daemon: the end of the process does not wait for what nobody waits for.
    threading.Thread(target=run, name="novum call", daemon=True).start()
    while not over.wait(_LONGEST_WAIT):
        pass
    if errors:
        raise errors.pop()
    return results.pop()
