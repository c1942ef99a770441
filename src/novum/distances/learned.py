"""What distances learn of a table, as statistics that add.

    Gower             the range of each column of numbers, and how often each level occurs
    ValueDifference   how often each level occurs in each class, and the moments of the numbers

A distance that is given no statistics learns them from the rows it prepares first. With

    Gower().fit_stream(chunks)        Gower().fit_statistics(S(A) + S(B))

it is a value that has learned already, from more rows than are in memory, and the same for every
table, fold and machine that it is used on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from novum.core.errors import InputError, NotAdditiveError
from novum.core.runtime import is_dask, sum_on_cluster
from novum.core.sums import Additive, ChunkStep, sum_chunks
from novum.core.tables import Sample, Schema, level_key, united_labels
from novum.data import LevelCounts
from novum.distances.column_rows import ColumnRows, read_rows, refuse_sparse
from novum.distances.protocol import Distance
from novum.numerics import Array, ColumnMoments, Floats, Positions, column_moments_of


@dataclass(frozen=True, eq=False)
class ColumnRanges(Additive):
    """What `Gower` learns: it adds, and rows cannot be taken away.

    Attributes
    ----------
    schema : Schema
    rows : float
        How many rows, or their weight.
    low, high : arrays (n_numbers,)
        The smallest and the largest number of each column; infinite where it has none.
    levels : LevelCounts
        How often the levels of the other columns occur.

    Examples
    --------
    >>> from novum.distances import Gower
    >>> ranges = Gower().statistics([[1.0, "a"]]) + Gower().statistics([[4.0, "b"], [2.0, "b"]])
    >>> ranges.low, ranges.high, ranges.levels.counts
    (array([1.]), array([4.]), array([1., 2.]))
    """

    schema: Schema
    rows: float
    low: Floats
    high: Floats
    levels: LevelCounts

    _combined: ClassVar[Any] = {"low": np.minimum, "high": np.maximum}

    @classmethod
    def of(cls, sample: Sample) -> Self:
        numbers = np.asarray(sample.numeric, np.float64)
        low = np.fmin.reduce(numbers, axis=0, initial=np.inf)
        high = np.fmax.reduce(numbers, axis=0, initial=-np.inf)
        return cls(sample.schema, _weight(sample), low, high, LevelCounts.of(sample))

    @property
    def width(self) -> Floats:
        """Of each column's range; 0 where it has no number."""
        return np.asarray(np.where(self.high > self.low, self.high - self.low, 0.0))

    def __sub__(self, other: Self) -> Self:
        del other
        raise NotAdditiveError(
            "A range does not tell which row made it, so rows cannot be taken away. Add the "
            "statistics of the rows that stay."
        )

    def __rmul__(self, factor: float) -> Self:
        if factor == 0:
            nothing = np.full(len(self.low), np.inf)
            return replace(self, rows=0.0, low=nothing, high=-nothing, levels=0.0 * self.levels)
        return replace(self, rows=factor * self.rows, levels=factor * self.levels)

    def zero(self) -> Self:
        return 0.0 * self

    def isclose(self, other: Self, rtol: float = 1e-10) -> bool:
        return (
            bool(np.isclose(self.rows, other.rows, rtol=rtol, atol=0.0))
            and np.allclose(self.low, other.low, rtol=rtol, atol=0.0)
            and np.allclose(self.high, other.high, rtol=rtol, atol=0.0)
            and self.levels.isclose(other.levels, rtol)
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.isclose(other, 0.0)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class ClassFrequencies:
    """What `ValueDifference` learns: it adds, and rows can be taken away.

    Attributes
    ----------
    schema : Schema
    rows : float
        How many rows, or their weight.
    classes : array (n_classes,)
    levels : tuple of LevelCounts, one for each class
    class_weight : array (n_classes,)
    moments : ColumnMoments
        Of the numbers.

    Examples
    --------
    >>> from novum.distances import ValueDifference
    >>> told = ValueDifference().statistics([["a"], ["b"], ["b"]], ["no", "no", "yes"])
    >>> told.table(0)
    array([[1., 0.],
           [1., 1.]])
    """

    schema: Schema
    rows: float
    classes: Array
    levels: tuple[LevelCounts, ...]
    class_weight: Floats
    moments: ColumnMoments

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))

    @classmethod
    def of(cls, sample: Sample) -> Self:
        assert sample.classes is not None
        members = [sample.rows(sample.target == code) for code in range(len(sample.classes))]
        return cls(
            sample.schema,
            _weight(sample),
            sample.classes,
            tuple(LevelCounts.of(rows) for rows in members),
            np.array([_weight(rows) for rows in members]),
            column_moments_of(np.asarray(sample.numeric, np.float64), sample.weight),
        )

    def table(self, j: int) -> Floats:
        """How often each level of a column (axis 0) occurs in each class (axis 1)."""
        return np.array([counts.column(j) for counts in self.levels]).T

    @property
    def deviation(self) -> Floats:
        """Of each column of numbers."""
        weight = np.maximum(self.moments.weight, np.finfo(np.float64).tiny)
        return np.asarray(np.sqrt(self.moments.scatter / weight))

    def __add__(self, other: Self) -> Self:
        one, two = self._united(other)
        return replace(
            one,
            rows=one.rows + two.rows,
            levels=tuple(a + b for a, b in zip(one.levels, two.levels, strict=True)),
            class_weight=one.class_weight + two.class_weight,
            moments=one.moments + two.moments,
        )

    def __sub__(self, other: Self) -> Self:
        """Without the rows of `other`, which must be among them."""
        one, two = self._united(other)
        return replace(
            one,
            rows=one.rows - two.rows,
            levels=tuple(a - b for a, b in zip(one.levels, two.levels, strict=True)),
            class_weight=one.class_weight - two.class_weight,
            moments=one.moments - two.moments,
        )

    def __rmul__(self, factor: float) -> Self:
        return replace(
            self,
            rows=factor * self.rows,
            levels=tuple(factor * counts for counts in self.levels),
            class_weight=factor * self.class_weight,
            moments=factor * self.moments,
        )

    def zero(self) -> Self:
        return 0.0 * self

    def isclose(self, other: Self, rtol: float = 1e-10) -> bool:
        one, two = self._united(other)
        return (
            np.allclose(one.class_weight, two.class_weight, rtol=rtol, atol=0.0)
            and one.moments.isclose(two.moments, rtol)
            and all(a.isclose(b, rtol) for a, b in zip(one.levels, two.levels, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.isclose(other, 0.0)

    __hash__ = None  # type: ignore[assignment]

    def _united(self, other: Self) -> tuple[Self, Self]:
        """Both with the columns and the classes of either."""
        if type(other) is not type(self):
            raise InputError(f"ClassFrequencies and {type(other).__name__} do not add up.")
        schema = self.schema.unite(other.schema)
        classes = united_labels(self.classes, other.classes)
        return self._on(schema, classes), other._on(schema, classes)

    def _on(self, schema: Schema, classes: Array) -> Self:
        absent = 0.0 * self.levels[0]
        levels, weight = [absent] * len(classes), np.zeros(len(classes))
        for k, place in enumerate(np.searchsorted(classes, self.classes)):
            levels[place], weight[place] = self.levels[k], self.class_weight[k]
        return replace(
            self, schema=schema, classes=classes, levels=tuple(levels), class_weight=weight
        )


def _weight(sample: Sample) -> float:
    return float(sample.n_rows if sample.weight is None else sample.weight.sum())


class LearnedDistance(Distance):
    """Distances whose ranges or frequencies are statistics that add.

    Attributes
    ----------
    learned : statistics or None
        What was learned before; None for what the first rows that are prepared tell.
    """

    learned: Any
    _is_of_classes: ClassVar[bool] = False

    @abstractmethod
    def _sum(self, sample: Sample) -> Any:
        """The statistics of a sample."""

    def statistics(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, schema: Schema | None = None
    ) -> Any:
        """What the distance learns from some rows: a value with `+`.

        Parameters
        ----------
        X : table
        y : labels of classes, for `ValueDifference`
        sample_weight : array (n,), optional
        schema : Schema, optional
            Reads `X` by this schema; by default one is learned from `X`, and `+` unites them.
        """
        name = type(self).__name__
        own = schema if schema is not None else getattr(self, "schema", None)
        if self._is_of_classes and y is None:
            raise InputError(f"{name} is learned from classes: pass y beside the rows.")
        sample = read_rows(X, name, own, y if self._is_of_classes else None, sample_weight)
        refuse_sparse(sample, name)
        return self._sum(sample)

    def fit_statistics(self, statistics: Any) -> Self:
        """The distance that has learned these statistics, or a sum of such; this one stays.

        Examples
        --------
        >>> from novum.distances import Gower
        >>> wide = Gower().fit_statistics(Gower().statistics([[0.0], [10.0]]))
        >>> wide.pairwise([[1.0], [2.0]])[0, 1], Gower().pairwise([[1.0], [2.0]])[0, 1]
        (np.float64(0.1), np.float64(1.0))
        """
        return replace(self, learned=statistics)  # type: ignore[type-var]

    def fit_stream(
        self, chunks: Iterable[Any] | Callable[[], Iterable[Any]], *, schema: Schema | None = None
    ) -> Self:
        """The distance that has learned from chunks `(X,)`, `(X, y)` or `(X, y, weight)`.

        Parameters
        ----------
        chunks : iterable, callable or Dask collections
            As for learners.
        schema : Schema, optional
            Reads every chunk alike; without it each chunk's levels are united.
        """
        step = ChunkStep(self, schema)
        summed = sum_on_cluster if is_dask(chunks) else sum_chunks
        return self.fit_statistics(summed(step, chunks))

    def prepare(self, X: Any, like: ColumnRows | None = None, target: Any = None) -> ColumnRows:
        name = type(self).__name__
        if like is not None:
            sample = read_rows(X, name, like.terms.schema)
            refuse_sparse(sample, name)
            return self._placed(sample, like)
        own = getattr(self, "schema", None) if self.learned is None else self.learned.schema
        sample = read_rows(X, name, own)
        refuse_sparse(sample, name)
        return self._first(sample, target)

    @abstractmethod
    def _first(self, sample: Sample, target: Any) -> ColumnRows:
        """Training rows, and what all others are prepared with."""

    @abstractmethod
    def _placed(self, sample: Sample, like: ColumnRows) -> ColumnRows:
        """Further rows."""


def of_own_levels(tables: list[Floats], united: Schema, own: Schema) -> tuple[Floats, ...]:
    """Tables over the levels that statistics and rows have, for the codes of the rows."""
    if united == own:
        return tuple(tables)
    columns = zip(tables, united.categorical_columns, own.categorical_columns, strict=True)
    cut = []
    for table, whole, part in columns:
        k = len(table) - 2
        places: Positions = np.array(
            [*(whole.positions[level_key(level)] for level in part.levels), k, k + 1], np.intp
        )
        cut.append(np.ascontiguousarray(table[np.ix_(places, places)]))
    return tuple(cut)
