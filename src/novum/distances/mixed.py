"""Distances of rows whose columns are of different kinds.

    Overlap           share of the columns that differ
    Gower             mean over columns: numbers |x - z| / range, ordinal levels |ranks| / (k - 1),
                      nominal levels 0 or 1
    ValueDifference   levels by how differently they speak of the classes,
                      sqrt( sum_l sum_c (P(c | x_l) - P(c | z_l))^2 )

A missing cell of a nominal column is any level with the chance that it has, so that its distance is
an expectation as that of numbers is. A level that training never met differs from every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import MISSING, UNSEEN, Kind, Sample, Schema
from novum.distances.column_rows import (
    ColumnRows,
    ColumnTerms,
    level_table,
    places_of,
    read_rows,
    refuse_overflow,
    refuse_sparse,
)
from novum.distances.learned import (
    ClassFrequencies,
    ColumnRanges,
    LearnedDistance,
    of_own_levels,
)
from novum.distances.missing import ObservedColumn
from novum.distances.protocol import Distance, Missing, Takes
from novum.distances.vectors import checked_missing
from novum.numerics import SMALLEST_NORMAL, Array, Floats


@dataclass(frozen=True)
class Gower(LearnedDistance):
    """The mean over columns of differences from 0 to 1, each by the kind of its column.

    Parameters
    ----------
    weights : mapping of column names to numbers, optional
        What columns count; 1 by default.
    missing : {"expected", "partial"}, default="expected"
        "partial" is Gower's own rule: the mean over the columns that both rows have.
    schema : Schema, optional
        Kinds of the columns, such as an order of levels; read from the rows by default. Learners
        bring their own.
    learned : ColumnRanges, optional
        Ranges and frequencies that were learned before (`fit_statistics`, `fit_stream`); those of
        the first rows by default.

    Notes
    -----
    Numbers are divided by their range in the training rows; a new row beyond it can differ by more
    than 1. A metric for rows without missing cells. A missing number is expected among those of the
    training rows, whatever was learned before, as ranges do not tell what lies between.

    References
    ----------
    Gower, A general coefficient of similarity and some of its properties, Biometrics 27, 1971.

    Examples
    --------
    >>> Gower().pairwise([[1.0, "a"], [3.0, "b"], [2.0, "a"]])
    array([[0.  , 1.  , 0.25],
           [1.  , 0.  , 0.75],
           [0.25, 0.75, 0.  ]])
    """

    takes: ClassVar[Takes] = "table"
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    missing: Missing = "expected"
    schema: Schema | None = field(default=None, hash=False, repr=False)
    learned: ColumnRanges | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        checked_missing(self.missing)
        for name, weight in (self.weights or {}).items():
            if not (isinstance(weight, Real) and 0 <= weight < np.inf):
                raise InputError(
                    f"The weight of column {name!r} is a number of at least 0, got {weight!r}."
                )

    def _sum(self, sample: Sample) -> ColumnRanges:
        return ColumnRanges.of(sample)

    def _first(self, sample: Sample, target: Any) -> ColumnRows:
        del target
        refuse_overflow(sample.numeric, 1.0)
        ranges = ColumnRanges.of(sample)
        if self.learned is not None:
            # Levels that the rows have beyond the learned ones count as levels, none of them seen.
            ranges = self.learned + ranges.zero()
        schema, levels = ranges.schema, ranges.levels
        weights = _weights(self.weights, schema)
        n_numbers, total = len(ranges.low), weights.sum()
        width = ranges.width
        narrow = np.flatnonzero((width > 0) & (width < SMALLEST_NORMAL * total))
        if len(narrow):
            names = [c.name for c in schema.columns if c.kind is Kind.NUMERIC]
            raise InputError(
                f"Column {names[narrow[0]]!r} spreads over {width[narrow[0]]:.3g} only. Multiply "
                "it by a power of ten."
            )
        with np.errstate(divide="ignore"):
            scale = np.where(width > 0, weights[:n_numbers] / (total * width), 0.0)
        tables = []
        for j, column in enumerate(schema.categorical_columns):
            k = max(column.n_levels, 1)
            apart = 1.0 - np.eye(k)
            if column.kind is Kind.ORDINAL and k > 1:
                apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1.0)
            counts = levels.column(j) if column.n_levels else np.zeros(1)
            share = weights[n_numbers + j] / total
            tables.append(share * level_table(apart, counts, 1.0, 1.0))
        numbers = np.ascontiguousarray(np.asarray(sample.numeric, np.float64) * scale)
        terms = ColumnTerms(
            sample.schema,
            1.0,
            self.missing,
            "none",
            of_own_levels(tables, schema, sample.schema),
            weights,
            tuple(ObservedColumn(column, 1.0) for column in numbers.T),
            scale,
        )
        return ColumnRows(terms, numbers, places_of(sample, terms.tables))

    def _placed(self, sample: Sample, like: ColumnRows) -> ColumnRows:
        return _scaled_rows(sample, like)


def _scaled_rows(sample: Sample, like: ColumnRows) -> ColumnRows:
    """Rows whose numbers are multiplied as those of the training were."""
    assert like.terms.factor is not None
    refuse_overflow(sample.numeric, like.terms.power)
    numbers = np.ascontiguousarray(np.asarray(sample.numeric, np.float64) * like.terms.factor)
    return ColumnRows(like.terms, numbers, places_of(sample, like.terms.tables))


def _weights(given: Mapping[str, float] | None, schema: Schema) -> Floats:
    """Weights of numbers first, then of levels."""
    for name in given or {}:
        if name not in schema.names:
            raise InputError(
                f"Gower has a weight for column {name!r}, which the table does not have. Its "
                f"columns are {', '.join(schema.names[:10])}."
            )
    numeric = [c.name for c in schema.columns if c.kind is Kind.NUMERIC]
    levels = [c.name for c in schema.columns if c.kind is not Kind.NUMERIC]
    weights = np.array([(given or {}).get(name, 1.0) for name in (*numeric, *levels)])
    if not weights.sum() > 0:
        raise InputError("The weights of all columns are 0. Give one of them a weight above 0.")
    return weights


@dataclass(frozen=True)
class Overlap(Distance):
    """The share of columns in which two rows differ; every column is nominal here.

    Parameters
    ----------
    missing : {"expected", "partial"}, default="expected"
        As for `Gower`.

    Examples
    --------
    >>> Overlap().pairwise([["red", 1], ["red", 2], ["blue", 2]])
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """

    takes: ClassVar[Takes] = "table"
    missing: Missing = "expected"

    def __post_init__(self) -> None:
        checked_missing(self.missing)

    def prepare(self, X: Any, like: ColumnRows | None = None, target: Any = None) -> ColumnRows:
        del target
        schema = None if like is None else like.terms.schema
        sample = read_rows(X, "Overlap", schema)
        refuse_sparse(sample, "Overlap")
        numbers = np.asarray(sample.numeric, np.float64)
        values = (
            tuple(np.unique(column[~np.isnan(column)]) for column in numbers.T)
            if like is None
            else like.terms.values
        )
        codes = np.concatenate([_codes_among(numbers, values), sample.codes], axis=1)
        if like is not None:
            tables = like.terms.tables
        else:
            levels = [c.n_levels for c in sample.schema.columns if c.kind is not Kind.NUMERIC]
            sizes = [*(len(v) for v in values), *levels]
            tables = tuple(
                level_table(
                    1.0 - np.eye(max(k, 1)),
                    np.bincount(column[column >= 0], minlength=max(k, 1)).astype(np.float64),
                    1.0,
                    1.0,
                )
                / len(sizes)
                for k, column in zip(sizes, codes.T, strict=True)
            )
        rows = Sample(sample.schema, np.empty((len(codes), 0)), codes)
        places = places_of(rows, tables)
        empty = np.empty((len(codes), 0))
        if like is not None:
            return ColumnRows(like.terms, empty, places)
        weights = np.ones(len(tables))
        terms = ColumnTerms(
            sample.schema, 1.0, self.missing, "none", tables, weights, (), values=values
        )
        return ColumnRows(terms, empty, places)


def _codes_among(numbers: Floats, values: tuple[Floats, ...]) -> Array:
    """Numbers as codes of the values that training had."""
    codes = np.empty(numbers.shape, np.int32)
    for j, levels in enumerate(values):
        column = numbers[:, j]
        codes_met = np.searchsorted(levels, column)
        met = codes_met < len(levels)
        met[met] = levels[codes_met[met]] == column[met]
        codes[:, j] = np.where(np.isnan(column), MISSING, np.where(met, codes_met, UNSEEN))
    return codes


@dataclass(frozen=True)
class ValueDifference(LearnedDistance):
    """Levels are as far apart as what they say of the classes.

    Parameters
    ----------
    alpha : float, default=0.0
        Added to the counts of every class, so that rare levels are nearer to all others.
    missing : {"expected", "partial"}, default="expected"
        As for `Gower`.
    learned : ClassFrequencies, optional
        Frequencies that were learned before (`fit_statistics`, `fit_stream`).

    Notes
    -----
    Learned from classes, so classifiers alone can use it, unless it has learned before. Numbers
    count by their difference over four standard deviations, as in the heterogeneous distance of
    Wilson and Martinez. A level that training never met speaks of the classes as all rows do.

    References
    ----------
    Stanfill and Waltz, Toward memory-based reasoning, CACM 29, 1986. Wilson and Martinez, Improved
    heterogeneous distance functions, JAIR 6, 1997.
    """

    takes: ClassVar[Takes] = "table"
    _is_of_classes: ClassVar[bool] = True
    alpha: float = 0.0
    missing: Missing = "expected"
    learned: ClassFrequencies | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        checked_missing(self.missing)
        if not (isinstance(self.alpha, Real) and 0 <= self.alpha < np.inf):
            raise InputError(f"alpha is a number of at least 0, got {self.alpha!r}.")

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        return self.learned is None

    def _sum(self, sample: Sample) -> ClassFrequencies:
        return ClassFrequencies.of(sample)

    def _first(self, sample: Sample, target: Any) -> ColumnRows:
        refuse_overflow(sample.numeric)
        told = self.learned
        if told is not None:
            # Levels that the rows have beyond the learned ones say no more than all rows do.
            nothing = replace(sample, target=np.zeros(sample.n_rows), classes=told.classes[:1])
            told = told + ClassFrequencies.of(nothing).zero()
        elif target is not None:
            codes = np.asarray(target, np.intp)
            told = ClassFrequencies.of(
                replace(sample, target=codes, classes=np.arange(codes.max() + 1))
            )
        else:
            raise InputError(
                "ValueDifference is learned from classes. Use it as the metric of a classifier, or "
                "take Overlap() or Gower()."
            )
        with np.errstate(divide="ignore"):
            scale = np.where(told.deviation > 0, 1.0 / (4.0 * told.deviation), 0.0)
        scaled = np.ascontiguousarray(np.asarray(sample.numeric, np.float64) * scale)
        prior = told.class_weight / told.class_weight.sum()
        tables = [self._table(told.table(j), prior) for j in range(sample.codes.shape[1])]
        terms = ColumnTerms(
            sample.schema,
            2.0,
            self.missing,
            "root",
            of_own_levels(tables, told.schema, sample.schema),
            np.ones(sample.schema.n_columns),
            tuple(ObservedColumn(column, 2.0) for column in scaled.T),
            scale,
        )
        return ColumnRows(terms, scaled, places_of(sample, terms.tables))

    def _placed(self, sample: Sample, like: ColumnRows) -> ColumnRows:
        return _scaled_rows(sample, like)

    def _table(self, counts: Floats, prior: Floats) -> Floats:
        if not len(counts):
            counts = np.zeros((1, len(prior)))
        totals = counts.sum(axis=1, keepdims=True)
        chances = counts + self.alpha
        sums = chances.sum(axis=1, keepdims=True)
        # A declared level without rows says no more than all rows do.
        chances = np.where(sums > 0, chances / np.where(sums > 0, sums, 1.0), prior)
        apart = ((chances[:, np.newaxis] - chances) ** 2).sum(axis=2)
        unseen = ((chances - prior) ** 2).sum(axis=1)
        return level_table(apart, totals.ravel(), unseen, 0.0)
