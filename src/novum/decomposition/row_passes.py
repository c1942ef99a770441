"""Passes over chunks: a step summed over a stream, a file or a cluster again and again.

Iterative fits (`core.expectation.fit_sums`) ask for the same sum many times. In memory that is
`core.engine.sum_blocks`; for chunks that can be read anew it is a `RowPasses`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from novum.core.cluster import is_dask, sum_on_cluster
from novum.core.engine import sum_chunks
from novum.core.errors import InputError
from novum.core.schema import Schema
from novum.core.statistics import ChunkStep
from novum.core.validation import Sample


@dataclass(frozen=True, eq=False)
class RowPasses:
    """Sums a step over chunks: `passes(step)` is one pass.

    Attributes
    ----------
    learner : estimator
        Reads the chunks.
    schema : Schema or None
    chunks : list, callable, Dask collections or parts of a file
    client : distributed.Client, optional
        Sums on this cluster.
    """

    learner: Any
    schema: Schema | None
    chunks: Any
    client: Any = None

    def __post_init__(self) -> None:
        if not (
            callable(self.chunks) or isinstance(self.chunks, (list, tuple)) or is_dask(self.chunks)
        ):
            raise InputError(
                f"Cells are missing, so {type(self.learner).__name__} must read the chunks several "
                "times, but they come from an iterator that is used up. Pass a list of chunks or a "
                "callable that returns a fresh iterator."
            )

    def __call__(self, step: Callable[[Sample], Any]) -> Any:
        read = ChunkStep(_SampleStep(self.learner, step), self.schema)
        if self.client is not None or is_dask(self.chunks):
            return sum_on_cluster(read, self.chunks, self.client)
        return sum_chunks(read, self.chunks)


class _SampleStep:
    """Looks like a learner to `ChunkStep`, and applies a step to each sample it reads."""

    def __init__(self, learner: Any, step: Callable[[Sample], Any]) -> None:
        self.learner, self.step = learner, step

    def statistics(self, X: Any, y: Any = None, weight: Any = None, *, schema: Any = None) -> Any:
        return self.step(clone(self.learner)._read(X, y, weight, schema))
