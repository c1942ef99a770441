"""Small trees for the tests of what is read from trees: written by hand, or drawn at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.numerics import Codes, Floats
from novum.trees.tree import Question, Tree


@dataclass
class Node:
    """A leaf, unless it has children; `value` is needed in leaves only."""

    value: Sequence[float] | None = None
    column: int = -1
    threshold: float = math.nan
    branches: Sequence[int] | None = None
    children: list[Node] = field(default_factory=list)
    missing_branch: int = -1
    multiway: bool = False


def leaf(*value: float) -> Node:
    return Node(value=value)


def below(column: int, threshold: float, *children: Node, missing_branch: int = -1) -> Node:
    """Is the cell at most the threshold?"""
    return Node(None, column, threshold, None, list(children), missing_branch)


def among(column: int, branches: Sequence[int], *children: Node, missing_branch: int = -1) -> Node:
    """In which branch is the level?"""
    return Node(None, column, math.nan, branches, list(children), missing_branch)


def every(column: int, *children: Node, branches: Sequence[int] | None = None) -> Node:
    """Which level is it?"""
    chosen = range(len(children)) if branches is None else branches
    return Node(None, column, math.nan, tuple(chosen), list(children), multiway=True)


def numbered(root: Node) -> tuple[list[Node], list[int]]:
    """Nodes level by level, so that siblings stand side by side; and the parents' numbers."""
    nodes, parents = [root], [-1]
    place = 0
    while place < len(nodes):
        nodes.extend(nodes[place].children)
        parents.extend([place] * len(nodes[place].children))
        place += 1
    return nodes, parents


def build(
    schema: Schema, classes: Sequence[Sequence[Any]] | None, root: Node, n_values: int | None = None
) -> Tree:
    """The tree; inner nodes hold the sums (means) of their leaves.

    The weight of a leaf is the sum of its first target's class weights, or 1 in a regression.
    """
    nodes, parents = numbered(root)
    n = len(nodes)
    first = np.full(n, -1, np.int32)
    for node in range(n - 1, 0, -1):
        first[parents[node]] = node
    width = n_values or len(next(node.value for node in nodes if node.value is not None))
    value, weight = np.zeros((n, width)), np.zeros(n)
    for place in range(n - 1, -1, -1):
        node = nodes[place]
        if node.value is not None:
            value[place] = node.value
            k = 0 if classes is None else len(classes[0])
            weight[place] = 1.0 if classes is None else value[place, :k].sum()
            continue
        below_it = range(first[place], first[place] + len(node.children))
        weight[place] = weight[below_it].sum()
        if classes is None:
            value[place] = weight[below_it] @ value[below_it] / weight[place]
        else:
            value[place] = value[below_it].sum(axis=0)
    return _assembled(schema, classes, nodes, parents, first, value, weight)


def _assembled(
    schema: Schema,
    classes: Sequence[Sequence[Any]] | None,
    nodes: list[Node],
    parents: list[int],
    first: Codes,
    value: Floats,
    weight: Floats,
) -> Tree:
    n = len(nodes)
    question, start = np.zeros(n, np.int32), np.full(n, -1, np.int32)
    levels: list[int] = []
    for place, node in enumerate(nodes):
        if node.branches is not None:
            question[place] = Question.MULTIWAY if node.multiway else Question.SUBSET
            start[place] = len(levels)
            levels.extend(node.branches)
        elif node.children:
            question[place] = Question.THRESHOLD
    above = np.array(parents, np.int32)
    shares = np.where(above >= 0, weight / np.maximum(weight[above], 1e-300), 1.0)
    gini = np.zeros(n) if classes is None else _gini(value[:, : len(classes[0])])
    return Tree(
        schema=schema,
        classes=None if classes is None else tuple(np.array(labels) for labels in classes),
        question=question,
        column=np.array([node.column for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes]),
        first_child=first,
        n_children=np.array([len(node.children) for node in nodes], np.int32),
        parent=above,
        share=shares,
        missing_branch=np.array([node.missing_branch for node in nodes], np.int32),
        level_start=start,
        level_branch=np.array(levels, np.int32),
        value=value,
        weight=weight,
        rows=np.ceil(weight).astype(np.int64),
        impurity=gini,
        gain=np.zeros(n),
    )


def _gini(counts: Floats) -> Floats:
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    return 1 - ((counts / totals) ** 2).sum(axis=1)


# --- By hand --------------------------------------------------------------------------------------

WEATHER = Schema(
    (
        Column("outlook", Kind.NOMINAL, ("overcast", "rainy", "sunny")),
        Column("temperature"),
        Column("humidity"),
        Column("windy", Kind.NOMINAL, (False, True)),
    )
)
# Quinlan's 14 days, in the order of the schema; the last column is the class (no, yes).
WEATHER_ROWS = np.array(
    [
        [2, 85, 85, 0, 0],
        [2, 80, 90, 1, 0],
        [0, 83, 86, 0, 1],
        [1, 70, 96, 0, 1],
        [1, 68, 80, 0, 1],
        [1, 65, 70, 1, 0],
        [0, 64, 65, 1, 1],
        [2, 72, 95, 0, 0],
        [2, 69, 70, 0, 1],
        [1, 75, 80, 0, 1],
        [2, 75, 70, 1, 1],
        [0, 72, 90, 1, 1],
        [0, 81, 75, 0, 1],
        [1, 71, 91, 1, 0],
    ],
    float,
)
IRIS = Schema(
    (Column("sepal length"), Column("petal width"), Column("size", Kind.ORDINAL, ("S", "M", "L")))
)


