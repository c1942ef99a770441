"""What filling needs to know of a table: centers of numbers, weights of levels, missing cells.

    mean      weight, mean and scatter of each numeric column       (`ColumnMoments`)
    median    its different values with their weights               (`CountedValues`)
    constant  nothing but the weight of known and missing cells

and of nominal and ordinal columns the weight of every level,

    c_jl = sum_i w_i [x_ij = l],      m_j = sum_i w_i [x_ij is missing].

All of it adds up over chunks, level by level, and rows come off again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Additive
from novum.core.tables import MISSING, Column, Level, Sample, level_key
from novum.data.scaling.counted_values import CountedValues
from novum.numerics import ColumnMoments, Floats, column_moments_of

# A remaining weight below this share of the weight before is the rounding of a sum of weights.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class FillingColumns(Additive):
    """Statistics of the cells of a table.

    Attributes
    ----------
    known, missing : arrays (d,)
        Weight of the known and of the missing cells of each numeric column.
    numbers : ColumnMoments, CountedValues or None
        Of the numeric columns.
    levels : LevelCounts
        Of the others.
    """

    known: Floats
    missing: Floats
    numbers: ColumnMoments | CountedValues | None
    levels: LevelCounts

    @classmethod
    def of(cls, sample: Sample, center: str) -> FillingColumns:
        """Statistics for filling by "mean", "median" or "constant"."""
        present = ~np.isnan(sample.numeric)
        weight = sample.weights
        numbers: ColumnMoments | CountedValues | None = None
        if center == "mean":
            numbers = column_moments_of(sample.numeric, sample.weight)
        elif center == "median":
            numbers = CountedValues.of(sample.numeric, sample.weight)
        return cls(weight @ present, weight @ ~present, numbers, LevelCounts.of(sample))

    def __sub__(self, other: FillingColumns) -> FillingColumns:
        """The statistics without the rows of `other`, which must be among them."""
        self._check_fits(other)
        return FillingColumns(
            _taken(self.known, other.known),
            _taken(self.missing, other.missing),
            None if self.numbers is None else self.numbers - other.numbers,  # type: ignore[operator]
            self.levels - other.levels,
        )

    def __mul__(self, factor: float) -> FillingColumns:
        return FillingColumns(
            factor * self.known,
            factor * self.missing,
            None if self.numbers is None else factor * self.numbers,
            factor * self.levels,
        )

    __rmul__ = __mul__

    def isclose(self, other: FillingColumns, rtol: float = 1e-10) -> bool:
        self._check_fits(other)
        same = self.numbers is None or self.numbers.isclose(other.numbers, rtol)  # type: ignore[arg-type]
        return bool(
            same
            and np.allclose(self.known, other.known, rtol=rtol, atol=0.0)
            and np.allclose(self.missing, other.missing, rtol=rtol, atol=0.0)
            and self.levels.isclose(other.levels, rtol)
        )

    def _check_fits(self, other: FillingColumns) -> None:
        if type(self.numbers) is not type(other.numbers):
            raise InputError(
                "One of these statistics is for means and the other is not, because they come from "
                "models of different parameters. Sum with the same parameters."
            )

    # Centers

    def centers(self) -> Floats:
        """Mean or median of each numeric column; NaN where no cell is known, or for constants."""
        if isinstance(self.numbers, ColumnMoments):
            return np.where(self.known > 0, self.numbers.mean, np.nan)
        out = np.full(self.known.size, np.nan)
        if isinstance(self.numbers, CountedValues):
            for j in np.flatnonzero(self.known > 0):
                out[j] = median(*self.numbers.column(int(j)))
        return out


def median(values: Floats, weights: Floats) -> float:
    """The median of rising values, each repeated as often as its weight says.

    Where exactly half of the weight lies below a gap, it is the middle of the gap.

    Examples
    --------
    >>> median(np.array([1.0, 5.0]), np.array([1.0, 1.0]))
    3.0
    >>> median(np.array([1.0, 5.0]), np.array([1.0, 2.0]))
    5.0
    """
    ends = np.cumsum(weights)
    half = ends[-1] / 2
    slack = _NOTHING * ends[-1]
    low = int(np.argmax(ends >= half - slack))
    high = int(np.argmax(ends > half + slack))
    # Half of each first: the sum of two large numbers may overflow.
    return float(values[low]) if low == high else float(values[low] / 2 + values[high] / 2)


def _taken(before: Floats, gone: Floats) -> Floats:
    left = before - gone
    if (left < -_NOTHING * np.maximum(before, 1.0)).any():
        raise InputError(
            "Cannot remove rows that were never added: cells or a level would have a negative "
            "weight. Remove rows that were fitted."
        )
    return np.where(left <= _NOTHING * before, 0.0, left)


# --- Levels ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Weights of levels and of missing cells of m columns.

    Attributes
    ----------
    columns : tuple of m Column
    counts : array (sum of the numbers of levels,)
        Column after column, in the order of the levels.
    missing : array (m,)

    Examples
    --------
    >>> from novum.core.tables import Kind
    >>> a = LevelCounts((Column("c", Kind.NOMINAL, ("x",)),), np.array([3.0]), np.array([1.0]))
    >>> b = LevelCounts((Column("c", Kind.NOMINAL, ("a",)),), np.array([2.0]), np.array([0.0]))
    >>> (a + b).columns[0].levels, (a + b).counts.tolist()
    (('a', 'x'), [2.0, 3.0])
    """

    columns: tuple[Column, ...]
    counts: Floats
    missing: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        n_levels = sum(column.n_levels for column in self.columns)
        if self.counts.shape != (n_levels,) or self.missing.shape != (len(self.columns),):
            raise InputError("The counts of levels do not fit the columns: wrong lengths.")

    @classmethod
    def of(cls, sample: Sample) -> LevelCounts:
        """The weights in a sample; levels that its schema does not know are not counted."""
        columns = sample.schema.categorical_columns
        parts, missing = [np.empty(0)], np.zeros(len(columns))
        for j, column in enumerate(columns):
            codes = sample.codes[:, j]
            known = codes >= 0
            weight = None if sample.weight is None else sample.weight[known]
            parts.append(np.bincount(codes[known], weight, column.n_levels).astype(float))
            missing[j] = float(sample.weights[codes == MISSING].sum())
        return cls(columns, np.concatenate(parts), missing)

    def column(self, j: int) -> Floats:
        """The weights of the levels of one column."""
        start = sum(column.n_levels for column in self.columns[:j])
        return self.counts[start : start + self.columns[j].n_levels]

    # Arithmetic

    def __add__(self, other: LevelCounts) -> LevelCounts:
        columns = self._united(other)
        counts = self._on(columns) + other._on(columns)
        return LevelCounts(columns, counts, self.missing + other.missing)

    def __sub__(self, other: LevelCounts) -> LevelCounts:
        """The weights without those of `other`, which must be among them."""
        columns = self._united(other)
        counts = _taken(self._on(columns), other._on(columns))
        return LevelCounts(columns, counts, _taken(self.missing, other.missing))

    def __mul__(self, factor: float) -> LevelCounts:
        return replace(self, counts=factor * self.counts, missing=factor * self.missing)

    __rmul__ = __mul__

    def isclose(self, other: LevelCounts, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`; levels without weight do not count."""
        columns = self._united(other)
        return bool(
            np.allclose(self._on(columns), other._on(columns), rtol=rtol, atol=0.0)
            and np.allclose(self.missing, other.missing, rtol=rtol, atol=0.0)
        )

    def _united(self, other: LevelCounts) -> tuple[Column, ...]:
        if len(self.columns) != len(other.columns):
            raise InputError(
                f"Counts of {len(self.columns)} and of {len(other.columns)} columns do not "
                "combine. Give every part the same columns."
            )
        # Columns of arrays have no names of their own; the schema has checked those that have.
        pairs = zip(self.columns, other.columns, strict=True)
        return tuple(a.unite(replace(b, name=a.name)) for a, b in pairs)

    def _on(self, columns: tuple[Column, ...]) -> Floats:
        """The same weights for more levels."""
        parts = [np.empty(0)]
        for j, (old, new) in enumerate(zip(self.columns, columns, strict=True)):
            part = np.zeros(new.n_levels)
            part[[new.positions[level_key(level)] for level in old.levels]] = self.column(j)
            parts.append(part)
        return np.concatenate(parts)

    # What is usual

    def most_frequent(self, j: int) -> Level | None:
        """The level of largest weight, the first of equal ones; None where none is known."""
        counts = self.column(j)
        return self.columns[j].levels[int(counts.argmax())] if counts.any() else None

    def median(self, j: int) -> Level | None:
        """The lowest level that half of the weight does not exceed; None where none is known."""
        ends = np.cumsum(self.column(j))
        if not ends.size or ends[-1] <= 0:
            return None
        half = ends[-1] / 2
        return self.columns[j].levels[int(np.argmax(ends >= half * (1 - _NOTHING)))]
