"""Counts of features as sparse rows, and all their inner products in exact integers.

    K[i, j] = sum over features u of count_i(u) count_j(u)

Frequent features are multiplied in one dense product or as bits, rare ones through lists of the
rows that have them (see below).

Counts are whole and not negative, so no partial sum exceeds the final one, and that is at most
`sqrt(K[i, i] K[j, j])`. Where this bound is below 2^24 single precision is exact in any order of
summation; else double precision is used, exact below 2^53.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from novum.core.runtime import time_sliced
from novum.kernels.similarity_matrix import empty_block
from novum.numerics import Array, Codes, Integers, Words, as_argument, cached_property

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
        from novum.kernels.count_rows_kernels import place_mirrored

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
        from novum.kernels.count_rows_kernels import add_shared_bits

        shared = np.empty(PARTNERS_AT_ONCE, np.uint64)
        bits, shifts = left.bits[start:stop], index.kinds.shifts
        add_shared_bits(bits, index.partner_words, shifts, shared, block)
    if index.every.columns.size:
        from novum.kernels.count_rows_kernels import add_listed

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


# --- Features by how they are multiplied ----------------------------------------------------------
#
#     count = low + high,    K = L L' + H C' + L H'
#
# `C` are all counts, `L` their low parts and `H = C - L` what exceeds these. A frequent feature
# whose counts vary is a column of a dense matrix. A feature that many rows have, but hardly ever
# more than once (or three times), has one bit (or two bits) for a row; then `L L'` is counted by
# the bits that two rows share, 64 at once:
#
#     low = b0 + 2 b1,    low_s low_t = b0_s b0_t + 2 (b0_s b1_t + b1_s b0_t) + 4 b1_s b1_t
#
# What exceeds the bits, and every feature that is rare, is in `H`, and finds its partners by a list
# of the rows that have the feature.


# One row in so many must have a feature for it to be dense, of two bits, of one bit; and the mean
# count of the rows that have it must be at most this for bits. See `benchmarks/kernels/strings`.
ROWS_PER_DENSE = 6
ROWS_PER_TWO_BITS = 12
ROWS_PER_BIT = 32
MEAN_OF_TWO_BITS = 1.45
MEAN_OF_ONE_BIT = 1.08
FEWEST_OF_TWO_BITS = 128
# Words that the product of bits takes at once.
WORDS_AT_ONCE = 4


class Kind(IntEnum):
    RARE = 0
    ONE_BIT = 1
    TWO_BITS = 2
    DENSE = 3


# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FeatureKinds:
    """How each feature is multiplied.

    Parameters
    ----------
    kinds : int8 array (n_features,)
    places : int32 array (n_features,)
        Which one it is among the features of its kind.
    sizes : array (4,)
        How many features each kind has.
    n_rows : int64 array (n_features,)
        How many rows have the feature.
    """

    kinds: NDArray[np.int8]
    places: Codes
    sizes: Integers
    n_rows: Integers

    @property
    def n_words(self) -> tuple[int, int]:
        """Words of 64 bits for the features of one bit, and for each bit of those of two."""
        room = 64 * WORDS_AT_ONCE
        one, two = self.sizes[Kind.ONE_BIT], self.sizes[Kind.TWO_BITS]
        # Bits without a feature are zero.
        return -(-int(one) // room) * WORDS_AT_ONCE, -(-int(two) // room) * WORDS_AT_ONCE

    @property
    def shifts(self) -> Words:
        """Logarithm of the weight of shared bits, for each group of words taken at once."""
        one, two = self.n_words
        return np.repeat(
            np.array([0, 0, 1, 1, 2], np.uint64), np.array([one, two, two, two, two]) // 4
        )


@dataclass(frozen=True, eq=False)
class CompressedCounts:
    """Counts of rows in one precision; or, of a feature, the rows that have it and their counts."""

    starts: Integers
    columns: Codes
    counts: Array


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Rows of counts in their parts.

    Parameters
    ----------
    entries : CompressedCounts
        All counts; what is neither dense nor in bits is read here.
    dense : array (n, n_dense)
    bits : uint64 array (n, n_words)
        The features of one bit, and of those of two `b0`, `b0`, `b1`, `b1`.
    exceeding : int64 array (n_features,)
        How many rows have more of a feature than its bits hold; zero where it has no bits.
    """

    entries: CompressedCounts
    dense: Array
    bits: Words
    exceeding: Integers

    def partner_words(self, kinds: FeatureKinds) -> Words:
        """The bits as the other side of a product, of shape (n_words, n): `b0`, `b1`, `b0`, `b1`.

        By words, so that those of many partners stand side by side.
        """
        one, two = kinds.n_words
        middle = slice(one + two, one + 3 * two)
        words = np.ascontiguousarray(self.bits.T)
        words[middle] = np.roll(words[middle], two, axis=0)
        return words


