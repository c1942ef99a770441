"""Ordered labeled trees as values: every node has a label, and its children have an order.

A tree is stored in preorder (a node before its children, children from left to right) as the labels
and the numbers of children,

    (S (NP a) (VP b))   ->   labels  S NP a VP b,   arities  2 1 0 1 0,

which determines it: reading from the right, a node of arity `r` takes the last `r` finished trees.
Nothing is nested, so a tree may be as deep as it has nodes, and no code here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, printable
from novum.numerics import Integers, cached_property

Label = str | int

_TOKEN = re.compile(r"[()]|[^()\s]+")
_SHOWN = 60
_FORMS = (
    "A tree is bracketed text such as '(S (NP a) (VP b))', or nested tuples such as "
    "('S', ('NP', 'a'), ('VP', 'b'))"
)


@dataclass(frozen=True, repr=False)
class OrderedTree:
    """An ordered tree with labeled nodes, immutable and equal by content.

    Parameters
    ----------
    labels : tuple of str or int
        Labels in preorder.
    arities : tuple of int
        Numbers of children in preorder.

    Examples
    --------
    >>> tree = OrderedTree.from_text("(S (NP a) (VP b))")
    >>> tree == OrderedTree.from_nested(("S", ("NP", "a"), ("VP", "b")))
    True
    >>> len(tree), tree.height, tree.labels
    (5, 2, ('S', 'NP', 'a', 'VP', 'b'))
    >>> tree
    OrderedTree.from_text('(S (NP a) (VP b))')
    """

    labels: tuple[Label, ...]
    arities: tuple[int, ...]

    def __post_init__(self) -> None:
        labels = tuple(_checked_label(label) for label in self.labels)
        arities = tuple(_checked_arity(arity) for arity in self.arities)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "arities", arities)
        if len(labels) != len(arities) or not labels:
            raise InputError(
                f"A tree needs one arity for each label and at least one node, got {len(labels)} "
                f"labels and {len(arities)} arities."
            )
        # Children still to come; none may be left, and none may come after the last.
        awaited = 1 + np.cumsum(np.array(arities, np.int64) - 1)
        if awaited[-1] != 0 or (awaited[:-1] <= 0).any():
            raise InputError(
                f"{len(labels)} nodes with the arities {printable(str(arities), _SHOWN)} are not "
                "one tree in preorder: the arities of a tree sum to its nodes less one, and of its "
                "first nodes to at least as many as there are. Check the order of the nodes."
            )

    # Other ways to write a tree

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The tree of a bracketed text; `(label child child ...)`, a leaf without brackets.

        Labels are any characters but white space and brackets. `(a)` is the leaf `a`.
        """
        if not isinstance(text, str):
            raise InputError(f"Bracketed text is a string, got {type(text).__name__}. {_FORMS}.")
        return cls(*_parsed(text))

    @classmethod
    def from_nested(cls, nested: Any) -> Self:
        """The tree of nested tuples or lists `(label, child, child, ...)`; a leaf is its label.

        Objects with a method `label()` and their children by iteration, such as the trees of NLTK,
        are understood too.
        """
        return cls(*_unnested(nested))

    @classmethod
    def of(cls, given: Any) -> OrderedTree:
        """A tree from any of its forms: a tree, bracketed text, or nested tuples."""
        if isinstance(given, OrderedTree):
            return given
        return cls.from_text(given) if isinstance(given, str) else cls.from_nested(given)

    @property
    def text(self) -> str:
        """Bracketed text, from which `from_text` makes the tree again."""
        for position, label in enumerate(self.labels):
            if not isinstance(label, str) or _TOKEN.fullmatch(label) is None or label in "()":
                raise InputError(
                    f"The label {label_text(label)} of node {position} cannot be written between "
                    "brackets: only text without white space and brackets can. Use the fields "
                    "`labels` and `arities`."
                )
        return "".join(self._pieces())

    def __repr__(self) -> str:
        return f"OrderedTree.from_text({printable(self._beginning(), _SHOWN)!r})"

    def _beginning(self) -> str:
        pieces, length = [], 0
        for piece in self._pieces():
            pieces.append(piece)
            length += len(piece)
            if length > _SHOWN:
                break
        return "".join(pieces)

    def _pieces(self) -> Iterator[str]:
        """The pieces of the text, from left to right."""
        open_children: list[int] = []
        for label, arity in zip(self.labels, self.arities, strict=True):
            yield " " if open_children else ""
            yield f"({label}" if arity else str(label)
            open_children.append(arity)
            while open_children and open_children[-1] == 0:
                open_children.pop()
                if open_children:
                    open_children[-1] -= 1
                    yield ")" if open_children[-1] == 0 else ""

    # Structure

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def parents(self) -> Integers:
        """Position of every node's parent, -1 for the root."""
        parents = np.empty(len(self), np.int64)
        path: list[list[int]] = [[-1, 1]]
        for position, arity in enumerate(self.arities):
            while path[-1][1] == 0:
                path.pop()
            parents[position] = path[-1][0]
            path[-1][1] -= 1
            path.append([position, arity])
        parents.flags.writeable = False
        return parents

    @property
    def height(self) -> int:
        """Edges between the root and the deepest leaf."""
        depth = [0] * len(self)
        for position, parent in enumerate(self.parents[1:].tolist(), 1):
            depth[position] = depth[parent] + 1
        return max(depth)


