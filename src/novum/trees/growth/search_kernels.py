"""The best cut of a numeric column, and the best division of a nominal one, from summed codes.

The gain of a cut is what the criterion, summed over the rows, falls by:

    gain = q(left) + q(right) - q(known),

with q = sum_k s_k^2 / w for Gini, sum_k s_k log2 s_k - w log2 w for entropy, and sum_t m_t^2 / w
for numbers with moments m_t = sum w y_t. With two classes, or one target, it is a multiple of
(m_left w - m w_left)^2 / (w w_left w_right), which needs no difference of large numbers.

With two classes, or one numeric target, the best set of levels is a head of the levels in the order
of their class rate or mean (Breiman et al. 1984, theorem 4.5), so one cut of that order finds it.
With more classes all divisions of up to 5 levels are tried; of more levels the cuts of the orders
by the rate of each class. Small nodes overfit sets, so a node may be asked for a single level
against the rest.

Rows that are missing may go with the left side: `begin` are their sums, and `whole` those of all
rows. Rows of `scratch`: 0 and 1 are free, 2 has zeros, 3 the sums of rows that are missing here, 4
those of known rows, 5 those of all. Random choices come from a 64-bit xorshift generator (Vigna
2016, xorshift64*) whose state is given; a draw below n multiplies its upper 32 bits by n.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, lean_kernel
from novum.trees.growth.growing_columns import (
    CRITERION,
    ENTROPY,
    GINI,
    MAX_CUTS,
    MIN_LEAF,
    RANDOM_CUT,
    SEARCH,
)

MOST_LISTED = 5


# --- Chance ---------------------------------------------------------------------------------------


@inner_kernel()
def draw(state, n):
    """An integer from 0 to n - 1; `state` is that of a 64-bit xorshift generator."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    mixed = (x * np.uint64(2685821657736338717)) >> np.uint64(32)
    return np.int64((mixed * np.uint64(n)) >> np.uint64(32))


@inner_kernel()
def close_all_but(state, n_places, n_open, out_closed):
    """Leaves `n_open` of the places open, each choice of them equally likely."""
    wanted = n_open
    for i in range(n_places):
        opened = draw(state, n_places - i) < wanted
        out_closed[i] = not opened
        wanted -= opened


@inner_kernel()
def choose_cuts(columns, options, chance, search, column, n_levels, single):
    """Closes the cuts that are not to be tried; returns 1 if it shuffled the levels.

    Single levels against the rest are one more than cuts of an order.
    """
    _, nominal, _, low, high = columns
    levels, _, closed, _, _, _ = search
    for i in range(n_levels + 1):
        closed[i] = False
    n_cuts = n_levels - 1
    if options[RANDOM_CUT] and n_cuts > 0:
        if nominal[column]:
            for i in range(n_levels - 1, 0, -1):
                j = draw(chance, i + 1)
                levels[i], levels[j] = levels[j], levels[i]
            close_all_but(chance, n_cuts, 1, closed)
            return 1
        least = low[column, levels[0]]
        largest = high[column, levels[n_cuts]]
        at = least + draw(chance, 1 << 30) / float(1 << 30) * (largest - least)
        place = 0
        while place < n_cuts - 1 and high[column, levels[place + 1]] <= at:
            place += 1
        for i in range(n_cuts):
            closed[i] = i != place
    elif 0 < options[MAX_CUTS] < n_cuts:
        close_all_but(chance, n_cuts + single, options[MAX_CUTS], closed)
    return 0


# --- Cuts -----------------------------------------------------------------------------------------


@lean_kernel("float64(float64[::1], int64[::1], int64)")
def quality(sums, target_start, criterion):
    """q of a set of rows, averaged over the targets; 0 for no rows."""
    n_targets = target_start.size - 1
    impurity = 0.0
    if criterion <= ENTROPY:
        for t in range(n_targets):
            weight = 0.0
            total = 0.0
            for k in range(target_start[t], target_start[t + 1]):
                s = sums[k]
                weight += s
                if criterion == GINI:
                    total += s * s
                elif s > 0.0:
                    total += s * math.log2(s)
            if weight > 0.0:
                if criterion == GINI:
                    impurity += total / weight
                else:
                    impurity += total - weight * math.log2(weight)
        return impurity / n_targets
    if sums[0] > 0.0:
        for s in range(1, sums.size):
            impurity += sums[s] * sums[s] / sums[0]
    return impurity / n_targets


