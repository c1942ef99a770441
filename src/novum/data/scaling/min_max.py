"""Scaling to a range: the smallest value of a column to one end, the largest to the other.

    z_ij = a + (b - a) (x_ij - min_j) / (max_j - min_j)

over the known cells of the column, or of a group of columns that share one range: pixels of an
image keep their relations only if all are scaled by the same two numbers. The ends of columns are
kept so that chunks unite and rows come off again.

The smallest of all values is the smaller of the smallest of two parts, but when the rows that hold
it leave, the next one must be known. So a table keeps, for every column, all cells up to a
*reach*: the value that about `TAIL` cells do not exceed. Two tables know together all cells up to
the smaller of their reaches; cells that leave make the list shorter and never wrong. Should it
ever become empty while cells remain beyond the reach, the smallest is not known any more, and that
is said. The largest values are the smallest of the negated column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, parameter
from novum.core.sums import Additive
from novum.core.tables import Sample
from novum.data.scaling.column_groups import Groups, group_codes
from novum.data.scaling.counted_values import CountedValues
from novum.data.scaling.transformer import ScalingStatistics, ScalingTransformer, seen
from novum.numerics import Floats, Mask, Positions, blocks_of_rows

# Cells at each end of a column that are kept. More than this must leave before an end is unknown.
TAIL = 64

# Rows from which the first reach of a large table is guessed.
_GUESSED_FROM = 8192


class MinMaxScaler(ScalingTransformer):
    """Numeric columns to a common range; other columns pass through.

    Parameters
    ----------
    feature_range : pair of numbers, default=(0, 1)
    copy : bool, default=True
        Kept for scikit-learn's signature; `X` is never overwritten.
    clip : bool, default=False
        Whether values beyond those of training are cut off at the ends of the range.
    groups : None, "all" or lists of columns, default=None
        Columns that share one smallest and one largest value.
    categorical_features : "auto", "all", None, mask, names or positions, default="auto"
        Columns that are not scaled.

    Attributes
    ----------
    data_min_, data_max_, data_range_ : arrays (number of numeric columns,)
        Of the column or its group; NaN without known cells.
    scale_, min_ : arrays (number of numeric columns,)
        `z = x scale_ + min_`. The scale of a constant column is the width of the range.
    n_samples_seen_ : number
        Weight of the rows.
    statistics_, schema_, certificate_

    Notes
    -----
    `O(n d)`. Missing cells stay missing and take no part. `forget` is exact; after more than the
    64 outermost cells of a column are gone, it may have to say that an end is not known any more.

    Examples
    --------
    >>> MinMaxScaler().fit_transform([[0.0, 10.0], [5.0, 20.0]]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    >>> MinMaxScaler(groups="all").fit_transform([[0.0, 10.0], [5.0, 20.0]]).tolist()
    [[0.0, 0.5], [0.25, 1.0]]
    """

    feature_range: tuple[float, float] = parameter(tuple, list, default=(0, 1), kw_only=False)
    copy: bool = parameter(default=True)
    clip: bool = parameter(default=False)
    groups: Groups = parameter(str, None, "array-like", default=None)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; columns of a group have a common unit."""
        units = "column_scale" if self.groups is None else "common_scale"
        return ("shift", "row_order", "duplication", units)

    def _columns(self, sample: Sample) -> Extremes:
        return Extremes.of(sample.numeric, sample.weight)

    def _estimate_columns(self, statistics: ScalingStatistics) -> Certificate:
        low, high = self._range()
        codes = group_codes(self.groups, statistics.schema)
        smallest = _over_groups(np.fmin, statistics.columns.smallest, codes)
        largest = _over_groups(np.fmax, statistics.columns.largest, codes)
        with np.errstate(over="ignore"):
            width = largest - smallest
            scale = (high - low) / np.where(width == 0, 1.0, width)
        self._refuse_overflow(width, scale, statistics)
        self.data_min_, self.data_max_, self.data_range_ = smallest, largest, width
        self.scale_ = scale
        self.min_ = low - smallest * self.scale_
        self.n_samples_seen_ = seen(np.array([statistics.weight]))
        return Certificate(
            objective="range of the columns",
            verdict=Verdict.PROVED,
            details={
                "constant_columns": int((width == 0).sum()),
                "unknown_columns": int(np.isnan(width).sum()),
            },
        )

    def _has_scale(self) -> Mask:
        return ~np.isnan(self.data_min_)

    def _forward(self, X: Floats) -> Floats:
        low, high = self._range()
        out = X - self.data_min_
        out *= self.scale_
        out += low
        return np.clip(out, low, high, out=out) if self.clip else out

    def _backward(self, X: Floats) -> Floats:
        low, _ = self._range()
        return self.data_min_ + (X - low) / self.scale_

    def _range(self) -> tuple[float, float]:
        try:
            low, high = (float(end) for end in self.feature_range)
        except (TypeError, ValueError):
            raise InputError(
                f"feature_range is a pair of numbers, got {self.feature_range!r}."
            ) from None
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(
                "Minimum of desired feature range must be smaller than maximum. Got "
                f"{tuple(self.feature_range)}."
            )
        return low, high

    def _refuse_overflow(self, width: Floats, scale: Floats, statistics: ScalingStatistics) -> None:
        wrong = np.flatnonzero(np.isinf(width) | np.isinf(scale))
        if wrong.size:
            name = statistics.schema.columns[statistics.schema.numeric[wrong[0]]].name
            what, remedy = "range", "Divide"
            if np.isinf(scale[wrong[0]]):
                what, remedy = f"factor for the range of {width[wrong[0]]:.3g}", "Multiply"
            raise InputError(
                f"The {what} of column {name!r} is larger than any number. {remedy} the column by "
                "a power of two first."
            )


def _over_groups(end: Any, values: Floats, groups: Positions) -> Floats:
    """The smallest or largest of every group at each of its columns; NaN does not count."""
    out = np.full(int(groups.max(initial=-1)) + 1, np.nan)
    end.at(out, groups, values)
    return np.asarray(out[groups])


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
class Extremes(Additive):
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
        ends = tail.smallest
        for j in np.flatnonzero(np.isnan(ends) & (self.weight > 0)):
            values = -other.counts.column(int(j))[0]
            # Where both tails together reach over all cells, the other one's last is this one's
            # first.
            if values.size and -other.reach[j] <= tail.reach[j]:
                ends[j] = values.min()
                continue
            raise InputError(
                f"So many rows were removed that an end of numeric column {j} is not known any "
                f"more: all {TAIL} outermost cells are gone. Fit the remaining rows afresh."
            )
        return ends

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
