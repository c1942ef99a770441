"""Trees as arrays of productions: the form in which pairs of nodes are compared.

A production is the label of a node with the labels of its children; equal productions have equal
numbers, and leaves have -1. All trees stand behind each other in arrays over nodes, each tree in
preorder. Within a tree, nodes of one production form a group, and know their rank in it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.kernels.trees.ordered_tree import OrderedTree
from novum.numerics import Floats, Integers, cached_property

LEAF = -1


@dataclass(frozen=True, eq=False)
class Productions:
    """Productions of trees.

    Attributes
    ----------
    vocabulary : Vocabulary
        Numbers of productions.
    starts : int array of shape (n_trees + 1,)
        Where the nodes of every tree begin.
    production, arity : int arrays of shape (n_nodes,)
    first_child : int array of shape (n_nodes,)
        Where in `children` those of a node begin.
    children : int array of shape (n_nodes - n_trees,)
        Positions of children, in order.
    peaks : int array of shape (n_trees,)
        The most inner nodes whose parents are still to come, in a walk from the right, and one.
    """

    vocabulary: Vocabulary
    starts: Integers
    production: Integers
    arity: Integers
    first_child: Integers
    children: Integers
    peaks: Integers

    @classmethod
    def of(cls, trees: list[OrderedTree], earlier: Vocabulary | None = None) -> Productions:
        """The productions of trees; those of an earlier vocabulary keep their numbers."""
        vocabulary = Vocabulary(earlier)
        starts = np.cumsum([0, *(len(tree) for tree in trees)], dtype=np.int64)
        numbers = [_numbers(tree, vocabulary) for tree in trees]
        arity = _joined([np.array(tree.arities, np.int64) for tree in trees])
        children = _joined(
            [_children(tree) + start for tree, start in zip(trees, starts[:-1], strict=True)]
        )
        return cls(
            vocabulary,
            starts,
            np.array(list(chain.from_iterable(numbers)), np.int64),
            arity,
            np.cumsum(arity) - arity,
            children,
            np.array([_peak(tree) for tree in trees], np.int64),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def n_nodes(self, trees: Integers) -> Integers:
        return np.asarray(self.starts[trees + 1] - self.starts[trees])

    # Groups: the nodes of one production in one tree

    @cached_property
    def ordered(self) -> Integers:
        """Inner nodes by tree, then production, then position."""
        tree = np.repeat(np.arange(len(self)), np.diff(self.starts))
        inner = np.flatnonzero(self.production != LEAF)
        return inner[np.lexsort((self.production[inner], tree[inner]))]

    @cached_property
    def group_starts(self) -> Integers:
        """Where in `ordered` every group begins, and the end."""
        numbers, trees = self.production[self.ordered], self._tree_of(self.ordered)
        new = (np.diff(numbers, prepend=-2) != 0) | (np.diff(trees, prepend=-1) != 0)
        return np.append(np.flatnonzero(new), len(numbers)).astype(np.int64)

    @cached_property
    def group_production(self) -> Integers:
        return self.production[self.ordered[self.group_starts[:-1]]]

    @cached_property
    def tree_groups(self) -> Integers:
        """Where the groups of every tree begin, and the end."""
        trees = self._tree_of(self.ordered[self.group_starts[:-1]])
        return np.searchsorted(trees, np.arange(len(self) + 1)).astype(np.int64)

    @cached_property
    def rank(self) -> Integers:
        """Place of every inner node in its group."""
        sizes = np.diff(self.group_starts)
        rank = np.zeros(len(self.production), np.int64)
        within = np.arange(len(self.ordered)) - np.repeat(self.group_starts[:-1], sizes)
        rank[self.ordered] = within
        return rank

    @cached_property
    def widths(self) -> Integers:
        """Size of the largest group of every tree."""
        widths = np.zeros(len(self), np.int64)
        owner = np.repeat(np.arange(len(self)), np.diff(self.tree_groups))
        np.maximum.at(widths, owner, np.diff(self.group_starts))
        return widths

    def groups(self, tree: int) -> tuple[Integers, Integers]:
        """Productions of a tree and how many nodes have each."""
        own = slice(self.tree_groups[tree], self.tree_groups[tree + 1])
        return self.group_production[own], np.diff(self.group_starts)[own]

    # How much work lies ahead

    def totals(self, trees: Integers) -> Floats:
        """Nodes of every production in these trees together."""
        totals = np.zeros(len(self.vocabulary))
        times = np.bincount(trees, minlength=len(self)).repeat(np.diff(self.tree_groups))
        np.add.at(totals, self.group_production, times * np.diff(self.group_starts))
        return totals

    def shared_nodes(self, trees: Integers, totals: Floats) -> Floats:
        """For each of these trees the pairs of its nodes with others' nodes of like production."""
        known = np.append(totals, np.zeros(max(0, len(self.vocabulary) - len(totals))))
        pairs = known[self.group_production] * np.diff(self.group_starts)
        sums = np.concatenate([[0.0], np.cumsum(pairs)])
        return np.asarray(sums[self.tree_groups[trees + 1]] - sums[self.tree_groups[trees]])

    # Arguments of the compiled walk

    @property
    def walked(self) -> tuple[Integers, ...]:
        return self.production, self.arity, self.starts

    @property
    def met(self) -> tuple[Integers, ...]:
        return (
            self.production,
            self.rank,
            self.first_child,
            self.children,
            self.ordered,
            self.group_production,
            self.group_starts,
            self.tree_groups,
        )

    def _tree_of(self, nodes: Integers) -> Integers:
        return np.searchsorted(self.starts, nodes, side="right").astype(np.int64) - 1


