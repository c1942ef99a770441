"""Passes over chunks: a step summed over a stream, a file or a cluster again and again.

Iterative fits (`core.sums.expectation.fit_sums`) ask for the same sum many times. In memory that is
`core.sums.engine.sum_blocks`; for chunks that can be read anew it is a `ChunkPasses`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from novum.core.errors import InputError, NoLabelsError
from novum.core.files import TableFile
from novum.core.runtime import is_dask, sum_on_cluster
from novum.core.sums.engine import sum_chunks
from novum.core.sums.statistics import ChunkStep
from novum.core.tables import UNLABELLED, Sample, Schema


@dataclass(frozen=True, eq=False)
class ChunkPasses:
    """Sums a step over chunks: `passes(step)` is one pass.

    Attributes
    ----------
    learner : estimator
        Reads the chunks.
    schema : Schema or None
    chunks : list, callable, Dask collections or parts of a file
    client : distributed.Client, optional
        Sums on this cluster.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> passes = ChunkPasses.over([([[1.0]], [2.0]), ([[3.0]], [4.0])], LinearRegression())
    >>> passes(lambda sample: float(sample.target.sum())), passes(lambda sample: sample.n_rows)
    (6.0, 2)
    """

    learner: Any
    schema: Schema | None
    chunks: Any
    client: Any = None

    @classmethod
    def over(
        cls, chunks: Any, learner: Any, schema: Schema | None = None, *, reason: str = ""
    ) -> ChunkPasses:
        """Passes over a user's chunks; `reason` tells why one pass is not enough."""
        check_restartable(chunks, type(learner).__name__, reason)
        return cls(clone(learner), schema, chunks)

    @classmethod
    def over_file(
        cls,
        path: Any,
        learner: Any,
        *,
        target: str,
        chunk_rows: int = 65_536,
        client: Any = None,
        **options: Any,
    ) -> ChunkPasses:
        """Passes over a CSV, Parquet or ARFF file; `options` are those of `TableFile.open`."""
        file = TableFile.open(path, target, **options)
        rows = file.rows_at_a_time(chunk_rows)
        chunks = file.parts(rows) if client is not None else partial(file.chunks, rows)
        return cls(clone(learner), file.schema, chunks, client)

    def __call__(self, step: Callable[[Sample], Any]) -> Any:
        read = ChunkStep(_SampleStep(self.learner, step), self.schema)
        if self.client is not None or is_dask(self.chunks):
            return sum_on_cluster(read, self.chunks, self.client)
        return sum_chunks(read, self.chunks)


class PassesMixin:
    """`fit_stream` and `fit_file` of learners that go over the rows again and again.

    A learner gives `_fit_passes(passes)`, and why one pass is not enough.
    """

    _why_passes: ClassVar[str]

    def _fit_passes(self, passes: ChunkPasses) -> Self:
        """Fits to chunks, each pass of which sums a step over their samples."""
        raise NotImplementedError

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None) -> Self:
        """Fits to chunks `(X,)`, `(X, y)` or `(X, y, weight)` that can be read again and again.

        Parameters
        ----------
        chunks : list, callable that returns a fresh iterator, or Dask collections
        schema : Schema, optional
        """
        self._validate_params()  # type: ignore[attr-defined]
        passes = ChunkPasses.over(chunks, self, schema, reason=self._why_passes)
        return self._fit_passes(passes)

    def fit_file(self, path: Any, *, target: Any = None, **options: Any) -> Self:
        """Fits to a CSV, Parquet or ARFF file in several passes.

        Parameters
        ----------
        path : path of the file
        target : str, optional
            A column to leave out.
        **options
            `weight`, `features`, `kinds`, `chunk_rows`, `memory_limit` and `client`, as for other
            learners.
        """
        self._validate_params()  # type: ignore[attr-defined]
        return self._fit_passes(ChunkPasses.over_file(path, self, target=target, **options))


def check_restartable(chunks: Any, learner: str, reason: str = "") -> None:
    """Refuses an iterator, which is used up after one pass.

    Examples
    --------
    >>> check_restartable([], "Learner")
    >>> check_restartable(iter([]), "Learner", "Cells are missing")
    Traceback (most recent call last):
    novum.core.errors.InputError: Cells are missing: Learner reads the chunks several times, ...
    """
    if callable(chunks) or isinstance(chunks, (list, tuple)) or is_dask(chunks):
        return
    because = f"{reason}: " if reason else ""
    raise InputError(
        f"{because}{learner} reads the chunks several times, but {type(chunks).__name__} may be "
        "used up after the first. Pass a list of chunks, or a callable that returns a fresh "
        "iterator."
    )


class _SampleStep:
    """Looks like a learner to `ChunkStep`, and applies a step to each sample it reads."""

    def __init__(self, learner: Any, step: Callable[[Sample], Any]) -> None:
        self.learner, self.step = learner, step

    def statistics(self, X: Any, y: Any = None, weight: Any = None, *, schema: Any = None) -> Any:
        try:
            sample = clone(self.learner)._read(X, y, weight, schema)
        except NoLabelsError:
            # Other chunks have labels: these rows are read as if they had one, and lose it again.
            sample = clone(self.learner)._read(X, np.zeros(len(y)), weight, schema)
            none = np.full(sample.n_rows, UNLABELLED, np.int64)
            sample = replace(sample, target=none, classes=None)
        return self.step(sample)
