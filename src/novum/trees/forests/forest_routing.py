"""What the trees of a forest say of rows, added up tree by tree.

    sum(x) = sum over trees t and leaves l of t of share(x, l) value(l),

each row on its own, so that blocks of rows can be worked on side by side and the bits of the result
do not depend on how many there are at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from novum.core.runtime import check_cancelled, run_tasks, time_sliced
from novum.numerics import Array, Bytes, Codes, Floats, Integers, Mask, as_argument
from novum.trees.forests.forest_value import Forest
from novum.trees.growth.coding import NARROW_MISSING
from novum.trees.routing import first_of_largest, visited
from novum.trees.training import UNSEEN_CELL

# Lists of rows hold 16-bit numbers, and stay in the cache together with the rows' codes.
BLOCK = 32_768
CELL_BLOCK = 256


def rows_as_asked(forest: Forest, cells: Floats) -> Array:
    """Rows as the nodes ask about them: codes in bytes, or the cells themselves."""
    return as_argument(cells) if forest.coding is None else forest.coding.codes(cells)


def forest_answers(forest: Forest, cells: Floats, n_jobs: int | None = None) -> Floats:
    """Mean over trees of what they say of every row, (n, n_values)."""
    return forest_sums(forest, cells, n_jobs) / forest.n_trees


def forest_sums(forest: Forest, cells: Floats, n_jobs: int | None = None) -> Floats:
    """Sum over trees of what they say of every row, (n, n_values)."""
    sums = added_answers(forest, rows_as_asked(forest, cells), n_jobs)
    if forest.coding is not None and forest.missing_branch.size:
        # One code stands for both missing cells, which have a branch, and levels never met.
        unseen = ((cells == UNSEEN_CELL) & forest.coding.nominal).any(axis=1)
        if unseen.any():
            few = np.zeros((int(unseen.sum()), forest.n_values))
            _send_cells(forest, cells[unseen], 0, forest.n_trees, few)
            sums[unseen] = few
    return sums


def added_answers(
    forest: Forest,
    rows: Array,
    n_jobs: int | None = None,
    *,
    first: int = 0,
    last: int | None = None,
) -> Floats:
    """Sum over the trees `first` to `last - 1` of what they say of every row, (n, n_values).

    Parameters
    ----------
    forest : Forest
    rows : array (n, n_columns), of `rows_as_asked`
    n_jobs : int, optional
        Blocks of rows at once.
    """
    out = np.zeros((len(rows), forest.n_values))
    last = forest.n_trees if last is None else last
    gaps = np.empty(0, bool)
    if forest.coding is not None:
        gaps = (rows == NARROW_MISSING).any(axis=0) | forest.coding.nominal

    def run(start: int) -> None:
        here = slice(start, start + BLOCK)
        if forest.is_coded:
            _send_codes(forest, rows[here], gaps, first, last, out[here])
        else:
            _send_cells(forest, rows[here], first, last, out[here])

    starts = range(0, len(rows), BLOCK)
    if len(starts) == 1:
        run(0)
    else:
        run_tasks(run, starts, n_jobs)
    return out


def heaviest_leaves(forest: Forest, cells: Floats) -> Integers:
    """The leaf of every row in every tree, (n, n_trees), numbered from the tree's root.

    Of a row that ends in several leaves, the first one with its largest share.
    """
    shares = _visited(forest, cells, len(cells), leaves_only=True)
    return np.column_stack([first_of_largest(tree) for tree in shares])


def forest_paths(forest: Forest, cells: Floats) -> sparse.csr_matrix:
    """Indicator of the nodes on the ways of every row, (n, n_nodes)."""
    visited = list(_visited(forest, cells, 24 * len(cells), leaves_only=False))
    for tree in visited:
        tree.data = np.ones(tree.nnz, np.int64)
    paths = sparse.hstack(visited, format="csr")
    paths.sort_indices()
    return paths


def _visited(
    forest: Forest, cells: Floats, room: int, *, leaves_only: bool
) -> Iterator[sparse.csr_matrix]:
    """Shares of the rows at the nodes of one tree after the other; see `routing.visited`."""
    for root, end in pairwise(forest.tree_start.tolist()):
        check_cancelled()
        nodes = range(root, end)
        yield visited(forest.walk_arrays, nodes, cells, room, leaves_only=leaves_only)


def _send_codes(
    forest: Forest,
    codes: Bytes,
    gaps: Mask,
    first: int,
    last: int,
    out: Floats,
) -> None:
    from novum.trees.forests.forest_kernels import send_down

    nodes = (
        as_argument(forest.step, np.int64),
        as_argument(forest.parts),
        as_argument(forest.missing_branch, np.int32),
        as_argument(forest.level_start, np.int32),
        as_argument(forest.level_branch, np.int8),
        as_argument(forest.value),
    )
    tree_start = as_argument(forest.tree_start, np.int64)
    # Of every node on a way down at most one child waits.
    waiting = np.empty((forest.largest_tree // 2 + 2, 4), np.int64)
    lists = np.empty((3, len(codes)), np.uint16)
    work = (lists, waiting, *_stack(forest), np.empty(1, np.int64))
    for tree, after in time_sliced(last - first):
        check_cancelled()
        send_down(codes, gaps, tree_start, first + tree, first + after, nodes, work, out)


def _send_cells(forest: Forest, cells: Floats, first: int, last: int, out: Floats) -> None:
    from novum.trees.routing_kernels import leaf_values

    roots = as_argument(forest.tree_start[first:last], np.int64)
    arrays = forest.walk_arrays
    cells, stack, value = as_argument(cells), _stack(forest), as_argument(forest.value)
    for start, stop in time_sliced(len(cells), block=CELL_BLOCK):
        check_cancelled()
        leaf_values(arrays, roots, cells, value, start, stop, stack, out)


def _stack(forest: Forest) -> tuple[Codes, Floats]:
    """Room for the branches of one row that wait: at most all nodes of its tree."""
    room = forest.largest_tree + 1
    return np.empty(room, np.int32), np.empty(room)
