"""Rows on their way through all trees of a forest, and the nodes that they ask.

A tree takes a list of rows at its root and parts it at every node, so that a node is read once for
all rows that reach it. Lists are parted without branches from one array into the other: rows that
go left are written from the front, those that go right from the back, and each place is free when
it is written. Nodes that few rows have reached are walked row by row.

The step of a node holds all that a row needs to go on, and is negative in leaves:

    first child (32 bits) | question (2) | column (22) | number of the edge (8)

A cell that does not answer sends its row on along a stack of (node, share), as in
`routing_kernels`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel, lean_kernel
from novum.trees.growth.growing_columns import (
    CHILD,
    CODE,
    COLUMN,
    GAIN,
    IMPURITY,
    LOWER,
    NEXT_CODE,
    QUESTION,
    ROWS,
    UPPER,
    WEIGHT,
)
from novum.trees.routing_kernels import TREE, branch_of

# Lists of fewer rows are not parted any more: they are walked row by row. Walks of cells that may
# not answer cost more.
FEW = 9
FEW_WITH_GAPS = 2

_LEAF = 0
_THRESHOLD = 1
_MISSING = np.uint8(255)
_COLUMNS = 0x3FFFFF

# step, weight or share of every node, missing_branch, level_start, level_branch
NODES = "int64[::1], float64[::1], int32[::1], int32[::1], int8[::1]"


@lean_kernel("int64(int64, int64, uint8, int32[::1], int32[::1], int8[::1])")
def side_of(node, step, code, missing_branch, level_start, level_branch):
    """The branch of a code at a node; -1 where the row goes down both."""
    if code == _MISSING:
        return np.int64(missing_branch[node]) if missing_branch.size > 0 else np.int64(-1)
    if (step >> 30) & 3 == _THRESHOLD:
        return np.int64(code > np.uint8(step & 255))
    return np.int64(level_branch[level_start[node] + code])


@lean_kernel(
    f"void(uint8[:, ::1], int64, int64, {NODES}, float64[:, ::1], int32[::1], float64[::1], "
    "float64[:, ::1])"
)
def add_parts(
    codes,
    row,
    node,
    steps,
    parts,
    missing_branch,
    level_start,
    level_branch,
    value,
    stack_node,
    stack_share,
    out,
):
    """Adds what the leaves below `node` say of one row, each by the share of the row it gets."""
    stack_node[0] = node
    stack_share[0] = 1.0
    depth = 1
    while depth > 0:
        depth -= 1
        here = np.int64(stack_node[depth])
        share = stack_share[depth]
        step = steps[here]
        while step >= 0:
            code = codes[row, (step >> 8) & _COLUMNS]
            side = side_of(here, step, code, missing_branch, level_start, level_branch)
            first = step >> 32
            if side >= 0:
                here = first + side
            else:
                both = parts[first] + parts[first + 1]
                stack_node[depth] = first + 1
                stack_share[depth] = share * (parts[first + 1] / both)
                depth += 1
                share *= parts[first] / both
                here = first
            step = steps[here]
        for k in range(value.shape[1]):
            out[row, k] += share * value[here, k]


@lean_kernel(
    f"int64(uint8[:, ::1], uint16[:, ::1], int64, int64, int64, int64, {NODES}, "
    "float64[:, ::1], int32[::1], float64[::1], float64[:, ::1], int64[::1])"
)
def part_with_gaps(
    codes,
    lists,
    here,
    start,
    stop,
    node,
    steps,
    parts,
    missing_branch,
    level_start,
    level_branch,
    value,
    stack_node,
    stack_share,
    out,
    out_split,
):
    """Parts a list at a node where cells may not answer; rows that go both ways are done with.

    Returns where the left rows end; `out_split` is where the right rows begin.
    """
    there = 1 - here
    step = steps[node]
    column = np.uint64((step >> 8) & _COLUMNS)
    threshold = (step >> 30) & 3 == _THRESHOLD
    limit = np.uint8(step & 255)
    unknown = np.int64(missing_branch[node]) if missing_branch.size > 0 else np.int64(-1)
    base = np.uint64(0 if threshold else level_start[node])
    left, right, both = np.uint64(start), np.uint64(stop - 1), np.uint64(0)
    for i in range(stop - start):
        entry = lists[here, np.uint64(start + i)]
        code = codes[np.uint64(entry), column]
        known = code != _MISSING
        side = unknown
        if threshold:
            side = np.int64(code > limit) if known else unknown
        elif known:
            side = np.int64(level_branch[base + np.uint64(code)])
        # Without branches: written to all three lists, and one of them moves on.
        lists[there, left] = entry
        lists[there, right] = entry
        lists[2, both] = entry
        left += np.uint64(side == 0)
        right -= np.uint64(side == 1)
        both += np.uint64(side < 0)
    for i in range(both):
        add_parts(
            codes,
            np.int64(lists[2, i]),
            node,
            steps,
            parts,
            missing_branch,
            level_start,
            level_branch,
            value,
            stack_node,
            stack_share,
            out,
        )
    out_split[0] = np.int64(right) + 1
    return np.int64(left)


@lean_kernel(
    f"void(uint8[:, ::1], boolean[::1], int64[::1], int64, int64, {NODES}, float64[:, ::1], "
    "uint16[:, ::1], int64[:, ::1], int32[::1], float64[::1], int64[::1], float64[:, ::1])"
)
def send_down(
    codes,
    gaps,
    tree_start,
    first_tree,
    last_tree,
    steps,
    parts,
    missing_branch,
    level_start,
    level_branch,
    value,
    lists,
    waiting,
    stack_node,
    stack_share,
    split,
    out,
):
    """Adds to every row of `out` what the leaves of some trees say of it, tree by tree.

    `gaps` marks the columns in which a code may be missing, or that are nominal.
    """
    n_values = value.shape[1]
    whole = True
    for j in range(gaps.size):
        whole &= not gaps[j]
    few = FEW if whole else FEW_WITH_GAPS
    for tree in range(first_tree, last_tree):
        for i in range(codes.shape[0]):
            lists[0, i] = i
        waiting[0, 0] = tree_start[tree]
        waiting[0, 1] = 0
        waiting[0, 2] = codes.shape[0]
        waiting[0, 3] = 0
        depth = 1
        while depth > 0:
            depth -= 1
            node = waiting[depth, 0]
            start, stop, here = waiting[depth, 1], waiting[depth, 2], waiting[depth, 3]
            while stop > start:
                step = steps[np.uint64(node)]
                if step < 0:
                    for i in range(start, stop):
                        row = np.uint64(lists[here, i])
                        for k in range(n_values):
                            out[row, k] += value[node, k]
                    break
                if stop - start < few:
                    for i in range(start, stop):
                        row = np.uint64(lists[here, i])
                        if not whole:
                            add_parts(
                                codes,
                                np.int64(row),
                                node,
                                steps,
                                parts,
                                missing_branch,
                                level_start,
                                level_branch,
                                value,
                                stack_node,
                                stack_share,
                                out,
                            )
                            continue
                        leaf, way = node, step
                        while way >= 0:
                            column = np.uint64((way >> 8) & _COLUMNS)
                            leaf = (way >> 32) + (codes[row, column] > np.uint8(way & 255))
                            way = steps[np.uint64(leaf)]
                        for k in range(n_values):
                            out[row, k] += value[np.uint64(leaf), k]
                    break
                column = np.uint64((step >> 8) & _COLUMNS)
                there = 1 - here
                if gaps[column]:
                    middle = part_with_gaps(
                        codes,
                        lists,
                        here,
                        start,
                        stop,
                        node,
                        steps,
                        parts,
                        missing_branch,
                        level_start,
                        level_branch,
                        value,
                        stack_node,
                        stack_share,
                        out,
                        split,
                    )
                    beyond = split[0]
                else:
                    left, right = np.uint64(start), np.uint64(stop - 1)
                    limit = np.uint8(step & 255)
                    for i in range(stop - start):
                        entry = lists[here, np.uint64(start + i)]
                        above = codes[np.uint64(entry), column] > limit
                        lists[there, left] = entry
                        lists[there, right] = entry
                        left += np.uint64(not above)
                        right -= np.uint64(above)
                    middle = np.int64(left)
                    beyond = middle
                node = step >> 32
                if stop > beyond:
                    waiting[depth, 0] = node + 1
                    waiting[depth, 1] = beyond
                    waiting[depth, 2] = stop
                    waiting[depth, 3] = there
                    depth += 1
                stop = middle
                here = there


# --- Nodes ----------------------------------------------------------------------------------------


@lean_kernel("int64(float64[::1], float64, int64, int64)")
def nearest_edge(edges, middle, first, last):
    """The place from `first` to `last` of the edge nearest to `middle`, the lower of equals."""
    low, high = first, last
    while low < high:
        half = (low + high) // 2
        if edges[half] < middle:
            low = half + 1
        else:
            high = half
    if low > first and middle - edges[low - 1] <= edges[low] - middle:
        low -= 1
    return low


@lean_kernel(
    "void(float64[::1], float64, float64, int64[::1], float64[::1], float64, boolean, float64[::1])"
)
def node_says(sums, lower, upper, target_start, offset, unit, classes, out):
    """Class shares of each target, or `offset` + `unit` times the means, within the bounds."""
    if not classes:
        for k in range(out.size):
            mean = min(max(sums[1 + k] / sums[0], lower), upper)
            out[k] = offset[k] + unit * mean
        return
    for t in range(target_start.size - 1):
        total = 0.0
        for k in range(target_start[t], target_start[t + 1]):
            total += sums[k]
        for k in range(target_start[t], target_start[t + 1]):
            out[k] = sums[k] / total
    if lower > -np.inf or upper < np.inf:
        out[1] = min(max(out[1], lower), upper)
        out[0] = 1.0 - out[1]


@lean_kernel(
    "void(int64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], int64[::1], int64[::1], float64[::1], float64, boolean, int64[::1], "
    "float64[:, ::1], float64[:, ::1], int32[::1])"
)
def compact_nodes(
    integers,
    numbers,
    sums,
    low,
    high,
    edges,
    n_edges,
    target_start,
    offset,
    unit,
    classes,
    out_step,
    out_value,
    out_numbers,
    out_rows,
):
    """The nodes of a grown tree as a forest keeps them.

    A threshold becomes the edge nearest to the middle of the gap between its two codes; the place
    beyond all edges stands for a threshold above all values. Rows of `out_numbers` are weight,
    impurity and gain.
    """
    for node in range(integers.shape[0]):
        question = integers[node, QUESTION]
        j = integers[node, COLUMN]
        cut = 0
        if question == _THRESHOLD:
            after = integers[node, NEXT_CODE]
            cut = n_edges[j]
            if after >= 0:
                a, b = high[j, integers[node, CODE]], low[j, after]
                middle = a / 2 + b / 2
                if not a <= middle < b:
                    middle = a
                cut = nearest_edge(edges[j], middle, integers[node, CODE], after - 1)
        out_step[node] = -1
        if question != _LEAF:
            out_step[node] = integers[node, CHILD] << 32 | question << 30 | j << 8 | cut
        node_says(
            sums[node],
            numbers[node, LOWER],
            numbers[node, UPPER],
            target_start,
            offset,
            unit,
            classes,
            out_value[node],
        )
        out_numbers[0, node] = numbers[node, WEIGHT]
        out_numbers[1, node] = numbers[node, IMPURITY] * (unit * unit)
        out_numbers[2, node] = numbers[node, GAIN] * (unit * unit)
        out_rows[node] = integers[node, ROWS]


@kernel(
    f"void({TREE}, int64[::1], float64[:, ::1], int64, int64, int32[::1], float64[::1], "
    "int64[:, ::1])"
)
def largest_shares(
    question,
    column,
    threshold,
    first_child,
    n_children,
    share,
    missing_branch,
    level_start,
    level_branch,
    roots,
    cells,
    start,
    stop,
    stack_node,
    stack_share,
    out,
):
    """Writes for rows `start` to `stop` the leaf of largest share in every tree."""
    for row in range(start, stop):
        for tree in range(roots.size):
            stack_node[0] = roots[tree]
            stack_share[0] = 1.0
            depth = 1
            best, best_share = np.int64(-1), -1.0
            while depth > 0:
                depth -= 1
                node = np.int64(stack_node[depth])
                part = stack_share[depth]
                split = False
                while question[node] != _LEAF and not split:
                    branch = branch_of(
                        node,
                        cells[row, column[node]],
                        threshold[node],
                        question[node],
                        missing_branch,
                        level_start,
                        level_branch,
                    )
                    first = np.int64(first_child[node])
                    if branch >= 0:
                        node = first + branch
                        continue
                    split = True
                    for child in range(first, first + n_children[node]):
                        if share[child] > 0.0:
                            stack_node[depth] = child
                            stack_share[depth] = part * share[child]
                            depth += 1
                if not split and (part > best_share or (part == best_share and node < best)):
                    best, best_share = node, part
            out[row, tree] = best - roots[tree]
