"""Compilations that neither Ctrl-C nor a fork can leave half done.

The compiler is Python code that calls LLVM and is called by it. `KeyboardInterrupt` in the middle
of it may be raised in a finalizer, where it is lost, or end as another error. So the main thread
only waits for a compilation (`waiting`), and one that was left goes on to its end: the next call
of the kernel finds it in memory, and the next process on disk.

A fork waits for a compilation in another thread, which a child would never see end.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from novum.numerics.shared_state import held_over_fork
from novum.numerics.waiting import wait_for


def compile_while_waiting(dispatcher: Any) -> None:
    """Lets a dispatcher compile, and load from the disk, in a thread that its caller waits for."""
    _hold_over_forks()
    compile_here = dispatcher.compile

    def compile_signature(signature: Any) -> Any:
        if global_compiler_lock.is_locked():
            # A part of another compilation, whose thread this is.
            return compile_here(signature)
        return wait_for(compile_here, signature)

    dispatcher.compile = compile_signature


@cache
def _hold_over_forks() -> None:
    # The key of a cache asks LLVM without the compiler's lock.
    held_over_fork(ffi.lib._lock._lock)
    held_over_fork(global_compiler_lock._lock)
