"""The best split of a node on gradients, from histograms of whole numbers.

The gradient and the curvature of a row are rounded to whole numbers g and h and travel in one word

    word = g 2^L + h,        0 <= sum of h < 2^L,

so that one addition serves both, sums are exact in any order, and the histogram of a node less that
of one child is that of the other to the last bit. A split of a node into two has the gain

    G_l^2 / (H_l + c) + G_r^2 / (H_r + c) - G^2 / (H + c)

with the penalty c: twice the decrease of the quadratic model of the loss when each side takes the
Newton step -G / (H + c). Rows with a missing cell are tried on both sides. Levels are ordered by
G / (H + shrinkage), rare ones near zero, and parted at the best place of this order.

Counts of rows are not kept in histograms. A split of a large node is found without them, and where
its curvature does not prove both sides large enough its rows are counted; only if that fails, and
in small nodes, rows are counted by code and the search heeds them.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.ensemble.gradient_boosting.tree_columns import (
    AMOUNT,
    CODE,
    COLUMN,
    FULL_CURVATURE,
    G_UNIT,
    GAIN,
    GROUPS,
    H_UNIT,
    LEVEL_PENALTY,
    LOW_BITS,
    LOWER,
    MIN_AMOUNT,
    MIN_CURVATURE,
    MIN_GAIN,
    MISSING,
    N_TRIED,
    PENALTY,
    QUESTION,
    SHRINKAGE,
    SPLIT_AMOUNT,
    SPLIT_CODE,
    SPLIT_COLUMN,
    SPLIT_MISSING,
    SPLIT_QUESTION,
    SPLIT_WORD,
    START,
    STOP,
    UPPER,
    WORD,
)
from novum.numerics import inner_kernel, trailing_zeros

UNKNOWN = np.uint8(255)
LEAF, THRESHOLD, SUBSET = 0, 1, 2
# Of splits that are equal but for rounding the first one is taken.
_CLEARLY = 1.0 + 1e-10
# Nodes of fewer times the least rows of a leaf are counted at once.
_FEW = 32


@inner_kernel()
def add_words(codes, words, rows, start, stop, out):
    """Adds the words of rows to the sums of their codes, column by column."""
    for i in range(start, stop):
        row = np.uint64(rows[np.uint64(i)])
        word = words[row]
        for j in range(np.uint64(codes.shape[1])):
            out[(np.uint64(j) << np.uint64(8)) | np.uint64(codes[row, j])] += word


@inner_kernel()
def count_rows(table, rows, start, stop, out_counts, out_met):
    """The amount of rows by code, and a bit for every code that some row has."""
    codes, _, amounts = table
    out_counts[:] = 0
    out_met[:] = 0
    for i in range(start, stop):
        row = np.uint64(rows[np.uint64(i)])
        amount = amounts[row] if amounts.size > 0 else np.int64(1)
        for j in range(np.uint64(codes.shape[1])):
            code = np.uint64(codes[row, j])
            out_counts[(np.uint64(j) << np.uint64(8)) | code] += amount
            place = (np.uint64(j) << np.uint64(2)) | (code >> np.uint64(6))
            out_met[place] |= np.uint64(1) << (code & np.uint64(63))


@inner_kernel()
def side_worth(g, h, penalty, lower, upper):
    """Twice what a Newton step within bounds takes off the loss."""
    value = min(max(-g / (h + penalty), lower), upper)
    return -value * (2.0 * g + (h + penalty) * value)


@inner_kernel()
def keep(column, code, question, missing, word, amount, best):
    """Keeps a split as the best so far."""
    best_gain = best[0]
    best_gain[SPLIT_QUESTION], best_gain[SPLIT_COLUMN], best_gain[SPLIT_CODE] = (
        question,
        column,
        code,
    )
    best_gain[SPLIT_MISSING], best_gain[SPLIT_WORD], best_gain[SPLIT_AMOUNT] = missing, word, amount


@inner_kernel()
def try_cut(word, amount, column, code, question, missing, penalty, node, columns, rules, best):
    """Compares a split, given by its left side, with the best so far; whether it is better."""
    whole, whole_amount, lower, upper, is_counted = node
    options, numbers = rules
    low_bits = options[LOW_BITS]
    mask = (np.int64(1) << low_bits) - 1
    other = whole - word
    h_left, h_right = word & mask, other & mask
    if h_left < options[MIN_CURVATURE] or h_right < options[MIN_CURVATURE]:
        return False
    if is_counted and (amount < options[MIN_AMOUNT] or whole_amount - amount < options[MIN_AMOUNT]):
        return False
    left_g, left_h = (word >> low_bits) * numbers[G_UNIT], h_left * numbers[H_UNIT]
    right_g, right_h = (other >> low_bits) * numbers[G_UNIT], h_right * numbers[H_UNIT]
    sign = columns[2][column]
    if sign == 0 and lower == -np.inf and upper == np.inf:
        a, b = left_h + penalty, right_h + penalty
        worth = (left_g * left_g * b + right_g * right_g * a) / (a * b)
    else:
        left = min(max(-left_g / (left_h + penalty), lower), upper)
        right = min(max(-right_g / (right_h + penalty), lower), upper)
        if sign * (right - left) < 0:
            return False
        worth = side_worth(left_g, left_h, penalty, lower, upper)
        worth += side_worth(right_g, right_h, penalty, lower, upper)
    if worth <= best[1][GAIN] * _CLEARLY:
        return False
    best[1][GAIN] = worth
    keep(column, code, question, missing, word, amount, best)
    return True


@inner_kernel()
def plain_cuts(words, counts, listed, n_listed, n_cuts, left, amount, node, rules, best_worth):
    """The best of the first cuts of a column, from the word that is left already; its worth.

    Of nodes and columns without bounds; there is no division for cuts that are no better. The codes
    that rows have are `listed` where they are counted.
    """
    options, numbers = rules
    low_bits, least = options[LOW_BITS], options[MIN_CURVATURE]
    g_unit, h_unit, penalty = numbers[G_UNIT], numbers[H_UNIT], numbers[PENALTY]
    mask = (np.int64(1) << low_bits) - 1
    h_whole, g_whole = node[0] & mask, node[0] >> low_bits
    most = h_whole - least
    is_counted, fewest = node[4], options[MIN_AMOUNT]
    most_amount = node[1] - fewest
    worth, best_cut, found_word = best_worth, np.int64(-1), np.int64(0)
    for place in range(n_listed if is_counted else n_cuts):
        code = listed[place] if is_counted else place
        if code >= n_cuts:
            break
        word = words[code]
        left += word
        if is_counted:
            amount += counts[code]
            if amount < fewest:
                continue
            if amount > most_amount:
                break
        elif word == 0:
            continue
        h = left & mask
        if h < least:
            continue
        if h > most:
            break
        g = left >> low_bits
        left_g, right_g = g * g_unit, (g_whole - g) * g_unit
        a, b = h * h_unit + penalty, (h_whole - h) * h_unit + penalty
        gained, size = left_g * left_g * b + right_g * right_g * a, a * b
        if gained > worth * size * _CLEARLY:
            worth = gained / size
            best_cut, found_word = np.int64(code), left
    return worth, best_cut, found_word


@inner_kernel()
def try_numbers(words, counts, column, node, columns, rules, work, best):
    """The cuts of an ordered column; `words` and `counts` are its 256 sums.

    Missing cells are tried on the right, where the last cut parts them from all others, and then
    on the left.
    """
    n_codes, is_counted = columns[0][column], node[4]
    gone, penalty = words[UNKNOWN], rules[1][PENALTY]
    listed, met, n_listed = work[2], work[7], 0
    for place in range(4 if is_counted else 0):
        bits = met[4 * column + place]
        while bits != np.uint64(0):
            listed[n_listed] = place * 64 + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            n_listed += 1
    is_plain = columns[2][column] == 0 and node[2] == -np.inf and node[3] == np.inf
    for side in range(2 if gone != 0 else 1):
        n_cuts = n_codes - 1 if gone == 0 or side == 1 else n_codes
        left = gone if side == 1 else np.int64(0)
        missing = -1 if gone == 0 else 1 - side
        amount = counts[UNKNOWN] if side == 1 and is_counted else np.int64(0)
        if is_plain:
            codes = (listed, n_listed, n_cuts)
            worth, code, word = plain_cuts(
                words, counts, *codes, left, amount, node, rules, best[1][GAIN]
            )
            if code >= 0:
                best[1][GAIN] = worth
                keep(column, code, THRESHOLD, missing, word, 0, best)
            continue
        for code in range(n_cuts):
            left += words[code]
            if is_counted:
                amount += counts[code]
            split = (left, amount, column, code, THRESHOLD, missing, penalty)
            try_cut(*split, node, columns, rules, best)


@inner_kernel()
def try_levels(words, counts, column, node, columns, rules, work, best):
    """Sets of levels: prefixes of their order by gradient over curvature; missing is one more."""
    options, numbers = rules
    order, ratio = work[2], work[3]
    mask = (np.int64(1) << options[LOW_BITS]) - 1
    n_codes, is_counted = columns[0][column], node[4]
    n = 0
    for code in range(256):
        if n_codes <= code < 255:
            continue
        word = words[code]
        if word == 0 and not (is_counted and counts[code] > 0):
            continue
        g = (word >> options[LOW_BITS]) * numbers[G_UNIT]
        value = g / ((word & mask) * numbers[H_UNIT] + numbers[SHRINKAGE])
        # Sorted in: levels of a node are few.
        place = n
        while place > 0 and ratio[place - 1] > value:
            ratio[place], order[place] = ratio[place - 1], order[place - 1]
            place -= 1
        ratio[place], order[place] = value, code
        n += 1
    # Sets of many levels find an order in noise; two levels have none to find.
    penalty = numbers[PENALTY] + min(numbers[LEVEL_PENALTY], n - 2.0)
    left, amount, better = np.int64(0), np.int64(0), -1
    for place in range(n - 1):
        code = order[place]
        left += words[code]
        if is_counted:
            amount += counts[code]
        if try_cut(left, amount, column, 0, SUBSET, -1, penalty, node, columns, rules, best):
            better = place
    if better < 0:
        return
    branches = best[2]
    # Levels that the node has no rows of go with the heavier side.
    heavier = np.int8(2 * (best[0][SPLIT_WORD] & mask) < (node[0] & mask))
    for code in range(256):
        branches[code] = heavier
    best[0][SPLIT_MISSING] = -1
    for place in range(n):
        side = np.int8(place > better)
        branches[order[place]] = side
        if order[place] == UNKNOWN:
            best[0][SPLIT_MISSING] = side


@inner_kernel()
def search(words, counts, node, groups, columns, rules, work, best):
    """The best split of a node by the columns that it may ask about."""
    options = rules[0]
    tried, chance = work[5], work[6]
    n = 0
    for column in range(columns[0].size):
        if columns[3][column] & groups != np.uint64(0):
            tried[n] = column
            n += 1
    wanted = min(n, options[N_TRIED])
    for place in range(wanted):
        if wanted < n:
            # Drawn without replacement, by xorshift.
            x = chance[0]
            x ^= x << np.uint64(13)
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            chance[0] = x
            other = place + np.int64(x % np.uint64(n - place))
            tried[place], tried[other] = tried[other], tried[place]
        column = tried[place]
        here = words[column * 256 : column * 256 + 256]
        count = counts[column * 256 : column * 256 + 256]
        if columns[1][column]:
            try_levels(here, count, column, node, columns, rules, work, best)
        else:
            try_numbers(here, count, column, node, columns, rules, work, best)


@inner_kernel()
def goes_right(code, question, limit, missing, branches):
    if code == UNKNOWN:
        return missing == 1
    if question == THRESHOLD:
        return np.int64(code) > limit
    return branches[code] == 1


@inner_kernel()
def find_split(table, rows, at, words, nodes, columns, rules, work, best):
    """Finds the best split of a node that holds; gain 0 where there is none."""
    integers, numbers, _ = nodes
    options, scales = rules
    counts, chance = work[1], work[6]
    start, stop = integers[at, START], integers[at, STOP]
    whole, amount = integers[at, WORD], integers[at, AMOUNT]
    lower, upper = numbers[at, LOWER], numbers[at, UPPER]
    mask = (np.int64(1) << options[LOW_BITS]) - 1
    g = (whole >> options[LOW_BITS]) * scales[G_UNIT]
    h = (whole & mask) * scales[H_UNIT]
    before = side_worth(g, h, scales[PENALTY], lower, upper)
    floor = before + 2.0 * scales[MIN_GAIN] + 1e-12 * abs(before)
    groups = np.uint64(integers[at, GROUPS])
    drawn = chance[0]
    # Small nodes often want splits that leave too few rows on a side.
    is_counted = amount < _FEW * options[MIN_AMOUNT] and scales[FULL_CURVATURE] > 1.0
    while True:
        if is_counted:
            count_rows(table, rows, start, stop, counts, work[7])
        best[1][GAIN] = floor
        best[0][SPLIT_QUESTION] = LEAF
        chance[0] = drawn
        node = (whole, amount, lower, upper, is_counted)
        search(words, counts, node, groups, columns, rules, work, best)
        if is_counted or is_proved(table, rows, start, stop, whole, amount, rules, best):
            break
        is_counted = True
    integers[at, QUESTION] = best[0][SPLIT_QUESTION]
    if best[0][SPLIT_QUESTION] == LEAF:
        numbers[at, GAIN] = 0.0
        return
    numbers[at, GAIN] = best[1][GAIN] - before
    integers[at, COLUMN], integers[at, CODE] = best[0][SPLIT_COLUMN], best[0][SPLIT_CODE]
    integers[at, MISSING] = best[0][SPLIT_MISSING]
    if best[0][SPLIT_QUESTION] == SUBSET:
        for code in range(256):
            nodes[2][at, code] = best[2][code]


@inner_kernel()
def is_proved(table, rows, start, stop, whole, whole_amount, rules, best):
    """Whether both sides of a split have the amount of rows that they need."""
    codes, _, amounts = table
    options, scales = rules
    least = options[MIN_AMOUNT]
    mask = (np.int64(1) << options[LOW_BITS]) - 1
    best_gain = best[0]
    if best_gain[SPLIT_QUESTION] == LEAF:
        return True
    h = best_gain[SPLIT_WORD] & mask
    # No unit of amount has more than the full curvature.
    if min(h, (whole & mask) - h) >= least * scales[FULL_CURVATURE]:
        return True
    column, question = best_gain[SPLIT_COLUMN], best_gain[SPLIT_QUESTION]
    limit, missing = best_gain[SPLIT_CODE], best_gain[SPLIT_MISSING]
    right = np.int64(0)
    for i in range(start, stop):
        row = rows[i]
        if goes_right(codes[row, column], question, limit, missing, best[2]):
            right += amounts[row] if amounts.size > 0 else 1
    return right >= least and whole_amount - right >= least