def weather_tree() -> Tree:
    """The tree of C4.5 for the 14 days."""
    return build(
        WEATHER,
        [["no", "yes"]],
        every(
            0,
            leaf(0, 4),
            every(3, leaf(0, 3), leaf(2, 0)),
            below(2, 77.5, leaf(0, 2), leaf(3, 0)),
        ),
    )


def iris_tree() -> Tree:
    """Thresholds, three classes and an ordinal column; missing widths go with the wide petals."""
    return build(
        IRIS,
        [["setosa", "versicolor", "virginica"]],
        below(
            1,
            0.8,
            leaf(50, 0, 0),
            below(
                1,
                1.75,
                below(2, 1.0, leaf(0, 48, 1), leaf(0, 1, 4)),
                leaf(0, 1, 45),
                missing_branch=1,
            ),
        ),
    )


def number_tree() -> Tree:
    """A regression with two targets."""
    return build(
        IRIS,
        None,
        below(0, 5.0, leaf(1.5, 10.0), below(1, 2.0, leaf(2.5, 20.0), leaf(4.0, 0.0))),
    )


# --- At random ------------------------------------------------------------------------------------

RANDOM_SCHEMA = Schema(
    (
        Column("a"),
        Column("b"),
        Column("c", Kind.NOMINAL, ("p", "q", "r", "s")),
        Column("d", Kind.ORDINAL, ("low", "mid", "high")),
        Column("e", Kind.NOMINAL, (False, True)),
    )
)
# One value on each side of every threshold that `random_nodes` draws, every level, and missing.
GRID = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [0, 1, 2, 3], [0, 1, 2], [0, 1])


def grid_rows() -> Floats:
    """Every complete row that trees of `RANDOM_SCHEMA` can tell apart."""
    return np.stack(np.meshgrid(*GRID, indexing="ij"), axis=-1).reshape(-1, 5).astype(float)


@st.composite
def random_nodes(draw: Any, leaves: Any, depth: int = 4, *, missing: bool = True) -> Node:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return Node(value=draw(leaves))
    column = draw(st.integers(0, 4))
    child = random_nodes(leaves, depth - 1, missing=missing)
    kind = RANDOM_SCHEMA.columns[column].kind
    if kind is not Kind.NOMINAL:
        threshold = draw(st.sampled_from([0.5, 1.5, 2.5]))
        side = draw(st.integers(-1, 1)) if missing else -1
        return below(column, threshold, draw(child), draw(child), missing_branch=side)
    n_levels = RANDOM_SCHEMA.columns[column].n_levels
    if draw(st.booleans()):
        branches = list(range(n_levels))
        return every(column, *(draw(child) for _ in branches), branches=branches)
    lowest = -1 if missing else 0
    branches = draw(
        st.lists(st.integers(lowest, 1), min_size=n_levels, max_size=n_levels).filter(
            lambda chosen: {0, 1} <= set(chosen)
        )
    )
    side = draw(st.integers(-1, 1)) if missing else -1
    return among(column, branches, draw(child), draw(child), missing_branch=side)


CLASS_LEAVES = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)
NUMBER_LEAVES = st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=1, max_size=1)


@st.composite
def random_trees(draw: Any, *, missing: bool = True) -> Tree:
    root = draw(random_nodes(CLASS_LEAVES, missing=missing))
    return build(RANDOM_SCHEMA, [["x", "y", "z"]], root)


@st.composite
def random_number_trees(draw: Any, *, missing: bool = True) -> Tree:
    return build(RANDOM_SCHEMA, None, draw(random_nodes(NUMBER_LEAVES, missing=missing)))


# --- The definition of a tree's answer ------------------------------------------------------------


def answer_of(tree: Tree, row: Floats, node: int = 0) -> Floats:
    """Class shares (of one target) or means, straight from the meaning of a tree."""
    if tree.is_leaf(node):
        value = tree.value[node]
        if tree.classes is None:
            return value
        return value / value.sum() if value.sum() else np.full(len(value), 1 / len(value))
    cell = row[tree.column[node]]
    if np.isnan(cell):
        branch = int(tree.missing_branch[node])
    elif tree.question[node] == Question.THRESHOLD:
        branch = 0 if cell <= tree.threshold[node] else 1
    else:
        branch = int(tree.branches(node)[int(cell)]) if cell >= 0 else -1
    children = tree.children(node)
    if branch >= 0:
        return answer_of(tree, row, children[branch])
    return sum(tree.share[child] * answer_of(tree, row, child) for child in children)


# --- Rows of a node -------------------------------------------------------------------------------

NODE_SCHEMA = Schema((Column("x"), Column("c", Kind.NOMINAL, tuple("pqrs"))))
NodeSample = tuple[Floats, Floats, Floats]


@st.composite
def node_rows(draw: Any) -> NodeSample:
    """Cells, class codes (or numbers) and weights of up to 12 rows, some cells missing."""
    n = draw(st.integers(2, 12))
    row = st.tuples(
        st.sampled_from([0.0, 1.0, 2.0, 5.0, math.nan]), st.sampled_from([0.0, 1, 2, 3, math.nan])
    )
    cells = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    targets = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), float)
    weight = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    return cells, targets[:, None], weight
