"""Weight, mean and scatter of each column on its own, where cells may be missing.

    W_j = sum_i w_i o_ij,   m_j = sum_i w_i o_ij x_ij / W_j,   S_j = sum_i w_i o_ij (x_ij - m_j)^2

with `o_ij = 1` where the cell is present and 0 where it is missing (NaN). Every column is the
sample of its own cells: nothing is imputed and no row is dropped. Merging and removing follow
`moments`, column by column.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from novum.numerics import double_double as dd
from novum.numerics.jit import as_argument
from novum.numerics.moments import (
    Parts,
    check_factor,
    check_removal,
    check_same_rows,
    check_scatter,
    left_over,
    merged,
    negated,
)
from novum.numerics.types import Floats, Mask
from novum.numerics.weighted_rows import (
    blocks_of_rows,
    check_underflow,
    checked_rows,
    unusable_cell,
)

# Below this many cells NumPy takes less than the half second a compilation would; the choice looks
# at the size only, so that the bits do not depend on the state of the cache.
COMPILED_FROM_CELLS = 2**18


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Weight, mean and scatter of d columns, each over its present cells.

    Parameters
    ----------
    weight, mean, scatter : arrays (d,)
        Sums of weights, means and sums of squares about the mean. A column without any present cell
        has weight, mean and scatter zero.
    weight_low, mean_low, scatter_low : arrays (d,)
        What the three would have beyond the 16th digit.

    Examples
    --------
    >>> columns = column_moments_of([[1.0, 5.0], [3.0, np.nan]])
    >>> columns.weight.tolist(), columns.mean.tolist(), columns.scatter.tolist()
    ([2.0, 1.0], [2.0, 5.0], [2.0, 0.0])
    """

    weight: Floats
    mean: Floats
    scatter: Floats
    weight_low: Floats | None = field(default=None, repr=False)
    mean_low: Floats | None = field(default=None, repr=False)
    scatter_low: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("weight", "mean", "scatter"):
            value = np.asarray(getattr(self, name), float)
            low = getattr(self, f"{name}_low")
            object.__setattr__(self, name, value)
            object.__setattr__(
                self, f"{name}_low", np.zeros_like(value) if low is None else np.asarray(low, float)
            )
        if not self.weight.ndim == 1 or not self.weight.shape == self.mean.shape == (
            self.scatter.shape
        ):
            raise ValueError(
                "ColumnMoments of d columns need three arrays of shape (d,), got "
                f"{self.weight.shape}, {self.mean.shape} and {self.scatter.shape}."
            )
        if not np.all(np.isfinite(self.weight) & (self.weight >= 0)):
            raise ValueError(f"Weights of moments are finite and not negative: {self.weight}.")

    @classmethod
    def zero(cls, n_columns: int) -> ColumnMoments:
        """The moments of no rows, which change nothing when added."""
        return cls(np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns))

    @property
    def n_columns(self) -> int:
        return self.weight.size

    # Arithmetic

    def __add__(self, other: ColumnMoments) -> ColumnMoments:
        if not isinstance(other, ColumnMoments):
            return NotImplemented
        _check_same_columns(self, other)
        both = (self.weight > 0) & (other.weight > 0)
        sum_of_both = merged(_where(both, self), _where(both, other), _square)
        one = [
            np.where(other.weight > 0, b, a)
            for a, b in zip(self._arrays(), other._arrays(), strict=True)
        ]
        return _from_parts(sum_of_both, both, one)

    def __sub__(self, other: ColumnMoments) -> ColumnMoments:
        """The moments without the rows of `other`, which must be among them."""
        if not isinstance(other, ColumnMoments):
            return NotImplemented
        _check_same_columns(self, other)
        left = dd.subtract(self._parts()[0], other._parts()[0])[0]
        check_removal(left, self.weight)
        stays = left > left_over(self.weight)
        gone = np.flatnonzero(~stays & (other.weight > 0))
        check_same_rows(
            other.weight[gone],
            (self.mean[gone], other.mean[gone]),
            (self.scatter[gone], other.scatter[gone]),
        )
        changes = stays & (other.weight > 0)
        weight, mean, scatter = merged(
            _where(changes, self), negated(_where(changes, other, absent=0.0)), _square
        )
        check_scatter(np.where(changes, scatter[0], 0.0), self.scatter)
        negative = scatter[0] < 0
        scatter = np.where(negative, 0.0, scatter[0]), np.where(negative, 0.0, scatter[1])
        rest = [np.where(stays, a, 0.0) for a in self._arrays()]
        return _from_parts((weight, mean, scatter), changes, rest)

    def __mul__(self, factor: float) -> ColumnMoments:
        """Every row repeated `factor` times."""
        check_factor(factor)
        if factor == 0:
            return ColumnMoments.zero(self.n_columns)
        weight, mean, scatter = self._parts()
        times = dd.pair(factor)
        parts = dd.multiply(weight, times), mean, dd.multiply(scatter, times)
        return _from_parts(parts, np.ones(self.n_columns, bool), self._arrays())

    __rmul__ = __mul__

    def isclose(self, other: ColumnMoments, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`, measured in each column's own units."""
        if self.n_columns != other.n_columns:
            return False
        weight = np.maximum(self.weight, other.weight)
        scatter = np.maximum(self.scatter, other.scatter)
        size = np.maximum(np.abs(self.mean), np.abs(other.mean))
        unit = np.maximum(size, np.sqrt(scatter / np.where(weight > 0, weight, 1.0)))
        return bool(
            np.all(np.abs(self.weight - other.weight) <= rtol * weight)
            and np.all(np.abs(self.mean - other.mean) <= rtol * unit)
            and np.all(np.abs(self.scatter - other.scatter) <= rtol * scatter)
        )

    # Derived

    def variance(self, ddof: float = 0.0) -> Floats:
        """`S_j / (W_j - ddof)`; NaN in columns whose weight is not above `ddof`."""
        degrees = self.weight - ddof
        enough = degrees > 0
        return np.where(enough, self.scatter / np.where(enough, degrees, 1.0), np.nan)

    def _parts(self) -> Parts:
        weight, mean, scatter, *low = self._arrays()
        return (weight, low[0]), (mean, low[1]), (scatter, low[2])

    def _arrays(self) -> list[Floats]:
        low = (self.weight_low, self.mean_low, self.scatter_low)
        return [self.weight, self.mean, self.scatter, *(part for part in low if part is not None)]


# --- From rows ------------------------------------------------------------------------------------


def column_moments_of(X: ArrayLike, weight: ArrayLike | None = None) -> ColumnMoments:
    """Moments of each column of `X` over its present cells; NaN is missing.

    Parameters
    ----------
    X : array (n, d)
        Finite or NaN.
    weight : array (n,), optional
        Repetitions of each row, not negative.

    Notes
    -----
    O(n d). Columns whose squares cannot be represented are refused as in `moments_of`.
    """
    rows, weights = checked_rows(X, weight)
    unit = np.ones(len(rows)) if weights is None else weights
    block_moments = _numpy_block if rows.size < COMPILED_FROM_CELLS else _compiled_block
    result = ColumnMoments.zero(rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for start, stop in blocks_of_rows(*rows.shape):
            total, center, rest, scatter = block_moments(rows[start:stop], unit[start:stop])
            if not np.all(np.isfinite(scatter)):
                raise unusable_cell(_present(rows[start:stop]), "column moments")
            mean, mean_low = dd.two_sum(center, rest)
            block = ColumnMoments(total, mean, scatter, None, mean_low)
            result = block if start == 0 else result + block
        if not np.all(np.isfinite(result.scatter)):
            raise unusable_cell(_present(rows), "column moments")
    check_underflow(result.scatter, rows)
    return result


def _numpy_block(rows: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Weight, center near the mean, mean minus center, and scatter of one block."""
    present = ~np.isnan(rows)
    weighted = weights[:, None] * present
    total = weighted.sum(axis=0)
    divisor = np.where(total > 0, total, 1.0)
    # Differences to a cell of the column make a constant column exactly constant.
    first = np.where(total > 0, rows[present.argmax(axis=0), np.arange(rows.shape[1])], 0.0)
    center = first + (weighted * np.where(present, rows - first, 0.0)).sum(axis=0) / divisor
    centered = np.where(present, rows - center, 0.0)
    rest = (weighted * centered).sum(axis=0) / divisor
    scatter = (weighted * centered * centered).sum(axis=0) - total * rest * rest
    return total, center, rest, scatter


def _compiled_block(rows: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    from novum.numerics.column_moments_kernels import accumulate_columns

    out = np.zeros((4, rows.shape[1]))
    accumulate_columns(as_argument(rows), as_argument(weights), out)
    total, center, rest, scatter = out
    return total, center, rest, scatter


# --- Merging --------------------------------------------------------------------------------------


def _square(delta: dd.Pair) -> dd.Pair:
    return dd.multiply(delta, delta)


def _where(use: Mask, statistics: ColumnMoments, absent: float = 1.0) -> Parts:
    """The parts of the columns to combine; the others get a weight that divides without harm."""
    weight, mean, scatter = statistics._parts()
    return (np.where(use, weight[0], absent), np.where(use, weight[1], 0.0)), mean, scatter


def _from_parts(parts: Parts, use: Mask, otherwise: list[Floats]) -> ColumnMoments:
    """The combined columns where `use`, the other arrays elsewhere."""
    high = [np.where(use, part[0], other) for part, other in zip(parts, otherwise[:3], strict=True)]
    low = [np.where(use, part[1], other) for part, other in zip(parts, otherwise[3:], strict=True)]
    return ColumnMoments(*high, *low)


def _present(rows: Floats) -> Floats:
    return np.where(np.isnan(rows), 0.0, rows)


def _check_same_columns(a: ColumnMoments, b: ColumnMoments) -> None:
    if a.n_columns != b.n_columns:
        raise ValueError(
            f"Moments of {a.n_columns} and of {b.n_columns} columns cannot be combined."
        )
