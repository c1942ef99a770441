"""Growing a tree in the plain case, fast: numbers in at most 255 codes, no missing cells, one
target; all cuts, or one random cut of each column.

It grows the trees of `growing_kernels`, whose arrays and names it shares. Sums of rows are made by
code, as pairs (w_0, w_1) of two classes or (w, w y) of numbers, or for more classes as K sums.
Nodes of fewer than `FEW_ROWS` rows mark the codes they touch. The sums of children are made while
rows are parted, and only nodes that may split wait.

A random cut needs no sums by code: one look at the node's rows gives the range of a column, in
which the cut is drawn, and another the sums on the left of it. Both engines draw the same numbers.
Measured ratios to the general engine are in `docs/decisions/0006-fewer-engines.md`.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, lean_kernel
from novum.trees.growth.column_kernels import FEW_ROWS, is_better
from novum.trees.growth.growing_columns import (
    CHILD,
    CODE,
    COLUMN,
    CRITERION,
    DEPTH,
    DONE,
    ENTRIES,
    ENTROPY,
    GAIN,
    GINI,
    GROWING,
    IMPURITY,
    LOCAL_AT,
    MAX_DEPTH,
    MAX_FEATURES,
    MIN_GAIN,
    MIN_LEAF,
    MIN_SPLIT,
    NEEDS_NODES,
    NEXT_CODE,
    NODES,
    NODES_OF_TREE,
    QUESTION,
    RANDOM_CUT,
    ROWS,
    RULES,
    SHARE,
    SLICED,
    START,
    STATUS,
    STOP,
    TABLE,
    WAITING,
    WEIGHT,
)
from novum.trees.growth.growing_kernels import add_children, begin_tree, copy_rows, sum_rows
from novum.trees.growth.histogram_kernels import (
    cut_all_pairs,
    cut_all_sums,
    cut_few_rows,
    cut_marked_pairs,
    fill,
    mark_pairs,
)
from novum.trees.growth.search_kernels import draw

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


# --- Nodes ----------------------------------------------------------------------------------------


@inner_kernel()
def finish_node(node, nodes, square, rules):
    """Weight and impurity of a node from its sums; whether it may be split.

    `square` is the sum of w y^2 of numbers, negative if all of them are the same.
    """
    integers, numbers, sums = nodes[0], nodes[1], nodes[2]
    options, limits = rules[1], rules[2]
    criterion = options[CRITERION]
    n_stats = sums.shape[1]
    weight, impurity, largest = 0.0, 0.0, 0.0
    if criterion <= ENTROPY:
        for k in range(n_stats):
            weight += sums[node, k]
            largest = max(largest, sums[node, k])
        if largest < weight:
            for k in range(n_stats):
                share = sums[node, k] / weight
                if criterion == GINI:
                    impurity += share * (1.0 - share)
                elif share > 0.0:
                    impurity -= share * math.log2(share)
    else:
        weight = sums[node, 0]
        if square >= 0.0:
            mean = sums[node, 1] / weight
            impurity = max(square / weight - mean * mean, 0.0)
    numbers[node, WEIGHT] = weight
    numbers[node, IMPURITY] = impurity
    return (
        impurity > 0.0
        and integers[node, DEPTH] < options[MAX_DEPTH]
        and weight >= limits[MIN_SPLIT]
        and weight >= 2.0 * limits[MIN_LEAF]
    )


@inner_kernel()
def part_rows(table, entries, start, stop, column, code, classes, spare, out_sums):
    """Right rows first, left rows behind them; returns where the left ones begin.

    Without branches: every row is written to both sides, and one of them moves on. `out_sums` has a
    row of sums for each side, the last of `spare` its sum of w y^2, negative if all y are equal.
    """
    codes, labels, targets = table
    rows, weight = entries
    spare_rows, spare_weight, out_square = spare[0][0], spare[1][0], spare[2]
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
    middle = np.int64(right)
    if not classes:
        out_sums[0, 0], out_sums[0, 1] = left_weight, left_moment
        out_sums[1, 0], out_sums[1, 1] = all_weight - left_weight, all_moment - left_moment
        out_square[0] = left_square * spread(targets, rows, middle, stop)
        out_square[1] = (all_square - left_square) * spread(targets, rows, start, middle)
    return middle


@inner_kernel()
def spread(targets, rows, start, stop):
    """-1 if the targets of the rows are all the same, else 1."""
    for i in range(start + 1, stop):
        if targets[rows[i], 0] != targets[rows[start], 0]:
            return 1.0
    return -1.0


# --- Random cuts ----------------------------------------------------------------------------------


@inner_kernel()
def draw_cut(codes, rows, start, stop, column, low, high, chance):
    """A code of the rows' range that is not the largest, drawn by the cells it stands for; or -1.

    It is the last code that lies below a point of the range.
    """
    j = np.uint64(column)
    least, largest = np.uint8(255), np.uint8(0)
    for step in range(stop - start):
        code = codes[np.uint64(rows[np.uint64(start + step)]), j]
        least = min(least, code)
        largest = max(largest, code)
    if least == largest:
        return np.int64(-1)
    first, last = np.int64(least), np.int64(largest)
    at = low[first] + draw(chance, 1 << 30) / float(1 << 30) * (high[last] - low[first])
    last -= 1
    while first < last:
        half = (first + last + 1) // 2
        if high[half] <= at:
            first = half
        else:
            last = half - 1
    return first


@inner_kernel()
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


@inner_kernel()
def class_gain(left, right, total, entropy):
    """Impurity times weight that is removed by two sides of many classes."""
    gain = 0.0
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
        gain += quality if side < 2 else -quality
    return gain


@inner_kernel()
def cut_gain(table, entries, start, stop, column, code, criterion, node, limits, scratch):
    """The gain of one cut; -1 where a side is too light."""
    codes, labels, targets = table
    rows, weight = entries
    total, amount = node
    classes, entropy = criterion <= ENTROPY, criterion == ENTROPY
    min_leaf = limits[0]
    j, limit = np.uint64(column), np.uint8(code)
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
        gain = excess * excess / (amount * left * right)
        return 2.0 * gain if classes else gain
    for k in range(total.size):
        scratch[1, k] = total[k] - scratch[0, k]
    return class_gain(scratch[0], scratch[1], total, entropy)


# --- Trees ----------------------------------------------------------------------------------------


@lean_kernel(
    f"void({TABLE}, {ENTRIES}, float64[::1], {RULES}, {NODES_OF_TREE}, int64[::1], int64[::1])"
)
def plant(table, entries, square, rules, nodes, waiting, state):
    """Sums of all roots; those that may be split wait, the first one on top.

    `square` is the sum of w y^2 of each root, as of `finish_node`.
    """
    integers, sums = nodes[0], nodes[2]
    target_start, criterion = rules[0], rules[1][CRITERION]
    state[WAITING] = 0
    for root in range(square.size - 1, -1, -1):
        start, stop = integers[root, START], integers[root, STOP]
        sum_rows(table, entries, start, stop, target_start, criterion, sums[root])
        integers[root, ROWS] = stop - start
        if finish_node(root, nodes, square[root], rules):
            waiting[state[WAITING]] = root
            state[WAITING] += 1


@lean_kernel(f"void({GROWING})")
def grow_plain(
    near_table,
    table,
    entries,
    columns,
    rules,
    work,
    search,
    _best,
    spare,
    nodes,
    waiting,
    state,
    budget,
):
    """Goes on growing until no node waits, or about `budget` cells have been read."""
    options, limits = rules[1], rules[2]
    permutation, chosen, chance, heads, nexts, histograms, bits, facts = work
    lists = (heads, nexts, bits)
    integers, numbers, sums = nodes[0], nodes[1], nodes[2]
    rows, scratch = entries[0], search[5]
    n_columns, n_stats = table[0].shape[1], sums.shape[1]
    criterion, by_chance = options[CRITERION], options[RANDOM_CUT] != 0
    classes, entropy = criterion <= ENTROPY, criterion == ENTROPY
    pairs = n_stats == 2 and not entropy
    wanted = options[MAX_FEATURES]
    child_sums, total = scratch[2:4], facts[4:]
    state[STATUS] = DONE
    while state[WAITING] > 0:
        if budget <= 0 or state[NODES] + 2 > integers.shape[0]:
            state[STATUS] = SLICED if budget <= 0 else NEEDS_NODES
            return
        state[WAITING] -= 1
        node = waiting[state[WAITING]]
        start, stop = integers[node, START], integers[node, STOP]
        begin_tree(node, permutation, chance)
        if state[LOCAL_AT] < 0 and stop - start <= near_table[0].shape[0]:
            copy_rows(table, rows, start, stop, near_table)
            state[LOCAL_AT] = state[WAITING]
        here = near_table if state[LOCAL_AT] >= 0 else table
        amount = numbers[node, WEIGHT]
        tie = 1e-10 * amount * numbers[node, IMPURITY] + 1e-15 * amount
        for s in range(n_stats):
            total[s] = sums[node, s]
        node_sums, cut = (total, amount), (limits[MIN_LEAF], tie)
        few = stop - start < FEW_ROWS
        best, best_column, best_code, best_next = -1.0 - tie, n_columns, np.int64(-1), np.int64(-1)
        tried, drawn = 0, 0
        while drawn < n_columns and (tried < wanted or best < 0.0):
            batch = min(max(wanted - tried, 1), n_columns - drawn, len(histograms))
            for f in range(batch):
                if wanted < n_columns:
                    other = drawn + draw(chance, n_columns - drawn)
                    permutation[drawn], permutation[other] = permutation[other], permutation[drawn]
                chosen[f] = permutation[drawn]
                drawn += 1
            if not few and not by_chance:
                fill(here, entries, start, stop, chosen, batch, n_stats, classes, histograms)
            for f in range(batch):
                column = chosen[f]
                # Few arrays for each call: small nodes feel what is handed over.
                if by_chance:
                    low, high = columns[3][column], columns[4][column]
                    code = draw_cut(here[0], rows, start, stop, column, low, high, chance)
                    gain, after, count = -1.0, np.int64(-1), 1
                    if code >= 0:
                        count = 2
                        about = (column, code, criterion, node_sums, cut, scratch)
                        gain = cut_gain(here, entries, start, stop, *about)
                        code = code if gain >= 0.0 else np.int64(-1)
                elif few and pairs:
                    mark_pairs(here, entries, start, stop, column, classes, histograms[0], bits)
                    gain, code, after, count = cut_marked_pairs(
                        histograms[0], bits, classes, (amount, total[1]), cut
                    )
                elif few:
                    gain, code, after, count = cut_few_rows(
                        here, entries, start, stop, column, entropy, node_sums, cut, lists, scratch
                    )
                elif pairs:
                    gain, code, after, count = cut_all_pairs(
                        histograms[f], columns[0][column], classes, (amount, total[1]), cut
                    )
                else:
                    gain, code, after, count = cut_all_sums(
                        histograms[f], columns[0][column], entropy, node_sums, cut, scratch
                    )
                if pairs and classes and not by_chance:
                    gain *= 2.0
                tried += count > 1
                if code >= 0 and is_better(gain, column, tie, best, best_column):
                    best, best_column, best_code, best_next = gain, column, code, after
        budget -= (2 if by_chance else 1) * drawn * (stop - start)
        if best > -0.5 and best + tie >= limits[MIN_GAIN]:
            if by_chance:
                best_code, best_next = neighbors_of(
                    here[0], rows, start, stop, best_column, best_code
                )
            integers[node, QUESTION] = 1
            integers[node, COLUMN] = best_column
            integers[node, CODE] = best_code
            integers[node, NEXT_CODE] = best_next
            numbers[node, GAIN] = max(best, 0.0)
            middle = part_rows(
                here, entries, start, stop, best_column, best_code, classes, spare, child_sums
            )
            add_children(node, start, middle, stop, nodes, state)
            child = integers[node, CHILD]
            # The right child first: the left one is to be on top.
            for new in range(child + 1, child - 1, -1):
                integers[new, ROWS] = integers[new, STOP] - integers[new, START]
                for s in range(n_stats):
                    sums[new, s] = child_sums[new - child, s]
                if finish_node(new, nodes, spare[2][new - child], rules):
                    waiting[state[WAITING]] = new
                    state[WAITING] += 1
            weights = numbers[child, WEIGHT] + numbers[child + 1, WEIGHT]
            numbers[child, SHARE] = numbers[child, WEIGHT] / weights
            numbers[child + 1, SHARE] = numbers[child + 1, WEIGHT] / weights
        if state[WAITING] == state[LOCAL_AT]:
            state[LOCAL_AT] = -1
