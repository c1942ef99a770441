"""What all graph kernels share: features of a graph are counted, and the counts multiplied.

    k(G, H) = sum over iterations t of <phi(G, color_t), phi(H, color_t)>

`phi` counts the *items* of a graph (its nodes, edges or pairs of nodes) by a key made of the
colors of the item's nodes. A kernel says what its items and keys are; without iterations the
colors are the labels. The kernel is an inner product of counts, hence positive semi-definite.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.kernels.count_rows import CountRows
from novum.kernels.graphs.graph_sample import GraphSample, read_sample
from novum.kernels.graphs.numbering import RowTable, numbered, rows_of
from novum.kernels.graphs.refinement import Refinement, refine, table_at
from novum.kernels.graphs.vocabulary import Vocabulary
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.numerics import Array, Codes, Floats, Integers, cached_property


@dataclass(frozen=True, eq=False)
class Items:
    """What a kernel counts in the graphs of a sample.

    Attributes
    ----------
    starts : int64 array (n_graphs + 1,)
        Items of graph g are `starts[g]` to `starts[g + 1] - 1`.
    keys : callable or None
        From the colors of all nodes to an int32 matrix with one row for each item; None where the
        items are the nodes and the colors their keys.
    """

    starts: Integers
    keys: Callable[[Codes], Codes] | None


class GraphKernel(Kernel):
    """A similarity of labelled graphs by counts of their parts."""

    takes: ClassVar[Takes] = "objects"

    @property
    def is_psd_by_construction(self) -> bool:
        """True: an inner product of counts."""
        return True

    @property
    def refining_iterations(self) -> int:
        """How often labels are refined by those of the neighbors."""
        return 0

    @abstractmethod
    def items(self, sample: GraphSample) -> Items:
        """What is counted in the graphs."""

    def prepare(self, X: Any, like: Any = None) -> GraphRows:
        """The graphs as counts of features.

        Parameters
        ----------
        X : sequence of graphs, in any of the forms of `graph_forms`
        like : GraphRows, optional
            Graphs that this kernel prepared before. Features that they have keep their codes;
            labels and features that they have not get codes of their own and match nothing there.
        """
        known = self._vocabulary_of(like)
        if known is None:
            sample = read_sample(X)
            refined = refine(sample, self.refining_iterations)
        else:
            sample = read_sample(X, known.node_codes, known.edge_codes)
            refined = refine(sample, self.refining_iterations, known.refinement.tables)
        items = self.items(sample)
        blocks, tables, sizes = _keyed(items, refined, known.features if known else ())
        vocabulary = Vocabulary(
            self,
            sample.node_codes,
            sample.edge_codes,
            refined,
            tables,
            sizes,
            self.refining_iterations - len(refined.colors) + 2,
            known,
        )
        return counted(blocks, items.starts, vocabulary)

    @property
    def feature_map(self) -> Callable[[Any], Any]:
        """`phi`: graphs to a sparse matrix of counts, one column for each feature of the sample."""
        return self._features

    def _features(self, X: Any) -> Any:
        rows = self.prepare(X)
        counts, repeats = rows.counts.matrix, rows.vocabulary.repeats
        check_memory(
            24 * counts.nnz * repeats, "The matrix of features", "Ask for fewer iterations."
        )
        last = counts[:, rows.vocabulary.offsets[-2] :]
        features = sparse.hstack([counts, *[last] * (repeats - 1)], format="csr")
        features.sort_indices()
        return features

    def _vocabulary_of(self, like: Any) -> Vocabulary | None:
        if like is None:
            return None
        if not isinstance(like, GraphRows) or like.vocabulary.kernel != self:
            of = repr(like.vocabulary.kernel) if isinstance(like, GraphRows) else "another kernel"
            raise InputError(
                f"`like` was prepared by {of}, not by {self!r}. Prepare both with one kernel."
            )
        return like.vocabulary


# --- Features -------------------------------------------------------------------------------------


def _keyed(
    items: Items, refined: Refinement, known: tuple[RowTable, ...]
) -> tuple[tuple[Codes, ...], tuple[RowTable, ...], tuple[int, ...]]:
    """Codes of the items' keys in each iteration, the tables of the keys, and their sizes."""
    if items.keys is None:
        return refined.colors, (), refined.sizes
    codes, tables = list[Codes](), list[RowTable]()
    for t, colors in enumerate(refined.colors):
        numbers, table = numbered(rows_of(items.keys(colors)), table_at(known, t))
        codes.append(numbers)
        tables.append(table)
    return tuple(codes), tuple(tables), tuple(map(len, tables))


# --- Graphs as counts of features -----------------------------------------------------------------
#
#     k(x, z) = sum over features c of factor_c x_c z_c
#
# The factor is 1, and in the last block of a vocabulary the number of iterations that it stands
# for. Between two vocabularies, of which one extends the other, the counts of the extending side
# are first brought into the features of the other, times their factors.


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
    from novum.kernels.graphs.numbering_kernels import count_codes

    row_starts = np.zeros(shape[0] + 1, np.int64)
    columns, data = np.empty(codes.size, np.int32), np.empty(codes.size, np.int64)
    places = np.full(shape[1], -1, np.int32)
    n = int(count_codes(codes, starts, vocabulary.offsets, places, row_starts, columns, data))
    made = sparse.csr_array((data[:n], columns[:n], row_starts), shape=shape)
    return GraphRows(vocabulary, CountRows(made))
