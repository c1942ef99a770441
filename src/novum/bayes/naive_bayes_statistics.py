"""Sufficient statistics of naive Bayes: what each column adds up to within each class.

    numbers      weight, mean and scatter     (`class_moments`)
    counts       totals                       (`class_totals`)
    categories   counts of the levels         (`novum.numerics.counting`)
    other laws   their own statistics         (`novum.distributions.LawStatistics`)

All of them are sums over rows, so they add up over batches, come off again, and unite classes and
levels by label. A class or nominal level that only removed rows had is gone as if never met; one
that was declared stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.bayes.column_models import LawColumn
from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import Column, Kind, Sample, Schema, check_classes, level_key
from novum.distributions import class_moments, class_statistics, class_totals, numeric_cells
from novum.numerics import Array, ColumnMoments, Floats, Positions, count_by_class

# Weights that are taken away to the last row leave rounding errors behind, relative to what was.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Reading:
    """Which numeric columns are counts, which of those are compared with a threshold, and which
    have a law of their own.

    Attributes
    ----------
    counted : tuple of int
        Positions among the numeric columns, ascending; the others are numbers. None for all.
    thresholds : tuple of (float or None)
        One for each counted column, or one for all.
    laws : tuple of (int, LawColumn)
        Positions among the numeric columns and their laws, which have their own statistics.
    """

    counted: tuple[int, ...] | None = ()
    thresholds: tuple[float | None, ...] = (None,)
    laws: tuple[tuple[int, LawColumn], ...] = ()

    def key(self) -> tuple[Any, ...]:
        return (self.counted, self.thresholds, self.laws)

    def split(self, n_numeric: int) -> tuple[Positions, Positions]:
        """Positions of the numbers and of the counts."""
        is_counted = np.full(n_numeric, self.counted is None)
        is_counted[list(self.counted or ())] = True
        is_number = ~is_counted
        is_number[[j for j, _ in self.laws]] = False
        return np.flatnonzero(is_number), np.flatnonzero(is_counted)


@dataclass(frozen=True, eq=False)
class NaiveBayesStatistics:
    """All that naive Bayes needs to know of a weighted table.

    Attributes
    ----------
    schema : Schema
    classes : array of shape (K,)
        Labels, sorted.
    rows : float
        Number of rows of positive weight.
    class_count : array of shape (K,)
        Weight of each class.
    moments : ColumnMoments
        Of every number column within every class, class by class.
    totals : array of shape (K, number of count columns)
    missing : array like `totals`, or None
        Weight of the missing cells of the count columns.
    levels : array of shape (total number of levels, K)
        Weight of every level of every categorical column, one column after the other.
    reading : Reading
    laws : tuple
        For each column with a law of its own, that law's statistics in each class; None where the
        class has no cell.
    """

    schema: Schema
    classes: Array
    rows: float
    class_count: Floats
    moments: ColumnMoments
    totals: Floats
    missing: Floats | None
    levels: Floats
    reading: Reading
    laws: tuple[tuple[Any, ...], ...] = ()

    @classmethod
    def of(cls, sample: Sample, reading: Reading) -> NaiveBayesStatistics:
        """The statistics of a checked sample with classes."""
        assert sample.classes is not None
        n_classes, codes = len(sample.classes), sample.target
        numbers, counts = reading.split(sample.numeric.shape[1])
        check_memory(
            8 * n_classes * (6 * numbers.size + 3 * counts.size + _n_levels(sample.schema)),
            f"The sums of {sample.schema.n_columns} columns in {n_classes} classes",
            "Use fewer columns, or hash rare levels into one.",
        )
        moments = ColumnMoments.zero(0)
        if numbers.size:
            cells = numeric_cells(sample, numbers)
            moments = class_moments(cells, codes, n_classes, sample.weight)
        totals, missing = _totals(sample, reading, counts, n_classes)
        return cls(
            sample.schema,
            sample.classes,
            float(sample.n_rows),
            np.bincount(codes, sample.weight, n_classes).astype(float),
            moments,
            totals,
            missing,
            _level_counts(sample, n_classes),
            reading,
            tuple(
                class_statistics(
                    model.law,
                    sample.schema.columns[sample.schema.numeric[j]].name,
                    sample.numeric[:, j],
                    codes,
                    n_classes,
                    sample.weight,
                )
                for j, model in reading.laws
            ),
        )

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    # Sums of some columns, as `novum.distributions.ClassSums` has them

    def moments_of(self, columns: Positions) -> ColumnMoments:
        """Moments of some numbers, of all pairs (class, column), class by class."""
        numbers = self.reading.split(self.schema.numeric.size)[0]
        if columns.size == numbers.size:
            return self.moments
        places = np.searchsorted(numbers, columns)
        arrays = (self.moments.weight, self.moments.mean, self.moments.scatter)
        parts = (array.reshape(self.n_classes, -1)[:, places].ravel() for array in arrays)
        return ColumnMoments(*parts)

    def totals_of(self, columns: Positions) -> tuple[Floats, Floats | None]:
        """Totals of some counts, and the weight of their missing cells."""
        counted = self.reading.split(self.schema.numeric.size)[1]
        if columns.size == counted.size:
            return self.totals, self.missing
        places = np.searchsorted(counted, columns)
        missing = None if self.missing is None else self.missing[:, places]
        return self.totals[:, places], missing

    def law_sums(self, column: int) -> tuple[Any, ...]:
        """The statistics of a column with a law of its own, in each class."""
        return self.laws[[j for j, _ in self.reading.laws].index(column)]

    # Arithmetic

    def __add__(self, other: NaiveBayesStatistics) -> NaiveBayesStatistics:
        a, b = self._alike(other)
        return replace(
            a,
            rows=a.rows + b.rows,
            class_count=a.class_count + b.class_count,
            moments=a.moments + b.moments,
            totals=a.totals + b.totals,
            missing=_sum_of_missing(a.missing, b.missing),
            levels=a.levels + b.levels,
            laws=_by_class(_sum_of_missing, a.laws, b.laws),
        )

    def __sub__(self, other: NaiveBayesStatistics) -> NaiveBayesStatistics:
        """The statistics without the rows of `other`, which must be among them."""
        a, b = self._alike(other)
        _check_among(a, b)
        rest = replace(
            a,
            rows=max(0.0, a.rows - b.rows),
            class_count=_taken(a.class_count, b.class_count),
            moments=a.moments - b.moments,
            totals=_taken(a.totals, b.totals),
            missing=_difference_of_missing(a.missing, b.missing),
            levels=_taken(a.levels, b.levels),
            laws=_by_class(_law_difference, a.laws, b.laws),
        )
        # Without its rows a class has nothing left to count.
        gone = (a.class_count > 0) & (rest.class_count == 0)
        if (rest.totals[gone] > _NOTHING * np.abs(a.totals[gone])).any():
            raise InputError(
                "The rows to remove were never added: all of a class would go, but not all that "
                "was counted in its columns. Remove only rows that the sum holds."
            )
        return rest._without_what_is_gone(a)

    def __mul__(self, factor: float) -> NaiveBayesStatistics:
        return factor * self

    def __rmul__(self, factor: float) -> NaiveBayesStatistics:
        """Every row counted `factor` times."""
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"Statistics are multiplied by a number of at least 0, got {factor}.")
        return replace(
            self,
            rows=self.rows if factor > 0 else 0.0,
            class_count=factor * self.class_count,
            moments=self.moments * float(factor),
            totals=factor * self.totals,
            missing=None if self.missing is None else factor * self.missing,
            levels=factor * self.levels,
            laws=_by_class(lambda part: None if part is None else factor * part, self.laws),
        )

    def zero(self) -> NaiveBayesStatistics:
        """The sum over no rows, with the same schema and classes."""
        return 0.0 * self

    def isclose(self, other: NaiveBayesStatistics, rtol: float = 1e-10) -> bool:
        """Equal up to rounding, class by class and level by level."""
        a, b = self._alike(other)
        pairs = [(a.class_count, b.class_count), (a.totals, b.totals), (a.levels, b.levels)]
        pairs.append((_dense_missing(a), _dense_missing(b)))
        close = all(np.allclose(x, y, rtol=rtol, atol=rtol * _size(x)) for x, y in pairs)
        same = _by_class(lambda x, y: _law_isclose(x, y, rtol), a.laws, b.laws)
        return close and a.moments.isclose(b.moments, rtol) and all(map(all, same))

    # Classes and levels

    def with_classes(self, classes: Any) -> NaiveBayesStatistics:
        """The same sums with all of these labels among the classes, met or not."""
        labels = check_classes(np.asarray(classes), "Naive Bayes")[0]
        return self._on_classes(np.union1d(self.classes, _same_kind(labels, self.classes)))

    def on(self, schema: Schema) -> NaiveBayesStatistics:
        """The same sums under a schema that has these levels and maybe more."""
        if schema == self.schema:
            return self
        levels = np.zeros((_n_levels(schema), self.n_classes))
        moved = _moved_levels(self.schema, schema)
        levels[moved[moved >= 0]] = self.levels[moved >= 0]
        return replace(self, schema=schema, levels=levels)

    def table(self, position: int) -> Floats:
        """Counts (levels, K) of the categorical column with that position among them."""
        starts = level_starts(self.schema)
        return self.levels[starts[position] : starts[position + 1]]

    def _alike(
        self, other: NaiveBayesStatistics
    ) -> tuple[NaiveBayesStatistics, NaiveBayesStatistics]:
        """Both under one schema and with the same classes."""
        if self.reading.key() != other.reading.key():
            raise InputError(
                "These statistics were summed by models that read their columns differently, as "
                "numbers, counts or occurrences. Sum both with the same model and parameters."
            )
        schema = self.schema.unite(other.schema)
        a, b = self.on(schema), other.on(schema)
        if np.array_equal(a.classes, b.classes):
            return a, b
        labels = np.union1d(a.classes, _same_kind(b.classes, a.classes))
        return a._on_classes(labels), b._on_classes(labels)

    def _on_classes(self, labels: Array) -> NaiveBayesStatistics:
        """With these classes, which may be more or fewer."""
        if np.array_equal(labels, self.classes):
            return self
        places = {label: k for k, label in enumerate(self.classes.tolist())}
        old = np.array([places.get(label, -1) for label in labels.tolist()], np.intp)
        return replace(
            self,
            classes=labels,
            class_count=_picked(self.class_count, old),
            moments=_picked_moments(self.moments, self.n_classes, old),
            totals=_picked(self.totals, old),
            missing=None if self.missing is None else _picked(self.missing, old),
            levels=_picked(self.levels.T, old).T.copy(),
            laws=tuple(
                tuple(None if place < 0 else column[place] for place in old) for column in self.laws
            ),
        )

    def _without_what_is_gone(self, before: NaiveBayesStatistics) -> NaiveBayesStatistics:
        """Without the classes and nominal levels that only removed rows had."""
        if self.rows == 0:
            return self
        columns = list(self.schema.columns)
        for j, i in enumerate(self.schema.categorical):
            if columns[i].kind is Kind.NOMINAL:
                was, now = before.table(j).sum(axis=1), self.table(j).sum(axis=1)
                pairs = zip(columns[i].levels, (was > 0) & (now == 0), strict=True)
                kept = tuple(level for level, gone in pairs if not gone)
                columns[i] = Column(columns[i].name, Kind.NOMINAL, kept)
        stays = ~((before.class_count > 0) & (self.class_count == 0))
        schema = Schema(tuple(columns), self.schema.named)
        return self.on(schema)._on_classes(self.classes[stays])


# --- Sums over rows -------------------------------------------------------------------------------


def _totals(
    sample: Sample, reading: Reading, counts: Positions, n_classes: int
) -> tuple[Floats, Floats | None]:
    if counts.size == 0:
        return np.zeros((n_classes, 0)), None
    cells = numeric_cells(sample, counts)
    if len(reading.thresholds) == 1:
        return class_totals(cells, sample.target, n_classes, sample.weight, reading.thresholds[0])
    parts = [
        class_totals(cells[:, [j]], sample.target, n_classes, sample.weight, threshold)
        for j, threshold in enumerate(reading.thresholds)
    ]
    totals = np.hstack([part[0] for part in parts])
    if all(part[1] is None for part in parts):
        return totals, None
    zeros = np.zeros((n_classes, 1))
    return totals, np.hstack([zeros if part[1] is None else part[1] for part in parts])


def _level_counts(sample: Sample, n_classes: int) -> Floats:
    if sample.schema.is_numeric:
        return np.zeros((0, n_classes))
    sizes = [column.n_levels for column in sample.schema.categorical_columns]
    counts = count_by_class(sample.codes, sizes, sample.target, n_classes, sample.weight)
    return np.vstack([table.astype(float) for table in counts.tables])


# --- Levels and classes ---------------------------------------------------------------------------


def level_starts(schema: Schema) -> Positions:
    """Where each categorical column's levels begin in `levels`, and where the last ends."""
    sizes = [column.n_levels for column in schema.categorical_columns]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.intp)]).astype(np.intp)


