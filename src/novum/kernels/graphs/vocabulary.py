"""What the features of a sample of graphs are called, so that other graphs can be told the same.

Features come in blocks, one for each iteration of the refinement of labels (one block, where
nothing is refined). The last block stands for all iterations from its own on, since colors that
are stable stay as they are:

    k(x, z) = sum over blocks t < last of <x_t, z_t>  +  repeats <x_last, z_last>

A vocabulary made `like` another extends it: in every block the features of the parent keep their
codes, new ones follow. The extension may have more blocks, because its graphs may be stable only
later; then the parent's last block answers for each of these (`places_in`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.kernels.graphs.numbering import RowTable
from novum.kernels.graphs.refinement import Refinement
from novum.numerics import Integers


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Codes of labels, colors and features.

    Attributes
    ----------
    kernel : Kernel
        Whose features these are.
    node_codes, edge_codes : mappings from label to code
    refinement : Refinement
        How the colors were found.
    features : tuple of RowTable
        The features of each block; empty where the features are the colors themselves.
    sizes : tuple of int
        Number of features in each block.
    repeats : int
        How many iterations the last block stands for.
    parent : Vocabulary, optional
        The one that this extends.
    """

    kernel: Any
    node_codes: Mapping[Hashable, int]
    edge_codes: Mapping[tuple[bool, Hashable], int]
    refinement: Refinement
    features: tuple[RowTable, ...]
    sizes: tuple[int, ...]
    repeats: int
    parent: Vocabulary | None = None

    @property
    def width(self) -> int:
        """Number of features in all blocks."""
        return sum(self.sizes)

    @property
    def offsets(self) -> Integers:
        """Where the features of each block begin among all."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def extends(self, other: Vocabulary) -> bool:
        """Whether features of `other` have the same codes here."""
        ancestor: Vocabulary | None = self
        while ancestor is not None and ancestor is not other:
            ancestor = ancestor.parent
        return ancestor is other

    @property
    def factors(self) -> Integers:
        """How often each feature counts: the last block stands for several iterations."""
        return np.repeat([1, self.repeats], [self.offsets[-2], self.sizes[-1]]).astype(np.int64)

    def places_in(self, other: Vocabulary) -> Integers:
        """Place in `other`, which this extends, of each feature here; -1 where it is unknown.

        The counts times factors of all features at a place, times the count there, add up to the
        kernel.
        """
        places = np.full(self.width, -1, np.int64)
        last = len(other.sizes) - 1
        for t, start in enumerate(self.offsets[:-1]):
            block = min(t, last)
            size = other.sizes[block]
            places[start : start + size] = other.offsets[block] + np.arange(size)
        return places
