"""Numbers for the parts of trees: equal parts have equal numbers, in training and later.

A part (a production, a complete subtree) is a hashable key; a dictionary finds it by its hash and
compares the key itself, so two parts never share a number by accident. Objects prepared `like`
those of the training extend the training's numbers without changing them: the first numbers mean
the same to both, and a part that only new objects have counts among them alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from typing import Any

from novum.core.errors import InputError
from novum.core.text import printable
from novum.kernels.trees.ordered_tree import OrderedTree


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
            found = vocabulary._own.get(key)
            if found is not None:
                return found
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
