"""A fitted tree as a value: flat arrays, one entry for each node.

Node 0 is the root, parents stand before their children, and the children of a node side by side:

    child b of node t  =  first_child[t] + b,        0 <= b < n_children[t].

A node asks one of three questions about one column:

    THRESHOLD   is x <= threshold?  yes: branch 0, no: branch 1   (numbers, and codes of ordinals)
    SUBSET      is the level in the set of branch 0 or in that of branch 1?
    MULTIWAY    which level is it?  one branch for each level

The branch of level c at a nominal node is `level_branch[level_start[t] + c]`, -1 for a level that
no training row had there. A cell that does not answer (missing, or a level without a branch) sends
the row down every branch with the branches' shares of the known training weight, which add to 1;
a node with `missing_branch >= 0` sends missing cells down that branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Kind, Schema
from novum.numerics import Array, Codes, Floats, Integers, Mask, cached_property
from novum.trees.tree_views import UNDEFINED, BinaryViews


class Question(IntEnum):
    """What a node asks."""

    LEAF = 0
    THRESHOLD = 1
    SUBSET = 2
    MULTIWAY = 3


@dataclass(frozen=True, eq=False)
class Tree(BinaryViews):
    """A decision tree; `BinaryViews` has scikit-learn's names for it.

    Attributes
    ----------
    schema : Schema
        The columns that the questions are about.
    classes : tuple of label arrays, or None
        One array for each target of a classifier; None for numbers.
    question : int32 array (n_nodes,), of `Question`
    column : int32 array (n_nodes,), position in the schema; -1 in leaves
    threshold : float64 array (n_nodes,)
        NaN where levels are asked for, -2 in leaves, infinite where missing cells stand alone.
    first_child, n_children, parent : int32 arrays (n_nodes,); the root's parent is -1
    share : float64 array (n_nodes,)
        Share of its parent's known training weight; 1 at the root.
    missing_branch : int32 array (n_nodes,), -1 where missing cells go down as fractions
    level_start : int32 array (n_nodes,), place of the node's branches in `level_branch`; -1 if none
    level_branch : int32 array, branches by level, of all nominal nodes one after the other
    value : float64 array (n_nodes, n_values)
        Class weights, of all targets side by side; means of the targets in a regression.
    weight : float64 array (n_nodes,), sum of the (fractional) weights of the node's rows
    rows : int64 array (n_nodes,), training rows that reach the node, in whole or in part
    impurity : float64 array (n_nodes,), of the node by the criterion
    gain : float64 array (n_nodes,)
        Impurity times weight that the node's split removes; 0 in leaves.
    """

    schema: Schema
    classes: tuple[Array, ...] | None
    question: Codes
    column: Codes
    threshold: Floats
    first_child: Codes
    n_children: Codes
    parent: Codes
    share: Floats
    missing_branch: Codes
    level_start: Codes
    level_branch: Codes
    value: Floats
    weight: Floats
    rows: Integers
    impurity: Floats
    gain: Floats

    def __post_init__(self) -> None:
        # Leaves have no threshold, and tools for scikit-learn's trees know that by its number.
        if self.threshold.shape == self.question.shape:
            threshold = np.where(self.question == Question.LEAF, float(UNDEFINED), self.threshold)
            object.__setattr__(self, "threshold", threshold)

    # Sizes

    @property
    def n_nodes(self) -> int:
        return int(self.question.size)

    @property
    def n_leaves(self) -> int:
        return int((self.question == Question.LEAF).sum())

    @cached_property
    def depths(self) -> Codes:
        """Questions from the root to each node."""
        depths = np.zeros(self.n_nodes, np.int32)
        for node in range(1, self.n_nodes):
            depths[node] = depths[self.parent[node]] + 1
        return depths

    @property
    def depth(self) -> int:
        return int(self.depths.max())

    # Nodes

    def is_leaf(self, node: int) -> bool:
        return bool(self.question[node] == Question.LEAF)

    def children(self, node: int) -> range:
        first = int(self.first_child[node])
        return range(first, first + int(self.n_children[node]))

    def branches(self, node: int) -> Codes:
        """The branch of every level of the node's nominal column; -1 for levels without one."""
        start = int(self.level_start[node])
        n_levels = self.schema.columns[int(self.column[node])].n_levels
        return self.level_branch[start : start + n_levels]

    def walk(self, node: int = 0) -> Iterator[int]:
        """The node and all below it, parents before children, first branches first."""
        pending = [node]
        while pending:
            current = pending.pop()
            yield current
            pending.extend(reversed(self.children(current)))

    def check(self) -> None:
        """Raises `InputError` if the arrays do not make a tree, as in a file that was changed."""
        if not (_arrays_fit(self) and _links_fit(self) and _levels_fit(self) and _sums_fit(self)):
            raise InputError("The arrays of this tree do not fit together; the file is damaged.")

    # Other trees

    def cut(self, nodes: Mask) -> Tree:
        """The tree in which the marked nodes are leaves.

        Parameters
        ----------
        nodes : boolean array (n_nodes,)

        Returns
        -------
        Tree
            With the nodes that remain, in their order.
        """
        if nodes.shape != (self.n_nodes,):
            raise InputError(f"One mark for each of {self.n_nodes} nodes, got {nodes.shape}.")
        gone = np.zeros(self.n_nodes, bool)
        for node in range(1, self.n_nodes):
            parent = self.parent[node]
            gone[node] = gone[parent] or nodes[parent]
        kept = np.flatnonzero(~gone)
        place = np.full(self.n_nodes + 1, -1, np.int32)
        place[kept] = np.arange(kept.size)
        leaf = nodes | (self.question == Question.LEAF)
        changed = {
            "question": np.where(leaf, np.int32(Question.LEAF), self.question),
            "column": np.where(leaf, np.int32(-1), self.column),
            "first_child": np.where(leaf, np.int32(-1), place[self.first_child]),
            "n_children": np.where(leaf, np.int32(0), self.n_children),
            "parent": place[self.parent],
            "missing_branch": np.where(leaf, np.int32(-1), self.missing_branch),
            "level_start": np.where(leaf, np.int32(-1), self.level_start),
            "gain": np.where(leaf, 0.0, self.gain),
        }
        return Tree(
            self.schema,
            self.classes,
            **{
                field.name: changed.get(field.name, getattr(self, field.name))[kept]
                for field in fields(self)
                if field.name not in ("schema", "classes", "level_branch")
            },
            level_branch=self.level_branch,
        )


