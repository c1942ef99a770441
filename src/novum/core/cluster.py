"""Sums of statistics on a Dask cluster.

Every partition becomes one task `step(partition)`, and the results are added in the same fixed
tree as everywhere (`core.engine`), keyed by partition number. A worker that dies takes only its
tasks along: the scheduler runs them again elsewhere, and because neither the tasks nor the tree
depend on who computes them, the bits of the result stay the same.

Accepted are pairs or triples of Dask arrays or frames `(X, y[, weight])`, lists of delayed values
or futures that each hold one chunk or are tuples of its parts, and partitions of files.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from novum.core.engine import added, refuse_nothing
from novum.core.errors import InputError
from novum.numerics.blas_threads import one_blas_thread


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
    root = _tree(dask, step, parts)
    client = client if client is not None else _client_of(chunks)
    try:
        found = root.compute() if client is None else client.compute(root).result()
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise RuntimeError(
            f"Workers died again and again while computing one partition ({error}). Its number "
            "stands behind `novum-partition-`, unless another one on the same worker was to blame. "
            "Give the workers more memory, or make partitions smaller."
        ) from error
    return refuse_nothing(found)


def _tree(dask: Any, step: Callable[[Any], Any], parts: Sequence[Any]) -> Any:
    """The delayed sum of all partitions, by the tree of `core.engine`."""
    step_task, add_task = dask.delayed(_stepped, pure=False), dask.delayed(_added, pure=False)
    # A fresh token: a key that returns would bring back the result of an earlier sum.
    token = uuid.uuid4().hex
    sums = [
        (step_task(step, part, i, dask_key_name=f"novum-partition-{i}-{token}"), i, i)
        for i, part in enumerate(parts)
    ]
    while len(sums) > 1:
        pairs = [
            (add_task(a, b, first, last), first, last)
            for (a, first, _), (b, _, last) in zip(sums[::2], sums[1::2], strict=False)
        ]
        sums = pairs + sums[2 * len(pairs) :]
    return sums[0][0]


def _stepped(step: Callable[[Any], Any], chunk: Any, number: int) -> Any:
    try:
        with one_blas_thread():
            return step(chunk)
    except Exception as error:
        error.add_note(f"This happened in partition {number} (counted from 0).")
        raise


def _added(a: Any, b: Any, first: int, last: int) -> Any:
    with one_blas_thread():
        return added(a, b, first, last)


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
        columns = [_blocks(collection) for collection in _aligned(_checked(chunks))]
        if len({len(blocks) for blocks in columns}) != 1:
            counts = [len(blocks) for blocks in columns]
            raise InputError(
                f"X, y and weight have {counts} partitions. Repartition them alike, so that "
                "partition i of each holds the same rows."
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
    """Dask arrays with the row chunks of the first and all columns in one chunk."""
    first, *others = (_one_column_chunk(collection) for collection in collections)
    if not hasattr(first, "rechunk"):
        return [first, *others]
    if first.ndim != 2:
        raise InputError(f"Expected 2D array, got X of shape {first.shape} instead. Reshape X.")
    aligned = [first]
    for other in others:
        if hasattr(other, "rechunk") and not _alike(first, other):
            other = other.rechunk({0: first.chunks[0]})
        aligned.append(other)
    return aligned


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


def _blocks(collection: Any) -> list[Any]:
    delayed = collection.to_delayed()
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
            "Sums on a cluster need Dask. Install it with `pip install 'novum[scale]'`."
        ) from error
    return dask
