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

from novum.numerics import inner_kernel, lean_kernel
from novum.trees.growth.growing_columns import (
    CHILD,
    CODE,
    COLUMN,
    GAIN,
    IMPURITY,
    LOWER,
    NEXT_CODE,
    NODES_OF_TREE,
    QUESTION,
    ROWS,
    UPPER,
    WEIGHT,
)

# Lists of fewer rows are not parted any more: they are walked row by row. Walks of cells that may
# not answer cost more.
FEW = 9
FEW_WITH_GAPS = 2

_LEAF = 0
_THRESHOLD = 1
_MISSING = np.uint8(255)
_COLUMNS = 0x3FFFFF

# step, weight or share of every node, missing_branch, level_start, level_branch, value
NODES = "Tuple((int64[::1], float64[::1], int32[::1], int32[::1], int8[::1], float64[:, ::1]))"
# three lists of rows, nodes that wait, two stacks of (node, share), one number
WORK = "Tuple((uint16[:, ::1], int64[:, ::1], int32[::1], float64[::1], int64[::1]))"
# low, high, edges, n_edges of the coding
CODES = "Tuple((float64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1]))"
# step, value, numbers, rows of the nodes of a forest
COMPACT = "Tuple((int64[::1], float64[:, ::1], float64[:, ::1], int32[::1]))"


@inner_kernel()
def side_of(nodes, node, step, code):
    """The branch of a code at a node; -1 where the row goes down both."""
    missing_branch, level_start, level_branch = nodes[2], nodes[3], nodes[4]
    if code == _MISSING:
        return np.int64(missing_branch[node]) if missing_branch.size > 0 else np.int64(-1)
    if (step >> 30) & 3 == _THRESHOLD:
        return np.int64(code > np.uint8(step & 255))
    return np.int64(level_branch[level_start[node] + code])


@inner_kernel()
def add_parts(codes, row, node, nodes, work, out):
    """Adds what the leaves below `node` say of one row, each by the share of the row it gets."""
    steps, parts, value = nodes[0], nodes[1], nodes[5]
    stack_node, stack_share = work[2], work[3]
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
            side = side_of(nodes, here, step, code)
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


@inner_kernel()
def part_with_gaps(codes, here, start, stop, node, nodes, work, out):
    """Parts a list at a node where cells may not answer; rows that go both ways are done with.

    Returns where the left rows end; the last of `work` gets where the right rows begin.
    """
    steps, _, missing_branch, level_start, level_branch, _ = nodes
    lists = work[0]
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
        add_parts(codes, np.int64(lists[2, i]), node, nodes, work, out)
    work[4][0] = np.int64(right) + 1
    return np.int64(left)


@lean_kernel(
    f"void(uint8[:, ::1], boolean[::1], int64[::1], int64, int64, {NODES}, {WORK}, float64[:, ::1])"
)
def send_down(codes, gaps, tree_start, first_tree, last_tree, nodes, work, out):
    """Adds to every row of `out` what the leaves of some trees say of it, tree by tree.

    `gaps` marks the columns in which a code may be missing, or that are nominal.
    """
    steps, value = nodes[0], nodes[5]
    lists, waiting = work[0], work[1]
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
                            add_parts(codes, np.int64(row), node, nodes, work, out)
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
                    middle = part_with_gaps(codes, here, start, stop, node, nodes, work, out)
                    beyond = work[4][0]
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


@inner_kernel()
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


@inner_kernel()
def node_says(sums, lower, upper, target_start, scale, classes, out):
    """Class shares of each target, or `offset` + `unit` times the means, within the bounds."""
    offset, unit = scale
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
    f"void({NODES_OF_TREE}, {CODES}, int64[::1], Tuple((float64[::1], float64)), boolean, "
    f"{COMPACT})"
)
def compact_nodes(grown, codes, target_start, scale, classes, out):
    """The nodes of a grown tree as a forest keeps them.

    A threshold becomes the edge nearest to the middle of the gap between its two codes; the place
    beyond all edges stands for a threshold above all values. `out` are steps, values, rows of
    weight, impurity and gain, and numbers of rows.
    """
    integers, numbers, sums, _ = grown
    low, high, edges, n_edges = codes
    out_step, out_value, out_numbers, out_rows = out
    unit = scale[1]
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
        lower, upper = numbers[node, LOWER], numbers[node, UPPER]
        node_says(sums[node], lower, upper, target_start, scale, classes, out_value[node])
        out_numbers[0, node] = numbers[node, WEIGHT]
        out_numbers[1, node] = numbers[node, IMPURITY] * (unit * unit)
        out_numbers[2, node] = numbers[node, GAIN] * (unit * unit)
        out_rows[node] = integers[node, ROWS]
