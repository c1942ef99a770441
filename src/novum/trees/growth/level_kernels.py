"""The best division of the levels of a nominal column into two sets.

With two classes, or one numeric target, the best set is a head of the levels in the order of their
class rate or mean (Breiman et al. 1984, theorem 4.5), so one cut of that order finds it. With more
classes all divisions of up to 5 levels are tried; of more levels the cuts of the orders by the rate
of each class. Small nodes overfit sets, so a node may be asked for a single level against the rest.

A division is a list of levels whose head is one set. Rows that are missing may go with the head:
`begin` are their sums, and `whole` those of all rows. `floor` is the gain to beat. Kernels return
the best gain and the branch of its head, -1 if it does not beat the floor; `out_branch` has the
branch of each level then, 0 for the set with the lowest level and -1 for levels without rows.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from novum.numerics.jit import lean_kernel
from novum.trees.growth.split_kernels import cut_pairs, cut_sums, quality, weight_of

MOST_LISTED = 5


@lean_kernel("void(int64[::1], float64[::1], int64)")
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


@lean_kernel("void(int64[::1], int64, int64, int8[::1])")
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


@lean_kernel(
    "UniTuple(float64, 2)(float64[::1], int64[::1], int64, boolean, boolean, float64[::1], "
    "float64[::1], float64, float64, float64, boolean[::1], float64[::1], int64[::1], int8[::1])"
)
def divide_pairs(
    sums,
    levels,
    n_levels,
    classes,
    single,
    begin,
    whole,
    min_leaf,
    tie,
    floor,
    closed,
    key,
    order,
    out_branch,
):
    """Best division for sums of two numbers; the gain is the criterion's."""
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
        gain, place = cut_pairs(
            sums,
            order,
            n_levels,
            classes,
            begin_weight,
            begin[1],
            weight,
            whole[1],
            min_leaf,
            tie / factor,
            0,
            0.0,
            0.0,
            closed,
        )
        gain *= factor
        if place < 0.0 or (floor >= 0.0 and gain <= floor + tie):
            return floor, -1.0
        mark_head(order, n_levels, int(place), out_branch)
        return gain, float(out_branch[order[0]])
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
    mark_head(order, n_levels, 0, out_branch)
    return best, float(out_branch[order[0]])


@lean_kernel(
    "UniTuple(float64, 2)(float64[::1], int64[::1], int64, int64, int64[::1], int64, boolean, "
    "float64[::1], float64[::1], float64, float64, float64, boolean[::1], float64[::1], "
    "int64[::1], float64[:, ::1], int8[::1])"
)
def divide_sums(
    sums,
    levels,
    n_levels,
    n_stats,
    target_start,
    criterion,
    single,
    begin,
    whole,
    min_leaf,
    tie,
    floor,
    closed,
    key,
    order,
    scratch,
    out_branch,
):
    """Best division for any sums; the first two rows of `scratch` are free."""
    left, right = scratch[0], scratch[1]
    classes = criterion <= 1
    base = quality(whole, n_stats, target_start, criterion)
    best, head = floor, -1.0
    if single or n_levels <= MOST_LISTED:
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
            for s in range(n_stats):
                right[s] = whole[s] - left[s]
            left_weight = weight_of(left, target_start, classes)
            right_weight = weight_of(right, target_start, classes)
            if left_weight < min_leaf or right_weight < min_leaf or right_weight <= 0.0:
                continue
            if single and closed[number]:
                continue
            gain = (
                quality(left, n_stats, target_start, criterion)
                + quality(right, n_stats, target_start, criterion)
                - base
            )
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
                mark_head(order, n_levels, front - 1, out_branch)
                head = float(out_branch[order[0]])
        return best, head
    for k in range(0 if classes else 1, n_stats):
        for i in range(n_levels):
            at = levels[i] * n_stats
            amount = weight_of(sums[at : at + n_stats], target_start, classes)
            key[levels[i]] = sums[at + k] / amount
            order[i] = levels[i]
        sort_by_key(order, key, n_levels)
        gain, place = cut_sums(
            sums,
            order,
            n_levels,
            n_stats,
            target_start,
            criterion,
            begin,
            whole,
            base,
            min_leaf,
            tie,
            closed,
            left,
            right,
        )
        if place >= 0.0 and (best < 0.0 or gain > best + tie):
            best = gain
            mark_head(order, n_levels, int(place), out_branch)
            head = float(out_branch[order[0]])
    return best, head
