"""Chunks as rows that a tree learns from.

A chunk is `(X, y)`, `(X, y, weight)` or a callable that returns one. It is read like a whole table,
by the learner's own checks; labels become codes of the chunk's own classes, which are translated
once the classes of all chunks are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import dask_library, is_dask, partitions_of, sum_on_cluster
from novum.core.sums import check_restartable, is_empty_chunk, sum_chunks
from novum.core.tables import Schema, check_classes, check_numbers, check_sample, plain_target
from novum.numerics import Array
from novum.trees.training import CellRows, cells_of

Labels = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class ChunkReader:
    """Reads chunks; a small value that can be pickled.

    Attributes
    ----------
    learner : estimator
        Unfitted; gives its name to messages, and its `categorical_features`.
    has_classes : bool
        Whether targets are labels or numbers.
    schema : Schema, optional
        Reads every chunk alike; without it each chunk has a schema of its own.
    """

    learner: Any
    has_classes: bool
    schema: Schema | None = None

    def __call__(self, chunk: Any) -> CellRows | None:
        """The rows of a chunk; None if no row counts."""
        X, y, weight = _parts(chunk)
        if is_empty_chunk(X, y, weight):
            return None
        name = type(self.learner).__name__
        if y is None:
            raise InputError(
                f"{name} requires y to be passed, but the chunk is (X,). Yield tuples (X, y)."
            )
        labels = plain_target(y)
        # The rows' places go through the check in the place of targets, so that rows of weight
        # zero leave both.
        sample = check_sample(
            copy(self.learner),
            X,
            np.arange(len(labels), dtype=float),
            weight,
            schema=self.schema,
            allow_missing=True,
            accept_sparse=True,
        )
        kept = sample.target.astype(np.intp)
        if not self.has_classes:
            numbers = check_numbers(y, name).reshape(len(labels), -1)[kept]
            rows = np.ascontiguousarray(numbers)
            return CellRows(sample.schema, cells_of(sample), rows, sample.weights, None)
        columns = labels[kept].reshape(len(kept), -1)
        label_codes = [check_classes(columns[:, t], name) for t in range(columns.shape[1])]
        codes = np.column_stack([code for _, code in label_codes])
        classes = tuple(known for known, _ in label_codes)
        return CellRows(sample.schema, cells_of(sample), codes, sample.weights, classes)


def _parts(chunk: Any) -> tuple[Any, Any, Any]:
    values = chunk() if callable(chunk) else chunk
    if not isinstance(values, tuple) or not 1 <= len(values) <= 3:
        raise InputError(
            "A chunk is a tuple (X, y) or (X, y, weight), got "
            f"{type(values).__name__}. Yield tuples; a single chunk goes into a list."
        )
    return (*values, None, None)[:3]


def with_classes(rows: CellRows, classes: Labels | None) -> CellRows:
    """The rows with codes of these classes in place of those of the chunk's own."""
    if classes is None or rows.classes is None:
        return rows
    targets = np.empty_like(rows.targets)
    for t, (own, known) in enumerate(zip(rows.classes, classes, strict=True)):
        targets[:, t] = np.searchsorted(known, own)[rows.targets[:, t]]
    return replace(rows, targets=targets, classes=classes)


# --- Passes ---------------------------------------------------------------------------------------
#
# One pass over chunks, wherever they are: in a list, behind a callable, in a file, on a cluster.
#
# A step is given `(number, chunk)`, so that what is random about a chunk can depend on its number
# and on nothing else. Sums are those of `core.sums.engine` and `core.runtime.cluster`: for one
# partition of the rows the same bits on every engine.


@dataclass(frozen=True, eq=False)
class Passes:
    """Chunks that can be gone through again and again.

    Attributes
    ----------
    chunks : list, callable that returns a fresh iterable, Dask collections or partitions
    client : distributed.Client, optional
        The cluster that sums partitions.

    Examples
    --------
    >>> Passes(["a", "b"]).total(lambda numbered: f"{numbered[0]}{numbered[1]} ")
    '0a 1b '
    """

    chunks: Any
    client: Any = None

    @classmethod
    def over(cls, chunks: Any, learner: str) -> Passes:
        """The passes over a user's chunks; refuses an iterator, which is used up after one."""
        check_restartable(chunks, learner, "Every level of a tree needs the rows again")
        return cls(chunks)

    def total(self, step: Callable[[tuple[int, Any]], Any]) -> Any:
        """The sum of `step((number, chunk))` over all chunks."""
        if self.client is not None or is_dask(self.chunks):
            # Collections are cut into partitions here, so that each can be given its number.
            parts = partitions_of(dask_library(), self.chunks)
            return sum_on_cluster(step, list(enumerate(parts)), self.client or _client(parts))
        stream = self.chunks() if callable(self.chunks) else self.chunks
        return sum_chunks(step, enumerate(stream) if isinstance(stream, Iterable) else stream)


def _client(parts: list[Any]) -> Any:
    """The client that futures belong to, which need not be the default one."""
    flat = (one for part in parts for one in (part if isinstance(part, tuple) else (part,)))
    return next((one.client for one in flat if type(one).__name__ == "Future"), None)
