"""What a drawing of a tree shows: one entry for each node, in words, down to some depth.

Text, SVG and matplotlib drawings are three renderings of one outline, so they never differ in what
they say. Nodes below `max_depth` are counted in the entry of the node that hides them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats, Integers, Positions
from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.questions import (
    DIGITS,
    branch_answer,
    branch_text,
    column_digits,
    name_text,
    number_text,
)
from novum.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class Entry:
    """One node of a drawing.

    Attributes
    ----------
    node : int
        In the tree that is drawn.
    parent : int
        Place of the parent's entry; -1 at the root.
    children : range
        Places of the children's entries; empty in leaves and where `hidden` nodes follow.
    depth : int
    asked : str
        The column that the node asks about; empty in leaves.
    answer, condition : str
        The answer that leads here, without and with its column; empty at the root.
    prediction : str
    counts : str
        Class weights, or weight and impurity.
    answers : array
        Class shares, or the mean.
    weight : float
    hidden : int
        Nodes below that are not drawn.
    """

    node: int
    parent: int
    children: range
    depth: int
    asked: str
    answer: str
    condition: str
    prediction: str
    counts: str
    answers: Floats
    weight: float
    hidden: int

    @property
    def is_leaf(self) -> bool:
        return not self.asked

    @property
    def rest(self) -> str:
        """The nodes that are not drawn, in words; empty where there are none."""
        if not self.hidden:
            return ""
        return f"... {self.hidden} more node" + ("s" if self.hidden > 1 else "")


@dataclass(frozen=True, eq=False)
class Outline:
    """The entries of a tree: parents before children, siblings side by side.

    Attributes
    ----------
    entries : tuple of Entry
    values : NodeValues
    n_nodes, n_leaves, depth : int
        Of the whole tree.
    """

    entries: tuple[Entry, ...]
    values: NodeValues
    n_nodes: int
    n_leaves: int
    depth: int

    @property
    def summary(self) -> str:
        """The size of the tree in words."""
        if self.n_nodes == 1:
            return "a single leaf"
        return f"{self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth}"


def outline(
    tree: Tree, *, max_depth: int | None = None, target: int = 0, digits: int = DIGITS
) -> Outline:
    """The nodes down to `max_depth` questions, ready to be drawn."""
    if max_depth is not None and max_depth < 0:
        raise InputError(f"max_depth is at least 0, got {max_depth!r}.")
    values = NodeValues.of(tree, target)
    deepest = tree.depth if max_depth is None else max_depth
    shown = np.flatnonzero(tree.depths <= deepest)
    place = np.full(tree.n_nodes, -1, np.intp)
    place[shown] = np.arange(shown.size)
    below = _nodes_below(tree)
    digits_of = column_digits(tree, digits)
    entries = tuple(
        _entry(tree, int(node), place, values, digits_of, digits, int(below[node]))
        for node in shown
    )
    return Outline(entries, values, tree.n_nodes, tree.n_leaves, tree.depth)


def _entry(
    tree: Tree,
    node: int,
    place: Positions,
    values: NodeValues,
    digits_of: list[int],
    digits: int,
    below: int,
) -> Entry:
    parent = int(tree.parent[node])
    answer = condition = ""
    if parent >= 0:
        branch = node - int(tree.first_child[parent])
        column_digits = digits_of[int(tree.column[parent])]
        answer = branch_answer(tree, parent, branch, column_digits)
        condition = branch_text(tree, parent, branch, column_digits)
    children = tree.children(node)
    drawn = bool(children) and place[children[0]] >= 0
    first = int(place[children[0]]) if drawn else 0
    leaf = tree.is_leaf(node)
    return Entry(
        node=node,
        parent=int(place[parent]) if parent >= 0 else -1,
        children=range(first, first + len(children)) if drawn else range(0),
        depth=int(tree.depths[node]),
        asked="" if leaf else name_text(tree.schema.columns[int(tree.column[node])].name),
        answer=answer,
        condition=condition,
        prediction=values.prediction_text(node, digits),
        counts=values.counts_text(node, digits),
        answers=values.answer(node),
        weight=float(tree.weight[node]),
        hidden=0 if leaf or drawn else below,
    )


def _nodes_below(tree: Tree) -> Integers:
    below = np.zeros(tree.n_nodes, np.int64)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[tree.parent[node]] += below[node] + 1
    return below


def hover_text(entry: Entry, tree: Tree, digits: int = DIGITS) -> str:
    """All that is known of a node, for those who point at it."""
    lines = [entry.condition or "all rows", f"{entry.prediction}: {entry.counts}"]
    if not entry.is_leaf:
        lines.append(
            f"asks {entry.asked}, gain {number_text(float(tree.gain[entry.node]), digits)}"
        )
    if entry.hidden:
        lines.append(entry.rest)
    return "\n".join([f"node {entry.node}", *lines])
