"""Counts of features as sparse rows, and all their inner products in exact integers.

    K[i, j] = sum over features u of count_i(u) count_j(u)

Frequent features are multiplied in one dense product or as bits, rare ones through lists of the
rows that have them (`feature_split`).

Counts are whole and not negative, so no partial sum exceeds the final one, and that is at most
`sqrt(K[i, i] K[j, j])`. Where this bound is below 2^24 single precision is exact in any order of
summation; else double precision is used, exact below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from novum.core.interrupts import time_sliced
from novum.kernels.counts.feature_split import (
    CompressedCounts,
    FeatureKinds,
    SplitRows,
    Words,
    chosen_kinds,
    lists_of,
    split,
)
from novum.kernels.similarity_block import empty_block
from novum.numerics.shared_state import cached_property

Array = NDArray[Any]
Integers = NDArray[np.int64]

# Below this bound on the additions, SciPy's sparse product is quicker than loading a kernel.
COMPILED_FROM_ADDITIONS = 2**20
# Rows whose products are formed at once: enough for BLAS, few enough to stay in the cache.
PANEL_ROWS = 128
# Rows on the other side whose bits are compared at once.
PARTNERS_AT_ONCE = 512
# Features of one row are left out if more than this part of all entries are such.
LONE_SHARE = 1 / 4
# The square of 2^24, below which whole numbers are exact in single precision.
SINGLE_BOUND = 2.0**48


# --- Rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountRows:
    """Rows of counts.

    Parameters
    ----------
    matrix : csr_array of whole numbers (n, n_features)
        Without stored zeros and without an entry stored twice.

    Examples
    --------
    >>> rows = CountRows(sparse.csr_array(np.array([[2, 0, 1], [0, 3, 1]], np.int32)))
    >>> rows.gram()
    array([[ 5.,  1.],
           [ 1., 10.]])
    """

    matrix: sparse.csr_array

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, rows: Any) -> CountRows:
        """Those rows, by a slice, positions or a mask."""
        return CountRows(self.matrix[rows])

    def scaled(self, factors: Integers) -> CountRows:
        """Every feature times a whole factor of its own."""
        data = self.matrix.data * factors[self.matrix.indices]
        return CountRows(
            sparse.csr_array(
                (data, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape
            )
        )

    def rowwise(self, other: CountRows) -> Integers:
        """Product of every row with the same row of `other`: these rows, perhaps scaled."""
        sums = np.zeros(self.matrix.nnz + 1, np.int64)
        np.cumsum(np.multiply(self.matrix.data, other.matrix.data, dtype=np.int64), out=sums[1:])
        return np.diff(sums[self.matrix.indptr])

    @cached_property
    def squares(self) -> Integers:
        """Product of every row with itself."""
        return self.rowwise(self)

    @cached_property
    def index(self) -> FeatureIndex:
        """How others find the rows that share their features."""
        return indexed(self.matrix, _precision(self, self))

    def cross(self, other: CountRows, dtype: DTypeLike = np.float64) -> Array:
        """Products of every row here and every row of `other`; columns mean the same in both.

        Either side may have further columns, which then meet nothing.
        """
        if self.matrix.nnz * len(other) < COMPILED_FROM_ADDITIONS:
            return _plain_product(self.matrix, other.matrix, dtype)
        if len(self) > len(other):
            # The index costs as much as it has rows and features; products are symmetric.
            return np.ascontiguousarray(other.cross(self, dtype).T)
        index = other.index.at(_precision(self, other), other.matrix)
        left = split(self.matrix, index.kinds, index.precision)
        out = empty_block(len(self), len(other), dtype)
        for start, stop in _panels(len(self)):
            out[start:stop] = _products(left, start, stop, index, len(other))
        return out

    def gram(self, dtype: DTypeLike = np.float64, *, left: CountRows | None = None) -> Array:
        """Products of all pairs of rows; the left ones may be these rows scaled."""
        n, left = len(self), self if left is None else left
        if self.matrix.nnz * n < COMPILED_FROM_ADDITIONS:
            return _plain_product(left.matrix, self.matrix, dtype)
        without = _without_lone_features(left.matrix, self.matrix)
        if without is not None:
            out = CountRows(without[1]).gram(dtype, left=CountRows(without[0]))
            np.fill_diagonal(out, self.rowwise(left))
            return out
        from novum.kernels.counts.count_rows_kernels import place_mirrored

        index = self.index.at(_precision(left, self), self.matrix)
        parts = index.rows if left is self else split(left.matrix, index.kinds, index.precision)
        out = empty_block(n, n, dtype)
        for start, stop in _panels(n):
            place_mirrored(_products(parts, start, stop, index, stop), start, out)
        return out


def _plain_product(left: sparse.csr_array, right: sparse.csr_array, dtype: DTypeLike) -> Array:
    out = empty_block(left.shape[0], right.shape[0], dtype)
    shared = min(left.shape[1], right.shape[1])
    a, b = (sparse.csr_array(side[:, :shared], dtype=np.float64) for side in (left, right))
    out[...] = (a @ b.T).toarray()
    return out


def _without_lone_features(*matrices: sparse.csr_array) -> list[sparse.csr_array] | None:
    """Matrices with entries at the same places, without the features that one row has alone.

    These meet themselves only. None where they are too few for leaving them out to pay.
    """
    matrix = matrices[0]
    is_shared = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 1
    n_features = int(np.count_nonzero(is_shared))
    if matrix.shape[1] - n_features <= LONE_SHARE * matrix.nnz:
        return None
    kept = is_shared[matrix.indices]
    columns = (np.cumsum(is_shared, dtype=np.int32) - 1)[matrix.indices[kept]]
    starts = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    shape = (matrix.shape[0], n_features)
    return [sparse.csr_array((each.data[kept], columns, starts), shape=shape) for each in matrices]


def _precision(left: CountRows, right: CountRows) -> np.dtype[Any]:
    bound = _largest_square(left) * _largest_square(right)
    if bound >= SINGLE_BOUND:
        bound = float(left.squares.max(initial=0)) * float(right.squares.max(initial=0))
    return np.dtype(np.float32 if bound < SINGLE_BOUND else np.float64)


def _largest_square(rows: CountRows) -> float:
    """A bound on the product of a row with itself that costs next to nothing."""
    largest = float(rows.matrix.data.max(initial=0))
    return largest**2 * float(np.diff(rows.matrix.indptr).max(initial=0))


def _panels(n: int) -> Iterator[tuple[int, int]]:
    """Bounds of panels; between them Ctrl-C acts."""
    for start, stop in time_sliced(n, block=PANEL_ROWS):
        for first in range(start, stop, PANEL_ROWS):
            yield first, min(first + PANEL_ROWS, stop)


# --- Products -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FeatureIndex:
    """Rows as the right side of a product.

    Parameters
    ----------
    kinds : FeatureKinds
    rows : SplitRows
        The rows themselves.
    partner_words : uint64 array (n_words, n)
        Their bits, for comparison with those of other rows.
    every, high : CompressedCounts
        Rows by feature: those that have it, and those whose count exceeds its bits.
    """

    kinds: FeatureKinds
    rows: SplitRows
    partner_words: Words
    every: CompressedCounts
    high: CompressedCounts

    @property
    def precision(self) -> np.dtype[Any]:
        return self.rows.dense.dtype

    def at(self, precision: np.dtype[Any], matrix: sparse.csr_array) -> FeatureIndex:
        """This index, or one of the same rows in the other precision."""
        return self if self.precision == precision else indexed(matrix, precision)


def indexed(matrix: sparse.csr_array, precision: np.dtype[Any]) -> FeatureIndex:
    """The index of some rows."""
    kinds = chosen_kinds(matrix, precision)
    rows = split(matrix, kinds, precision)
    return FeatureIndex(kinds, rows, rows.partner_words(kinds), *lists_of(rows, kinds))


def _products(left: SplitRows, start: int, stop: int, index: FeatureIndex, n_right: int) -> Array:
    """Products of rows `start` to `stop` with the first `n_right` rows of the index."""
    right = index.rows
    if right.dense.shape[1]:
        block = np.asarray(left.dense[start:stop] @ right.dense[:n_right].T)
    else:
        block = np.zeros((stop - start, n_right), index.precision)
    if right.bits.shape[1]:
        from novum.kernels.counts.count_rows_kernels import add_shared_bits

        shared = np.empty(PARTNERS_AT_ONCE, np.uint64)
        bits, shifts = left.bits[start:stop], index.kinds.shifts
        add_shared_bits(bits, index.partner_words, shifts, shared, block)
    if index.every.columns.size:
        from novum.kernels.counts.count_rows_kernels import add_listed

        entries, every, high = left.entries, index.every, index.high
        add_listed(
            entries.starts,
            entries.columns,
            entries.counts,
            index.kinds.kinds,
            start,
            every.starts,
            every.columns,
            every.counts,
            high.starts,
            high.columns,
            high.counts,
            np.arange(4, dtype=block.dtype),
            block,
        )
    return block
