"""One stream of random numbers per task, so that results do not depend on who runs it.

A parallel fit that shares one generator gives other numbers for every number of workers. Here the
stream of a task is a function of the seed and the task's key alone:

    stream(seed, key) = PCG64(SeedSequence(entropy=seed, spawn_key=key))

so tasks may run in any order, in any number of threads or processes, be repeated after a crash or
be left out, and every one of them still sees its own numbers. Streams of different keys are
independent for all practical purposes (collisions have probability about 2^-128).

`random_state` is what scikit-learn's users pass. A generator or NumPy's global state (`None`) is
advanced by every call, so call `seed_sequence` once at the start of a fit and derive all streams
from its result.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from numbers import Integral
from typing import TypeAlias

import numpy as np

from novum.core.errors import InputError

RandomSource: TypeAlias = (
    int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None
)


def seed_sequence(random_state: RandomSource = None) -> np.random.SeedSequence:
    """The root from which the streams of one fit are derived.

    Parameters
    ----------
    random_state : None, int, Generator, RandomState or SeedSequence
        An integer or a `SeedSequence` always gives the same root and is not changed. A `Generator`
        or `RandomState` gives 128 bits and is advanced by them, so that a second fit differs.
        `None` draws from NumPy's global state, as in scikit-learn: `numpy.random.seed` makes a
        script repeatable.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise InputError(f"random_state is an integer of at least 0, got {random_state}.")
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=4, dtype=np.uint64)
    elif random_state is None:
        words = np.random.randint(0, 2**32, size=4, dtype=np.uint64)  # noqa: NPY002
    elif isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint64)
    else:
        raise InputError(
            "random_state is None, an integer, a numpy Generator, RandomState or SeedSequence, "
            f"got {random_state!r} of type {type(random_state).__name__}."
        )
    return np.random.SeedSequence([int(word) for word in words])


def stream(random_state: RandomSource, *key: int | str) -> np.random.Generator:
    """The generator of the task with that key.

    Parameters
    ----------
    random_state : None, int, Generator, RandomState or SeedSequence
        See `seed_sequence`.
    *key : int or str
        What tells the task from others: its number, or parts such as `("tree", 17)`.

    Examples
    --------
    >>> first, again = stream(0, "restart", 3), stream(0, "restart", 3)
    >>> bool(first.normal() == again.normal())
    True
    """
    return np.random.Generator(np.random.PCG64(_child(seed_sequence(random_state), key)))


def streams(random_state: RandomSource, n_tasks: int) -> list[np.random.Generator]:
    """One generator for each of the tasks `0, ..., n_tasks - 1`.

    The first streams do not depend on how many follow: 100 trees are the first 100 of 200.
    For a seed they equal those of `SeedSequence(seed).spawn(n_tasks)`.

    Examples
    --------
    >>> [int(rng.integers(100)) for rng in streams(0, 3)] == [
    ...     int(stream(0, task).integers(100)) for task in range(3)
    ... ]
    True
    """
    root = seed_sequence(random_state)
    return [stream(root, task) for task in range(n_tasks)]


def seed(random_state: RandomSource, *key: int | str) -> int:
    """A 32-bit seed for the task with that key, to be passed on as a `random_state`.

    Examples
    --------
    >>> seed(0, 1) == seed(0, 1) and seed(0, 1) != seed(0, 2)
    True
    """
    child = _child(seed_sequence(random_state), key)
    return int(child.generate_state(1, np.uint32)[0])


def _child(root: np.random.SeedSequence, key: tuple[int | str, ...]) -> np.random.SeedSequence:
    # Built instead of spawned: `spawn` counts its children in the parent, and then a result
    # depends on what was spawned before.
    words = tuple(word for part in key for word in key_words(part))
    return np.random.SeedSequence(
        root.entropy, spawn_key=(*root.spawn_key, *words), pool_size=root.pool_size
    )


@lru_cache(maxsize=4096, typed=True)
def key_words(part: int | str) -> tuple[int, ...]:
    """One part of a key as 32-bit words; longer parts are hashed to 128 bits.

    `SeedSequence` itself would confuse the keys `(2**32,)` and `(0, 1)`.
    """
    if isinstance(part, Integral) and 0 <= part < 2**32:
        return (int(part),)
    if not isinstance(part, (str, Integral)):
        raise InputError(
            f"The key of a stream is made of integers and strings, got {part!r} "
            f"of type {type(part).__name__}."
        )
    label = part if isinstance(part, str) else int(part)
    digest = hashlib.sha256(f"{type(label).__name__}:{label}".encode("utf-8", "surrogatepass"))
    return tuple(int(word) for word in np.frombuffer(digest.digest()[:16], "<u4"))
