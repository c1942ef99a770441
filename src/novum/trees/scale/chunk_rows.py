"""Chunks as rows that a tree learns from.

A chunk is `(X, y)`, `(X, y, weight)` or a callable that returns one. It is read like a whole table,
by the learner's own checks; labels become codes of the chunk's own classes, which are translated
once the classes of all chunks are known.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.schema import Schema
from novum.core.statistics import is_empty_chunk
from novum.core.targets import check_classes, check_numbers, plain_target
from novum.core.validation import check_sample
from novum.trees.cells import cells_of
from novum.trees.training import TrainingRows

Labels = tuple[NDArray[Any], ...]


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

    def __call__(self, chunk: Any) -> TrainingRows | None:
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
            return TrainingRows(sample.schema, cells_of(sample), rows, sample.weights, None)
        columns = labels[kept].reshape(len(kept), -1)
        found = [check_classes(columns[:, t], name) for t in range(columns.shape[1])]
        codes = np.column_stack([code for _, code in found])
        classes = tuple(known for known, _ in found)
        return TrainingRows(sample.schema, cells_of(sample), codes, sample.weights, classes)


def _parts(chunk: Any) -> tuple[Any, Any, Any]:
    values = chunk() if callable(chunk) else chunk
    if not isinstance(values, tuple) or not 1 <= len(values) <= 3:
        raise InputError(
            "A chunk is a tuple (X, y) or (X, y, weight), got "
            f"{type(values).__name__}. Yield tuples; a single chunk goes into a list."
        )
    return (*values, None, None)[:3]


def with_classes(rows: TrainingRows, classes: Labels | None) -> TrainingRows:
    """The rows with codes of these classes in place of those of the chunk's own."""
    if classes is None or rows.classes is None:
        return rows
    targets = np.empty_like(rows.targets)
    for t, (own, known) in enumerate(zip(rows.classes, classes, strict=True)):
        targets[:, t] = np.searchsorted(known, own)[rows.targets[:, t]]
    return replace(rows, targets=targets, classes=classes)


def united_labels(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """All labels of either chunk, sorted; text and numbers do not mix."""
    if a.size and b.size and _is_text(a) != _is_text(b):
        raise InputError(
            f"y holds {a.tolist()[0]!r} in one chunk and {b.tolist()[0]!r} in another. Convert all "
            "labels to one type, such as text."
        )
    return np.union1d(a, b)


def _is_text(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "OUST"
