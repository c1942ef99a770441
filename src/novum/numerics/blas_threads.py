"""Matrix products on one thread, so that their bits do not depend on the number of cores.

A multi-threaded product cuts the matrix by the number of threads and rounds differently along the
cuts. Reductions whose result must be the same everywhere run inside `one_blas_thread`.

Most BLAS libraries have one number of threads for the whole process. Python threads that enter at
the same time are counted: the first sets the limit, the last one lifts it, whichever that is. A
BLAS built on OpenMP has a number for each thread, which every thread sets and lifts for itself.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Limit:
    """A limit of one thread on some libraries, counted over its nested users."""

    def __init__(self, libraries: list[Any]) -> None:
        self._libraries = libraries
        self._before: list[int] = []
        self._depth = 0

    def enter(self) -> None:
        if self._depth == 0:
            self._before = [library.get_num_threads() for library in self._libraries]
            self._set([1] * len(self._libraries))
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._set(self._before)
            _release_control(self._libraries)

    def _set(self, counts: list[int]) -> None:
        _release_control(self._libraries)
        for library, count in zip(self._libraries, counts, strict=True):
            library.set_num_threads(count)


_lock = threading.Lock()
_own = threading.local()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS library to one thread inside the `with` block.

    May be nested and entered from several threads at once.

    >>> with one_blas_thread():
    ...     pass
    """
    shared, own = _process_limit(), _thread_limit()
    with _lock:
        shared.enter()
    own.enter()
    try:
        yield
    finally:
        own.leave()
        with _lock:
            shared.leave()


@functools.cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """BLAS libraries with one limit for the process, and those with one for each thread."""
    # SciPy brings a BLAS of its own, which must be there to be found.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    by_thread = [lib for lib in found if getattr(lib, "threading_layer", None) == "openmp"]
    return [lib for lib in found if lib not in by_thread], by_thread


@functools.cache
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
