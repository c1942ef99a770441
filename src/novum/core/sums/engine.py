"""Engines: where a sum of statistics is computed.

A learner gives a step `chunk -> statistics`; an engine gives `sum of step(chunk)`. There are four:
blocks in memory (`sum_blocks`), any iterable of chunks (`sum_chunks`), files through
`core.sources`, and Dask (`core.runtime.cluster`). The learner's code is the same for all.

Partial sums are combined in one fixed tree over the chunk numbers,

    ((0 + 1) + (2 + 3)) + ((4 + 5) + 6),

so for one partition of the rows the bits do not depend on threads, workers or the order in which
they finish. The tree also keeps rounding errors small: a chunk takes part in log2(n) additions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Protocol, TypeVar, cast

from novum.core.errors import InputError
from novum.core.runtime import run_tasks
from novum.core.tables import Sample
from novum.numerics import one_blas_thread


class Addable(Protocol):
    def __add__(self, other: Any, /) -> Any: ...


S = TypeVar("S", bound=Addable)

# Rows of one block of an in-memory sum. A constant: the partition must not depend on the machine.
BLOCK_ROWS = 131_072


def total(parts: Iterable[S | None]) -> S:
    """The sum of the parts, by the fixed tree; holds log2(n) partial sums at a time.

    A part may be None, the sum over no rows: it keeps its place in the tree and adds nothing.

    Examples
    --------
    >>> total(["a", "b", "c"])
    'abc'
    """
    stack: list[tuple[int, S | None]] = []
    for number, part in enumerate(parts):
        size, value = 1, part
        while stack and stack[-1][0] == size:
            value = added(stack.pop()[1], value, number + 1 - 2 * size, number)
            size *= 2
        stack.append((size, value))
    last = sum(size for size, _ in stack) - 1
    first = last + 1
    total_so_far: S | None = None
    while stack:
        size, value = stack.pop()
        first -= size
        total_so_far = added(value, total_so_far, first, last)
    return refuse_nothing(total_so_far)


def added(a: S | None, b: S | None, first: int, last: int) -> S | None:
    """`a + b` of the chunks `first..last`; None is the sum over chunks without rows."""
    if a is None or b is None:
        return b if a is None else a
    try:
        return cast(S, a + b)
    except Exception as error:
        error.add_note(f"This happened when adding chunks {first} to {last} (counted from 0).")
        raise


def refuse_nothing(total: S | None) -> S:
    if total is None:
        raise InputError("There are no chunks to learn from. Pass at least one chunk with rows.")
    return total


def sum_blocks(step: Callable[[Sample], S], sample: Sample, n_jobs: int | None = None) -> S:
    """The statistics of a sample in memory, block by block, in up to `n_jobs` threads."""
    if sample.n_rows <= BLOCK_ROWS:
        with one_blas_thread():
            return step(sample)
    starts = range(0, sample.n_rows, BLOCK_ROWS)
    blocks = (sample.rows(slice(start, start + BLOCK_ROWS)) for start in starts)
    return total(run_tasks(step, blocks, n_jobs))


def sum_chunks(
    step: Callable[[Any], S | None], chunks: Iterable[Any] | Callable[[], Iterable[Any]]
) -> S:
    """The statistics of a stream; `chunks` is an iterable, or a callable that returns one."""
    stream = chunks() if callable(chunks) else chunks
    if not isinstance(stream, Iterable):
        raise InputError(
            f"Chunks are an iterable, or a callable that returns one, got {type(stream).__name__}. "
            "Pass a list or generator of tuples (X, y)."
        )
    with one_blas_thread():
        return total(_stepped(step, iter(stream)))


def _stepped(step: Callable[[Any], S | None], stream: Iterator[Any]) -> Iterator[S | None]:
    for number in count():
        try:
            chunk = next(stream)
        except StopIteration:
            return
        except Exception as error:
            error.add_note(f"This happened when chunk {number} (counted from 0) was read.")
            raise
        try:
            statistics = step(chunk)
        except Exception as error:
            error.add_note(f"This happened in chunk {number} (counted from 0) of the stream.")
            raise
        yield statistics
