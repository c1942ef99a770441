"""Matrix products on one thread, so that their bits do not depend on the number of cores.

A multi-threaded product cuts the matrix by the number of threads and rounds differently along the
cuts. Reductions whose result must be the same everywhere run inside `one_blas_thread`.

Most BLAS libraries have one number of threads for the whole process. Python threads that enter at
the same time are counted: the first sets the limit, the last one lifts it, whichever that is. A
BLAS built on OpenMP has a number for each thread, which every thread sets and lifts for itself.

OpenBLAS hands out its buffers under a lock of its own. A fork while another thread holds it leaves
it locked in the child, whose first product then waits forever. So a fork lets nobody in and waits a
moment for those inside: small fits, which take that lock again and again, are then over.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

from novum.numerics.shared_state import held_over_fork


class _User:
    """Someone inside `one_blas_thread`, who counts only as long as the `with` block lives."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class _Limit:
    """A limit of one thread on some libraries, for as long as it has users.

    Ctrl-C may come between any two instructions, also between a begin and its end. Therefore users
    are held weakly, and whoever comes first sets the limit again: a lost end is made up for.
    """

    def __init__(self, libraries: list[Any]) -> None:
        self._libraries = libraries
        self._before: list[int] | None = None
        self._users: WeakSet[_User] = WeakSet()

    @property
    def has_users(self) -> bool:
        return len(self._users) > 0

    def enter(self, user: _User) -> None:
        if not self._users:
            now = [library.get_num_threads() for library in self._libraries]
            # A limit that is there without users was never lifted, and is not what was before.
            before = self._before or now
            self._before = [b if n == 1 else n for n, b in zip(now, before, strict=True)]
            if any(n != 1 for n in now):
                self._set([1] * len(now))
        self._users.add(user)

    def leave(self, user: _User) -> None:
        self._users.discard(user)
        self._lift_if_unused()

    def users_elsewhere(self) -> list[_User]:
        """Those of other threads."""
        return [user for user in self._users if user.thread != threading.get_ident()]

    def drop_other_threads(self) -> None:
        for user in self.users_elsewhere():
            self._users.discard(user)
        self._lift_if_unused()

    def _lift_if_unused(self) -> None:
        if self._users or self._before is None:
            return
        if any(n != 1 for n in self._before):
            self._set(self._before)
            _release_control(self._libraries)
        self._before = None

    def _set(self, counts: list[int]) -> None:
        _release_control(self._libraries)
        for library, count in zip(self._libraries, counts, strict=True):
            library.set_num_threads(count)


# Libraries are looked for, counted and limited by one thread at a time.
_lock = threading.RLock()
# Kept by a fork, passed by all who enter.
_entrance = threading.RLock()
_own = threading.local()

# Seconds that a fork waits for those inside. A long fit asks for buffers too seldom to matter.
_PATIENCE = 0.25
# Seconds that the entrance is closed at most: who waits there may hold what the fork waits for.
_CLOSED = 1.0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS library to one thread inside the `with` block.

    May be nested and entered from several threads at once.

    >>> with one_blas_thread():
    ...     pass
    """
    if holds_one_thread():
        yield
        return
    _import_blas()
    user = _User()
    try:
        if _entrance.acquire(timeout=_CLOSED):
            _entrance.release()
        with _lock:
            _process_limit().enter(user)
            _thread_limit().enter(user)
        yield
    finally:
        with _lock:
            _thread_limit().leave(user)
            _process_limit().leave(user)


def holds_one_thread() -> bool:
    """Whether this thread is inside `one_blas_thread`.

    >>> with one_blas_thread():
    ...     holds_one_thread()
    True
    """
    return hasattr(_own, "limit") and bool(_own.limit.has_users)


@cache
def _import_blas() -> None:
    # SciPy brings a BLAS of its own, which must be there to be found. Imports wait for each other,
    # and never for our lock.
    import scipy.linalg  # noqa: F401
    import threadpoolctl  # noqa: F401


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """BLAS libraries with one limit for the process, and those with one for each thread."""
    from threadpoolctl import ThreadpoolController

    _import_blas()
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    by_thread = [lib for lib in libraries if getattr(lib, "threading_layer", None) == "openmp"]
    return [lib for lib in libraries if lib not in by_thread], by_thread


# Called by the holder of the lock. A cache alone would not do: threads that come first at once
# would each make one, see the limit of the others, and take it for what was there before.
@cache
def _process_limit() -> _Limit:
    return _Limit(_libraries()[0])


def _thread_limit() -> _Limit:
    if not hasattr(_own, "limit"):
        _own.limit = _Limit(_libraries()[1])
    return _own.limit


def _release_control(libraries: list[Any]) -> None:
    # From 3.7 on, threadpoolctl silently ignores every thread but the one that set a limit first.
    for library in libraries:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)


def _close_entrance() -> None:
    """Before a fork: nobody comes in, and those inside may end what they do."""
    _entrance.acquire()
    end = time.monotonic() + _PATIENCE
    while _is_used_elsewhere() and time.monotonic() < end:
        time.sleep(1e-4)


def _is_used_elsewhere() -> bool:
    with _lock:
        return bool(_process_limit.cache_info().currsize and _process_limit().users_elsewhere())


def _open_entrance_in_child() -> None:
    """The only thread is the one that forked: limits of others are lifted."""
    if _process_limit.cache_info().currsize:
        _process_limit().drop_other_threads()
    _entrance.release()


held_over_fork(_lock)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_close_entrance,
        after_in_parent=_entrance.release,
        after_in_child=_open_entrance_in_child,
    )