# --- Splitting ------------------------------------------------------------------------------------


def chosen_kinds(matrix: sparse.csr_array, precision: np.dtype[Any]) -> FeatureKinds:
    """Kinds for the features of some rows; bits only where single precision holds their sums."""
    n, n_features = matrix.shape
    rows = np.bincount(matrix.indices, minlength=n_features)
    total = np.bincount(matrix.indices, matrix.data, n_features)
    kinds = np.zeros(n_features, np.int8)
    is_dense = rows * ROWS_PER_DENSE > n
    kinds[is_dense] = Kind.DENSE
    if precision == np.float32:
        kinds[(rows * ROWS_PER_TWO_BITS > n) & (total <= MEAN_OF_TWO_BITS * rows)] = Kind.TWO_BITS
        kinds[(rows * ROWS_PER_BIT > n) & (total <= MEAN_OF_ONE_BIT * rows)] = Kind.ONE_BIT
        doubles = kinds == Kind.TWO_BITS
        if np.count_nonzero(doubles) < FEWEST_OF_TWO_BITS:
            # A second bit costs two more passes over all pairs, whatever the number of features.
            kinds[doubles] = np.where(is_dense, Kind.DENSE, Kind.ONE_BIT)[doubles]
    places = np.zeros(n_features, np.int32)
    for kind in (Kind.ONE_BIT, Kind.TWO_BITS, Kind.DENSE):
        chosen = np.flatnonzero(kinds == kind)
        places[chosen] = np.arange(chosen.size)
    return FeatureKinds(kinds, places, np.bincount(kinds, minlength=len(Kind)), rows)


def split(matrix: sparse.csr_array, kinds: FeatureKinds, precision: np.dtype[Any]) -> SplitRows:
    """Rows parted by the kinds of their features; features beyond these are left out."""
    from novum.kernels.count_rows_kernels import fill_parts

    n, (one, two) = matrix.shape[0], kinds.n_words
    entries = CompressedCounts(
        as_argument(matrix.indptr, np.int64),
        as_argument(matrix.indices, np.int32),
        as_argument(matrix.data, precision),
    )
    dense = np.zeros((n, int(kinds.sizes[Kind.DENSE])), precision)
    bits = np.zeros((n, one + 4 * two), np.uint64)
    exceeding = np.zeros(kinds.kinds.size, np.int64)
    fill_parts(
        entries.starts,
        entries.columns,
        entries.counts,
        kinds.kinds,
        kinds.places,
        one,
        two,
        dense,
        bits,
        exceeding,
    )
    return SplitRows(entries, dense, bits, exceeding)


def lists_of(rows: SplitRows, kinds: FeatureKinds) -> tuple[CompressedCounts, CompressedCounts]:
    """The rows of each feature that is not dense, ascending: all, and those that exceed its bits.

    The kinds are those that were chosen for these rows.
    """
    from novum.kernels.count_rows_kernels import fill_lists

    every = _empty_lists(np.where(kinds.kinds == Kind.DENSE, 0, kinds.n_rows), rows.dense.dtype)
    high = _empty_lists(rows.exceeding, rows.dense.dtype)
    fill_lists(
        rows.entries.starts,
        rows.entries.columns,
        rows.entries.counts,
        kinds.kinds,
        every.starts[:-1].copy(),
        every.columns,
        every.counts,
        high.starts[:-1].copy(),
        high.columns,
        high.counts,
    )
    return every, high


def _empty_lists(sizes: Integers, precision: np.dtype[Any]) -> CompressedCounts:
    starts = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return CompressedCounts(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1], precision))