@inner_kernel()
def weight_of(sums, target_start, classes):
    """The weight of a set of rows."""
    if not classes:
        return sums[0]
    weight = 0.0
    for k in range(target_start[1]):
        weight += sums[k]
    return weight


@inner_kernel()
def cut_pairs(sums, order, n_codes, closed, classes, begin, whole, min_leaf, tie, bounds):
    """Best cut of the codes in `order` where the sums are two numbers: (gain, place), or -1.

    Two classes are (w_0, w_1), whose moment is w_1; one target is (w, m). The left side starts with
    `begin`. Gains are those of squares: twice them is Gini's. `bounds` are (sign, lower, upper):
    the sign asks the mean to rise (1) or fall (-1) from left to right and both to stay within.
    """
    sign, lower, upper = bounds
    weight = whole[0] + whole[1] if classes else whole[0]
    left = begin[0] + begin[1] if classes else begin[0]
    moment, left_moment = whole[1], begin[1]
    best = -1.0
    place = -1
    for i in range(n_codes - 1):
        at = order[i] * 2
        a = sums[at]
        b = sums[at + 1]
        left_moment += b
        left += a + b if classes else a
        right = weight - left
        if left < min_leaf or right < min_leaf or right <= 0.0 or closed[i]:
            continue
        excess = left_moment * weight - moment * left
        gain = excess * excess / (weight * left * right)
        if place < 0 or gain > best + tie:
            if sign != 0:
                low = left_moment / left
                high = (moment - left_moment) / right
                if (high - low) * sign < 0.0 or min(low, high) < lower or max(low, high) > upper:
                    continue
            best = gain
            place = i
    return best, float(place)


@inner_kernel()
def two_sides(left, whole, right, target_start, criterion, min_leaf):
    """q(left) + q(right), `right` being what the left side leaves; -inf if one is too light."""
    classes = criterion <= ENTROPY
    for s in range(whole.size):
        right[s] = whole[s] - left[s]
    left_weight = weight_of(left, target_start, classes)
    right_weight = weight_of(right, target_start, classes)
    if left_weight < min_leaf or right_weight < min_leaf or right_weight <= 0.0:
        return -np.inf
    return quality(left, target_start, criterion) + quality(right, target_start, criterion)


@inner_kernel()
def cut_sums(
    sums, order, n_codes, closed, target_start, criterion, begin, whole, min_leaf, tie, scratch
):
    """As `cut_pairs` for any sums; the first two rows of `scratch` are free."""
    n_stats, left = whole.size, scratch[0]
    base = quality(whole, target_start, criterion)
    for s in range(n_stats):
        left[s] = begin[s]
    best = -1.0
    place = -1
    for i in range(n_codes - 1):
        at = order[i] * n_stats
        for s in range(n_stats):
            left[s] += sums[at + s]
        if closed[i]:
            continue
        both = two_sides(left, whole, scratch[1], target_start, criterion, min_leaf)
        if both == -np.inf:
            continue
        gain = both - base
        if place < 0 or gain > best + tie:
            # A gain is never negative but by rounding.
            best = max(gain, 0.0)
            place = i
    return best, float(place)


