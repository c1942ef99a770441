"""Tables of numbers and categories as mixtures read them: the first pass, and first groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, Self

import numpy as np

from novum.clustering import KeptRows
from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.sums import Additive, ChunkPasses, SchemaSums
from novum.core.tables import Kind, Sample, Schema, check_sample
from novum.mixture.mixture_model import MixtureModel
from novum.numerics import Floats, Integers, as_argument, column_moments_of

# Entries of the table of a group of columns: with a few components it stays in the nearest cache.
_TABLE_ENTRIES = 256

# Rows that first groups are made of.
_START_ROWS = 8192


@dataclass(frozen=True, eq=False)
class MixedTable(Additive):
    """First pass: moments of numbers, counts of levels, and rows to start from."""

    schema: Schema
    columns: Any
    counts: Floats
    weight: float
    rows: float
    kept: KeptRows

    @classmethod
    def of(cls, sample: Sample) -> MixedTable:
        X, weights, starts = (
            as_argument(sample.numeric),
            sample.weights,
            level_starts(sample.schema),
        )
        counts = np.zeros(starts[-1])
        for codes, (a, b) in zip(sample.codes.T, pairwise(starts), strict=True):
            there = codes >= 0
            counts[a:b] = np.bincount(codes[there], weights[there], b - a)
        try:
            columns = column_moments_of(X, sample.weight)
        except ValueError as error:
            raise InputError(str(error)) from None
        known = ~np.isnan(X).all(axis=1) | (sample.codes >= 0).any(axis=1)
        codes = np.where(sample.codes >= 0, sample.codes, np.nan)
        kept = KeptRows.of(np.hstack([X, codes])[known], weights[known])
        weight = float(weights[known].sum())
        return cls(sample.schema, columns, counts, weight, float(known.sum()), kept)

    def refuse_empty_columns(self) -> None:
        """A column without any cell cannot be learned."""
        is_number = np.array([c.kind is Kind.NUMERIC for c in self.schema.columns], bool)
        seen = np.empty(len(is_number))
        seen[is_number] = self.columns.weight
        starts = level_starts(self.schema)
        seen[~is_number] = [self.counts[a:b].sum() for a, b in pairwise(starts)]
        empty = np.flatnonzero(~(seen > 0))
        if empty.size:
            raise InputError(
                f"Column {self.schema.names[empty[0]]!r} has no present cell, so nothing can be "
                "learned of it. Leave it out."
            )


def level_starts(schema: Schema) -> Integers:
    """Where the levels of every categorical column begin in a table of all levels."""
    sizes = [column.n_levels for column in schema.columns if column.kind is not Kind.NUMERIC]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class LevelGroups:
    """Categorical columns in groups, each with one table over all combinations of its levels.

    A row looks up one entry for a group in place of one for every column, in densities as in
    counts. What is missing is a further level, of log-probability 0: it drops out of the product.

    Attributes
    ----------
    columns : tuple of tuples of column numbers
    sizes : tuple of tuples
        Levels of these columns, the missing one included.
    starts : array (G + 1,)
        Where the tables begin in a row of all.
    """

    columns: tuple[tuple[int, ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    starts: Integers

    @classmethod
    def of(cls, schema: Schema) -> LevelGroups:
        columns: list[list[int]] = []
        sizes: list[list[int]] = []
        for j, (a, b) in enumerate(pairwise(level_starts(schema))):
            size = int(b - a) + 1
            if columns and prod(sizes[-1]) * size <= _TABLE_ENTRIES:
                columns[-1].append(j)
                sizes[-1].append(size)
            else:
                columns.append([j])
                sizes.append([size])
        starts = np.cumsum([0, *(prod(own) for own in sizes)]).astype(np.int64)
        return cls(tuple(map(tuple, columns)), tuple(map(tuple, sizes)), starts)

    def codes(self, codes: Any) -> Any:
        """Combined codes (n, G) of codes of levels (n, q); below 0 is missing."""
        together = np.zeros((len(codes), len(self.columns)), np.int32)
        for g, (columns, sizes) in enumerate(zip(self.columns, self.sizes, strict=True)):
            for j, size in zip(columns, sizes, strict=True):
                own = np.where(codes[:, j] >= 0, codes[:, j], size - 1)
                together[:, g] = together[:, g] * size + own
        return together

    def tables(self, levels: Floats, ends: Integers) -> Floats:
        """Log-probabilities (K, entries) of all combinations from those of levels (K, L)."""
        K = len(levels)
        parts = []
        for columns in self.columns:
            table = np.zeros((K, 1))
            for j in columns:
                own = np.hstack([levels[:, ends[j] : ends[j + 1]], np.zeros((K, 1))])
                table = (table[:, :, None] + own[:, None, :]).reshape(K, -1)
            parts.append(table)
        return np.hstack(parts) if parts else np.empty((K, 0))

    def level_counts(self, counts: Floats, ends: Integers) -> Floats:
        """Counts of levels (K, L) from those of combinations."""
        K = len(counts)
        levels = np.zeros((K, int(ends[-1])))
        for g, (columns, sizes) in enumerate(zip(self.columns, self.sizes, strict=True)):
            table = counts[:, self.starts[g] : self.starts[g + 1]].reshape(K, *sizes)
            for axis, j in enumerate(columns, 1):
                others = tuple(a for a in range(1, table.ndim) if a != axis)
                levels[:, ends[j] : ends[j + 1]] = table.sum(axis=others)[:, :-1]
        return levels


def fewer_rows(kept: KeptRows) -> KeptRows:
    """Rows that first groups are made of: the same however the table came."""
    few = np.sort(np.argsort(kept.keys, kind="stable")[:_START_ROWS])
    return KeptRows(kept.rows[few], kept.weights[few], kept.keys[few])


def start_rows(
    X: Floats, codes: Floats, weights: Floats, starts: Integers, is_ordinal: list[bool]
) -> Floats:
    """Rows whose distances make first groups: numbers and ordinal codes in standard units beside
    indicators of levels; missing cells stand at the mean."""
    blocks = [np.nan_to_num(X)]
    for j, is_ordered in enumerate(is_ordinal):
        size = int(starts[j + 1] - starts[j])
        if is_ordered:
            moments = column_moments_of(codes[:, [j]], weights)
            spread = np.sqrt(moments.scatter / np.where(moments.weight > 0, moments.weight, 1.0))
            away = (codes[:, [j]] - moments.mean) / np.where(spread > 0, spread, 1.0)
            blocks.append(np.nan_to_num(away))
        else:
            blocks.append((codes[:, [j]] == np.arange(size)) / np.sqrt(0.5))
    return np.hstack(blocks)


class TableMixture(MixtureModel):
    """A mixture whose columns may be of any kind.

    Parameters
    ----------
    init_params : {"kmeans", "k-means++", "random_from_data", "hierarchical"}
        First groups, of numbers in standard units and indicators of levels.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to read as categories.
    """

    prior_count: float = parameter(default=0.1, at_least=0)
    init_params: str = parameter(
        {"kmeans", "k-means++", "random_from_data", "hierarchical"}, default="kmeans"
    )
    categorical_features: Any = parameter(default="auto")
    n_init: int = parameter(default=5, at_least=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:  # noqa: ARG002
        return check_sample(
            self, X, None, sample_weight, target="none", schema=schema, allow_missing=True
        )

    def _first_sums(self) -> Any:
        return MixedTable.of

    def _fit_passes(self, passes: ChunkPasses) -> Self:
        if passes.schema is None:
            # Codes of levels must mean the same in every chunk.
            passes = replace(passes, schema=passes(SchemaSums.of).schema)
        return super()._fit_passes(passes)
