"""The best split of one node by the root of the deviation, from sums over codes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import kernel
from novum.trees.growth.growing_columns import AUTO, SINGLE, MissingRule

# A variance below this share of the node's is rounding.
PURE = 1e-10
# Gains that differ by less, relative to the node's impurity, are equal: sums in another order.
TIE = 1e-7
_DIRECTION, _AUTO = int(MissingRule.DIRECTION), int(MissingRule.AUTO)
# Rows for each level from which on `nominal="auto"` trusts sets of levels.
ROWS_FOR_A_SET = 50
# What is found, in this order.
COLUMN, CODE, NEXT_CODE, MISSING_BRANCH = 0, 1, 2, 3


@kernel("float64(float64[::1], float64)")
def amount(sums, unit):
    """Weight times the fourth root of the variance, in the node's units; sums of w, w y^2, w y."""
    w = sums[0]
    if w <= 0.0:
        return 0.0
    variance = sums[1] / w
    for t in range(2, sums.size):
        variance -= (sums[t] / w) ** 2
    variance /= unit
    return w * np.sqrt(np.sqrt(variance)) if variance > PURE else 0.0


@kernel(
    "float64(float64[::1], float64[::1], float64[::1], float64[::1], float64, float64, boolean, "
    "int64[::1])"
)
def divided(left, known, missing, work, unit, least, directed, out_side):
    """Gain of a division of the known rows; `out_side[0]` is where missing rows then go, or -1."""
    out_side[0] = -1
    if left[0] < least or known[0] - left[0] < least:
        return -1.0
    for t in range(known.size):
        work[t] = known[t] - left[t]
    to_left, to_right = amount(left, unit), amount(work, unit)
    if not (directed and missing[0] > 0.0):
        return amount(known, unit) - to_left - to_right
    for t in range(known.size):
        work[t] += missing[t]
    on_right = to_left + amount(work, unit)
    for t in range(known.size):
        work[t] = left[t] + missing[t]
    on_left = amount(work, unit) + to_right
    for t in range(known.size):
        work[t] = known[t] + missing[t]
    out_side[0] = 0 if on_left <= on_right else 1
    return amount(work, unit) - min(on_left, on_right)


@kernel("void(float64[:, ::1], float64[::1], int32[::1], float64[::1], float64[:, ::1])")
def row_sums(targets, mean, rows, weight, out):
    """What each row adds to sums: w, w y^2 over the targets, w y, about the node's means."""
    for e in range(rows.size):
        w = weight[e]
        out[e, 0] = w
        out[e, 1] = 0.0
        for t in range(targets.shape[1]):
            y = targets[rows[e], t] - mean[t]
            out[e, 1] += w * y * y
            out[e, 2 + t] = w * y


@kernel(
    "int64(int32[:, ::1], int64, int64, int32[::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1], int64[::1])"
)
def fill(codes, column, no_code, rows, added, out_sums, out_totals, out_codes):
    """Sums by code, of known and of missing cells; returns how many codes occur.

    `out_sums` is zero before; `out_codes` gets the codes that occur, ascending.
    """
    out_totals[:] = 0.0
    count, width = 0, added.shape[1]
    for e in range(rows.size):
        code = codes[rows[e], column]
        if code == no_code:
            for t in range(width):
                out_totals[1, t] += added[e, t]
            continue
        if out_sums[code, 0] == 0.0:
            out_codes[count] = code
            count += 1
        for t in range(width):
            out_sums[code, t] += added[e, t]
    out_codes[:count].sort()
    for k in range(count):
        for t in range(width):
            out_totals[0, t] += out_sums[out_codes[k], t]
    return count


@kernel("void(float64[:, ::1], int64[::1])")
def order_by_mean(sums, out_codes):
    """Puts codes in the order of the means of their targets, of equals the lower first."""
    means = np.empty(out_codes.size)
    for k in range(out_codes.size):
        means[k] = sums[out_codes[k], 2:].sum() / sums[out_codes[k], 0]
    out_codes[:] = out_codes[np.argsort(means, kind="mergesort")]