@inner_kernel()
def cut_numbers(sums, n_levels, both_ways, rules, search, tie, bounds):
    """Best threshold: (gain, place in `levels`, branch of missing cells).

    With `both_ways` missing rows are tried on either side.
    """
    target_start, options, limits = rules
    levels, _, closed, _, _, scratch = search
    criterion, min_leaf = options[CRITERION], limits[MIN_LEAF]
    classes = criterion <= ENTROPY
    pairs = scratch.shape[1] == 2 and criterion != ENTROPY
    best, place, branch = -1.0, -1.0, -1.0
    for way in range(2 if both_ways else 1):
        on_left = both_ways and way == 0
        begin = scratch[3] if on_left else scratch[2]
        whole = scratch[5] if both_ways else scratch[4]
        if pairs:
            gain, at = cut_pairs(
                sums, levels, n_levels, closed, classes, begin, whole, min_leaf, tie, bounds
            )
            gain *= 2.0 if classes and gain > 0.0 else 1.0
        else:
            cut = (target_start, criterion, begin, whole, min_leaf, tie, scratch)
            gain, at = cut_sums(sums, levels, n_levels, closed, *cut)
        # Of equals the lowest threshold is taken, then missing cells on the left.
        if at >= 0.0 and (place < 0.0 or gain > best + tie or (gain >= best - tie and at < place)):
            best, place = gain, at
            branch = -1.0 if not both_ways else (0.0 if on_left else 1.0)
    return best, place, branch


# --- Divisions of levels --------------------------------------------------------------------------


@inner_kernel()
def sort_by_key(out_order, key, n):
    """Sorts codes by `key[code]`, then by code, ascending.

    By insertion with shrinking gaps (Ciura 2001, then by 9/4): little more than n log n steps, so
    that a column of many levels does not hold up the tree.
    """
    gap = 1
    while 9 * gap < 4 * n:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            code = out_order[i]
            k = key[code]
            j = i - gap
            while j >= 0 and (
                key[out_order[j]] > k or (key[out_order[j]] == k and out_order[j] > code)
            ):
                out_order[j + gap] = out_order[j]
                j -= gap
            out_order[j + gap] = code
        gap = gap * 4 // 9


@inner_kernel()
def mark_head(order, n_levels, place, out_branch):
    """Branches of a cut after `place`; `out_branch` ends with the last code of the column."""
    for code in range(out_branch.size):
        out_branch[code] = -1
    lowest = order[0]
    head_is_low = True
    for i in range(n_levels):
        if order[i] <= lowest:
            lowest = order[i]
            head_is_low = i <= place
    for i in range(n_levels):
        out_branch[order[i]] = 0 if (i <= place) == head_is_low else 1


@inner_kernel()
def divide_pairs(sums, n_levels, single, classes, begin, whole, min_leaf, tie, floor, search):
    """Best division for sums of two numbers: see `divide`."""
    levels, order, closed, key, branch, _ = search
    factor = 2.0 if classes else 1.0
    weight = whole[0] + whole[1] if classes else whole[0]
    begin_weight = begin[0] + begin[1] if classes else begin[0]
    for i in range(n_levels):
        at = levels[i] * 2
        order[i] = levels[i]
        amount = sums[at] + sums[at + 1] if classes else sums[at]
        key[levels[i]] = amount if single else sums[at + 1] / amount
    if not single:
        sort_by_key(order, key, n_levels)
        free = (0, 0.0, 0.0)
        gain, place = cut_pairs(
            sums, order, n_levels, closed, classes, begin, whole, min_leaf, tie / factor, free
        )
        gain *= factor
        if place < 0.0 or (floor >= 0.0 and gain <= floor + tie):
            return floor, -1.0
        mark_head(order, n_levels, int(place), branch)
        return gain, float(branch[order[0]])
    best, chosen = floor, -1
    for i in range(n_levels):
        left = key[levels[i]] + begin_weight
        right = weight - left
        if closed[i] or left < min_leaf or right < min_leaf or right <= 0.0:
            continue
        excess = (sums[levels[i] * 2 + 1] + begin[1]) * weight - whole[1] * left
        gain = factor * excess * excess / (weight * left * right)
        if best < 0.0 or gain > best + tie:
            best, chosen = gain, i
    if chosen < 0:
        return floor, -1.0
    # The chosen level first; the others may follow in any order.
    order[0], order[chosen] = order[chosen], order[0]
    mark_head(order, n_levels, 0, branch)
    return best, float(branch[order[0]])


