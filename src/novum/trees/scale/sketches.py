"""Summaries of numeric columns that add up, from which bins are cut.

A sketch is a list of distinct values v_1 < v_2 < ... with the weight of the rows in (v_{i-1}, v_i].
As long as a column has at most `capacity` distinct values, that is the column itself, and the bins
are those of the table in memory. A longer list is compressed to about K = capacity / 4 values:
values are kept where the running weight crosses a multiple of W / K, and so is every value of
weight W / K or more and the one before it. A rank, the weight of the rows up to x, is then wrong by

    less than 2 W / K for each compression that a row has gone through,

and errors of parts add up. A sum over n chunks compresses a row at most once for each of its
log2(n) additions and once in its chunk. `error` is the bound that was in fact reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.numerics.shared_state import cached_property
from novum.trees.growth.coding import midpoints

Floats = NDArray[np.float64]

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
