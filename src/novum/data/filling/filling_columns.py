"""What filling needs to know of a table: centers of numbers, weights of levels, missing cells.

    mean      weight, mean and scatter of each numeric column       (`ColumnMoments`)
    median    its different values with their weights               (`CountedValues`)
    constant  nothing but the weight of known and missing cells

All of it adds up over chunks, and rows come off again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.validation import Sample
from novum.data.filling.level_counts import LevelCounts
from novum.data.scaling.counted_values import CountedValues
from novum.numerics.column_moments import ColumnMoments, column_moments_of

Floats = NDArray[np.float64]

_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class FillingColumns:
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

    def __add__(self, other: FillingColumns) -> FillingColumns:
        self._check(other)
        return FillingColumns(
            self.known + other.known,
            self.missing + other.missing,
            None if self.numbers is None else self.numbers + other.numbers,  # type: ignore[operator]
            self.levels + other.levels,
        )

    def __sub__(self, other: FillingColumns) -> FillingColumns:
        """The statistics without the rows of `other`, which must be among them."""
        self._check(other)
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
        self._check(other)
        same = self.numbers is None or self.numbers.isclose(other.numbers, rtol)  # type: ignore[arg-type]
        return bool(
            same
            and np.allclose(self.known, other.known, rtol=rtol, atol=0.0)
            and np.allclose(self.missing, other.missing, rtol=rtol, atol=0.0)
            and self.levels.isclose(other.levels, rtol)
        )

    def _check(self, other: FillingColumns) -> None:
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
            "Cannot remove rows that were never added: cells would have a negative weight. Remove "
            "rows that were fitted."
        )
    return np.where(left <= _NOTHING * before, 0.0, left)