@inner_kernel()
def divide_sums(
    sums, n_levels, single, target_start, criterion, begin, whole, min_leaf, tie, floor, search
):
    """Best division for any sums: see `divide`."""
    levels, order, closed, key, branch, scratch = search
    n_stats, left = whole.size, scratch[0]
    classes = criterion <= ENTROPY
    best, head = floor, -1.0
    if single or n_levels <= MOST_LISTED:
        base = quality(whole, target_start, criterion)
        # Division `number` has as its head the level of that place alone, or the levels of the
        # bits of `number + 1`; the last level is never among those.
        n_divisions = n_levels if single else (1 << (n_levels - 1)) - 1
        for number in range(n_divisions):
            for s in range(n_stats):
                left[s] = begin[s] + (sums[levels[number] * n_stats + s] if single else 0.0)
            for i in range(0 if single else n_levels):
                if (number + 1) >> i & 1:
                    for s in range(n_stats):
                        left[s] += sums[levels[i] * n_stats + s]
            both = two_sides(left, whole, scratch[1], target_start, criterion, min_leaf)
            if both == -np.inf or (single and closed[number]):
                continue
            gain = both - base
            if best < 0.0 or gain > best + tie:
                best = max(gain, 0.0)
                front, back = 0, n_levels - 1
                for i in range(n_levels):
                    if (i == number) if single else (number + 1) >> i & 1:
                        order[front] = levels[i]
                        front += 1
                    else:
                        order[back] = levels[i]
                        back -= 1
                mark_head(order, n_levels, front - 1, branch)
                head = float(branch[order[0]])
        return best, head
    for k in range(0 if classes else 1, n_stats):
        for i in range(n_levels):
            at = levels[i] * n_stats
            amount = weight_of(sums[at : at + n_stats], target_start, classes)
            key[levels[i]] = sums[at + k] / amount
            order[i] = levels[i]
        sort_by_key(order, key, n_levels)
        cut = (target_start, criterion, begin, whole, min_leaf, tie, scratch)
        gain, place = cut_sums(sums, order, n_levels, closed, *cut)
        if place >= 0.0 and (best < 0.0 or gain > best + tie):
            best = gain
            mark_head(order, n_levels, int(place), branch)
            head = float(branch[order[0]])
    return best, head


@lean_kernel(
    "UniTuple(float64, 2)(float64[::1], int64, boolean, boolean, int64[::1], int64, float64[::1], "
    f"float64[::1], float64, float64, float64, {SEARCH})"
)
def divide(
    sums,
    n_levels,
    single,
    listed,
    target_start,
    criterion,
    begin,
    whole,
    min_leaf,
    tie,
    floor,
    search,
):
    """The best division of the levels of a nominal column into two sets.

    A division is a list of levels whose head is one set; `floor` is the gain to beat. Returns the
    best gain and the branch of its head, -1 if it does not beat the floor. `branch` of the search
    has the branch of each level then, 0 for the set with the lowest level and -1 for levels without
    rows. With `listed` all divisions of few levels are tried even where one order has the best.
    """
    if whole.size == 2 and criterion != ENTROPY and not listed:
        classes = criterion <= ENTROPY
        return divide_pairs(
            sums, n_levels, single, classes, begin, whole, min_leaf, tie, floor, search
        )
    how = (target_start, criterion, begin, whole, min_leaf, tie, floor, search)
    return divide_sums(sums, n_levels, single, *how)


@inner_kernel()
def divide_levels(sums, n_levels, single, both_ways, rules, search, tie):
    """Best division of the levels: (gain, branch of missing cells); `branch` has the sets."""
    target_start, options, limits = rules
    scratch = search[5]
    # Where missing rows go with a set, the best set need not be a head of the levels.
    listed = both_ways and n_levels <= MOST_LISTED
    best, missing_branch = -1.0, -1.0
    for way in range(2 if both_ways else 1):
        begin = scratch[3] if both_ways and way == 0 else scratch[2]
        whole = scratch[5] if both_ways else scratch[4]
        how = (target_start, options[CRITERION], begin, whole, limits[MIN_LEAF], tie, best, search)
        gain, head = divide(sums, n_levels, single, listed, *how)
        if head >= 0.0:
            best = gain
            if both_ways:
                missing_branch = head if way == 0 else 1.0 - head
    return best, missing_branch
