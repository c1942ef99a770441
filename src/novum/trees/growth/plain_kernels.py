"""Growing a tree in the plain case, fast: numbers in at most 255 codes, no missing cells, one
target, all cuts.

It grows the trees of `growing_kernels`, whose arrays and names it shares, in one kernel. Sums of
rows are made by code, as pairs (w_0, w_1) of two classes or (w, w y) of numbers, or for more
classes as K sums. Nodes of fewer than `FEW_ROWS` rows mark the codes they touch (`quick_kernels`).
The sums of children are made while rows are parted, and only nodes that may split wait.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.trees.growth.chance_kernels import draw
from novum.trees.growth.column_kernels import FEW_ROWS, is_better
from novum.trees.growth.growing_columns import (
    CHILD,
    CODE,
    COLUMN,
    CRITERION,
    DEPTH,
    DONE,
    ENTROPY,
    GAIN,
    GINI,
    IMPURITY,
    LOCAL_AT,
    LOWER,
    MAX_DEPTH,
    MAX_FEATURES,
    MIN_GAIN,
    MIN_LEAF,
    MIN_SPLIT,
    NEEDS_NODES,
    NEXT_CODE,
    NODES,
    PARENT,
    QUESTION,
    ROWS,
    SHARE,
    SLICED,
    START,
    STATUS,
    STOP,
    UPPER,
    WAITING,
    WEIGHT,
)
from novum.trees.growth.histogram_kernels import fill
from novum.trees.growth.quick_kernels import (
    cut_all_pairs,
    cut_all_sums,
    cut_few_rows,
    cut_marked_pairs,
    mark_pairs,
)

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@lean_kernel(
    "boolean(int64, int64[:, ::1], float64[:, ::1], float64[:, ::1], float64, int64[::1], "
    "float64[::1])"
)
def finish_node(node, integers, numbers, sums, square, options, limits):
    """Weight and impurity of a node from its sums; whether it may be split.

    `square` is the sum of w y^2 of numbers, negative if all of them are the same.
    """
    criterion = options[CRITERION]
    n_stats = sums.shape[1]
    weight, found, largest = 0.0, 0.0, 0.0
    if criterion <= ENTROPY:
        for k in range(n_stats):
            weight += sums[node, k]
            largest = max(largest, sums[node, k])
        if largest < weight:
            for k in range(n_stats):
                share = sums[node, k] / weight
                if criterion == GINI:
                    found += share * (1.0 - share)
                elif share > 0.0:
                    found -= share * math.log2(share)
    else:
        weight = sums[node, 0]
        if square >= 0.0:
            mean = sums[node, 1] / weight
            found = max(square / weight - mean * mean, 0.0)
    numbers[node, WEIGHT] = weight
    numbers[node, IMPURITY] = found
    return (
        found > 0.0
        and integers[node, DEPTH] < options[MAX_DEPTH]
        and weight >= limits[MIN_SPLIT]
        and weight >= 2.0 * limits[MIN_LEAF]
    )


@lean_kernel(
    "int64(uint8[:, ::1], int32[:, ::1], float64[:, ::1], int32[::1], float64[::1], int64, int64, "
    "int64, int64, boolean, int32[::1], float64[::1], float64[:, ::1], float64[::1])"
)
def part_rows(
    codes,
    labels,
    targets,
    rows,
    weight,
    start,
    stop,
    column,
    code,
    classes,
    spare_rows,
    spare_weight,
    out_sums,
    out_square,
):
    """Right rows first, left rows behind them; returns where the left ones begin.

    Without branches: every row is written to both sides, and one of them moves on. `out_sums`
    has a row of sums for each side, `out_square` its sum of w y^2, negative if all y are equal.
    """
    for s in range(out_sums.shape[1]):
        out_sums[0, s] = 0.0
        out_sums[1, s] = 0.0
    n_left, right = _ZERO, np.uint64(start)
    threshold = np.uint64(code)
    left_weight, left_moment, left_square = 0.0, 0.0, 0.0
    all_weight, all_moment, all_square = 0.0, 0.0, 0.0
    for step in range(stop - start):
        i = np.uint64(start) + np.uint64(step)
        entry = rows[i]
        row = np.uint64(entry)
        w = weight[i]
        above = np.uint64(np.uint64(codes[row, np.uint64(column)]) > threshold)
        spare_rows[n_left] = entry
        spare_weight[n_left] = w
        rows[right] = entry
        weight[right] = w
        n_left += _ONE - above
        right += above
        if classes:
            out_sums[above, np.uint64(labels[row, _ZERO])] += w
        else:
            y = targets[row, _ZERO]
            moment = w * y
            square = moment * y
            all_weight += w
            all_moment += moment
            all_square += square
            below = float(_ONE - above)
            left_weight += below * w
            left_moment += below * moment
            left_square += below * square
    for step in range(np.int64(n_left)):
        i = np.uint64(step)
        rows[right + i] = spare_rows[i]
        weight[right + i] = spare_weight[i]
    if not classes:
        out_sums[0, 0], out_sums[0, 1] = left_weight, left_moment
        out_sums[1, 0], out_sums[1, 1] = all_weight - left_weight, all_moment - left_moment
        out_square[0], out_square[1] = left_square, all_square - left_square
    return np.int64(right)


@lean_kernel("float64(float64[:, ::1], int32[::1], int64, int64)")
def spread(targets, rows, start, stop):
    """-1 if the targets of the rows are all the same, else 1."""
    for i in range(start + 1, stop):
        if targets[rows[i], 0] != targets[rows[start], 0]:
            return 1.0
    return -1.0


@lean_kernel(
    "void(uint8[:, ::1], int32[:, ::1], int32[::1], int64, int64, uint8[:, ::1], int32[:, ::1], "
    "float64[:, ::1], float64[:, ::1])"
)
def copy_near(codes, labels, rows, start, stop, out_codes, out_labels, targets, out_targets):
    """Copies the rows of a subtree and numbers its entries by the copies."""
    for step in range(stop - start):
        place = np.uint64(step)
        row = np.uint64(rows[np.uint64(start) + place])
        for column in range(codes.shape[1]):
            j = np.uint64(column)
            out_codes[place, j] = codes[row, j]
        if labels.shape[1] > 0:
            out_labels[place, _ZERO] = labels[row, _ZERO]
        else:
            out_targets[place, _ZERO] = targets[row, _ZERO]
        rows[np.uint64(start) + place] = step


@lean_kernel(
    "void(uint8[:, ::1], int32[:, ::1], float64[:, ::1], uint8[:, ::1], int32[:, ::1], "
    "float64[:, ::1], int32[::1], float64[::1], int64[::1], int64[::1], float64[::1], "
    "int64[::1], int64[::1], uint64[::1], float64[:, ::1], uint64[::1], float64[:, ::1], "
    "int32[::1], int32[::1], float64[::1], int32[:, ::1], float64[:, ::1], float64[::1], "
    "int64[::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64)"
)
def grow_plain(
    codes,
    labels,
    targets,
    near_codes,
    near_labels,
    near_targets,
    rows,
    weight,
    n_codes,
    options,
    limits,
    permutation,
    chosen,
    chance,
    histograms,
    bits,
    scratch,
    heads,
    nexts,
    total,
    spare_rows,
    spare_weight,
    squares,
    waiting,
    integers,
    numbers,
    sums,
    state,
    budget,
):
    """Goes on growing until no node waits, or about `budget` cells have been read."""
    n_columns = codes.shape[1]
    n_stats = sums.shape[1]
    classes = options[CRITERION] <= ENTROPY
    entropy = options[CRITERION] == ENTROPY
    pairs = n_stats == 2 and not entropy
    wanted = options[MAX_FEATURES]
    min_leaf = limits[MIN_LEAF]
    child_sums = scratch[2:4]
    state[STATUS] = DONE
    while state[WAITING] > 0:
        if budget <= 0 or state[NODES] + 2 > integers.shape[0]:
            state[STATUS] = SLICED if budget <= 0 else NEEDS_NODES
            return
        state[WAITING] -= 1
        node = waiting[state[WAITING]]
        start, stop = integers[node, START], integers[node, STOP]
        if state[LOCAL_AT] < 0 and stop - start <= near_codes.shape[0]:
            copy_near(
                codes,
                labels,
                rows,
                start,
                stop,
                near_codes,
                near_labels,
                targets,
                near_targets,
            )
            state[LOCAL_AT] = state[WAITING]
        near = state[LOCAL_AT] >= 0
        table = near_codes if near else codes
        table_labels = near_labels if near else labels
        table_targets = near_targets if near else targets
        amount = numbers[node, WEIGHT]
        tie = 1e-10 * amount * numbers[node, IMPURITY] + 1e-15 * amount
        for s in range(n_stats):
            total[s] = sums[node, s]
        moment = total[1]
        few = stop - start < FEW_ROWS
        best, best_column, best_code, best_next = -1.0 - tie, n_columns, -1, -1
        tried, drawn = 0, 0
        while drawn < n_columns and (tried < wanted or best < 0.0):
            batch = 1 if few else min(max(wanted - tried, 1), n_columns - drawn, len(histograms))
            for f in range(batch):
                if wanted < n_columns:
                    other = drawn + draw(chance, n_columns - drawn)
                    permutation[drawn], permutation[other] = (
                        permutation[other],
                        permutation[drawn],
                    )
                chosen[f] = permutation[drawn]
                drawn += 1
            if not few:
                fill(
                    table,
                    table_labels,
                    table_targets,
                    rows,
                    weight,
                    start,
                    stop,
                    chosen,
                    batch,
                    n_stats,
                    classes,
                    histograms,
                )
            for f in range(batch):
                column = chosen[f]
                if few and pairs:
                    mark_pairs(
                        table,
                        table_labels,
                        table_targets,
                        rows,
                        weight,
                        start,
                        stop,
                        column,
                        classes,
                        histograms[0],
                        bits,
                    )
                    gain, code, after, count = cut_marked_pairs(
                        histograms[0], bits, classes, amount, moment, min_leaf, tie
                    )
                elif few:
                    gain, code, after, count = cut_few_rows(
                        table,
                        table_labels,
                        rows,
                        weight,
                        start,
                        stop,
                        column,
                        entropy,
                        total,
                        amount,
                        min_leaf,
                        tie,
                        scratch,
                        heads,
                        nexts,
                        bits,
                    )
                elif pairs:
                    gain, code, after, count = cut_all_pairs(
                        histograms[f], n_codes[column], classes, amount, moment, min_leaf, tie
                    )
                else:
                    gain, code, after, count = cut_all_sums(
                        histograms[f],
                        n_codes[column],
                        entropy,
                        total,
                        amount,
                        min_leaf,
                        tie,
                        scratch,
                    )
                if pairs and classes:
                    gain *= 2.0
                tried += count > 1
                if code >= 0 and is_better(gain, column, tie, best, best_column):
                    best, best_column, best_code, best_next = gain, column, code, after
        budget -= drawn * (stop - start)
        if best > -0.5 and best + tie >= limits[MIN_GAIN]:
            integers[node, QUESTION] = 1
            integers[node, COLUMN] = best_column
            integers[node, CODE] = best_code
            integers[node, NEXT_CODE] = best_next
            numbers[node, GAIN] = max(best, 0.0)
            middle = part_rows(
                table,
                table_labels,
                table_targets,
                rows,
                weight,
                start,
                stop,
                best_column,
                best_code,
                classes,
                spare_rows[0],
                spare_weight[0],
                child_sums,
                squares,
            )
            child = state[NODES]
            integers[node, CHILD] = child
            state[NODES] += 2
            # The right child first: the left one is to be on top.
            for branch in range(1, -1, -1):
                new = child + branch
                for place in range(integers.shape[1]):
                    integers[new, place] = -1
                integers[new, QUESTION] = 0
                integers[new, PARENT] = node
                integers[new, DEPTH] = integers[node, DEPTH] + 1
                first = middle if branch == 0 else start
                last = stop if branch == 0 else middle
                integers[new, START] = first
                integers[new, STOP] = last
                integers[new, ROWS] = last - first
                numbers[new, GAIN] = 0.0
                numbers[new, LOWER] = -np.inf
                numbers[new, UPPER] = np.inf
                for s in range(n_stats):
                    sums[new, s] = child_sums[branch, s]
                if not classes:
                    squares[branch] *= spread(table_targets, rows, first, last)
                if finish_node(new, integers, numbers, sums, squares[branch], options, limits):
                    waiting[state[WAITING]] = new
                    state[WAITING] += 1
            weights = numbers[child, WEIGHT] + numbers[child + 1, WEIGHT]
            numbers[child, SHARE] = numbers[child, WEIGHT] / weights
            numbers[child + 1, SHARE] = numbers[child + 1, WEIGHT] / weights
        if state[WAITING] == state[LOCAL_AT]:
            state[LOCAL_AT] = -1
