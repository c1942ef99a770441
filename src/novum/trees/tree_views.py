"""A tree under the names of scikit-learn's `tree_`: read-only views for tools that walk trees.

    children_left[t], children_right[t]   branches 0 and 1 of node t, -1 in leaves
    feature[t]                            column of its question, -2 in leaves
    n_node_samples, weighted_n_node_samples, node_count, max_depth, ...

`threshold` is scikit-learn's too, NaN where a node asks for levels. `value` has our own meaning
under a name that both use: one column for each class, with weights in place of shares.
`value[:, None] / weighted_n_node_samples[:, None, None]` is scikit-learn's for one target of
classes. A tree with a branch for each level has no left and right; its `first_child` and
`n_children` say where its children are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from novum.core.errors import InputError
from novum.numerics import Array, Floats, Integers, Mask, as_argument

if TYPE_CHECKING:
    from scipy import sparse

    from novum.trees.tree import Tree


LEAF = -1
UNDEFINED = -2


class BinaryViews:
    """The attributes and methods of scikit-learn's `Tree`, for a `Tree` of ours."""

    # Nodes

    @property
    def children_left(self: Tree) -> Integers:  # type: ignore[misc]
        """First child of every node, (n_nodes,); -1 in leaves."""
        return _view(np.where(_inner(self), self.first_child, LEAF))

    @property
    def children_right(self: Tree) -> Integers:  # type: ignore[misc]
        """Second child of every node, (n_nodes,); -1 in leaves."""
        return _view(np.where(_inner(self), self.first_child + 1, LEAF))

    @property
    def feature(self: Tree) -> Integers:  # type: ignore[misc]
        """Column that every node asks about, (n_nodes,); -2 in leaves."""
        return _view(np.where(self.n_children > 0, self.column, UNDEFINED))

    @property
    def n_node_samples(self: Tree) -> Integers:  # type: ignore[misc]
        """Training rows that reach every node, in whole or in part, (n_nodes,)."""
        return _view(self.rows)

    @property
    def weighted_n_node_samples(self: Tree) -> Floats:  # type: ignore[misc]
        """Weight of the training rows of every node, (n_nodes,)."""
        view = self.weight.view()
        view.flags.writeable = False
        return view

    @property
    def missing_go_to_left(self: Tree) -> Mask:  # type: ignore[misc]
        """Whether missing cells take the first branch, all of them, (n_nodes,)."""
        return self.missing_branch == 0

    # Sizes

    @property
    def node_count(self: Tree) -> int:  # type: ignore[misc]
        return self.n_nodes

    @property
    def max_depth(self: Tree) -> int:  # type: ignore[misc]
        return self.depth

    @property
    def n_features(self: Tree) -> int:  # type: ignore[misc]
        return self.schema.n_columns

    @property
    def n_outputs(self: Tree) -> int:  # type: ignore[misc]
        return int(self.value.shape[1]) if self.classes is None else len(self.classes)

    @property
    def n_classes(self: Tree) -> Integers:  # type: ignore[misc]
        """Classes of every target, (n_outputs,); ones for numbers."""
        if self.classes is None:
            return np.ones(self.n_outputs, np.int64)
        return np.array([len(labels) for labels in self.classes], np.int64)

    @property
    def max_n_classes(self: Tree) -> int:  # type: ignore[misc]
        return int(self.n_classes.max())

    # Rows of numbers, and codes of levels

    def apply(self: Tree, X: Any) -> Integers:  # type: ignore[misc]
        """The leaf of each row of numbers or codes; of several the one with its largest share."""
        from novum.trees.routing import heaviest_leaves

        return heaviest_leaves(self, _cells(self, X))

    def decision_path(self: Tree, X: Any) -> sparse.csr_matrix:  # type: ignore[misc]
        """Indicator of the nodes on the way of each row, of shape (n_rows, n_nodes)."""
        from novum.trees.routing import route

        path = route(self, _cells(self, X))
        path.data = np.ones(path.nnz, np.int64)
        return path

    def predict(self: Tree, X: Any) -> Floats:  # type: ignore[misc]
        """Class shares, of all targets side by side, or means, (n_rows, n_values)."""
        from novum.trees.routing import tree_values

        return tree_values(self, _cells(self, X))

    def compute_feature_importances(self: Tree, normalize: bool = True) -> Floats:  # type: ignore[misc]
        """Impurity that the splits of each column remove, (n_columns,).

        With `normalize` as shares that add to 1, else for one unit of the root's weight.
        """
        inner = self.n_children > 0
        total = np.bincount(self.column[inner], self.gain[inner], self.schema.n_columns)
        whole = total.sum() if normalize else self.weight[0]
        return np.asarray(total / whole if whole > 0 else total, np.float64)


def _inner(tree: Tree) -> Mask:
    """Which nodes are split; all of them must be split in two."""
    many = np.flatnonzero(tree.n_children > 2)
    if many.size:
        column = tree.schema.names[int(tree.column[many[0]])]
        raise InputError(
            f"Node {many[0]} has {tree.n_children[many[0]]} branches, one for each level of "
            f"{column!r}, so it has no left and right child. Read first_child and n_children, or "
            "fit with nominal='subset'."
        )
    return np.asarray(tree.n_children > 0)


def _cells(tree: Tree, X: Any) -> Floats:
    cells = as_argument(np.asarray(X.toarray() if issparse(X) else X, np.float64))
    if cells.ndim != 2 or cells.shape[1] != tree.schema.n_columns:
        raise InputError(
            f"The tree knows {tree.schema.n_columns} columns, X has shape {cells.shape}. Give a "
            "row of numbers, or of codes of levels, for each case."
        )
    return cells


def _view(array: Array) -> Integers:
    view = array.astype(np.int64)
    view.flags.writeable = False
    return view
