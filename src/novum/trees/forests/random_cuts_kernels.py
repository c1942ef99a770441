"""Growing a tree by random cuts, fast: numbers in at most 255 codes, no missing cells, one target.

It grows the trees of `growing_kernels` with `RANDOM_CUT`, whose arrays, names and random numbers it
shares, without sums by code. A column needs two looks at the node's rows: one for its range, in
which the cut is drawn, and one for the sums on the left of the cut.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics.jit import lean_kernel
from novum.trees.growth.chance_kernels import draw
from novum.trees.growth.column_kernels import is_better
from novum.trees.growth.growing_columns import (
    CHILD,
    CODE,
    COLUMN,
    CRITERION,
    DEPTH,
    DONE,
    ENTROPY,
    GAIN,
    IMPURITY,
    LOCAL_AT,
    LOWER,
    MAX_FEATURES,
    MIN_GAIN,
    MIN_LEAF,
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
from novum.trees.growth.plain_kernels import copy_near, finish_node, part_rows, spread

_ZERO = np.uint64(0)


@lean_kernel("UniTuple(int64, 2)(uint8[:, ::1], int32[::1], int64, int64, int64)")
def range_of(codes, rows, start, stop, column):
    """The least and the largest code of the rows."""
    j = np.uint64(column)
    least, largest = np.uint8(255), np.uint8(0)
    for step in range(stop - start):
        code = codes[np.uint64(rows[np.uint64(start + step)]), j]
        least = min(least, code)
        largest = max(largest, code)
    return np.int64(least), np.int64(largest)


@lean_kernel("UniTuple(int64, 2)(uint8[:, ::1], int32[::1], int64, int64, int64, int64)")
def neighbors_of(codes, rows, start, stop, column, cut):
    """The largest code of the rows up to `cut`, and the least beyond it."""
    j, limit = np.uint64(column), np.uint8(cut)
    below, beyond = np.uint8(0), np.uint8(255)
    for step in range(stop - start):
        code = codes[np.uint64(rows[np.uint64(start + step)]), j]
        if code <= limit:
            below = max(below, code)
        else:
            beyond = min(beyond, code)
    return np.int64(below), np.int64(beyond)


@lean_kernel("int64(float64[::1], float64[::1], int64, int64, uint64[::1])")
def draw_cut(low, ceiling, least, largest, chance):
    """A code from `least` up to before `largest`: the last that lies below a point of the range.

    `ceiling` is the largest cell up to each code.
    """
    at = low[least] + draw(chance, 1 << 30) / float(1 << 30) * (ceiling[largest] - low[least])
    first, last = least, largest - 1
    while first < last:
        half = (first + last + 1) // 2
        if ceiling[half] <= at:
            first = half
        else:
            last = half - 1
    return first


@lean_kernel("float64(float64[::1], float64[::1], float64[::1], boolean)")
def class_gain(left, right, total, entropy):
    """Impurity times weight that is removed by two sides of many classes."""
    found = 0.0
    for side in range(3):
        sums = left if side == 0 else right if side == 1 else total
        amount, quality = 0.0, 0.0
        for k in range(sums.size):
            amount += sums[k]
            if entropy:
                quality += sums[k] * math.log2(sums[k]) if sums[k] > 0.0 else 0.0
            else:
                quality += sums[k] * sums[k]
        quality = quality - amount * math.log2(amount) if entropy else quality / amount
        found += quality if side < 2 else -quality
    return found


@lean_kernel(
    "float64(uint8[:, ::1], int32[:, ::1], float64[:, ::1], int32[::1], float64[::1], int64, "
    "int64, int64, int64, boolean, boolean, float64[::1], float64, float64, float64[:, ::1])"
)
def cut_gain(
    codes,
    labels,
    targets,
    rows,
    weight,
    start,
    stop,
    column,
    cut,
    classes,
    entropy,
    total,
    amount,
    min_leaf,
    scratch,
):
    """The gain of one cut; -1 where a side is too light."""
    j, limit = np.uint64(column), np.uint8(cut)
    left, moment = 0.0, 0.0
    pairs = total.size == 2 and not entropy
    if not pairs:
        for k in range(total.size):
            scratch[0, k] = 0.0
    for step in range(stop - start):
        i = np.uint64(start + step)
        row = np.uint64(rows[i])
        part = weight[i] * float(np.uint64(codes[row, j] <= limit))
        left += part
        if not classes:
            moment += part * targets[row, _ZERO]
        elif pairs:
            moment += part * float(labels[row, _ZERO])
        else:
            scratch[0, np.uint64(labels[row, _ZERO])] += part
    right = amount - left
    if left < min_leaf or right < min_leaf:
        return -1.0
    if pairs:
        excess = moment * amount - total[1] * left
        found = excess * excess / (amount * left * right)
        return 2.0 * found if classes else found
    for k in range(total.size):
        scratch[1, k] = total[k] - scratch[0, k]
    return class_gain(scratch[0], scratch[1], total, entropy)


@lean_kernel(
    "void(int64, int64, int64, int64, float64[:, ::1], int32[::1], boolean, int64[::1], "
    "float64[::1], float64[:, ::1], float64[::1], int64[::1], int64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], int64[::1])"
)
def add_children(
    node,
    start,
    middle,
    stop,
    targets,
    rows,
    classes,
    options,
    limits,
    child_sums,
    squares,
    waiting,
    integers,
    numbers,
    sums,
    state,
):
    """Two nodes for the rows `middle..stop` (left) and `start..middle` (right); those that may
    split wait, the left one on top."""
    child = state[NODES]
    integers[node, CHILD] = child
    state[NODES] += 2
    for branch in range(1, -1, -1):
        new = child + branch
        first = middle if branch == 0 else start
        last = stop if branch == 0 else middle
        for place in range(integers.shape[1]):
            integers[new, place] = -1
        integers[new, QUESTION] = 0
        integers[new, PARENT] = node
        integers[new, DEPTH] = integers[node, DEPTH] + 1
        integers[new, START] = first
        integers[new, STOP] = last
        integers[new, ROWS] = last - first
        numbers[new, GAIN] = 0.0
        numbers[new, LOWER] = -np.inf
        numbers[new, UPPER] = np.inf
        for s in range(sums.shape[1]):
            sums[new, s] = child_sums[branch, s]
        if not classes:
            squares[branch] *= spread(targets, rows, first, last)
        if finish_node(new, integers, numbers, sums, squares[branch], options, limits):
            waiting[state[WAITING]] = new
            state[WAITING] += 1
    weights = numbers[child, WEIGHT] + numbers[child + 1, WEIGHT]
    numbers[child, SHARE] = numbers[child, WEIGHT] / weights
    numbers[child + 1, SHARE] = numbers[child + 1, WEIGHT] / weights


@lean_kernel(
    "void(uint8[:, ::1], int32[:, ::1], float64[:, ::1], uint8[:, ::1], int32[:, ::1], "
    "float64[:, ::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], int64[::1], "
    "float64[::1], int64[::1], uint64[::1], float64[:, ::1], float64[::1], int32[:, ::1], "
    "float64[:, ::1], float64[::1], int64[::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "int64[::1], int64)"
)
def grow_by_chance(
    codes,
    labels,
    targets,
    near_codes,
    near_labels,
    near_targets,
    rows,
    weight,
    low,
    ceiling,
    options,
    limits,
    permutation,
    chance,
    scratch,
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
    n_columns, wanted = codes.shape[1], options[MAX_FEATURES]
    classes = options[CRITERION] <= ENTROPY
    entropy = options[CRITERION] == ENTROPY
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
        for s in range(sums.shape[1]):
            total[s] = sums[node, s]
        best, best_column, best_cut = -1.0 - tie, n_columns, -1
        tried, drawn = 0, 0
        while drawn < n_columns and (tried < wanted or best < 0.0):
            batch = min(max(wanted - tried, 1), n_columns - drawn)
            for place in range(drawn, drawn + batch):
                if wanted < n_columns:
                    other = place + draw(chance, n_columns - place)
                    permutation[place], permutation[other] = (
                        permutation[other],
                        permutation[place],
                    )
            for place in range(drawn, drawn + batch):
                column = permutation[place]
                least, largest = range_of(table, rows, start, stop, column)
                if least == largest:
                    continue
                tried += 1
                cut = draw_cut(low[column], ceiling[column], least, largest, chance)
                gain = cut_gain(
                    table,
                    table_labels,
                    table_targets,
                    rows,
                    weight,
                    start,
                    stop,
                    column,
                    cut,
                    classes,
                    entropy,
                    total,
                    amount,
                    limits[MIN_LEAF],
                    scratch,
                )
                if gain >= 0.0 and is_better(gain, column, tie, best, best_column):
                    best, best_column, best_cut = gain, column, cut
            drawn += batch
        budget -= 2 * drawn * (stop - start)
        if best > -0.5 and best + tie >= limits[MIN_GAIN]:
            code, after = neighbors_of(table, rows, start, stop, best_column, best_cut)
            integers[node, QUESTION] = 1
            integers[node, COLUMN] = best_column
            integers[node, CODE] = code
            integers[node, NEXT_CODE] = after
            numbers[node, GAIN] = best
            middle = part_rows(
                table,
                table_labels,
                table_targets,
                rows,
                weight,
                start,
                stop,
                best_column,
                code,
                classes,
                spare_rows[0],
                spare_weight[0],
                scratch[2:4],
                squares,
            )
            add_children(
                node,
                start,
                middle,
                stop,
                table_targets,
                rows,
                classes,
                options,
                limits,
                scratch[2:4],
                squares,
                waiting,
                integers,
                numbers,
                sums,
                state,
            )
        if state[WAITING] == state[LOCAL_AT]:
            state[LOCAL_AT] = -1
