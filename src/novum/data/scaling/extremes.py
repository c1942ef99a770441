"""Smallest and largest value of every column, as statistics from which rows can be taken away.

The smallest of all values is the smaller of the smallest of two parts, but when the rows that hold
it leave, the next one must be known. So a table keeps, for every column, all cells up to a
*reach*: the value that about `TAIL` cells do not exceed. Two tables know together all cells up to
the smaller of their reaches; cells that leave make the list shorter and never wrong. Should it
ever become empty while cells remain beyond the reach, the smallest is not known any more, and that
is said. The largest values are the smallest of the negated column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.data.scaling.counted_values import CountedValues
from novum.numerics.weighted_rows import blocks_of_rows

Floats = NDArray[np.float64]

# Cells at each end of a column that are kept. More than this must leave before an end is unknown.
TAIL = 64

# Rows from which the first reach of a large table is guessed.
_GUESSED_FROM = 8192


# --- One end --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tail:
    """All cells of every column that do not exceed its reach.

    Attributes
    ----------
    counts : CountedValues of d columns
    reach : array (d,)
        Infinite where every cell is known.
    """

    counts: CountedValues
    reach: Floats

    @classmethod
    def of(cls, X: Floats, weight: Floats | None = None, sign: float = 1.0) -> Tail:
        """The tail of a table (n, d), or of the negated one."""
        if len(X) <= _GUESSED_FROM:
            counts = CountedValues.of(sign * X, weight)
            return cls(counts, np.full(X.shape[1], np.inf))._trimmed()
        # The first rows alone have as many cells below it, so the final reach is not above.
        reach = _reach(sign * X[:_GUESSED_FROM])
        counts = _cells_up_to(X, weight, sign, reach)
        return cls(counts, reach)._trimmed()

    @property
    def smallest(self) -> Floats:
        """The smallest value of every column; NaN where none is known."""
        out = np.full(self.reach.size, np.nan)
        known = np.diff(self.counts.starts) > 0
        out[known] = self.counts.values[self.counts.starts[:-1][known]]
        return out

    def __add__(self, other: Tail) -> Tail:
        reach = np.minimum(self.reach, other.reach)
        return Tail(self.counts + other.counts, reach)._within(reach)._trimmed()

    def __sub__(self, other: Tail) -> Tail:
        # Beyond the reach of the rows that leave it is not known how many cells go with them.
        reach = np.minimum(self.reach, other.reach)
        return Tail(self._within(reach).counts - other._within(reach).counts, reach)

    def __mul__(self, factor: float) -> Tail:
        return Tail(factor * self.counts, self.reach)

    __rmul__ = __mul__

    def isclose(self, other: Tail, rtol: float = 1e-10) -> bool:
        """Equal as far as both reach."""
        reach = np.minimum(self.reach, other.reach)
        return self._within(reach).counts.isclose(other._within(reach).counts, rtol)

    def _within(self, reach: Floats) -> Tail:
        kept = self.counts.values <= reach[self.counts.columns]
        return self if kept.all() else Tail(self.counts.only(kept), reach)

    def _trimmed(self) -> Tail:
        """At most `TAIL` values for each column."""
        long = np.flatnonzero(np.diff(self.counts.starts) > TAIL)
        if long.size == 0:
            return self
        reach = self.reach.copy()
        reach[long] = self.counts.values[self.counts.starts[:-1][long] + TAIL - 1]
        return self._within(reach)


def _reach(X: Floats) -> Floats:
    """The value that `TAIL` cells of each column do not exceed; infinite where fewer are known."""
    return np.partition(np.where(np.isnan(X), np.inf, X), TAIL - 1, axis=0)[TAIL - 1]


def _cells_up_to(X: Floats, weight: Floats | None, sign: float, reach: Floats) -> CountedValues:
    """The cells up to the reach. Those at it may be most of the table, and are only added up."""
    at_reach = np.zeros(X.shape[1])
    columns, values, weights = [], [], []
    for start, stop in blocks_of_rows(*X.shape):
        block = sign * X[start:stop]
        unit = np.ones(stop - start) if weight is None else weight[start:stop]
        at_reach += unit @ (block == reach)
        cells = np.flatnonzero((block < reach).ravel())
        columns.append(cells % X.shape[1])
        values.append(block.ravel()[cells] + 0.0)
        weights.append(unit[cells // X.shape[1]])
    met = np.flatnonzero(at_reach)
    return CountedValues.of_cells(
        np.concatenate([*columns, met]),
        np.concatenate([*values, reach[met] + 0.0]),
        np.concatenate([*weights, at_reach[met]]),
        X.shape[1],
    )


# --- Both ends ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Extremes:
    """Both ends of every column, and the weight of its known cells.

    Attributes
    ----------
    weight : array (d,)
        Of the known cells.
    low, high : Tail
        Of the column, and of the negated column.

    Examples
    --------
    >>> a, b = Extremes.of(np.array([[3.0], [1.0]])), Extremes.of(np.array([[7.0]]))
    >>> (a + b).smallest.tolist(), (a + b).largest.tolist(), (a + b - b).largest.tolist()
    ([1.0], [7.0], [3.0])
    """

    weight: Floats
    low: Tail
    high: Tail

    @classmethod
    def of(cls, X: Floats, weight: Floats | None = None) -> Extremes:
        """The extremes of a table (n, d); missing cells do not count."""
        known = ~np.isnan(X)
        total = known.sum(axis=0).astype(float) if weight is None else weight @ known
        return cls(total, Tail.of(X, weight), Tail.of(X, weight, -1.0))

    @property
    def smallest(self) -> Floats:
        """The smallest value of every column; NaN where no cell is known."""
        return self._ends(self.low, self.high)

    @property
    def largest(self) -> Floats:
        return -self._ends(self.high, self.low)

    def _ends(self, tail: Tail, other: Tail) -> Floats:
        found = tail.smallest
        for j in np.flatnonzero(np.isnan(found) & (self.weight > 0)):
            values = -other.counts.column(int(j))[0]
            # Where both tails together reach over all cells, the other one's last is this one's
            # first.
            if values.size and -other.reach[j] <= tail.reach[j]:
                found[j] = values.min()
                continue
            raise InputError(
                f"So many rows were removed that an end of numeric column {j} is not known any "
                f"more: all {TAIL} outermost cells are gone. Fit the remaining rows afresh."
            )
        return found

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(self.weight + other.weight, self.low + other.low, self.high + other.high)

    def __sub__(self, other: Extremes) -> Extremes:
        left = self.weight - other.weight
        left = np.where(left <= 1e-12 * self.weight, 0.0, left)
        return Extremes(left, self.low - other.low, self.high - other.high)

    def __mul__(self, factor: float) -> Extremes:
        return Extremes(factor * self.weight, factor * self.low, factor * self.high)

    __rmul__ = __mul__

    def isclose(self, other: Extremes, rtol: float = 1e-10) -> bool:
        return (
            bool(np.allclose(self.weight, other.weight, rtol=rtol, atol=0.0))
            and self.low.isclose(other.low, rtol)
            and self.high.isclose(other.high, rtol)
        )
