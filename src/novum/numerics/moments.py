"""Weight, mean and scatter of rows, which can be merged and taken apart without losing digits.

    weight  W = sum w_i
    mean    m = sum w_i x_i / W
    scatter S = sum w_i (x_i - m)(x_i - m)'

Rows are centered before anything is squared: a run of blocks at the mean of its first block, with
a correction for what the run's own mean differs by. Two samples merge by Chan's formula,

    m = m_a + (W_b / W) delta,    S = S_a + S_b + (W_a W_b / W) delta delta',    delta = m_b - m_a,

which with a negative W_b and S_b is also the exact inverse. All three are kept as pairs of doubles
(`double_double`), so merging and removing add no error of their own: a sample at 1e8 with a spread
of 0.1 survives the coming and going of other rows.

A weight means repetition: weight 2 is the row twice, weight 0 the row absent. The result depends on
the rows and their partition only; matrix products run on one thread.

References
----------
Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, eq. 2.1 and 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics import double_double as dd
from novum.numerics.blas_threads import one_blas_thread
from novum.numerics.types import Floats
from novum.numerics.weighted_rows import (
    blocks_of_rows,
    check_underflow,
    checked_rows,
    unusable_cell,
)

Parts = tuple[dd.Pair, dd.Pair, dd.Pair]
Square = Callable[[dd.Pair], dd.Pair]

# Blocks that share one center: merging in pairs of doubles costs as much as half a block.
_BLOCKS_PER_MERGE = 8


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight, mean and scatter of a weighted sample of d columns.

    Parameters
    ----------
    weight : float
        Sum of the weights; the number of rows if they have none.
    mean : array (d,)
        Zeros where the weight is zero.
    scatter : array (d, d)
        Sum of weighted squares and products about the mean.
    weight_low, mean_low, scatter_low
        What the three would have beyond the 16th digit.

    Examples
    --------
    >>> a, b = moments_of([[1.0], [2.0]]), moments_of([[6.0]])
    >>> both = a + b
    >>> both.weight, both.mean.tolist(), both.scatter.tolist()
    (3.0, [3.0], [[14.0]])
    >>> (both - b).isclose(a)
    True
    >>> both.variance(ddof=1).tolist()
    [7.0]
    """

    weight: float
    mean: Floats
    scatter: Floats
    weight_low: float = field(default=0.0, repr=False)
    mean_low: Floats | None = field(default=None, repr=False)
    scatter_low: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        mean, scatter = np.asarray(self.mean, float), np.asarray(self.scatter, float)
        if mean.ndim != 1 or scatter.shape != (mean.size, mean.size):
            raise ValueError(
                "Moments of d columns need a mean of shape (d,) and a scatter of shape (d, d), "
                f"got {mean.shape} and {scatter.shape}."
            )
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise ValueError(f"The weight of moments is finite and not negative: {self.weight!r}.")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "scatter", scatter)
        for name, like in (("mean_low", mean), ("scatter_low", scatter)):
            low = getattr(self, name)
            value = np.zeros_like(like) if low is None else np.asarray(low, float)
            object.__setattr__(self, name, value)

    @classmethod
    def zero(cls, n_columns: int) -> Moments:
        """The moments of no rows, which change nothing when added."""
        return cls(0.0, np.zeros(n_columns), np.zeros((n_columns, n_columns)))

    @property
    def n_columns(self) -> int:
        return self.mean.size

    # Arithmetic

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        _check_same_columns(self, other)
        if other.weight == 0:
            return self
        if self.weight == 0:
            return other
        return _from_parts(*merged(self._parts(), other._parts(), _outer))

    def __sub__(self, other: Moments) -> Moments:
        """The moments without the rows of `other`, which must be among them."""
        if not isinstance(other, Moments):
            return NotImplemented
        _check_same_columns(self, other)
        if other.weight == 0:
            return self
        weight, mean, scatter = self._parts()
        left = dd.subtract(weight, other._parts()[0])
        check_removal(left[0], weight[0])
        if left[0] <= left_over(weight[0]):
            spreads = np.diagonal(self.scatter), np.diagonal(other.scatter)
            check_same_rows(np.asarray(other.weight), (self.mean, other.mean), spreads)
            return Moments.zero(self.n_columns)
        weight, mean, scatter = merged(self._parts(), negated(other._parts()), _outer)
        scatter = _without_negative_diagonal(scatter, self.scatter)
        return _from_parts(weight, mean, scatter)

    def __mul__(self, factor: float) -> Moments:
        """Every row repeated `factor` times."""
        check_factor(factor)
        if factor == 0:
            return Moments.zero(self.n_columns)
        weight, mean, scatter = self._parts()
        times = dd.pair(factor)
        return _from_parts(dd.multiply(weight, times), mean, dd.multiply(scatter, times))

    __rmul__ = __mul__

    def isclose(self, other: Moments, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`, measured in each column's own units.

        Means are compared with the larger of their size and their spread, products with the
        product of the two columns' spreads.
        """
        if self.n_columns != other.n_columns:
            return False
        spread = np.sqrt(np.maximum(np.diagonal(self.scatter), np.diagonal(other.scatter)))
        weight = max(self.weight, other.weight)
        size = np.maximum(np.abs(self.mean), np.abs(other.mean))
        unit = np.maximum(size, spread / np.sqrt(weight) if weight else 0.0)
        return bool(
            abs(self.weight - other.weight) <= rtol * weight
            and np.all(np.abs(self.mean - other.mean) <= rtol * unit)
            and np.all(np.abs(self.scatter - other.scatter) <= rtol * np.outer(spread, spread))
        )

    # Derived

    def variance(self, ddof: float = 0.0) -> Floats:
        """`S_jj / (W - ddof)` of every column."""
        return np.diagonal(self.scatter) / self._degrees(ddof)

    def covariance(self, ddof: float = 0.0) -> Floats:
        """`S / (W - ddof)`."""
        return self.scatter / self._degrees(ddof)

    def _degrees(self, ddof: float) -> float:
        degrees = self.weight - ddof
        if degrees <= 0:
            raise ValueError(
                f"A variance with ddof={ddof:g} needs a total weight above {ddof:g}; "
                f"it is {self.weight:g}. Give more rows or a smaller ddof."
            )
        return degrees

    def _parts(self) -> Parts:
        assert self.mean_low is not None
        assert self.scatter_low is not None
        return (
            dd.pair(self.weight, self.weight_low),
            (self.mean, self.mean_low),
            (self.scatter, self.scatter_low),
        )


# --- From rows ------------------------------------------------------------------------------------


def moments_of(X: ArrayLike, weight: ArrayLike | None = None) -> Moments:
    """Moments of the rows of `X`.

    Parameters
    ----------
    X : array (n, d)
        Complete and finite; `column_moments_of` takes missing cells.
    weight : array (n,), optional
        Repetitions of each row, not negative.

    Notes
    -----
    O(n d^2). A column whose squares cannot be represented (values beyond 1e154, or a spread below
    about 1e-154) is refused by name instead of turning into infinity or zero.
    """
    rows, weights = checked_rows(X, weight)
    if not len(rows):
        return Moments.zero(rows.shape[1])
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
        blocks = list(blocks_of_rows(*rows.shape))
        result = _moments_of_run(rows, weights, blocks[:_BLOCKS_PER_MERGE])
        for first in range(_BLOCKS_PER_MERGE, len(blocks), _BLOCKS_PER_MERGE):
            run = blocks[first : first + _BLOCKS_PER_MERGE]
            result = result + _moments_of_run(rows, weights, run)
        if len(blocks) > _BLOCKS_PER_MERGE and not np.isfinite(result.scatter).all():
            raise unusable_cell(rows, "moments")
        check_underflow(result.scatter.diagonal(), rows)
    return result


def autocorrelation(x: ArrayLike, lag: int = 1) -> float:
    """Autocorrelation of a series: `sum (x_t - m)(x_{t+lag} - m) / sum (x_t - m)^2`.

    >>> autocorrelation([1.0, 3.0, 2.0])
    -0.5
    """
    series = np.asarray(x, float).reshape(-1, 1)
    if not 0 <= lag < series.size:
        raise ValueError(f"A series of {series.size} values has no lag {lag}.")
    statistics = moments_of(series)
    if statistics.scatter[0, 0] == 0:
        raise ValueError("A constant series has no autocorrelation: its variance is 0.")
    assert statistics.mean_low is not None
    centered = (series[:, 0] - statistics.mean[0]) - statistics.mean_low[0]
    products = centered[: series.size - lag] * centered[lag:]
    return float(products.sum() / (centered * centered).sum())


def _moments_of_run(rows: Floats, weights: Floats | None, blocks: list[tuple[int, int]]) -> Moments:
    """Moments of consecutive blocks about the mean of the first, corrected at the end.

    The first mean is amid the data, so the correction takes away no more than a few times what it
    leaves, even where the blocks drift.
    """
    block, unit = _block(rows, weights, *blocks[0])
    mean = _first_mean(block, unit)
    total, sums, scatter = 0.0, np.zeros_like(mean), np.zeros((len(mean), len(mean)))
    for start, stop in blocks:
        if start > blocks[0][0]:
            block, unit = _block(rows, weights, start, stop)
        centered = block - mean
        total += float(unit.sum())
        sums += unit @ centered
        if weights is not None:
            centered *= np.sqrt(unit)[:, None]
        scatter += centered.T @ centered
    rest = sums / total
    scatter -= total * (rest[:, None] * rest)
    if not np.isfinite(scatter).all():
        raise unusable_cell(rows[blocks[0][0] : blocks[-1][1]], "moments")
    high, low = dd.two_sum(mean, rest)
    return Moments(total, high, scatter, 0.0, low)


def _block(rows: Floats, weights: Floats | None, start: int, stop: int) -> tuple[Floats, Floats]:
    # One layout for all inputs: products of other layouts round differently.
    block = np.ascontiguousarray(rows[start:stop])
    return block, np.ones(stop - start) if weights is None else weights[start:stop]


def _first_mean(block: Floats, unit: Floats) -> Floats:
    # Differences to a row of the sample make a constant column exactly constant.
    return np.asarray(block[0] + unit @ (block - block[0]) / unit.sum())


# --- Merging --------------------------------------------------------------------------------------


def merged(a: Parts, b: Parts, square: Square) -> Parts:
    """Chan's formula in pairs of doubles; `square` gives `delta delta'` or its diagonal."""
    weight = dd.add(a[0], b[0])
    delta = dd.subtract(b[1], a[1])
    share = dd.divide(b[0], weight)
    mean = dd.add(a[1], dd.multiply(delta, share))
    between = dd.multiply(square(delta), dd.multiply(a[0], share))
    return weight, mean, dd.add(dd.add(a[2], b[2]), between)


def negated(parts: Parts) -> Parts:
    """The parts that `merged` removes: weight and scatter with their sign turned."""
    weight, mean, scatter = parts
    return (-weight[0], -weight[1]), mean, (-scatter[0], -scatter[1])


def left_over(weight: Floats) -> Floats:
    """Below this a remaining weight is the rounding of a sum of weights, and means none."""
    return 1e-14 * weight


def check_removal(left: Floats, weight: Floats) -> None:
    if np.any(left < -left_over(weight)):
        worst = int(np.argmin(left))
        raise ValueError(
            "Cannot remove more rows than there are: a weight of "
            f"{np.ravel(weight)[worst]:g} would become {np.ravel(left)[worst]:g}."
        )


def check_same_rows(
    weight: Floats, means: tuple[Floats, Floats], scatters: tuple[Floats, Floats]
) -> None:
    """Refuse to remove all that there is by rows of another mean or spread.

    Column by column; the order in which rows were added changes sums by rounding only.
    """
    size = np.maximum(*np.abs(means))
    scatter = np.maximum(*scatters)
    unit = np.maximum(size, np.sqrt(scatter / weight))
    moved = np.abs(means[0] - means[1]) > 1e-9 * unit
    # What rounding of a mean leaves of the spread of a constant column is no spread.
    changed = np.abs(scatters[0] - scatters[1]) > 1e-9 * scatter + weight * (1e-12 * size) ** 2
    bad = np.flatnonzero(moved | changed)
    if bad.size:
        raise ValueError(
            "The rows to remove are not among the rows: they would be all there are, but column "
            f"{int(bad[0])} has mean {means[0][bad[0]]:g} and theirs {means[1][bad[0]]:g}, or "
            "another spread. Remove only what was added."
        )


def check_factor(factor: float) -> None:
    if not (np.isfinite(factor) and factor >= 0):
        raise ValueError(f"Moments are scaled by a finite factor of at least 0, got {factor!r}.")


def check_scatter(diagonal: Floats, before: Floats) -> None:
    """Refuse a removal that leaves a negative variance beyond rounding."""
    bad = np.flatnonzero(diagonal < -1e-12 * before)
    if bad.size:
        column = int(bad[0])
        raise ValueError(
            f"The rows to remove are not among the rows: the scatter of column {column} would fall "
            f"from {before[column]:g} to {diagonal[column]:g}. Remove only what was added."
        )


def check_definite(scatter: Floats, before: Floats) -> None:
    """Refuse a removal that leaves a negative variance in some direction beyond rounding."""
    spread = np.sqrt(np.diagonal(before))
    seen = np.flatnonzero(spread > 0)
    scaled = scatter[np.ix_(seen, seen)] / spread[seen, None] / spread[seen]
    # In units of the spread before, eigenvalues of what is left are right to some 1e-15 each.
    scaled[np.diag_indices_from(scaled)] += 1e-12 * max(1, seen.size)
    try:
        np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "The rows to remove are not among the rows: they differ in a direction in which those "
            "that would be left have less than no spread. Remove only what was added."
        ) from error


def _outer(delta: dd.Pair) -> dd.Pair:
    column = (delta[0][:, None], delta[1][:, None])
    row = (delta[0][None, :], delta[1][None, :])
    return dd.multiply(column, row)


def _without_negative_diagonal(scatter: dd.Pair, before: Floats) -> dd.Pair:
    diagonal = np.diagonal(scatter[0])
    check_scatter(diagonal, np.diagonal(before))
    check_definite(scatter[0], before)
    negative = diagonal < 0
    if not negative.any():
        return scatter
    # A column that has become constant keeps no products with the others either.
    keep = ~(negative[:, None] | negative[None, :])
    return np.where(keep, scatter[0], 0.0), np.where(keep, scatter[1], 0.0)


def _from_parts(weight: dd.Pair, mean: dd.Pair, scatter: dd.Pair) -> Moments:
    return Moments(float(weight[0]), mean[0], scatter[0], float(weight[1]), mean[1], scatter[1])


def _check_same_columns(a: Moments, b: Moments) -> None:
    if a.n_columns != b.n_columns:
        raise ValueError(
            f"Moments of {a.n_columns} and of {b.n_columns} columns cannot be combined."
        )
