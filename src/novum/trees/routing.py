"""Where rows go in a tree, and what its leaves say about them.

A row whose cells answer every question ends in one leaf. Where a cell does not answer, the row goes
on along all branches with their shares of the training weight, so that

    prediction(x) = sum over leaves of share(x, leaf) value(leaf),    sum of shares = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from novum.core.runtime import time_sliced
from novum.numerics import Codes, Floats, Integers, as_argument
from novum.trees.tree import Question, Tree


def route(tree: Tree, cells: Floats) -> sparse.csr_matrix:
    """Share of every row at every node it reaches, of shape (n, n_nodes); at the root it is 1."""
    room = len(cells) * (tree.depth + 1)
    return visited(arrays_of(tree), range(tree.n_nodes), cells, room, leaves_only=False)


def leaf_shares(tree: Tree, cells: Floats) -> sparse.csr_matrix:
    """Share of every row at every leaf, of shape (n, n_nodes); the shares of a row add to 1."""
    nodes = range(tree.n_nodes)
    return visited(arrays_of(tree), nodes, cells, len(cells), leaves_only=True)


def heaviest_leaves(tree: Tree, cells: Floats) -> Integers:
    """The leaf of every row; of a row that ends in several, the first with its largest share."""
    return first_of_largest(leaf_shares(tree, cells))


def first_of_largest(shares: sparse.csr_matrix) -> Integers:
    """The column of the largest entry of every row, the first of equals."""
    if shares.nnz == shares.shape[0]:
        return shares.indices.astype(np.int64)
    return np.asarray(shares.argmax(axis=1), np.int64).ravel()


def node_sums(tree: Tree, cells: Floats, stats: Floats) -> Floats:
    """Sums of the rows of `stats` (n, S), scaled by the rows' shares, in every node (n_nodes, S).

    Examples
    --------
    >>> from novum.trees.tree import single_leaf
    >>> from novum.core import Schema
    >>> leaf = single_leaf(Schema.of_array(1), None, np.array([2.0]), 3.0)
    >>> node_sums(leaf, np.zeros((3, 1)), np.ones((3, 1))).tolist()
    [[3.0]]
    """
    return np.asarray(route(tree, cells).T @ stats)


def tree_values(tree: Tree, cells: Floats) -> Floats:
    """What the tree says of every row, (n, n_values): probabilities of classes, or means."""
    return added_values(arrays_of(tree), np.zeros(1, np.int64), cells, leaf_answers(tree))


def leaf_answers(tree: Tree) -> Floats:
    """The nodes' values as they are averaged: class weights as probabilities, means as they are."""
    if tree.classes is None:
        return tree.value
    answers = np.empty_like(tree.value)
    start = 0
    for labels in tree.classes:
        part = tree.value[:, start : start + len(labels)]
        totals = part.sum(axis=1, keepdims=True)
        # A node that no training weight reached knows nothing of the classes.
        answers[:, start : start + len(labels)] = np.where(
            totals > 0, part / np.where(totals > 0, totals, 1.0), 1.0 / len(labels)
        )
        start += len(labels)
    return answers


def added_values(
    arrays: tuple[Any, ...], roots: Integers, cells: Floats, answers: Floats
) -> Floats:
    """Sum over the trees at `roots` of what their leaves say, (n, n_values)."""
    from novum.trees.routing_kernels import leaf_values

    cells, answers = as_argument(cells), as_argument(answers)
    out = np.zeros((len(cells), answers.shape[1]))
    stack = _stack((arrays[0], arrays[4]))
    for start, stop in time_sliced(len(cells), block=256):
        leaf_values(arrays, roots, cells, answers, start, stop, stack, out)
    return out


def arrays_of(tree: Tree) -> tuple[Any, ...]:
    """The arrays of a tree in the order that kernels take them."""
    return (
        as_argument(tree.question, np.int32),
        as_argument(tree.column, np.int32),
        as_argument(tree.threshold),
        as_argument(tree.first_child, np.int32),
        as_argument(tree.n_children, np.int32),
        as_argument(tree.share),
        as_argument(tree.missing_branch, np.int32),
        as_argument(tree.level_start, np.int32),
        as_argument(tree.level_branch, np.int32),
    )


def visited(
    arrays: tuple[Any, ...], nodes: range, cells: Floats, room: int, *, leaves_only: bool
) -> sparse.csr_matrix:
    """Shares of rows at the nodes of one tree, (n, number of nodes), of which `room` are expected.

    Parameters
    ----------
    arrays : tuple
        Of `arrays_of`, or of all trees of a forest.
    nodes : range
        The nodes of the tree in these arrays, its root first.
    """
    from novum.trees.routing_kernels import visits

    own = slice(nodes.start, nodes.stop)
    cells, stack = as_argument(cells), _stack((arrays[0][own], arrays[4][own]))
    start = np.empty(len(cells) + 1, np.int64)
    while True:
        places, shares = np.empty(room, np.int32), np.empty(room)
        count = visits(arrays, nodes.start, cells, leaves_only, start, places, shares, stack)
        if count <= room:
            break
        room = count
    entries = (shares[:count], places[:count] - nodes.start, start)
    matrix = sparse.csr_matrix(entries, (len(cells), len(nodes)))
    matrix.sort_indices()
    return matrix


def _stack(questions: tuple[Codes, Codes]) -> tuple[Codes, Floats]:
    """Room for the branches that wait, from questions and numbers of children: at most all of them
    along one path."""
    question, n_children = questions
    room = int(n_children[question != Question.LEAF].sum()) + 1
    return np.empty(room, np.int32), np.empty(room)
