"""Counts of features parted by how they are best multiplied: dense, in bits, or by lists.

    count = low + high,    K = L L' + H C' + L H'

`C` are all counts, `L` their low parts and `H = C - L` what exceeds these. A frequent feature whose
counts vary is a column of a dense matrix. A feature that many rows have, but hardly ever more than
once (or three times), has one bit (or two bits) for a row; then `L L'` is counted by the bits that
two rows share, 64 at once:

    low = b0 + 2 b1,    low_s low_t = b0_s b0_t + 2 (b0_s b1_t + b1_s b0_t) + 4 b1_s b1_t

What exceeds the bits, and every feature that is rare, is in `H`, and finds its partners by a list
of the rows that have the feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from novum.numerics.jit import as_argument

Array = NDArray[Any]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]
Words = NDArray[np.uint64]

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
    from novum.kernels.counts.feature_split_kernels import fill_parts

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
    from novum.kernels.counts.feature_split_kernels import fill_lists

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
