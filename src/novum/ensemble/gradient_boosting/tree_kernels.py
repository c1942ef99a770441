"""Growing one tree on gradients, best node first: rows are parted, histograms handed down.

The rows of a node are a stretch of one array, parted in their order. The histogram of the smaller
child is added up, that of the other is what is left of the parent's (`split_kernels`).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.ensemble.gradient_boosting.split_kernels import (
    LEAF,
    THRESHOLD,
    UNKNOWN,
    add_words,
    find_split,
    goes_right,
)
from novum.ensemble.gradient_boosting.tree_columns import (
    AMOUNT,
    CHILD,
    CODE,
    COLUMN,
    DEPTH,
    G_UNIT,
    GAIN,
    GROUPS,
    H_UNIT,
    LOW_BITS,
    LOWER,
    MAX_DEPTH,
    MAX_LEAVES,
    MIN_AMOUNT,
    MIN_CURVATURE,
    MISSING,
    PENALTY,
    QUESTION,
    SLOT,
    START,
    STOP,
    UPPER,
    WORD,
)
from novum.numerics import chance, chance_word, inner_kernel, lean_kernel

# codes, words of rows, amounts of rows (empty: 1 each)
TABLE = "Tuple((uint8[:, ::1], int64[::1], int64[::1]))"
# n_codes, nominal, signs, groups of every column
COLUMNS = "Tuple((int64[::1], boolean[::1], int64[::1], uint64[::1]))"
# integers, numbers, branches of levels
NODES = "Tuple((int64[:, ::1], float64[:, ::1], int8[:, ::1]))"
# histograms, counts, order of codes, their ratios, spare rows, columns tried, state of chance,
# bits of codes
WORK = (
    "Tuple((int64[:, ::1], int64[::1], int64[::1], float64[::1], int32[::1], int64[::1], "
    "uint64[::1], uint64[::1]))"
)
BEST = "Tuple((int64[::1], float64[::1], int8[::1]))"


@lean_kernel("void(uint64, int64, int32[::1], int32[::1])")
def draw_rows(key, number, rows, out):
    """As many rows as `out` takes, in their order, every set of them as likely as any other.

    Selection sampling, Knuth's algorithm S: a row is taken with the share of those still wanted
    among those still to come.
    """
    of_round, n_taken = chance_word(key, np.uint64(number)), 0
    for i in range(len(rows)):
        to_come, wanted = len(rows) - i, len(out) - n_taken
        if chance(of_round, np.uint64(i)) * to_come < wanted:
            out[n_taken] = rows[i]
            n_taken += 1


@inner_kernel()
def part_rows(table, rows, at, nodes, spare):
    """Parts the rows of a node in their order; where the right side begins, its word and amount.

    Missing cells of which the split says nothing go left.
    """
    codes, words, amounts = table
    integers, _, branches = nodes
    start, stop = integers[at, START], integers[at, STOP]
    column, question = np.uint64(integers[at, COLUMN]), integers[at, QUESTION]
    limit, missing = integers[at, CODE], integers[at, MISSING]
    levels = branches[at]
    left, right = np.uint64(start), np.uint64(0)
    word, amount = np.int64(0), np.int64(0)
    any_missing = False
    for i in range(start, stop):
        row = rows[np.uint64(i)]
        code = codes[np.uint64(row), column]
        any_missing |= code == UNKNOWN
        if question == THRESHOLD:
            side = missing == 1 if code == UNKNOWN else np.int64(code) > limit
        else:
            side = missing == 1 if code == UNKNOWN else levels[code] == 1
        spare[right] = row
        rows[left] = row
        right += np.uint64(side)
        left += np.uint64(not side)
    if any_missing and missing < 0:
        integers[at, MISSING] = 0
    for i in range(right):
        rows[left + np.uint64(i)] = spare[i]
    for i in range(np.int64(left), stop):
        row = np.uint64(rows[np.uint64(i)])
        word += words[row]
        amount += amounts[row] if amounts.size > 0 else 1
    return np.int64(left), word, amount


@inner_kernel()
def may_split(at, nodes, options):
    integers = nodes[0]
    mask = (np.int64(1) << options[LOW_BITS]) - 1
    return (
        integers[at, DEPTH] < options[MAX_DEPTH]
        and integers[at, AMOUNT] >= 2 * options[MIN_AMOUNT]
        and integers[at, STOP] - integers[at, START] >= 2
        and (integers[at, WORD] & mask) >= 2 * options[MIN_CURVATURE]
    )


@inner_kernel()
def bear(at, child, split, amount, word, nodes, columns, rules):
    """Writes the two children of a node, the bounds of their values among it."""
    integers, numbers, _ = nodes
    options, scales = rules
    mask = (np.int64(1) << options[LOW_BITS]) - 1
    column = integers[at, COLUMN]
    integers[at, CHILD] = child
    values = (0.0, 0.0)
    penalty = scales[PENALTY]
    lower, upper = numbers[at, LOWER], numbers[at, UPPER]
    for side in range(2):
        new = child + side
        own = word if side == 1 else integers[at, WORD] - word
        integers[new, START] = split if side == 1 else integers[at, START]
        integers[new, STOP] = integers[at, STOP] if side == 1 else split
        integers[new, DEPTH] = integers[at, DEPTH] + 1
        integers[new, QUESTION] = LEAF
        integers[new, CHILD] = -1
        integers[new, MISSING] = -1
        integers[new, SLOT] = -1
        integers[new, GROUPS] = np.int64(np.uint64(integers[at, GROUPS]) & columns[3][column])
        integers[new, WORD] = own
        integers[new, AMOUNT] = amount if side == 1 else integers[at, AMOUNT] - amount
        numbers[new, GAIN] = 0.0
        numbers[new, LOWER], numbers[new, UPPER] = lower, upper
        g = (own >> options[LOW_BITS]) * scales[G_UNIT]
        h = (own & mask) * scales[H_UNIT]
        value = min(max(-g / (h + penalty), lower), upper)
        values = (value, values[1]) if side == 0 else (values[0], value)
    sign = columns[2][column]
    if sign != 0:
        middle = (values[0] + values[1]) / 2
        if sign > 0:
            numbers[child, UPPER] = min(upper, middle)
            numbers[child + 1, LOWER] = max(lower, middle)
        else:
            numbers[child, LOWER] = max(lower, middle)
            numbers[child + 1, UPPER] = min(upper, middle)


@lean_kernel(
    f"int64({TABLE}, int32[::1], {COLUMNS}, Tuple((int64[::1], float64[::1])), {NODES}, {WORK}, "
    f"{BEST}, int64[::1])"
)
def grow_tree(table, rows, columns, rules, nodes, work, best, out_open):
    """Grows the tree whose root is the first node; how many nodes it has.

    `rows` end up sorted by leaf. `out_open` is room for the leaves that have found a split; the
    histograms of `work` are as many as nodes may keep at once, and one.
    """
    codes, words, _ = table
    integers, numbers, _ = nodes
    options = rules[0]
    histograms, spare = work[0], work[4]
    best_first = options[MAX_LEAVES] > 0
    # Free histograms are a list through their first cells; the last one is never kept.
    n_slots = histograms.shape[0] - 1
    scratch = histograms[n_slots]
    n_nodes, n_leaves, n_open, used = 1, 1, 0, 0
    free = np.int64(-1)
    if may_split(0, nodes, options) and options[MAX_LEAVES] != 1:
        integers[0, SLOT] = 0
        used = 1
        histograms[0, :] = 0
        add_words(codes, words, rows, integers[0, START], integers[0, STOP], histograms[0])
        find_split(table, rows, 0, histograms[0], nodes, columns, rules, work, best)
        if integers[0, QUESTION] != LEAF:
            out_open[0] = 0
            n_open = 1
    while n_open > 0 and n_nodes + 2 <= integers.shape[0]:
        place = n_open - 1
        if best_first:
            for k in range(n_open - 1, -1, -1):
                if numbers[out_open[k], GAIN] >= numbers[out_open[place], GAIN]:
                    place = k
        at = out_open[place]
        for k in range(place, n_open - 1):
            out_open[k] = out_open[k + 1]
        n_open -= 1
        split, word, amount = part_rows(table, rows, at, nodes, spare)
        child = n_nodes
        bear(at, child, split, amount, word, nodes, columns, rules)
        n_nodes += 2
        n_leaves += 1
        slot = integers[at, SLOT]
        integers[at, SLOT] = -1
        if best_first and n_leaves >= options[MAX_LEAVES]:
            break
        small = child if split - integers[at, START] <= integers[at, STOP] - split else child + 1
        large = 2 * child + 1 - small
        wants_small, wants_large = (
            may_split(small, nodes, options),
            may_split(large, nodes, options),
        )
        if not (wants_small or wants_large):
            if slot >= 0:
                histograms[slot, 0] = free
                free = slot
            continue
        # The small child's histogram is added up, the other is what is left of the parent's.
        own = np.int64(-1)
        if free >= 0:
            own = free
            free = histograms[own, 0]
        elif used < n_slots:
            own = np.int64(used)
            used += 1
        if own < 0 or slot < 0:
            # No room to keep: each child is added up in the histogram that is never kept.
            for side in range(2):
                new = child + side
                if may_split(new, nodes, options):
                    scratch[:] = 0
                    first, last = integers[new, START], integers[new, STOP]
                    add_words(codes, words, rows, first, last, scratch)
                    find_split(table, rows, new, scratch, nodes, columns, rules, work, best)
            for kept in (own, slot):
                if kept >= 0:
                    histograms[kept, 0] = free
                    free = kept
        else:
            histograms[own, :] = 0
            first, last = integers[small, START], integers[small, STOP]
            add_words(codes, words, rows, first, last, histograms[own])
            if wants_large:
                whole = histograms[slot]
                for k in range(whole.size):
                    whole[k] -= histograms[own, k]
            # Left before right, whichever has fewer rows, so that columns are drawn for the same
            # nodes however often a row is there.
            for new in range(child, child + 2):
                kept = own if new == small else slot
                if wants_small if new == small else wants_large:
                    find_split(
                        table, rows, new, histograms[kept], nodes, columns, rules, work, best
                    )
                if integers[new, QUESTION] != LEAF:
                    integers[new, SLOT] = kept
                else:
                    histograms[kept, 0] = free
                    free = kept
        for side in range(2):
            if integers[child + side, QUESTION] != LEAF:
                out_open[n_open] = child + side
                n_open += 1
    # Leaves that have found a split which nobody took.
    for k in range(n_open):
        integers[out_open[k], QUESTION] = LEAF
    return n_nodes


# Gradients, curvatures (empty: 1 each) and weights (empty: 1 each) of rows.
ROWS = "Tuple((float64[::1], float64[::1], float64[::1]))"


@lean_kernel(f"void({ROWS}, boolean, float64, float64, int64, boolean, int64[::1])")
def round_gradients(of_rows, is_whole, g_scale, h_scale, low_bits, is_coarse, out_words):
    """The words of rows.

    Where weights are whole, a row of weight 2 has twice the word of weight 1. Scales so coarse that
    many small gradients would round to nothing are met with a moving threshold.
    """
    g, h, weight = of_rows
    weighs = weight.size > 0
    turn = 0.5
    for i in range(g.size):
        if is_coarse:
            turn += 0.6180339887498949
            if turn >= 1.0:
                turn -= 1.0
        factor = weight[i] if weighs and not is_whole else 1.0
        a = np.int64(np.floor(g[i] * factor * g_scale + turn))
        curvature = h[i] if h.size > 0 else 1.0
        b = np.int64(np.floor(curvature * factor * h_scale + turn))
        times = np.int64(weight[i]) if weighs and is_whole else np.int64(1)
        out_words[i] = ((a << low_bits) + b) * times


@lean_kernel(f"void(int32[::1], {NODES}, int64, {ROWS}, float64[::1], int64[:, ::1], float64[::1])")
def newton_values(rows, nodes, n_nodes, of_rows, numbers, out_sums, out_value):
    """Newton steps of all nodes, from sums in whole numbers, which have no order.

    `numbers` are the scales of gradients and curvatures, the penalty, the largest step and the
    learning rate.
    """
    integers, bounds, _ = nodes
    g, h, weight = of_rows
    g_scale, h_scale = numbers[0], numbers[1]
    penalty, largest, rate = numbers[2], numbers[3], numbers[4]
    for back in range(n_nodes):
        at = n_nodes - 1 - back
        child = integers[at, CHILD]
        if child >= 0:
            out_sums[at, 0] = out_sums[child, 0] + out_sums[child + 1, 0]
            out_sums[at, 1] = out_sums[child, 1] + out_sums[child + 1, 1]
        else:
            total_g, total_h = np.int64(0), np.int64(0)
            for i in range(integers[at, START], integers[at, STOP]):
                row = rows[i]
                factor = weight[row] if weight.size > 0 else 1.0
                curvature = h[row] if h.size > 0 else 1.0
                total_g += np.int64(np.rint(g[row] * factor * g_scale))
                total_h += np.int64(np.rint(curvature * factor * h_scale))
            out_sums[at, 0], out_sums[at, 1] = total_g, total_h
        curvature = out_sums[at, 1] / h_scale + penalty
        value = -(out_sums[at, 0] / g_scale) / curvature if curvature > 0.0 else 0.0
        value = min(max(value, bounds[at, LOWER]), bounds[at, UPPER])
        out_value[at] = rate * min(max(value, -largest), largest)


@lean_kernel(f"void(int32[::1], {NODES}, int64, float64[::1], float64[::1])")
def add_to_rows(rows, nodes, n_nodes, value, out_raw):
    """Adds the value of its leaf to every row that the tree was grown from."""
    integers = nodes[0]
    for at in range(n_nodes):
        if integers[at, CHILD] < 0:
            for i in range(integers[at, START], integers[at, STOP]):
                out_raw[rows[i]] += value[at]


@lean_kernel(f"void(uint8[:, ::1], int32[::1], {NODES}, float64[::1], float64[::1])")
def send_down(codes, rows, nodes, value, out_raw):
    """Adds the value of its leaf to rows that the tree has not seen."""
    integers, _, branches = nodes
    for i in range(rows.size):
        row, at = rows[i], np.int64(0)
        while integers[at, CHILD] >= 0:
            code = codes[row, integers[at, COLUMN]]
            missing = integers[at, MISSING]
            if missing < 0:
                # Cells that no row of the node lacked: to the side with more rows.
                left, right = integers[at, CHILD], integers[at, CHILD] + 1
                missing = np.int64(integers[right, AMOUNT] > integers[left, AMOUNT])
            side = goes_right(
                code, integers[at, QUESTION], integers[at, CODE], missing, branches[at]
            )
            at = integers[at, CHILD] + np.int64(side)
        out_raw[row] += value[at]
