"""Graphs as counts of features over a vocabulary, and their similarities.

    k(x, z) = sum over features c of factor_c x_c z_c

The factor is 1, and in the last block of a vocabulary the number of iterations that it stands for.
Between two vocabularies, of which one extends the other, the counts of the extending side are
first brought into the features of the other, times their factors.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from novum.core.errors import InputError
from novum.kernels.counts.count_rows import CountRows
from novum.kernels.graphs.vocabulary import Vocabulary
from novum.kernels.protocol import Array, Floats, Prepared
from novum.numerics.shared_state import cached_property

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]

# Below this many codes NumPy's sort is quicker than loading the kernel.
COMPILED_FROM = 2**15


class GraphRows(Prepared):
    """Prepared graphs: their counts of features over a vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
    counts : CountRows of width `vocabulary.width`
    """

    def __init__(self, vocabulary: Vocabulary, counts: CountRows) -> None:
        self.vocabulary = vocabulary
        self.counts = counts

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Any) -> Self:
        return type(self)(self.vocabulary, self.counts.take(np.arange(len(self))[rows]))

    def diagonal(self) -> Floats:
        return self.counts.rowwise(self._scaled).astype(np.float64)

    def cross(self, other: Self, dtype: DTypeLike = np.float64) -> Array:
        if self.vocabulary.extends(other.vocabulary):
            return self._onto(other.vocabulary).cross(other.counts, dtype)
        if other.vocabulary.extends(self.vocabulary):
            return self.counts.cross(other._onto(self.vocabulary), dtype)
        raise InputError(
            "These graphs were prepared apart, so that their features have different codes. "
            "Prepare one sample like the other: kernel.prepare(Z, like=X)."
        )

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        return self.counts.gram(dtype, left=self._scaled)

    @cached_property
    def _scaled(self) -> CountRows:
        """Counts times factors."""
        if self.vocabulary.repeats == 1:
            return self.counts
        return self.counts.scaled(self.vocabulary.factors)

    def _onto(self, vocabulary: Vocabulary) -> CountRows:
        """Counts times factors in the features of a vocabulary that this one extends."""
        if vocabulary is self.vocabulary:
            return self._scaled
        matrix = self._scaled.matrix
        columns = self.vocabulary.places_in(vocabulary)[matrix.indices]
        known = columns >= 0
        starts = np.concatenate([[0], np.cumsum(known)])[matrix.indptr]
        mapped = sparse.csr_array(
            (matrix.data[known], columns[known], starts), shape=(len(self), vocabulary.width)
        )
        mapped.sum_duplicates()
        return CountRows(mapped)


# --- Counting -------------------------------------------------------------------------------------


def counted(blocks: tuple[Codes, ...], starts: Integers, vocabulary: Vocabulary) -> GraphRows:
    """How often each graph has each feature.

    Parameters
    ----------
    blocks : tuple of int32 arrays (n_items,)
        Codes of the items' features, one array for each block of the vocabulary.
    starts : int64 array (n_graphs + 1,)
        Items of graph g are `starts[g]` to `starts[g + 1] - 1`.
    """
    codes = np.stack(blocks)
    shape = (len(starts) - 1, vocabulary.width)
    if max(codes.size, vocabulary.width) >= 2**31:
        raise InputError(
            f"The graphs have {codes.size} parts with {vocabulary.width} different features, more "
            f"than {2**31 - 1}. Use fewer iterations, or compare the graphs in parts."
        )
    if codes.size < COMPILED_FROM:
        graph = np.repeat(np.arange(shape[0]), np.diff(starts))
        graphs = np.broadcast_to(graph, codes.shape).ravel()
        columns = (codes + vocabulary.offsets[:-1, None]).ravel()
        # Entries of one cell are added up.
        counts = sparse.csr_array((np.ones(codes.size, np.int64), (graphs, columns)), shape=shape)
        return GraphRows(vocabulary, CountRows(counts))
    from novum.kernels.graphs.graph_rows_kernels import count_codes

    row_starts = np.zeros(shape[0] + 1, np.int64)
    columns, data = np.empty(codes.size, np.int32), np.empty(codes.size, np.int64)
    places = np.full(shape[1], -1, np.int32)
    n = int(count_codes(codes, starts, vocabulary.offsets, places, row_starts, columns, data))
    made = sparse.csr_array((data[:n], columns[:n], row_starts), shape=shape)
    return GraphRows(vocabulary, CountRows(made))