def _n_levels(schema: Schema) -> int:
    return sum(column.n_levels for column in schema.categorical_columns)


def _moved_levels(old: Schema, new: Schema) -> Positions:
    """For every level of the old schema its row under the new one, -1 where it has none."""
    moved: list[int] = []
    starts = level_starts(new)
    pairs = zip(old.categorical_columns, new.categorical_columns, strict=True)
    for start, (before, after) in zip(starts, pairs, strict=False):
        places = (after.positions.get(level_key(level), -1) for level in before.levels)
        moved += [int(start) + place if place >= 0 else -1 for place in places]
    return np.array(moved, np.intp)


def _picked(values: Floats, old: Positions) -> Floats:
    """Rows of `values` by position; zeros where the position is -1."""
    padded = np.concatenate([values, np.zeros((1, *values.shape[1:]))])
    return padded[old]


def _picked_moments(moments: ColumnMoments, n_classes: int, old: Positions) -> ColumnMoments:
    names = ("weight", "mean", "scatter", "weight_low", "mean_low", "scatter_low")
    arrays = (getattr(moments, name).reshape(n_classes, -1) for name in names)
    return ColumnMoments(*(_picked(array, old).ravel() for array in arrays))


def _same_kind(labels: Array, other: Array) -> Array:
    """Refuses to unite labels of different types, which NumPy would turn into text."""
    if (labels.dtype.kind in "biuf") != (other.dtype.kind in "biuf"):
        raise InputError(
            f"Classes {_few(labels)} and {_few(other)} are of different types. Convert the labels "
            "of all parts to one type."
        )
    return labels


