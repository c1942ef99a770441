"""Fitting trees and forests to what does not fit into memory: streams, files, clusters.

A first pass surveys the rows: columns, levels, classes, bins. Then the trees grow level by level,
one pass for each, until what is left of the rows fits the budget; it is fetched, in codes of one
byte for each cell, and the rest is grown in memory. A table whose codes fit is read three times:
once for the levels of a file, once for the bins, once for the rows.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Self

from novum.core.memory import VARIABLE, memory_limit
from novum.core.schema import Schema
from novum.trees.scale.pass_plan import BUDGET
from novum.trees.scale.passes import Passes


class LevelGrowth(ABC):
    """Gives a tree or a forest `fit_stream` and `fit_file`."""

    @abstractmethod
    def _fit_passes(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        """Fits to chunks that can be read again and again."""

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)`, which are read several times.

        Parameters
        ----------
        chunks : list, callable or Dask collections
            Chunks, a callable that returns a fresh iterator of them, a pair of Dask arrays or
            frames `(X, y)`, or a list of delayed chunks or futures.
        schema : Schema, optional
            Reads every chunk alike; without it each chunk's levels are united.
        classes : array-like, optional
            For classifiers: labels that may occur, in addition to those that do.

        Notes
        -----
        With at most 32,768 distinct values in each numeric column (fewer from 65 columns on) the
        bins are quantiles of all rows. Where there are more they come from a summary whose ranks
        are wrong by less than `(1 + log2 chunks) / 4096` of the rows. Given the bins, the tree is
        that of `fit`. For one partition of the rows all engines grow the same tree, bit by bit.
        Class weights do not move the bins.

        Bootstrap samples count every row a Poisson number of times, in place of drawing as many
        rows as there are.
        """
        budget = growth_budget(None)
        self._fit_chunks(Passes.over(chunks, type(self).__name__), schema, classes, budget)
        return self

    def fit_file(
        self,
        path: Any,
        *,
        target: str,
        weight: str | None = None,
        features: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        chunk_rows: int = 65_536,
        memory_limit: str | None = None,
        client: Any = None,
    ) -> Self:
        """Fits to a CSV, Parquet or ARFF file, which may be larger than memory.

        Parameters
        ----------
        path : path of the file
        target, weight : str
            Names of the columns with the targets and, optionally, the weights.
        features : iterable of str, optional
            The columns to learn from; all others by default.
        kinds : mapping, optional
            Kinds of columns that the file's types do not tell, such as `{"zip": "nominal"}`.
        chunk_rows : int
            Rows in memory at a time.
        memory_limit : str, optional
            Memory of the reader, such as `"200MB"`; sums and rows of a pass take at most half of
            it beside that, and never more than 256 MB.
        client : distributed.Client, optional
            Sums the file's partitions on this cluster, whose workers must see the file.
        """
        from novum.core.table_file import TableFile

        budget = growth_budget(memory_limit)
        file = TableFile.open(path, target, weight, features, kinds, memory_limit)
        chunks: Any = partial(file.chunks, chunk_rows)
        if client is not None:
            chunks = file.parts(chunk_rows)
        self._fit_chunks(Passes(chunks, client), file.schema, None, budget)
        return self

    def _fit_chunks(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        self._validate_params()  # type: ignore[attr-defined]
        self._fit_passes(passes, schema, classes, budget)


def growth_budget(limit: str | None) -> int:
    """Bytes that sums and rows of a pass may take: 256 MB, or half of a limit that was stated.

    What is free at the moment does not enter: trees that draw columns depend on the budget.

    Examples
    --------
    >>> growth_budget("100MB")
    50000000
    """
    stated = limit if limit is not None else os.environ.get(VARIABLE)
    return BUDGET if not stated else min(BUDGET, memory_limit(stated) // 2)
