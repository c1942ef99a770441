"""The Gaussian kernel: similarity falls with the squared distance.

    k(x, z) = exp(-|x - z|^2 / (2 width^2)),        scikit-learn's gamma = 1 / (2 width^2)

Distances do not change under a shift, so dense rows are centered at the mean of the training rows.
With `u = (x - mean) / (width sqrt 2)` and `t = |u - v|^2 = |u|^2 + |v|^2 - 2 <u, v>`, a block of
similarities is one matrix product.

In single precision two more columns, `|u|^2` against -1 and the reverse, make that product give
`-t` at once; nothing but `exp` is left. Sums of d products wander by about `sqrt(d)` roundings:
the error of `t` is about `eps max(1, sqrt(d / 8)) (|u|^2 + |v|^2)`. Single precision is used while
`|u|^2` stays below `single_limit` in training, so that no entry is off by more than about 1e-5, and
double precision beyond.

In double precision `t` of rows with d columns is off by at most

    (2 d + 24) (eps / 2) (|u|^2 + |v|^2)

(sums of d squares and products d each, cells of `u` and their common factor 20, the last two sums
3), which grows with the square of the spread over the width.
An entry whose `t` could be off by more than `EXACT` is computed again from the differences `x - z`
of the rows as they were given, which lose no digits between close rows. So no entry is off by more
than `EXACT`, however far from each other the data lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.core.runtime import long_call
from novum.kernels.parameters import class_or_value, positive_number
from novum.kernels.protocol import Kernel, Prepared
from novum.kernels.vectors.vector_rows import (
    ENTRY_FLOPS,
    check_width,
    in_form_of,
    mirrored,
    products,
    read_vectors,
    squared_lengths,
)
from novum.numerics import Array, Floats, Mask, cached_property

if TYPE_CHECKING:
    from novum.kernels.composition import GaussianOf


EXACT = 1e-10
# exp(-24) is below EXACT: what is certainly farther needs no exact distance.
FAR = 24.0
# Rows of a block that are finished at a time, cells of such a block where rows are short, and cells
# of differences: all stay in the cache.
BLOCK_ROWS = 64
ROW_CELLS = 2**15
BLOCK_CELLS = 2**18


@dataclass(frozen=True)
class Gaussian(Kernel):
    """`k(x, z) = exp(-|x - z|^2 / (2 width^2))`, positive semi-definite on every set of rows.

    Parameters
    ----------
    width : float, default=1.0
        Above 0. Rows at this distance have similarity 0.61.

    Notes
    -----
    The feature space has infinite dimension: `feature_map` is None; `novum.kernels.Nystroem` gives
    a finite approximation. Sparse rows stay sparse and are not centered.

    Examples
    --------
    >>> Gaussian(5.0).gram([[0.0, 0.0], [3.0, 4.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    >>> Gaussian.from_gamma(0.02)
    Gaussian(width=5.0)
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        why = "It is the distance at which similarity has fallen to 0.61."
        object.__setattr__(self, "width", positive_number(self.width, "Gaussian's width", why))

    @classmethod
    def from_gamma(cls, gamma: float) -> Gaussian:
        """The kernel `exp(-gamma |x - z|^2)`."""
        return cls(1.0 / sqrt(2.0 * positive_number(gamma, "gamma of a Gaussian kernel")))

    @class_or_value
    def of(given: Any, inner: Kernel, width: float | None = None) -> GaussianOf:  # noqa: N805
        """The Gaussian of the distance in the feature space of a kernel on any objects.

        The width is that of the value it is called on, or 1 for the class, unless it is given.
        """
        from novum.kernels.composition import GaussianOf

        return GaussianOf(inner, given.width if width is None else width)

    @property
    def gamma(self) -> float:
        """`1 / (2 width^2)`."""
        return 1.0 / (2.0 * self.width**2)

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: GaussianRows | None = None) -> GaussianRows:
        if like is None:
            return GaussianRows(self, read_vectors(X, "Gaussian"))
        return GaussianRows(self, read_vectors(X, "Gaussian", like.rows), like.training)


def single_limit(n_columns: int) -> float:
    """The largest `|u|^2` for which single precision is right to about 1e-5."""
    return 32.0 * min(1.0, sqrt(8.0 / max(1, n_columns)))


def rounding_of_distances(n_columns: int) -> float:
    """How far off a squared distance by products can be, as a share of `|u|^2 + |v|^2`."""
    return float((2 * n_columns + 24) * np.finfo(np.float64).eps / 2)


def _center(rows: Floats) -> Floats:
    center = rows.sum(axis=0) / max(1, len(rows))
    if np.isfinite(center).all():
        return np.asarray(center)
    # The sum of a column may overflow; any center is right, and its middle does not.
    return np.where(np.isfinite(center), center, rows.max(axis=0) / 2 + rows.min(axis=0) / 2)


@dataclass(frozen=True, eq=False)
class GaussianRows(Prepared):
    """Rows of numbers for a Gaussian kernel.

    Attributes
    ----------
    kernel : Gaussian
    rows : float64 array in C order, or CSR matrix, of shape (n, n_columns)
        As given; small distances are computed from these.
    like : GaussianRows, optional
        The training rows, if these are others: they decide on center and precision, so that the
        similarity of two rows does not depend on which others are asked for.
    """

    kernel: Gaussian
    rows: Any
    like: GaussianRows | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def training(self) -> GaussianRows:
        """The training rows, these or others."""
        return self if self.like is None else self.like

    @cached_property
    def center(self) -> Floats | None:
        """The mean of the training rows, or None for sparse ones."""
        if self.like is not None:
            return self.like.center
        return None if sparse.issparse(self.rows) else _center(self.rows)

    @cached_property
    def single_is_enough(self) -> bool:
        """Whether float32 blocks may be computed in single precision."""
        if self.like is not None:
            return self.like.single_is_enough
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            longest = self.lengths.max(initial=0.0)
        return bool(longest <= single_limit(self.rows.shape[1]))

    def take(self, rows: Any) -> GaussianRows:
        taken = GaussianRows(self.kernel, self.rows[rows], self.training)
        for name in ("scaled", "lengths", "single"):
            if name in vars(self):
                vars(taken)[name] = vars(self)[name][rows]
        return taken

    def diagonal(self) -> Floats:
        return np.ones(len(self))

    def cross(self, other: GaussianRows, dtype: DTypeLike = np.float64) -> Array:
        check_width(self.rows, other.rows, self.kernel)
        other = self._like_this(other)
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            if np.dtype(dtype) == np.float32 and self._in_single(other):
                return self._single_cross(other)
            K = self._negated_distances(other).astype(dtype, copy=False)
            return np.asarray(np.exp(K, out=K))

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        n, width = self.rows.shape
        # Dense products of rows with themselves are exactly symmetric, and what is made of them.
        is_symmetric = np.dtype(dtype) == np.float64 and not sparse.issparse(self.rows)
        K = long_call(
            lambda: self.cross(self) if is_symmetric else mirrored(self.cross(self, dtype)),
            float(n) ** 2 * (2 * width + ENTRY_FLOPS),
            f"similarities of {n} rows",
        )
        K.reshape(-1)[:: n + 1] = 1.0
        return K

    # Single precision

    @cached_property
    def single(self) -> Any:
        """`(sqrt(2) u, |u|^2, -1)` in single precision; sparse rows have no such two columns."""
        if sparse.issparse(self.scaled):
            return (self.scaled * sqrt(2.0)).astype(np.float32)
        n, width = self.scaled.shape
        rows = np.empty((n, width + 2), np.float32)
        np.multiply(self.scaled, sqrt(2.0), out=rows[:, :width], casting="same_kind")
        rows[:, width] = self.lengths
        rows[:, width + 1] = -1.0
        return rows

    def _in_single(self, other: GaussianRows) -> bool:
        # New rows may be anywhere, but far ones have similarity 0 and errors do not show; only
        # what single precision cannot hold at all must go the other way.
        longest = max(self.lengths.max(initial=0.0), other.lengths.max(initial=0.0))
        return self.single_is_enough and bool(longest < 1e30)

    def _single_cross(self, other: GaussianRows) -> Array:
        if sparse.issparse(self.single):
            K = products(self.single, other.single)
            K -= self.lengths.astype(np.float32)[:, np.newaxis]
            K -= other.lengths.astype(np.float32)
        else:
            left = self.single.copy()
            left[:, -2] = -1.0
            left[:, -1] = self.lengths
            K = products(left, other.single)
        np.minimum(K, 0.0, out=K)
        return np.asarray(np.exp(K, out=K))

    # Double precision: what may leave its range is asked for where that is not said.

    @cached_property
    def scaled(self) -> Any:
        """`u = (x - center) / (width sqrt 2)`; where that exceeds all numbers, not finite."""
        factor = 1.0 / (self.kernel.width * sqrt(2.0))
        if self.center is None:
            return self.rows * factor
        scaled = self.rows - self.center
        scaled *= factor
        return scaled

    @cached_property
    def lengths(self) -> Floats:
        """`|u|^2` of every row."""
        lengths = squared_lengths(self.scaled)
        return np.where(np.isnan(lengths), np.inf, lengths)

    def _negated_distances(self, other: GaussianRows) -> Floats:
        """`-t` of all pairs."""
        T = products(self.scaled, other.scaled)
        relative = rounding_of_distances(self.rows.shape[1])
        longest = self.lengths.max(initial=0.0) + other.lengths.max(initial=0.0)
        size = max(BLOCK_ROWS, ROW_CELLS // max(1, len(other)))
        for start in range(0, len(self), size):
            block = T[start : start + size]
            sums = self.lengths[start : start + size, np.newaxis] + other.lengths
            block *= 2.0
            block -= sums
            if not relative * longest <= EXACT:
                close = ~(-block - relative * sums > FAR) & ~(relative * sums <= EXACT)
                self._exact(other, block, start, close)
        return np.minimum(T, 0.0, out=T)

    def _exact(self, other: GaussianRows, block: Floats, start: int, close: Mask) -> None:
        """Writes `-t` where pairs are close, from differences of the given rows."""
        mine, theirs = np.nonzero(close)
        size = max(1, BLOCK_CELLS // max(1, self.rows.shape[1]))
        for first in range(0, len(mine), size):
            i, j = mine[first : first + size], theirs[first : first + size]
            differences = self.rows[i + start] - other.rows[j]
            scaled = differences * (1.0 / (self.kernel.width * sqrt(2.0)))
            block[i, j] = -squared_lengths(scaled)

    def _like_this(self, other: GaussianRows) -> GaussianRows:
        """The other rows with the center of these; two separate preparations have two."""
        same = other.center is self.center or (
            self.center is not None
            and other.center is not None
            and np.array_equal(self.center, other.center)
        )
        if same and other.kernel == self.kernel:
            return other
        return GaussianRows(self.kernel, in_form_of(other.rows, self.rows), self.training)