# --- Bracketed text -------------------------------------------------------------------------------


def _parsed(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    labels: list[str] = []
    arities: list[int] = []
    # Node and place in the text of every bracket that is open.
    path: list[tuple[int, int]] = []
    awaits_label, previous = False, -1
    for match in _TOKEN.finditer(text):
        token, at = match[0], match.start()
        if labels and not path and not awaits_label:
            raise _bad_text(
                text, at, f"{token!r} follows the end of the tree; give one tree a text"
            )
        if awaits_label and token in "()":
            raise _bad_text(text, previous, "a bracket opens without a label after it")
        if token == "(":
            awaits_label, previous = True, at
        elif token == ")":
            if not path:
                raise _bad_text(text, at, "a bracket closes that was not opened")
            path.pop()
        else:
            if path:
                arities[path[-1][0]] += 1
            if awaits_label:
                path.append((len(labels), previous))
            labels.append(token)
            arities.append(0)
            awaits_label = False
    if awaits_label:
        raise _bad_text(text, previous, "a bracket opens without a label after it")
    if path:
        raise _bad_text(text, path[-1][1], f"{len(path)} brackets are not closed, the last of them")
    if not labels:
        raise InputError(f"The text {printable(text, _SHOWN)!r} holds no tree. {_FORMS}.")
    return tuple(labels), tuple(arities)


def _bad_text(text: str, at: int, fault: str) -> InputError:
    around = printable(text[max(0, at - 20) : at + 20])
    return InputError(
        f"The text of a tree is wrong at position {at}: {fault} (near {around!r}). {_FORMS}."
    )


# --- Nested tuples --------------------------------------------------------------------------------


def _unnested(nested: Any) -> tuple[tuple[Label, ...], tuple[int, ...]]:
    labels: list[Label] = []
    arities: list[int] = []
    # The inner nodes on the way from the root: their children to come, and their identities.
    path: list[tuple[Iterator[Any], int, int]] = []
    open_ids: set[int] = set()
    coming: Iterator[Any] = iter((nested,))
    while True:
        node = next(coming, path)
        if node is path:
            if not path:
                return tuple(labels), tuple(arities)
            _, _, identity = path.pop()
            open_ids.discard(identity)
            coming = path[-1][0] if path else iter(())
            continue
        if path:
            arities[path[-1][1]] += 1
        label, children = _label_and_children(node, len(labels))
        labels.append(label)
        arities.append(0)
        if children is None:
            continue
        if id(node) in open_ids:
            raise InputError(
                f"Node {len(labels) - 1} of the nested tree contains itself, which no tree does. "
                "Give every node its own tuple."
            )
        open_ids.add(id(node))
        path.append((children, len(labels) - 1, id(node)))
        coming = children


def _label_and_children(node: Any, position: int) -> tuple[Label, Iterator[Any] | None]:
    if callable(getattr(node, "label", None)) and hasattr(node, "__iter__"):
        return node.label(), iter(node)
    if isinstance(node, tuple | list):
        if not node:
            raise InputError(
                f"Node {position} of the nested tree is empty and has no label. {_FORMS}."
            )
        children = iter(node)
        return next(children), children
    if isinstance(node, str | Integral):
        return node, None  # type: ignore[return-value]
    raise InputError(
        f"{printable(repr(node), _SHOWN)} of type {type(node).__name__} is not a tree "
        f"(node {position}). {_FORMS}."
    )


# --- Checks ---------------------------------------------------------------------------------------


def _checked_label(label: Any) -> Label:
    if isinstance(label, str):
        return str(label)
    if isinstance(label, Integral) and not isinstance(label, bool | np.bool_):
        return int(label)
    raise InputError(
        f"Labels of nodes are text or whole numbers, got {printable(repr(label), _SHOWN)} of type "
        f"{type(label).__name__}. Write other labels as text, as in str(label)."
    )


def _checked_arity(arity: Any) -> int:
    if isinstance(arity, Integral) and int(arity) >= 0:
        return int(arity)
    raise InputError(f"The arity of a node is its number of children, got {label_text(arity)}.")
