"""Kernel of complete subtrees: how many trees below a node two trees have in common.

    k(T, U) = sum over trees s  decay^|s|  n_s(T) n_s(U),

`n_s(T)` being at how many nodes of `T` the node and everything below it is `s`, and `|s|` the nodes
of `s`. Every node is the root of one complete subtree, and two of them are equal exactly when
their labels and the numbers of their children's subtrees are, so one pass from the leaves to the
root numbers all of them: linear in the nodes, and a kernel value is an inner product of counts.

References
----------
Vishwanathan and Smola, "Fast kernels for string and tree matching", 2003.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.kernels.trees.production_rows import Vocabulary, check_one_code, read_trees
from novum.kernels.trees.subset_tree import checked_decay
from novum.numerics import Array, Floats, Integers


@dataclass(frozen=True)
class SubtreeKernel(Kernel):
    """Similarity of trees by the complete subtrees that they share.

    Parameters
    ----------
    decay : float, above 0 and at most 1
        Factor for every node of a shared subtree; below 1 large subtrees count less.

    Notes
    -----
    Linear in the nodes of both trees. Trees are given as `OrderedTree`, bracketed text or nested
    tuples.

    Examples
    --------
    The trees share the subtrees `(NP a)` and `a`; the latter stands twice in the second tree:

    >>> kernel = SubtreeKernel()
    >>> kernel.gram(["(S (NP a) (VP b))", "(S (NP a) (VP a))"]).tolist()
    [[5.0, 3.0], [3.0, 7.0]]
    """

    decay: float = 1.0

    takes: ClassVar[Takes] = "objects"

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", checked_decay(self.decay, "SubtreeKernel"))

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: SubtreeRows | None = None) -> SubtreeRows:
        numbering = Numbering(None if like is None else like.numbering)
        return SubtreeRows(numbering.counts(read_trees(X)), numbering, self.decay)

    @property
    def feature_map(self) -> Any:
        """Objects to a sparse matrix of `sqrt(decay^|s|) n_s`, a column a subtree."""
        return self._features

    def _features(self, X: Any, like: SubtreeRows | None = None) -> sparse.csr_array:
        rows = self.prepare(X, like)
        scale = sparse.diags_array(np.sqrt(rows.weights))
        return sparse.csr_array(rows.counts @ scale)


class Numbering:
    """Numbers and sizes of complete subtrees, perhaps going on from those of a training."""

    def __init__(self, earlier: Numbering | None = None) -> None:
        self.vocabulary: Vocabulary = Vocabulary(None if earlier is None else earlier.vocabulary)
        self._sizes: list[int] = [] if earlier is None else list(earlier._sizes)

    @property
    def sizes(self) -> Integers:
        """Nodes of every numbered subtree."""
        return np.array(self._sizes, np.int64)

    def counts(self, trees: list[OrderedTree]) -> sparse.csr_array:
        """How often every subtree occurs in every tree, of shape (n_trees, n_subtrees)."""
        data: list[int] = []
        columns: list[int] = []
        starts = [0]
        for tree in trees:
            counts = sorted(Counter(self._numbers(tree)).items())
            columns.extend(number for number, _ in counts)
            data.extend(count for _, count in counts)
            starts.append(len(data))
        shape = (len(trees), len(self.vocabulary))
        cells = (np.array(data, float), np.array(columns, np.int64), np.array(starts, np.int64))
        return sparse.csr_array(cells, shape=shape)

    def _numbers(self, tree: OrderedTree) -> list[int]:
        # From the right every node comes after its children, the last of which was finished first.
        finished: list[int] = []
        numbers: list[int] = []
        for label, arity in zip(reversed(tree.labels), reversed(tree.arities), strict=True):
            children = tuple(finished[len(finished) - arity :])
            del finished[len(finished) - arity :]
            number = self.vocabulary.number((label, children))
            if number == len(self._sizes):
                self._sizes.append(1 + sum(self._sizes[child] for child in children))
            finished.append(number)
            numbers.append(number)
        return numbers


class SubtreeRows(Prepared):
    """Counts of the complete subtrees of trees."""

    def __init__(self, counts: sparse.csr_array, numbering: Numbering, decay: float) -> None:
        self.counts = counts
        self.numbering = numbering
        self.decay = decay

    @property
    def weights(self) -> Floats:
        """`decay^|s|` of every column of the counts; may be zero where it underflows."""
        with np.errstate(under="ignore"):
            return np.asarray(np.power(self.decay, self.numbering.sizes.astype(float)))

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Any) -> Self:
        return type(self)(self.counts[rows], self.numbering, self.decay)

    def diagonal(self) -> Floats:
        return np.asarray(self.counts.power(2) @ self.weights, float)

    def cross(self, other: Self, dtype: DTypeLike = np.float64) -> Array:
        check_one_code(self.numbering.vocabulary, other.numbering.vocabulary)
        mine, theirs = len(self.numbering.vocabulary), len(other.numbering.vocabulary)
        weights = self.weights if mine >= theirs else other.weights
        # Subtrees that only one side knows are met by columns of zeros on the other.
        left, right = _widened(self.counts, len(weights)), _widened(other.counts, len(weights))
        products = (left @ sparse.diags_array(weights)) @ right.T
        return np.ascontiguousarray(products.toarray(), dtype)


def _widened(counts: sparse.csr_array, width: int) -> sparse.csr_array:
    cells = (counts.data, counts.indices, counts.indptr)
    return sparse.csr_array(cells, shape=(counts.shape[0], width))