def _few(labels: Sequence[Any] | Array) -> str:
    shown = ", ".join(repr(label) for label in list(np.asarray(labels).tolist())[:3])
    return f"[{shown}{', ...' if len(labels) > 3 else ''}]"


# --- Differences ----------------------------------------------------------------------------------


def _check_among(a: NaiveBayesStatistics, b: NaiveBayesStatistics) -> None:
    short = np.flatnonzero(b.class_count > a.class_count * (1 + _NOTHING))
    if short.size:
        k = short[0]
        raise InputError(
            f"The rows to remove were never added: class {a.classes.tolist()[k]!r} has weight "
            f"{a.class_count[k]:g}, and {b.class_count[k]:g} should go. Remove only rows that the "
            "sum holds."
        )


def _taken(a: Floats, b: Floats) -> Floats:
    left = a - b
    if (left < -_NOTHING * np.maximum(np.abs(a), np.abs(b))).any():
        raise InputError(
            "The rows to remove were never added: a count of a column or level would fall below "
            "zero. Remove only rows that the sum holds."
        )
    return np.where(left > _NOTHING * np.abs(a), left, 0.0)


def _by_class(combine: Callable[..., Any], *sums: tuple[tuple[Any, ...], ...]) -> Any:
    """`combine` of the laws' statistics, column by column and class by class."""
    return tuple(
        tuple(combine(*parts) for parts in zip(*columns, strict=True))
        for columns in zip(*sums, strict=True)
    )


def _law_difference(a: Any, b: Any) -> Any:
    if b is None:
        return a
    if a is None:
        raise InputError("The rows to remove were never added. Remove only rows the sum holds.")
    left = a - b
    return left if left.weight > 0 else None


def _law_isclose(a: Any, b: Any, rtol: float) -> bool:
    if a is None or b is None:
        return all(part is None or part.weight == 0 for part in (a, b))
    return bool(a.isclose(b, rtol))


def _sum_of_missing(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _difference_of_missing(a: Floats | None, b: Floats | None) -> Floats | None:
    if a is None or b is None:
        return a
    left = _taken(a, b)
    return left if left.any() else None


def _dense_missing(statistics: NaiveBayesStatistics) -> Floats:
    missing = statistics.missing
    return np.zeros_like(statistics.totals) if missing is None else missing


def _size(values: Floats) -> float:
    return float(np.abs(values).max(initial=0.0))
