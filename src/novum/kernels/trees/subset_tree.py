"""Kernel of subset trees: in how many ways two trees share a fragment that splits no production.

A fragment is a node with all its children, some of which are again expanded with all of theirs,
and so on. With `decay^(expanded nodes)` for each fragment,

    k(T, U) = sum over nodes t of T, u of U   C(t, u),
    C(t, u) = decay prod_j (1 + C(t_j, u_j))      t_j, u_j the children, in order,

where t and u have the same production (label, and labels of children), and 0 where not; a leaf has
no production. Only pairs of nodes with the same production are looked at (Moschitti 2006), which
are few in trees of many labels. The nodes of one tree are visited from the right, children before
parents: the values of children are then on top of a stack, the only memory that is needed.

References
----------
Collins and Duffy, "Convolution kernels for natural language", 2001, section 3.
Moschitti, "Making tree kernels practical for natural language learning", 2006, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.runtime import UNCHECKED_BYTES, announce_long_call, check_memory, time_sliced
from novum.core.text import label_text
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.trees.production_rows import Productions, check_one_code, read_trees
from novum.numerics import Array, Floats, Integers

# Pairs of nodes that a compiled loop certainly manages in a second.
PAIRS_PER_SECOND = 1e8


@dataclass(frozen=True)
class SubsetTreeKernel(Kernel):
    """Similarity of trees by the fragments that they share, productions kept whole.

    Parameters
    ----------
    decay : float, above 0 and at most 1
        Factor for every expanded node of a fragment. Large trees have exponentially many
        fragments, so with 1 a tree is similar to nothing but itself.

    Notes
    -----
    Time grows with the pairs of nodes of equal production, at worst with the product of both
    numbers of nodes. A single node has no production: its similarities are 0. Values differ by
    orders of magnitude between small and large trees; `normalize(kernel)` brings them to one scale.

    Examples
    --------
    `(A (B c) (B c))` has the fragments `(B c)`, twice, and `(A B B)` with none, one or both of its
    children expanded; these two trees have `(B c)`, `(A B B)` and `(A (B c) B)` in common:

    >>> kernel = SubsetTreeKernel(decay=1.0)
    >>> kernel.gram(["(A (B c) (B c))", "(A (B c) (B d))"]).tolist()
    [[8.0, 4.0], [4.0, 6.0]]
    """

    decay: float = 0.4

    takes: ClassVar[Takes] = "objects"

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", checked_decay(self.decay, "SubsetTreeKernel"))

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    def prepare(self, X: Any, like: SubsetTreeRows | None = None) -> SubsetTreeRows:
        vocabulary = None if like is None else like.productions.vocabulary
        productions = Productions.of(read_trees(X), vocabulary)
        return SubsetTreeRows(productions, np.arange(len(productions), dtype=np.int64), self.decay)


class SubsetTreeRows(Prepared):
    """Trees with numbered productions, or some of them."""

    def __init__(self, productions: Productions, chosen: Integers, decay: float) -> None:
        self.productions = productions
        self.chosen = np.ascontiguousarray(chosen, np.int64)
        self.decay = decay

    def __len__(self) -> int:
        return len(self.chosen)

    def take(self, rows: Any) -> Self:
        return type(self)(self.productions, self.chosen[rows], self.decay)

    def diagonal(self) -> Floats:
        walk = _Walk(self, self)
        return np.array([walk.column(slice(i, i + 1), i)[0] for i in _paced(len(self))])

    def cross(self, other: Self, dtype: DTypeLike = np.float64) -> Array:
        check_one_code(self.productions.vocabulary, other.productions.vocabulary)
        walk, values = _Walk(self, other), np.empty((len(self), len(other)), dtype)
        for j in _paced(len(other)):
            values[:, j] = walk.column(slice(None), j, values.dtype)
        return values

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        walk, values = _Walk(self, self), np.empty((len(self), len(self)), dtype)
        for j in _paced(len(self)):
            values[: j + 1, j] = walk.column(slice(j + 1), j, values.dtype)
            values[j, :j] = values[:j, j]
        return values


class _Walk:
    """Walks of the trees of one side against single trees of another, in one working memory."""

    def __init__(self, left: SubsetTreeRows, right: SubsetTreeRows) -> None:
        self.left, self.right = left, right
        one, other = left.productions, right.productions
        self._places = np.full(max(len(one.vocabulary), len(other.vocabulary)), -1, np.int64)
        self._levels = np.empty((2, one.n_nodes(left.chosen).max(initial=0) + 2), np.int64)
        self._stack = np.empty(_stack_cells(left, right))
        pairs = other.shared_nodes(right.chosen, one.totals(left.chosen))
        announce_long_call(
            pairs.max(initial=0.0) / PAIRS_PER_SECOND, "similarities of a tree of many like nodes"
        )

    def column(self, rows: slice, j: int, dtype: DTypeLike = np.float64) -> Floats:
        """Similarities of those trees on the left with tree `j` on the right."""
        from novum.kernels.trees.subset_tree_kernels import fill_column

        chosen = self.left.chosen[rows]
        values = np.empty(len(chosen))
        fill_column(
            *self.left.productions.walked,
            chosen,
            *self.right.productions.met,
            int(self.right.chosen[j]),
            self.left.decay,
            self._places,
            self._levels,
            self._stack,
            values,
        )
        if not values.max(initial=0.0) <= np.finfo(dtype).max:
            raise _beyond(rows.start or 0, values, j, self.left.decay, dtype)
        return values


# --- Memory, pace and overflow --------------------------------------------------------------------


def _stack_cells(left: SubsetTreeRows, right: SubsetTreeRows) -> int:
    """Cells that suffice for the stack of any pair of trees."""
    peaks = left.productions.peaks[left.chosen]
    widths = right.productions.widths[right.chosen]
    bound = int(peaks.max(initial=0)) * int(widths.max(initial=0))
    if 8 * bound <= UNCHECKED_BYTES:
        return bound
    # The bound is far too large where no tree is both deep and full of like nodes.
    from novum.kernels.trees.subset_tree_kernels import stack_needed

    one, other = left.productions, right.productions
    places = np.full(max(len(one.vocabulary), len(other.vocabulary)), 0, np.int64)
    starts = np.empty(int(one.n_nodes(left.chosen).max()) + 2, np.int64)
    cells = 0
    for j in _paced(len(right)):
        groups, sizes = other.groups(int(right.chosen[j]))
        places[groups] = sizes
        cells = max(cells, stack_needed(*one.walked, left.chosen, places, starts))
        places[groups] = 0
    check_memory(
        8 * cells,
        "The subset-tree similarity of two trees with many nodes of the same production",
        "Use SubtreeKernel, which is linear in the nodes, or smaller trees.",
    )
    return cells


def _paced(n: int) -> Iterator[int]:
    """0, 1, ..., n - 1 with a pause for Ctrl-C about every tenth of a second."""
    for start, stop in time_sliced(n):
        yield from range(start, stop)


def _beyond(first: int, values: Floats, j: int, decay: float, dtype: DTypeLike) -> InputError:
    i = first + int(np.argmax(~(values <= np.finfo(dtype).max)))
    return InputError(
        f"The subset-tree similarity of tree {i} and tree {j} is beyond the largest "
        f"{np.dtype(dtype)} number: they share too many fragments. Lower decay, now {decay:g}, or "
        "use SubtreeKernel."
    )


# --- Decay ----------------------------------------------------------------------------------------


def checked_decay(decay: Any, kernel: str) -> float:
    """A decay above 0 and at most 1.

    Examples
    --------
    >>> checked_decay(0.5, "SubtreeKernel")
    0.5
    """
    if not (isinstance(decay, Real) and not isinstance(decay, bool) and 0 < float(decay) <= 1):
        raise InputError(
            f"The decay of {kernel} is a number above 0 and at most 1, got {label_text(decay)}. "
            "1 counts every shared part alike; smaller values let large parts count less."
        )
    return float(decay)