def single_leaf(
    schema: Schema,
    classes: tuple[Array, ...] | None,
    value: Floats,
    weight: float,
    *,
    rows: int = 1,
    impurity: float = 0.0,
) -> Tree:
    """The tree that asks nothing.

    Examples
    --------
    >>> single_leaf(Schema.of_array(1), None, np.array([2.0]), 3.0).n_leaves
    1
    """
    none = np.full(1, -1, np.int32)
    zero = np.zeros(1, np.int32)
    return Tree(
        schema,
        classes,
        question=zero,
        column=none,
        threshold=np.full(1, np.nan),
        first_child=none,
        n_children=zero,
        parent=none,
        share=np.ones(1),
        missing_branch=none,
        level_start=none,
        level_branch=np.empty(0, np.int32),
        value=np.asarray(value, float)[np.newaxis],
        weight=np.array([float(weight)]),
        rows=np.array([rows], np.int64),
        impurity=np.array([impurity]),
        gain=np.zeros(1),
    )


# --- Checks ---------------------------------------------------------------------------------------

_WHOLE = (
    "question",
    "column",
    "first_child",
    "n_children",
    "parent",
    "missing_branch",
    "level_start",
    "rows",
)
_REAL = ("threshold", "share", "value", "weight", "impurity", "gain")


def _arrays_fit(tree: Tree) -> bool:
    """Whether there is an entry for each node in every array."""
    n = tree.n_nodes
    n_values = tree.value.shape[-1]
    return (
        n > 0
        and all(getattr(tree, name).shape == (n,) for name in (*_WHOLE, *_REAL) if name != "value")
        and tree.value.shape == (n, n_values)
        and (tree.classes is None or n_values == sum(map(len, tree.classes)))
        and tree.level_branch.ndim == 1
        and all(getattr(tree, name).dtype.kind == "i" for name in (*_WHOLE, "level_branch"))
        and all(getattr(tree, name).dtype.kind == "f" for name in _REAL)
    )


def _links_fit(tree: Tree) -> bool:
    """Whether every node but the root is the child of one node, which stands before it."""
    inner = np.flatnonzero(tree.question != Question.LEAF)
    first = tree.first_child[inner].astype(np.int64)
    number = tree.n_children[inner].astype(np.int64)
    threshold = tree.question[inner] == Question.THRESHOLD
    if (
        ((tree.question < 0) | (tree.question > Question.MULTIWAY)).any()
        or ((tree.column[inner] < 0) | (tree.column[inner] >= tree.schema.n_columns)).any()
        or ((first <= inner) | (number < 1) | (first + number > tree.n_nodes)).any()
        or (number[threshold] != 2).any()
        or ((tree.missing_branch[inner] < -1) | (tree.missing_branch[inner] >= number)).any()
        or number.sum() != tree.n_nodes - 1
    ):
        return False
    before = np.cumsum(number) - number
    children = np.repeat(first - before, number) + np.arange(number.sum())
    parent = np.full(tree.n_nodes, -1)
    parent[children] = np.repeat(inner, number)
    return bool((parent[1:] >= 0).all()) and np.array_equal(parent, tree.parent)


def _levels_fit(tree: Tree) -> bool:
    """Whether nominal columns, and only they, are asked for their levels, all of which are told."""
    for node in np.flatnonzero(tree.question != Question.LEAF).tolist():
        column = tree.schema.columns[int(tree.column[node])]
        if (column.kind is Kind.NOMINAL) != (tree.question[node] >= Question.SUBSET):
            return False
        if column.kind is not Kind.NOMINAL:
            continue
        start = int(tree.level_start[node])
        if start < 0 or start + column.n_levels > tree.level_branch.size:
            return False
        branches = tree.branches(node)
        if ((branches < -1) | (branches >= tree.n_children[node])).any():
            return False
    return True


def _sums_fit(tree: Tree) -> bool:
    """Whether shares add to 1, and sums are numbers, of classes not negative."""
    inner = tree.question != Question.LEAF
    shares = np.bincount(tree.parent[1:], tree.share[1:], minlength=tree.n_nodes)
    return (
        all(np.isfinite(getattr(tree, name)).all() for name in _REAL if name != "threshold")
        and not np.isnan(tree.threshold[tree.question == Question.THRESHOLD]).any()
        and bool((tree.share >= 0).all() and (np.abs(shares[inner] - 1) < 1e-6).all())
        and bool((tree.weight >= 0).all())
        and (tree.classes is None or bool((tree.value >= -1e-9 * tree.weight[0]).all()))
    )
