"""The distinct values of every column with their weights: a sorted multiset that adds up.

    column j:  v_1 < v_2 < ... < v_m   with weights   c_1, ..., c_m > 0

This is all that ranks, quantiles and extremes need to know of a column. Two tables unite value by
value, and rows come off again exactly. Missing cells are not values. All columns lie one after the
other in two flat arrays, so that uniting a thousand columns is one sort.

Where memory must stay bounded, a `limit` joins neighboring values into at most so many, each
standing for a run of about equal weight. Ranks are then known up to the weight of a run, and the
errors of united parts add up; `rank_error` keeps the account.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Integers, Mask

# A remaining weight below this share of the weight before is the rounding of a sum of weights.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class CountedValues:
    """Sorted distinct values of d columns, and the weight of each.

    Attributes
    ----------
    starts : int64 array (d + 1,)
        Column j holds the positions `starts[j]` to `starts[j + 1]` of the other two.
    values, weights : arrays (total number of values,)
        Values rise within each column; weights are positive.
    rank_error : array (d,)
        By how much, in weight, the number of cells below a value may be off. Zero without a limit.
    limit : int
        Values that a column may have at most; 0 is no limit.

    Examples
    --------
    >>> counts = CountedValues.of(np.array([[2.0], [1.0], [2.0], [np.nan]]))
    >>> counts.values.tolist(), counts.weights.tolist()
    ([1.0, 2.0], [1.0, 2.0])
    """

    starts: Integers
    values: Floats
    weights: Floats
    rank_error: Floats
    limit: int = 0

    def __post_init__(self) -> None:
        fits = (
            self.starts.ndim == 1
            and self.starts.size == self.rank_error.size + 1
            and self.starts[0] == 0
            and self.starts[-1] == self.values.size == self.weights.size
            and (np.diff(self.starts) >= 0).all()
        )
        if not fits:
            raise InputError("The values of these columns do not fit together: wrong lengths.")

    @classmethod
    def of(cls, X: Floats, weight: Floats | None = None, limit: int = 0) -> CountedValues:
        """The values of the known cells of a table (n, d)."""
        parts = [_counted(X[:, j], weight) for j in range(X.shape[1])]
        starts = np.cumsum([0, *(len(values) for values, _ in parts)])
        counted = cls(
            starts.astype(np.int64),
            np.concatenate([np.empty(0), *(values for values, _ in parts)]),
            np.concatenate([np.empty(0), *(weights for _, weights in parts)]),
            np.zeros(X.shape[1]),
            limit,
        )
        return counted._within_limit()

    @classmethod
    def of_cells(
        cls, columns: Integers, values: Floats, weights: Floats, n_columns: int
    ) -> CountedValues:
        """Single cells, given by their columns, values and weights, in any order."""
        return _collected(columns, values, weights, np.zeros(n_columns))

    @property
    def n_columns(self) -> int:
        return self.rank_error.size

    @property
    def totals(self) -> Floats:
        """Weight of all values of every column (d,)."""
        sums = np.concatenate([[0.0], np.cumsum(self.weights)])
        whole = sums[self.starts[1:]] - sums[self.starts[:-1]]
        # A difference of running sums may leave rounding where a column has no value.
        return np.where(np.diff(self.starts) > 0, whole, 0.0)

    @property
    def columns(self) -> Integers:
        """The column of every value."""
        return np.repeat(np.arange(self.n_columns), np.diff(self.starts))

    def column(self, j: int) -> tuple[Floats, Floats]:
        """Values and weights of one column."""
        part = slice(int(self.starts[j]), int(self.starts[j + 1]))
        return self.values[part], self.weights[part]

    # Arithmetic

    def __add__(self, other: CountedValues) -> CountedValues:
        self._check(other)
        joined = _collected(
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weights, other.weights]),
            self.rank_error + other.rank_error,
        )
        return replace(joined, limit=self.limit)._within_limit()

    def __sub__(self, other: CountedValues) -> CountedValues:
        """The values without those of `other`, which must be among them."""
        self._check(other)
        if self.rank_error.any() or other.rank_error.any():
            raise InputError(
                "These values were compressed, so single ones cannot be taken away exactly. Keep "
                "all values (max_values=None), or fit the remaining rows afresh."
            )
        # Weights of both at the values of either: theirs negative.
        both = _collected(
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weights, -other.weights]),
            self.rank_error,
            keep_all=True,
        )
        both = replace(both, limit=self.limit)
        before = np.zeros(both.values.size)
        before[both._places(self)] = self.weights
        wrong = np.flatnonzero(both.weights < -_NOTHING * np.maximum(before, 1.0))
        if wrong.size:
            first = wrong[0]
            raise InputError(
                f"Cannot remove rows that were never added: the value {both.values[first]:g} of "
                f"numeric column {both.columns[first]} has weight {before[first]:g}, and "
                f"{before[first] - both.weights[first]:g} is to be removed."
            )
        return both.only(both.weights > _NOTHING * before)

    def __mul__(self, factor: float) -> CountedValues:
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"Values are counted a finite number of times, got {factor!r}.")
        if factor == 0:
            return CountedValues.of(np.empty((0, self.n_columns)), limit=self.limit)
        return replace(self, weights=factor * self.weights, rank_error=factor * self.rank_error)

    __rmul__ = __mul__

    def isclose(self, other: CountedValues, rtol: float = 1e-10) -> bool:
        """The same values, with weights equal within `rtol`."""
        return (
            np.array_equal(self.starts, other.starts)
            and np.array_equal(self.values, other.values)
            and bool(np.allclose(self.weights, other.weights, rtol=rtol, atol=0.0))
        )

    def only(self, kept: Mask) -> CountedValues:
        """Some of the values."""
        counts = np.bincount(self.columns[kept], minlength=self.n_columns)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return replace(self, starts=starts, values=self.values[kept], weights=self.weights[kept])

    def _within_limit(self) -> CountedValues:
        """At most `limit` values for every column; runs of neighbors become one value.

        A run is represented by the value in the middle of its weight, and the smallest and the
        largest value stay as they are.
        """
        if not self.limit or (np.diff(self.starts) <= self.limit).all():
            return self
        parts = [self._short_column(j, self.limit) for j in range(self.n_columns)]
        lengths = [len(values) for values, _, _ in parts]
        return CountedValues(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([values for values, _, _ in parts]),
            np.concatenate([weights for _, weights, _ in parts]),
            self.rank_error + np.array([error for _, _, error in parts]),
            self.limit,
        )

    def _short_column(self, j: int, size: int) -> tuple[Floats, Floats, float]:
        values, weights = self.column(j)
        if len(values) <= size:
            return values, weights, 0.0
        inner = weights[1:-1]
        ends = np.cumsum(inner)
        middles = ends - inner / 2
        run = np.minimum((middles / ends[-1] * (size - 2)).astype(np.int64), size - 3)
        firsts = np.flatnonzero(np.diff(run, prepend=-1))
        sums = np.add.reduceat(inner, firsts)
        # The value at which half of the run's weight is reached.
        halves = np.concatenate([[0.0], np.cumsum(sums)[:-1]]) + sums / 2
        chosen = np.minimum(np.searchsorted(ends, halves), len(inner) - 1)
        return (
            np.concatenate([values[:1], values[1:-1][chosen], values[-1:]]),
            np.concatenate([weights[:1], sums, weights[-1:]]),
            float(sums.max()),
        )

    def _places(self, other: CountedValues) -> Integers:
        """Positions of another's values, all of which are among these."""
        places = np.empty(other.values.size, np.int64)
        for j in range(self.n_columns):
            theirs = slice(int(other.starts[j]), int(other.starts[j + 1]))
            positions = np.searchsorted(self.column(j)[0], other.values[theirs])
            places[theirs] = self.starts[j] + positions
        return places

    def _check(self, other: CountedValues) -> None:
        if not isinstance(other, CountedValues) or other.n_columns != self.n_columns:
            raise InputError("Counted values combine with those of the same columns only.")
        if other.limit != self.limit:
            raise InputError(
                f"Values counted with the limits {self.limit} and {other.limit} do not combine. "
                "Give every part the same max_values."
            )


