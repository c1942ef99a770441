"""What threads share, so that neither another thread nor a fork can leave it locked.

A fork copies the memory of a process and one of its threads. A lock that another thread held at
that moment stays locked in the child for good, and whoever asks for it there waits forever. Hence

    cached_property    holds no lock: threads may compute a value twice, and all see the first
    fork_safe_lock     is open again in a child, for state that any interrupted change leaves usable
    held_over_fork     is waited for before a fork, for state that only a whole change leaves usable
"""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (used as the one of functools)
        """A property that is computed once for each object and kept in its `__dict__`.

        That of Python 3.11 holds one lock for all objects of a class while it computes: a fork
        meanwhile leaves it locked in the child, threads with different objects wait for each other,
        and two properties that ask for each other's can wait forever.

        Examples
        --------
        >>> class Square:
        ...     def __init__(self, side):
        ...         self.side = side
        ...     @cached_property
        ...     def area(self):
        ...         return self.side**2
        >>> square = Square(3)
        >>> square.area, vars(square)
        (9, {'side': 3, 'area': 9})
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            kept = instance.__dict__
            try:
                return kept[self.attrname]
            except KeyError:
                # Of threads that compute at once, all get what the first one has kept.
                return kept.setdefault(self.attrname, self.func(instance))


_open_in_children: WeakSet[Any] = WeakSet()


def fork_safe_lock() -> threading.Lock:
    """A lock that is open in a forked child, whoever held it in the parent.

    Examples
    --------
    >>> with fork_safe_lock():
    ...     pass
    """
    lock = threading.Lock()
    _open_in_children.add(lock)
    return lock


def _open_locks() -> None:
    for lock in list(_open_in_children):
        lock._at_fork_reinit()


_waited_for: list[Any] = []
_own = threading.local()


def held_over_fork(lock: Any) -> None:
    """Lets forks wait until nobody else holds a lock, which is free again on both sides after.

    Parameters
    ----------
    lock : RLock
        Reentrant: the thread that forks may hold it.
    """
    _waited_for.append(lock)


def _take_locks() -> None:
    """Takes all locks that are held over forks.

    Threads take some of them in orders of their own. Whoever waits for one lock while holding
    another may wait forever, so a fork that finds one taken gives back the others first.
    """
    taken: list[Any] = []
    _own.taken = taken
    waiting = list(_waited_for)
    while waiting:
        lock = waiting.pop()
        if lock.acquire(blocking=not taken):
            taken.append(lock)
        else:
            waiting = [*waiting, *taken, lock]
            _release_locks()


def _release_locks() -> None:
    while _own.taken:
        _own.taken.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_take_locks, after_in_parent=_release_locks, after_in_child=_release_locks
    )
    os.register_at_fork(after_in_child=_open_locks)