@kernel("void(int64[::1], int64, boolean, int64[::1], int8[::1])")
def divide_levels(codes, k, by_set, out_found, out_branch):
    """Branches of levels: the first k + 1 against the rest, or the one at k against the rest."""
    out_branch[:] = -1
    for j in range(codes.size):
        inside = j <= k if by_set else j == k
        out_branch[codes[j]] = 0 if inside else 1
    # Branch 0 holds the lowest level that occurs.
    if out_branch[codes.min()] == 1:
        for j in range(codes.size):
            out_branch[codes[j]] = 1 - out_branch[codes[j]]
        if out_found[MISSING_BRANCH] >= 0:
            out_found[MISSING_BRANCH] = 1 - out_found[MISSING_BRANCH]


@kernel(
    "float64(int32[:, ::1], int64, boolean[::1], float64[:, ::1], float64[::1], int32[::1], "
    "float64[::1], float64, float64, int64, int64, float64[:, ::1], int64[::1], int8[::1])"
)
def best_split(
    codes,
    no_code,
    nominal,
    targets,
    mean,
    rows,
    weight,
    unit,
    least,
    missing_rule,
    rule,
    out_sums,
    out_found,
    out_branch,
):
    """The split of largest gain; returns it, in units of the node's impurity times weight.

    `out_found` gets the column (-1 for none), the last code of branch 0 and the first of branch 1
    that occur, and where missing rows go; `out_branch` the branches of a nominal column's levels.
    Missing rows go as `MissingRule` says; the first code of a branch of their own is -1.
    `out_sums` is space for sums by code, zeros before and after.
    """
    width = out_sums.shape[1]
    totals, left, work = np.empty((2, width)), np.empty(width), np.empty(width)
    room, side = np.empty(out_sums.shape[0], np.int64), np.empty(1, np.int64)
    added = np.empty((rows.size, width))
    row_sums(targets, mean, rows, weight, added)
    total = weight.sum()
    best = 0.0
    out_found[COLUMN] = -1
    for column in range(codes.shape[1]):
        count = fill(codes, column, no_code, rows, added, out_sums, totals, room)
        occur = room[:count]
        few = rule == SINGLE or (rule == AUTO and rows.size < ROWS_FOR_A_SET * count)
        # One of two levels against the rest is a set.
        one_by_one = nominal[column] and few and count > 2
        if nominal[column] and not one_by_one:
            order_by_mean(out_sums, occur)
        left[:] = 0.0
        for k in range(count if one_by_one else count - 1):
            if one_by_one:
                left[:] = 0.0
            for t in range(width):
                left[t] += out_sums[occur[k], t]
            ways = 2 if missing_rule >= _DIRECTION and totals[1, 0] > 0.0 else 1
            for directed in range(ways - 1 if missing_rule == _DIRECTION else 0, ways):
                gain = divided(left, totals[0], totals[1], work, unit, least, directed == 1, side)
                if gain > best + TIE * total:
                    best = gain
                    out_found[COLUMN], out_found[CODE] = column, occur[k]
                    out_found[NEXT_CODE] = occur[k + 1] if k + 1 < count else -1
                    out_found[MISSING_BRANCH] = side[0]
                    if nominal[column]:
                        divide_levels(occur, k, not one_by_one, out_found, out_branch)
        if missing_rule == _AUTO and min(totals[0, 0], totals[1, 0]) >= max(least, 1e-300):
            for t in range(width):
                work[t] = totals[0, t] + totals[1, t]
            gain = amount(work, unit) - amount(totals[0], unit) - amount(totals[1], unit)
            if gain > best + TIE * total:
                best = gain
                out_found[COLUMN], out_found[CODE] = column, out_sums.shape[0]
                out_found[NEXT_CODE], out_found[MISSING_BRANCH] = -1, 1
                out_branch[:] = 0
        for k in range(count):
            out_sums[occur[k]] = 0.0
    return best