def _counted(column: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """The values of one column and their weights."""
    # Adding zero turns -0.0 into 0.0, which it equals.
    known = ~np.isnan(column)
    cells = column[known] + 0.0
    if weight is None:
        cells.sort()
        weights = None
    else:
        order = np.argsort(cells, kind="stable")
        cells, weights = cells[order], weight[known][order]
    if cells.size == 0:
        return cells, cells
    firsts = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))
    if weights is None:
        return cells[firsts], np.diff(firsts, append=cells.size).astype(float)
    return cells[firsts], np.add.reduceat(weights, firsts)


def _collected(
    columns: Integers,
    values: Floats,
    weights: Floats,
    rank_error: Floats,
    *,
    keep_all: bool = False,
) -> CountedValues:
    """Equal values of a column become one, whose weight is their sum, in the order given."""
    order = np.lexsort((values, columns))
    columns, values, weights = columns[order], values[order], weights[order]
    new = np.ones(values.size, bool)
    new[1:] = (values[1:] != values[:-1]) | (columns[1:] != columns[:-1])
    firsts = np.flatnonzero(new)
    sums = np.add.reduceat(weights, firsts) if firsts.size else weights
    kept = np.ones(firsts.size, bool) if keep_all else sums > 0
    counts = np.bincount(columns[firsts][kept], minlength=rank_error.size)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return CountedValues(starts, values[firsts][kept], sums[kept], rank_error)
