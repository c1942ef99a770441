"""What the first pass over the chunks finds out: all that must be known before the first split.

Columns with their levels, classes, sketches of the numeric columns for the bins, weights of levels,
numbers of missing cells, and location and range of numeric targets. All of it adds up, and what
belongs to a level or a class is added by label, so that every chunk may bring new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError, NotAdditiveError
from novum.core.tables import Column, Kind, Schema, level_key, united_labels
from novum.numerics import Floats, Integers, cached_property
from novum.trees.growth.coding import TableCoding, midpoints
from novum.trees.growth.conversion import TargetScale
from novum.trees.scale.chunks import ChunkReader, Labels
from novum.trees.training import CellRows


@dataclass(frozen=True, eq=False)
class TargetRange:
    """Where numeric targets lie; each an array (n_targets,)."""

    mean: Floats
    least: Floats
    largest: Floats


@dataclass(frozen=True, eq=False)
class Survey:
    """A first look at rows.

    Attributes
    ----------
    schema : Schema
    rows, chunks : float, int
        How many there are.
    weight : float
        Of all rows, without class weights.
    sketches : tuple of ColumnSketch, one for each numeric column
    level_weights : tuple of arrays, one for each categorical column
    missing : int64 array (n_columns,)
    classes, class_weights : tuples with an array for each target; None for numbers
    target : TargetRange; None for classes
    """

    schema: Schema
    rows: float
    chunks: int
    weight: float
    sketches: tuple[ColumnSketch, ...]
    level_weights: tuple[Floats, ...]
    missing: Integers
    classes: Labels | None
    class_weights: tuple[Floats, ...] | None
    target: TargetRange | None

    @classmethod
    def of(cls, rows: CellRows) -> Survey:
        """The survey of one chunk."""
        schema, cells, weight = rows.schema, rows.cells, rows.weight
        unit = None if (weight == 1.0).all() else weight
        capacity = capacity_of(schema.n_columns)
        level_weights = []
        for j in schema.categorical.tolist():
            known = cells[:, j] >= 0
            codes, n_levels = cells[known, j].astype(np.int64), schema.columns[j].n_levels
            level_weights.append(np.bincount(codes, weight[known], n_levels).astype(np.float64))
        class_weights = None
        if rows.classes is not None:
            class_weights = tuple(
                np.bincount(rows.targets[:, t], weight, len(labels)).astype(np.float64)
                for t, labels in enumerate(rows.classes)
            )
        return cls(
            schema,
            float(rows.n_rows),
            1,
            float(weight.sum()),
            tuple(ColumnSketch.of(cells[:, j], unit, capacity) for j in schema.numeric.tolist()),
            tuple(level_weights),
            np.isnan(cells).sum(axis=0),
            rows.classes,
            class_weights,
            None if rows.classes is not None else _range_of(rows.targets, weight),
        )

    # Sums

    def __add__(self, other: Survey) -> Survey:
        schema = self.schema.unite(other.schema)
        weight = self.weight + other.weight
        classes, class_weights = _added_classes(self, other)
        sketches = zip(self.sketches, other.sketches, strict=True)
        levels = zip(self._levels_in(schema), other._levels_in(schema), strict=True)
        return Survey(
            schema,
            self.rows + other.rows,
            self.chunks + other.chunks,
            weight,
            tuple(a + b for a, b in sketches),
            tuple(a + b for a, b in levels),
            self.missing + other.missing,
            classes,
            class_weights,
            _added_ranges(self, other),
        )

    def _levels_in(self, schema: Schema) -> list[Floats]:
        """Weights of levels in the order of a schema that has all of them."""
        moved = []
        pairs = zip(self.schema.categorical_columns, schema.categorical_columns, strict=True)
        for (old, new), weights in zip(pairs, self.level_weights, strict=True):
            places = [new.positions[level_key(level)] for level in old.levels]
            moved.append(np.zeros(new.n_levels))
            moved[-1][places] = weights
        return moved

    def with_labels(self, classes: Any) -> Survey:
        """The survey in which these classes exist, whether rows have them or not."""
        if self.classes is None or self.class_weights is None:
            raise InputError("`classes` is for classifiers; this learner has none. Leave it out.")
        several = len(self.classes) > 1
        given = list(classes) if several else [classes]
        if len(given) != len(self.classes):
            raise InputError(
                f"`classes` has {len(given)} entries for {len(self.classes)} targets. Give a list "
                "of labels for each target."
            )
        wanted = tuple(np.unique(np.asarray(labels)) for labels in given)
        none = tuple(np.zeros(len(labels)) for labels in wanted)
        labels, weights = _added_classes(
            self, replace(self, classes=wanted, class_weights=none, rows=0.0)
        )
        return replace(self, classes=labels, class_weights=weights)

    # What follows

    def coding(self, max_bins: int | None) -> TableCoding:
        """The bins of all columns."""
        # No rows: what there is to refuse about the columns is refused here.
        plain = TableCoding.of(self.schema, np.empty((0, self.schema.n_columns)))
        edges = list(plain.edges)
        for j, sketch in zip(self.schema.numeric.tolist(), self.sketches, strict=True):
            if max_bins is None and not sketch.is_exact:
                _refuse_exact(self.schema.columns[j], sketch.capacity)
            edges[j] = sketch.edges(max_bins)
        for j, weights in zip(self.schema.categorical.tolist(), self.level_weights, strict=True):
            if self.schema.columns[j].kind is Kind.ORDINAL:
                met = np.flatnonzero(weights).astype(np.float64)
                edges[j] = edges_of(met, weights[weights > 0], max_bins)
        n_codes = [
            max(column.n_levels, 1) if column.kind is Kind.NOMINAL else column_edges.size + 1
            for column, column_edges in zip(self.schema.columns, edges, strict=True)
        ]
        return TableCoding(self.schema, tuple(edges), np.array(n_codes, np.int64))

    def scale(self) -> TargetScale | None:
        """How numeric targets are brought to numbers of size one, as `TargetScale.of` does."""
        if self.target is None:
            return None
        ends = np.vstack([self.target.least, self.target.largest])
        # The unit, a power of two, follows from the range; rounding must not leave the range.
        of_range = TargetScale.of(ends, np.ones(2))
        if (ends[0] == ends[1]).all():
            return of_range
        return TargetScale.around(np.clip(self.target.mean, *ends), of_range.unit)

    def common_values(self) -> Floats:
        """The most common cell of every column: heaviest level, median of numbers and orders."""
        values = np.full(self.schema.n_columns, np.nan)
        for j, sketch in zip(self.schema.numeric.tolist(), self.sketches, strict=True):
            values[j] = sketch.median()
        for j, weights in zip(self.schema.categorical.tolist(), self.level_weights, strict=True):
            if not weights.any():
                continue
            if self.schema.columns[j].kind is Kind.NOMINAL:
                values[j] = float(weights.argmax())
            else:
                codes = np.arange(weights.size, dtype=np.float64)
                values[j] = ColumnSketch(codes, weights, 0.0, weights.size).median()
        return values


@dataclass(frozen=True, eq=False)
class SurveyStep:
    """The step `(number, chunk) -> Survey`."""

    reader: ChunkReader

    def __call__(self, numbered: tuple[int, Any]) -> Survey | None:
        rows = self.reader(numbered[1])
        return None if rows is None else Survey.of(rows)


# --- Parts ----------------------------------------------------------------------------------------


def _range_of(targets: Floats, weight: Floats) -> TargetRange:
    # Shares of the weight first: a sum of large targets could overflow.
    mean = (weight / weight.sum()) @ targets
    return TargetRange(mean, targets.min(axis=0), targets.max(axis=0))


def _added_ranges(a: Survey, b: Survey) -> TargetRange | None:
    if a.target is None or b.target is None:
        return None
    if a.target.mean.size != b.target.mean.size:
        _refuse_targets(a.target.mean.size, b.target.mean.size)
    weight = a.weight + b.weight
    return TargetRange(
        a.target.mean * (a.weight / weight) + b.target.mean * (b.weight / weight),
        np.minimum(a.target.least, b.target.least),
        np.maximum(a.target.largest, b.target.largest),
    )


def _added_classes(a: Survey, b: Survey) -> tuple[Labels | None, tuple[Floats, ...] | None]:
    if a.classes is None or b.classes is None:
        return None, None
    assert a.class_weights is not None
    assert b.class_weights is not None
    if len(a.classes) != len(b.classes):
        _refuse_targets(len(a.classes), len(b.classes))
    classes, weights = [], []
    for t in range(len(a.classes)):
        labels = united_labels(a.classes[t], b.classes[t])
        total = np.zeros(len(labels))
        for part in (a, b):
            assert part.classes is not None
            assert part.class_weights is not None
            total[np.searchsorted(labels, part.classes[t])] += part.class_weights[t]
        classes.append(labels)
        weights.append(total)
    return tuple(classes), tuple(weights)


def _refuse_targets(a: int, b: int) -> None:
    raise InputError(
        f"y has {a} target columns in one chunk and {b} in another. Give all chunks the same "
        "targets."
    )


def _refuse_exact(column: Column, capacity: int) -> None:
    raise NotAdditiveError(
        f"max_bins=None needs all values of column {column.name!r}, which has more than the "
        f"{capacity:,} that are kept of a stream. Give max_bins, up to 255, or fit in memory."
    )


# --- Sketches of numeric columns ------------------------------------------------------------------
#
# Summaries of numeric columns that add up, from which bins are cut.
#
# A sketch is a list of distinct values v_1 < v_2 < ... with the weight of the rows in (v_{i-1},
# v_i]. As long as a column has at most `capacity` distinct values, that is the column itself, and
# the bins are those of the table in memory. A longer list is compressed to about K = capacity / 4
# values: values are kept where the running weight crosses a multiple of W / K, and so is every
# value of weight W / K or more and the one before it. A rank, the weight of the rows up to x, is
# then wrong by
#
#     less than 2 W / K for each compression that a row has gone through,
#
# and errors of parts add up. A sum over n chunks compresses a row at most once for each of its
# log2(n) additions and once in its chunk. `error` is the bound that was in fact reached.

# Distinct values of a sketch, fewer for each column of a wide table: all of them stay below 32 MB.
MOST_VALUES = 32_768
FEWEST_VALUES = 2_048
ALL_VALUES = 2**21


@dataclass(frozen=True, eq=False)
class ColumnSketch:
    """Weights of a column's values, exact while they are few.

    Attributes
    ----------
    values : float64 array (k,), ascending
        Values that rows have.
    weights : float64 array (k,)
        Weight of the rows above the value before and up to this one.
    error : float
        No rank is wrong by more; 0 as long as every value is kept.
    capacity : int
        The most values that are kept.
    """

    values: Floats
    weights: Floats
    error: float
    capacity: int

    @classmethod
    def of(
        cls, x: Floats, weight: Floats | None = None, capacity: int = MOST_VALUES
    ) -> ColumnSketch:
        """The sketch of cells; missing ones (NaN) do not count.

        Examples
        --------
        >>> sketch = ColumnSketch.of(np.array([2.0, np.nan, 1.0, 2.0]))
        >>> sketch.values.tolist(), sketch.weights.tolist()
        ([1.0, 2.0], [1.0, 2.0])
        """
        known = ~np.isnan(x)
        if weight is None:
            values, counts = np.unique(x[known], return_counts=True)
            weights = counts.astype(np.float64)
        else:
            values, weights = _gathered(x[known], weight[known])
        return _compressed(values, weights, 0.0, capacity)

    @property
    def is_exact(self) -> bool:
        """Whether the sketch has every value of the column."""
        return self.error == 0.0

    @property
    def weight(self) -> float:
        """Weight of the rows whose cell is known."""
        return float(self.up_to[-1]) if self.values.size else 0.0

    @cached_property
    def up_to(self) -> Floats:
        """Weight of the rows up to each value."""
        return np.cumsum(self.weights)

    def rank(self, x: float) -> float:
        """Weight of the rows of at most `x`, too small by at most `error`."""
        place = int(np.searchsorted(self.values, x, side="right"))
        return float(self.up_to[place - 1]) if place else 0.0

    # Sums

    def __add__(self, other: ColumnSketch) -> ColumnSketch:
        if self.capacity != other.capacity:
            raise InputError(
                f"Sketches of capacity {self.capacity} and {other.capacity} do not add up. Make "
                "both with the same capacity."
            )
        values, weights = _gathered(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weights, other.weights]),
        )
        return _compressed(values, weights, self.error + other.error, self.capacity)

    def __rmul__(self, factor: float) -> ColumnSketch:
        return ColumnSketch(self.values, factor * self.weights, factor * self.error, self.capacity)

    def zero(self) -> ColumnSketch:
        """The sketch of no rows."""
        return ColumnSketch(np.empty(0), np.empty(0), 0.0, self.capacity)

    def isclose(self, other: ColumnSketch, rtol: float = 1e-10) -> bool:
        """Whether all ranks agree, as far as both sketches know them."""
        room = self.error + other.error + rtol * max(self.weight, other.weight)
        places = np.union1d(self.values, other.values).tolist()
        return all(abs(self.rank(x) - other.rank(x)) <= room for x in places)

    # Bins

    def edges(self, max_bins: int | None) -> Floats:
        """Cuts of the column into at most `max_bins` parts, as `TableCoding.of` makes them.

        Of more values than bins, quantiles: the rank of a cut is that of its place among parts of
        equal weight, up to the weight of one value and `error`.
        """
        return edges_of(self.values, self.weights, max_bins)

    def median(self) -> float:
        """The weighted median; NaN of a column without cells."""
        if self.values.size == 0:
            return float("nan")
        half = 0.5 * self.up_to[-1] * (1 - 1e-12)
        return float(self.values[np.searchsorted(self.up_to, half)])


def capacity_of(n_columns: int) -> int:
    """How many values each of that many columns keeps.

    Examples
    --------
    >>> capacity_of(20), capacity_of(500), capacity_of(10**5)
    (32768, 4194, 2048)
    """
    return int(np.clip(ALL_VALUES // max(n_columns, 1), FEWEST_VALUES, MOST_VALUES))


def edges_of(values: Floats, weights: Floats, max_bins: int | None) -> Floats:
    """Cuts between values, at quantiles of their weights if there are more than `max_bins`."""
    if max_bins is None or values.size <= max_bins:
        return midpoints(values[:-1], values[1:])
    up_to = np.cumsum(weights)
    targets = up_to[-1] * np.arange(1, max_bins) / max_bins
    # The last value of each bin; the largest value of all closes no bin.
    last = np.unique(np.searchsorted(up_to, targets * (1 - 1e-12)))
    last = last[last < values.size - 1]
    return midpoints(values[last], values[last + 1])


# --- Lists of values ------------------------------------------------------------------------------


def _gathered(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Distinct values, ascending, with their weights."""
    order = np.argsort(x, kind="stable")
    x, weight = x[order], weight[order]
    first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]])[: x.size])
    return x[first], np.add.reduceat(weight, first) if first.size else np.empty(0)


def _compressed(values: Floats, weights: Floats, error: float, capacity: int) -> ColumnSketch:
    if values.size <= capacity:
        return ColumnSketch(values, weights, error, capacity)
    up_to = np.cumsum(weights)
    step = up_to[-1] / (capacity // 4)
    bucket = np.ceil(up_to / step)
    kept = np.append(bucket[1:] != bucket[:-1], True)
    # Weight moves up to the next value that is kept: a heavy value must not move, nor be moved to.
    heavy = weights >= step
    kept |= heavy
    kept[:-1] |= heavy[1:]
    last = np.flatnonzero(kept)
    moved = np.diff(up_to[last], prepend=0.0)
    lost = float((moved - weights[last]).max())
    return ColumnSketch(values[last], moved, error + max(lost, 0.0), capacity)
