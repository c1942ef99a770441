"""Sums of statistics on a Dask cluster.

Every partition becomes one task `step(partition)`, and the results are added in the same fixed
tree as everywhere (`core.sums.engine`), keyed by partition number. A worker that dies takes only
its tasks along: the scheduler runs them again elsewhere, and because neither the tasks nor the tree
depend on who computes them, the bits of the result stay the same.

Accepted are pairs or triples of Dask arrays or frames `(X, y[, weight])`, lists of delayed values
or futures that each hold one chunk or are tuples of its parts, and partitions of files.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from novum.core.errors import InputError
from novum.core.sums import added, refuse_nothing
from novum.numerics import one_blas_thread

# How often a cluster is looked after while its partitions are computed.
_WATCH_SECONDS = 1.0
# How long a cluster without workers may take to start new ones.
_RESTART_SECONDS = 8.0
# How long a suspect may take alone before it stays one.
_ALONE_SECONDS = 15.0


def is_dask(chunks: Any) -> bool:
    """Whether `chunks` lives on a cluster: Dask collections, delayed values or futures."""
    if _is_remote(chunks):
        return True
    return isinstance(chunks, (list, tuple)) and any(map(_has_remote, chunks))


def _has_remote(part: Any) -> bool:
    return _is_remote(part) or (isinstance(part, tuple) and any(map(_is_remote, part)))


def sum_on_cluster(step: Callable[[Any], Any], chunks: Any, client: Any = None) -> Any:
    """The sum of `step(chunk)` over all partitions, computed where they are."""
    dask = dask_library()
    parts = partitions_of(dask, chunks)
    if not parts:
        raise InputError("There are no partitions to learn from. Pass at least one.")
    steps, root = _tree(dask, step, parts)
    client = client if client is not None else _client_of(chunks) or _default_client(dask)
    total = _computed_here(steps, root) if client is None else _computed_by(client, steps, root)
    return refuse_nothing(total)


def _tree(
    dask: Any, step: Callable[[Any], Any], parts: Sequence[Any]
) -> tuple[tuple[Any, ...], Any]:
    """The delayed step of every partition, and their sum by the tree of `core.sums.engine`."""
    step_task, add_task = dask.delayed(_stepped, pure=False), dask.delayed(_added, pure=False)
    # A fresh token: a key that returns would bring back the result of an earlier sum.
    token = uuid.uuid4().hex
    steps = tuple(
        step_task(step, part, i, dask_key_name=f"novum-partition-{i}-{token}")
        for i, part in enumerate(parts)
    )
    sums = [(one, i, i) for i, one in enumerate(steps)]
    while len(sums) > 1:
        pairs = [
            (add_task(a, b, first, last), first, last)
            for (a, first, _), (b, _, last) in zip(sums[::2], sums[1::2], strict=False)
        ]
        sums = pairs + sums[2 * len(pairs) :]
    return steps, sums[0][0]


def _stepped(step: Callable[[Any], Any], chunk: Any, number: int) -> Any:
    try:
        with one_blas_thread():
            return step(chunk)
    except Exception as error:
        _name_partition(error, number)
        raise


def _added(a: Any, b: Any, first: int, last: int) -> Any:
    with one_blas_thread():
        return added(a, b, first, last)


# --- Failures -------------------------------------------------------------------------------------
#
# A partition fails in its step, or in a task that loads it and that has no number of ours; so the
# steps are watched one by one, not only their sum. When a worker dies, the scheduler suspects all
# tasks that it had given it; a suspect that comes to its end alone was only a neighbor. Workers
# that die while they start are not started again, so a cluster may also be left with none.


def _computed_by(client: Any, steps: Sequence[Any], root: Any) -> Any:
    """The sum on a cluster; an error, or a death of workers, names the partition."""
    result, *futures = client.compute([root, *steps])
    waiting = dict(enumerate(futures))
    try:
        for number in _finished(client, waiting):
            if waiting[number].status == "error":
                # It holds all steps, and a step that is held keeps the error of its first trial.
                result.release()
                _raise_of(client, steps, waiting, number)
            # The sum needs the value until it is added; nobody else does.
            waiting.pop(number).release()
        return result.result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise RuntimeError(
            f"Workers died again and again while sums of partitions were added ({error}). Give "
            "the workers more memory."
        ) from error
    finally:
        for future in (result, *futures):
            future.release()


def _finished(client: Any, waiting: dict[int, Any]) -> Iterator[int]:
    """Numbers of partitions as they are done; raises when the last worker died of them."""
    from distributed import TimeoutError, as_completed

    numbers = {future.key: number for number, future in waiting.items()}
    patient_until = None
    while waiting:
        try:
            for future in as_completed(list(waiting.values()), timeout=_WATCH_SECONDS):
                yield numbers[future.key]
                patient_until = None
        except TimeoutError:
            suspects = [] if client.ncores() else _most_suspected(client, waiting)
            if not suspects:
                patient_until = None
            elif patient_until is None:
                patient_until = time.monotonic() + _RESTART_SECONDS
            elif time.monotonic() > patient_until:
                raise RuntimeError(_deaths(suspects, "No worker is left.")) from None


def _raise_of(client: Any, steps: Sequence[Any], waiting: dict[int, Any], number: int) -> None:
    """Raises the error of a partition; `waiting` are the futures of all that are not done."""
    from distributed import TimeoutError, wait

    try:
        waiting[number].result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            _name_partition(error, number)
            raise
        with suppress(TimeoutError):
            wait(list(waiting.values()), timeout=_WATCH_SECONDS)
        suspects = [i for i, future in waiting.items() if future.status == "error"]
        for future in waiting.values():
            future.release()
        raise RuntimeError(_deaths(_narrowed(client, steps, suspects), str(error))) from error


def _narrowed(client: Any, steps: Sequence[Any], suspects: list[int]) -> list[int]:
    """The partitions that may have killed their workers, after each was asked for alone.

    The last needs no trial: where all others come to their end, it is the one.
    """
    from distributed import TimeoutError

    # What the scheduler still knows keeps the error of its first trial and would give it again.
    keys, deadline = [steps[number].key for number in suspects], time.monotonic() + _ALONE_SECONDS
    while client.run_on_scheduler(_known, keys=keys):
        if time.monotonic() > deadline:
            return suspects
        time.sleep(0.05)
    undecided = suspects[-1:]
    for number in suspects[:-1]:
        future = client.compute(steps[number])
        deadline = time.monotonic() + _ALONE_SECONDS
        try:
            while True:
                try:
                    future.result(timeout=_WATCH_SECONDS)
                    break
                except TimeoutError:
                    # One death alone is enough; more would only cost more workers.
                    if _most_suspected(client, {number: future}):
                        return [number]
                    if time.monotonic() > deadline:
                        undecided.insert(-1, number)
                        break
        except Exception:
            return [number]
        finally:
            future.release()
    return undecided


def _deaths(suspects: Sequence[int], reason: str) -> str:
    one = len(suspects) == 1
    named = f"{'partition' if one else 'one of the partitions'} {', '.join(map(str, suspects))}"
    return (
        f"Workers died again and again while computing {named} (counted from 0): {reason} Look at "
        f"{'that partition' if one else 'them'}, give the workers more memory, or make partitions "
        "smaller."
    )


def _most_suspected(client: Any, waiting: dict[int, Any]) -> list[int]:
    """The partitions that were on most of the workers that died; none where none did."""
    numbers = {future.key: number for number, future in waiting.items()}
    counts = client.run_on_scheduler(_suspicions, keys=list(numbers))
    most = max(counts.values(), default=0)
    return sorted(numbers[key] for key, count in counts.items() if count == most > 0)


def _known(keys: list[str], dask_scheduler: Any = None) -> bool:
    return any(key in dask_scheduler.tasks for key in keys)


def _suspicions(keys: list[str], dask_scheduler: Any = None) -> dict[str, int]:
    """For every step, how often it, or what it waits for, was on a worker that died."""
    counts = {}
    for key in keys:
        unseen, seen = [dask_scheduler.tasks[key]] if key in dask_scheduler.tasks else [], set()
        counts[key] = 0
        while unseen:
            task = unseen.pop()
            seen.add(task.key)
            counts[key] = max(counts[key], task.suspicious)
            unseen += [other for other in task.dependencies if other.key not in seen]
    return counts


def _computed_here(steps: Sequence[Any], root: Any) -> Any:
    """The sum on threads or processes of this machine."""
    try:
        return root.compute()
    except Exception as error:
        if not getattr(error, "__notes__", ()):
            # Loading failed, which the local schedulers report without saying where.
            for number, step in enumerate(steps):
                try:
                    step.compute()
                except Exception:
                    _name_partition(error, number)
                    break
        raise


def _name_partition(error: BaseException, number: int) -> None:
    note = f"This happened in partition {number} (counted from 0)."
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


# --- Clients --------------------------------------------------------------------------------------


def _default_client(dask: Any) -> Any:
    """The cluster that Dask would compute on, or None where that is this process."""
    get = dask.base.get_scheduler()
    client = getattr(get, "__self__", None)
    return client if _is_remote(client) else None


def _client_of(chunks: Any) -> Any:
    """The client that futures belong to, which need not be the default one."""
    if not isinstance(chunks, (list, tuple)):
        return None
    flat = (one for part in chunks for one in (part if isinstance(part, tuple) else (part,)))
    return next((one.client for one in flat if type(one).__name__ == "Future"), None)


# --- Partitions -----------------------------------------------------------------------------------


def partitions_of(dask: Any, chunks: Any) -> list[Any]:
    if _is_collection(chunks):
        raise InputError(
            "Pass Dask collections as a tuple: `fit_stream((X, y))`, or `fit_stream((X,))` for a "
            "learner without target."
        )
    if isinstance(chunks, (list, tuple)) and any(_is_collection(part) for part in chunks):
        columns = _blocks(_aligned(_checked(chunks)))
        if len({len(blocks) for blocks in columns}) != 1:
            counts = [len(blocks) for blocks in columns]
            raise InputError(
                f"X, y and weight have {counts} partitions, so partition i of each does not hold "
                "the same rows. Take frames from one frame, `fit_stream((d[features], "
                "d[target]))`, and let arrays know their sizes, `X.compute_chunk_sizes()`."
            )
        return [dask.delayed(tuple)(list(parts)) for parts in zip(*columns, strict=True)]
    return [chunks] if _is_remote(chunks) else list(chunks)


def _checked(chunks: Sequence[Any]) -> list[Any]:
    if len(chunks) > 3:
        raise InputError(
            f"Pass Dask collections as (X, y) or (X, y, weight), got {len(chunks)} of them."
        )
    for name, part in zip(("X", "y", "weight"), chunks, strict=False):
        if not _is_collection(part) and not (name == "weight" and part is None):
            raise InputError(
                f"X, y and weight must all be Dask collections, but {name} is of type "
                f"{type(part).__name__}. Make it one with `dask.array.from_array` or "
                "`dask.dataframe.from_pandas`."
            )
    return [part for part in chunks if part is not None]


def _aligned(collections: Sequence[Any]) -> list[Any]:
    """Others with the rows of the first in each partition, as far as Dask knows which they are."""
    first, *others = (_one_column_chunk(collection) for collection in collections)
    if not hasattr(first, "rechunk"):
        return [first, *(_with_divisions(other, first) for other in others)]
    if first.ndim != 2:
        raise InputError(f"Expected 2D array, got X of shape {first.shape} instead. Reshape X.")
    aligned = [first]
    for other in others:
        if hasattr(other, "rechunk") and not _alike(first, other):
            other = other.rechunk({0: first.chunks[0]})
        aligned.append(other)
    return aligned


def _with_divisions(other: Any, first: Any) -> Any:
    """A frame cut at the index values where the first is cut, where both know them."""
    known = getattr(other, "known_divisions", False) and first.known_divisions
    if not known or other.divisions == first.divisions:
        return other
    mine, theirs = first.divisions, other.divisions
    if (mine[0], mine[-1]) != (theirs[0], theirs[-1]):
        raise InputError(
            f"The index of X runs from {mine[0]!r} to {mine[-1]!r}, that of y or weight from "
            f"{theirs[0]!r} to {theirs[-1]!r}. Take all of them from one frame: "
            "`fit_stream((d[features], d[target]))`."
        )
    return other.repartition(divisions=mine)


def _one_column_chunk(collection: Any) -> Any:
    is_table = hasattr(collection, "rechunk") and collection.ndim == 2
    return collection.rechunk({1: -1}) if is_table else collection


def _alike(first: Any, other: Any) -> bool:
    """Whether row chunks agree, as far as their sizes are known."""
    rows, others = first.shape[0], other.shape[0]
    if math.isnan(rows) or math.isnan(others):
        return True
    if rows != others:
        raise InputError(
            f"X has {rows} rows, but y or weight has {others}. Pass one target, and at most one "
            "weight, for each row."
        )
    return bool(first.chunks[0] == other.chunks[0])


def _blocks(collections: Sequence[Any]) -> list[list[Any]]:
    """The partitions of every collection as delayed values."""
    delayed = [_delayed(collection, True) for collection in collections]
    counts = [collection.npartitions for collection in collections]
    if [len(blocks) for blocks in delayed] == counts:
        return delayed
    # Dask's optimizer reads small files of a folder as one partition, the more of them the fewer
    # columns are wanted: more for y than for X. As written, all have the partitions of the folder.
    return [_delayed(collection, False) for collection in collections]


def _delayed(collection: Any, optimize: bool) -> list[Any]:
    delayed = collection.to_delayed(optimize_graph=optimize)
    return list(delayed.ravel()) if hasattr(delayed, "ravel") else list(delayed)


def _is_collection(value: Any) -> bool:
    """An array or a frame. A delayed value, which pretends to have every attribute, is a chunk."""
    return hasattr(type(value), "to_delayed")


def _is_remote(value: Any) -> bool:
    return hasattr(value, "__dask_graph__") or type(value).__module__.startswith("distributed")


def dask_library() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            "Sums on a cluster need Dask, which is not installed: pip install '.[scale]' in a copy "
            "of the sources."
        ) from error
    return dask