def _numbers(tree: OrderedTree, vocabulary: Vocabulary) -> list[int]:
    """The number of every node's production, in preorder."""
    finished: list[str | int] = []
    numbers: list[int] = []
    for label, arity in zip(reversed(tree.labels), reversed(tree.arities), strict=True):
        first = len(finished) - arity
        number = vocabulary.number((label, *finished[first:])) if arity else LEAF
        del finished[first:]
        finished.append(label)
        numbers.append(number)
    return numbers[::-1]


def _children(tree: OrderedTree) -> Integers:
    """Positions of all nodes but the root, by parent and then by order."""
    return np.argsort(tree.parents[1:], kind="stable").astype(np.int64) + 1


def _peak(tree: OrderedTree) -> int:
    finished: list[int] = []
    open_nodes = peak = 0
    for arity in reversed(tree.arities):
        first = len(finished) - arity
        # The children's values are still needed while the node's own are made.
        peak = max(peak, open_nodes + (arity > 0))
        open_nodes -= sum(finished[first:])
        del finished[first:]
        finished.append(int(arity > 0))
        open_nodes += int(arity > 0)
    return peak


def _joined(parts: list[Integers]) -> Integers:
    return np.concatenate([np.empty(0, np.int64), *parts])


# --- Numbers of productions -----------------------------------------------------------------------
#
# A part (a production, a complete subtree) is a hashable key; a dictionary finds it by its hash and
# compares the key itself, so two parts never share a number by accident. Objects prepared `like`
# those of the training extend the training's numbers without changing them: the first numbers mean
# the same to both, and a part that only new objects have counts among them alone.


class Vocabulary:
    """Numbers 0, 1, 2, ... for keys, perhaps going on from another vocabulary.

    Examples
    --------
    >>> training = Vocabulary()
    >>> [training.number(key) for key in ("a", "b", "a")]
    [0, 1, 0]
    >>> later = Vocabulary(training)
    >>> [later.number(key) for key in ("b", "c")], len(training), len(later)
    ([1, 2], 2, 3)
    """

    def __init__(self, earlier: Vocabulary | None = None) -> None:
        self.earlier = earlier
        self._first = 0 if earlier is None else len(earlier)
        self._own: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return self._first + len(self._own)

    def number(self, key: Hashable) -> int:
        """The number of a key; a new key gets the next one."""
        vocabulary: Vocabulary | None = self
        while vocabulary is not None:
            known_number = vocabulary._own.get(key)
            if known_number is not None:
                return known_number
            vocabulary = vocabulary.earlier
        return self._own.setdefault(key, len(self))

    def extends(self, other: Vocabulary) -> bool:
        """Whether all numbers of `other` mean the same here."""
        vocabulary: Vocabulary | None = self
        while vocabulary is not None:
            if vocabulary is other:
                return True
            vocabulary = vocabulary.earlier
        return False


def check_one_code(one: Vocabulary, other: Vocabulary) -> None:
    """Refuses to compare rows whose numbers mean different things."""
    if not (one.extends(other) or other.extends(one)):
        raise InputError(
            "These trees were prepared apart, so their parts have different numbers. Prepare one "
            "like the other: kernel.prepare(Z, like=kernel.prepare(X))."
        )


def read_trees(X: Any) -> list[OrderedTree]:
    """The trees of a sequence, from any form that `OrderedTree.of` knows.

    Examples
    --------
    >>> read_trees(["(S a b)", ("S", "a", "b")])[1]
    OrderedTree.from_text('(S a b)')
    """
    if not _is_list(X):
        raise InputError(
            f"Expected a list of trees, got {type(X).__name__}: {printable(repr(X), 60)}. Put "
            "single trees in a list, and give one column of a table."
        )
    trees = []
    for i, given in enumerate(X):
        try:
            trees.append(OrderedTree.of(given))
        except InputError as error:
            raise InputError(f"Object {i} is not a tree. {error}") from None
    return trees


def _is_list(X: Any) -> bool:
    """Whether X is a sequence of objects: a list, an array or a column, but not a whole table."""
    if isinstance(X, str | bytes | OrderedTree | Mapping | Set):
        return False
    return hasattr(X, "__len__") and hasattr(X, "__iter__") and len(getattr(X, "shape", (0,))) == 1
