"""Compiled parts of exact growth: thresholds of ordered columns, tables of levels, children.

A node has m entries (row, weight). `order[j]` lists them by rising value of ordered column j, the
missing ones last. What an entry adds to the node's sums is described by `slot` and `amount`: for
each target the class and 1, or the target's number and its value, less `center`. With the sums v
and the weight W of a branch,

    W impurity = const - score,    score = sum_k v_k^2 / W     (Gini, squared error)
                                   score = sum_k v_k log2 v_k - T W log2 W     (entropy, T targets)

so a split gains the scores of its branches less the score of the node.
"""

from __future__ import annotations

import math

import numpy as np

from novum.numerics import kernel
from novum.trees.general.exact_table import (
    ABOVE,
    BELOW,
    GAIN,
    LEAST,
    MARGIN,
    MISSING_RULE,
    MOST,
    RESOLUTION,
    SLACK,
    START,
    TENTH,
    THRESHOLD,
    TOWARDS,
    TRIED,
)
from novum.trees.growth.growing_columns import MissingRule

FRACTIONAL = float(MissingRule.FRACTIONAL)
DIRECTION = float(MissingRule.DIRECTION)
AUTO = float(MissingRule.AUTO)


@kernel("float64(float64, boolean)")
def transformed(v, bits):  # type: ignore[no-untyped-def]
    """`v log2 v` or `v^2`; what rounding leaves of nothing counts as nothing."""
    if bits:
        return v * math.log2(v) if v > 1e-12 else 0.0
    return v * v


@kernel("float64(float64, float64, float64, boolean)")
def side_score(total, weight, n_targets, bits):  # type: ignore[no-untyped-def]
    """The score of one branch from the sum of its transformed sums."""
    if bits:
        return total - n_targets * transformed(weight, bits)
    return total / weight if weight > 0.0 else 0.0


@kernel(
    "int64(float64[::1], float64[::1], float64[::1], int64, float64, float64[::1], float64[::1], "
    "float64, uint64[::1], float64[::1])"
)
def best_cut(  # type: ignore[no-untyped-def]
    keys, scores, below, n, total, base, limits, fraction, state, out
):
    """The best of the cuts between unequal neighbors among `keys[:n]`, written to `out`.

    Parameters
    ----------
    scores, below : arrays; score of both sides and weight of the lower side, when cut behind i
    total : float, weight of both sides
    base : array; [score of the node, factor of the gain, weight of all known cells]
    fraction : float; only the cut that holds this part of the range is tried, none if negative
    state : uint64 array (1,), of the xorshift generator that draws at most `limits[MOST]` cuts
    """
    least = limits[LEAST]
    if limits[TENTH] > 0.0:
        least = max(least, min(limits[TENTH] * base[2], 25.0))
    least -= limits[SLACK]
    drawn = keys[0]
    if fraction >= 0.0:
        drawn = max(drawn, (1.0 - fraction) * keys[0] + fraction * keys[n - 1])
    if drawn >= keys[n - 1]:
        drawn = keys[0]
    left, wanted = 0, limits[MOST]
    for i in range(n - 1):
        if keys[i] + limits[RESOLUTION] < keys[i + 1]:
            left += 1
    tried = 0
    best = limits[START]
    for i in range(n - 1):
        if not keys[i] + limits[RESOLUTION] < keys[i + 1]:
            continue
        if fraction >= 0.0 and not (keys[i] <= drawn and drawn < keys[i + 1]):
            continue
        if limits[MOST] > 0.0:
            # Selection sampling: each of the `left` cuts to come is drawn with equal chance.
            state[0] ^= state[0] >> np.uint64(12)
            state[0] ^= state[0] << np.uint64(25)
            state[0] ^= state[0] >> np.uint64(27)
            chance = np.float64(state[0] >> np.uint64(11)) * 2.0**-53
            take = chance * left < wanted
            left -= 1
            if not take:
                continue
            wanted -= 1.0
        if below[i] < least or total - below[i] < least:
            continue
        tried += 1
        gain = (scores[i] - base[0]) * base[1]
        if gain > best + limits[MARGIN]:
            best = gain
            out[GAIN] = gain
            out[BELOW] = below[i]
            # Halved first: the difference itself may overflow.
            middle = keys[i] + (keys[i + 1] / 2 - keys[i] / 2)
            if not middle < keys[i + 1]:
                middle = keys[i]
            out[THRESHOLD] = drawn if fraction >= 0.0 else middle
    return tried


@kernel(
    "void(boolean, float64[:,::1], int64[::1], int32[:,::1], int32[::1], float64[::1], "
    "int32[:,::1], float64[:,::1], float64[::1], float64[::1], float64[::1], float64[::1], "
    "uint64[::1], float64[:,::1])"
)
def scan_sums(  # type: ignore[no-untyped-def]
    bits,
    columns,
    chosen,
    order,
    rows,
    weight,
    slot,
    amount,
    center,
    total,
    limits,
    fractions,
    state,
    out,
):
    """The best threshold of each chosen ordered column, written to one row of `out` for each.

    `columns[j]` and `order[j]` belong together; `total` has the node's sums and, last, its weight.
    By `limits[MISSING_RULE]` missing cells are left out (fractional); are tried in the upper and
    then in the lower branch (direction); or all of these and a branch of their own (auto), of which
    they take the first unless a later one gains more.
    """
    m, n_slots, n_targets = rows.size, total.size - 1, slot.shape[1]
    keys, scores, below = np.empty(m), np.empty(m), np.empty(m)
    sums, lost = np.empty((4, n_slots)), np.empty(n_slots)
    base = np.empty(3)
    base[1] = 1.0 / n_targets
    scan = np.empty(6)
    for c in range(chosen.size):
        j = chosen[c]
        known, lost_weight = m, 0.0
        lost[:] = 0.0
        while known > 0 and math.isnan(columns[j, rows[order[j, known - 1]]]):
            known -= 1
            e = order[j, known]
            lost_weight += weight[e]
            for t in range(n_targets):
                lost[slot[rows[e], t]] += weight[e] * (amount[rows[e], t] - center[t])
        out[c, :] = 0.0
        out[c, GAIN], out[c, TOWARDS] = -np.inf, -1.0
        for i in range(known):
            keys[i] = columns[j, rows[order[j, i]]]
        rule = limits[MISSING_RULE] if known < m else FRACTIONAL
        base[2] = total[n_slots] - lost_weight
        # Missing cells left out, in the upper branch, in the lower one.
        for way in range(1 if rule == DIRECTION else 0, 1 if rule == FRACTIONAL else 3):
            if known < 2 or not keys[0] + limits[RESOLUTION] < keys[known - 1]:
                break
            directed = way > 0
            # Sums of the lower and upper side, then the same transformed.
            whole = 0.0
            low = lost_weight if way == 2 else 0.0
            high = total[n_slots] - (0.0 if directed else lost_weight) - low
            both = low + high
            for k in range(n_slots):
                sums[0, k] = lost[k] if way == 2 else 0.0
                sums[1, k] = total[k] - sums[0, k] - (0.0 if directed else lost[k])
                sums[2, k] = transformed(sums[0, k], bits)
                sums[3, k] = transformed(sums[1, k], bits)
                whole += transformed(sums[0, k] + sums[1, k], bits)
            base[0] = side_score(whole, both, n_targets, bits)
            for i in range(known - 1):
                e = order[j, i]
                low += weight[e]
                for t in range(n_targets):
                    k = slot[rows[e], t]
                    v = weight[e] * (amount[rows[e], t] - center[t])
                    sums[0, k] += v
                    sums[1, k] -= v
                    sums[2, k] = transformed(sums[0, k], bits)
                    sums[3, k] = transformed(sums[1, k], bits)
                if keys[i] == keys[i + 1]:
                    continue
                a, b = 0.0, 0.0
                for k in range(n_slots):
                    a += sums[2, k]
                    b += sums[3, k]
                below[i] = low
                scores[i] = side_score(a, low, n_targets, bits)
                scores[i] += side_score(b, both - low, n_targets, bits)
            scan[GAIN] = -np.inf
            tried = best_cut(
                keys, scores, below, known, both, base, limits, fractions[c], state, scan
            )
            keep(tried, both, limits[MARGIN], 2.0 - way if directed else -1.0, scan, out[c])
        if rule == AUTO and known > 0:
            a, b, whole = 0.0, 0.0, 0.0
            for k in range(n_slots):
                a += transformed(total[k] - lost[k], bits)
                b += transformed(lost[k], bits)
                whole += transformed(total[k], bits)
            score = side_score(a, base[2], n_targets, bits)
            score += side_score(b, lost_weight, n_targets, bits)
            score -= side_score(whole, total[n_slots], n_targets, bits)
            keep_known(score * base[1], base[2], lost_weight, limits, out[c])


@kernel("void(float64, float64, float64, float64[::1], float64[::1])")
def keep_known(gain, known, lost, limits, out):  # type: ignore[no-untyped-def]
    """Keep the question whether a cell is known in `out` where it gains more."""
    least = limits[LEAST] - limits[SLACK]
    if known < least or lost < least:
        return
    if gain > max(out[GAIN], limits[START]) + limits[MARGIN]:
        out[GAIN], out[THRESHOLD], out[TRIED] = gain, np.inf, 0.0
        out[BELOW], out[ABOVE], out[TOWARDS] = known, lost, 1.0


@kernel("void(float64, float64, float64, float64, float64[::1], float64[::1])")
def keep(tried, both, margin, towards, candidate, out):  # type: ignore[no-untyped-def]
    """Keep what a search found in `out` where it is better, or as good at no higher threshold.

    Missing cells that were left out stay left out where a side for them is only as good.
    """
    out[TRIED] = max(out[TRIED], tried)
    tie = candidate[GAIN] >= out[GAIN] - margin and candidate[THRESHOLD] <= out[THRESHOLD]
    tie &= out[TOWARDS] >= 0.0
    if candidate[GAIN] > out[GAIN] + margin or (out[GAIN] > -np.inf and tie):
        out[GAIN], out[THRESHOLD], out[BELOW] = (
            candidate[GAIN],
            candidate[THRESHOLD],
            candidate[BELOW],
        )
        out[ABOVE], out[TOWARDS] = both - candidate[BELOW], towards


@kernel(
    "void(float64[:,::1], int64[::1], int64[::1], int32[::1], float64[::1], int32[:,::1], "
    "float64[:,::1], float64[::1], float64[:,::1])"
)
def add_levels(  # type: ignore[no-untyped-def]
    columns, chosen, starts, rows, weight, slot, amount, center, out
):
    """Sums and, in the last place, weight of every level of the chosen columns.

    Levels of column c are rows `starts[c], ...` of `out`, and its missing cells the row before
    `starts[c + 1]`.
    """
    last = out.shape[1] - 1
    for c in range(chosen.size):
        for e in range(rows.size):
            cell = columns[chosen[c], rows[e]]
            at = starts[c + 1] - 1 if math.isnan(cell) else starts[c] + np.int64(cell)
            out[at, last] += weight[e]
            for t in range(slot.shape[1]):
                out[at, slot[rows[e], t]] += weight[e] * (amount[rows[e], t] - center[t])


@kernel(
    "void(int32[::1], float64[::1], int32[::1], float64[::1], int32[:,::1], int64[::1], "
    "int32[::1], float64[::1], int32[::1])"
)
def deal(  # type: ignore[no-untyped-def]
    rows, weight, branch, share, order, starts, out_rows, out_weight, out_order
):
    """Entries and orders of all children, one child after the other.

    An entry of branch -1 goes to every child with its share of the weight. Child b has entries
    `starts[b] : starts[b + 1]`; its orders are a block of rows at `len(order) * starts[b]`.
    """
    n_children, q = share.size, order.shape[0]
    place = np.empty(rows.size, np.int32)
    n_known = np.zeros(n_children, np.int64)
    n_missing = 0
    for e in range(rows.size):
        b = branch[e]
        if b < 0:
            place[e] = n_missing
            n_missing += 1
            continue
        place[e] = n_known[b]
        out_rows[starts[b] + n_known[b]] = rows[e]
        out_weight[starts[b] + n_known[b]] = weight[e]
        n_known[b] += 1
    for e in range(rows.size):
        if branch[e] < 0:
            for b in range(n_children):
                if share[b] > 0.0:
                    out_rows[starts[b] + n_known[b] + place[e]] = rows[e]
                    out_weight[starts[b] + n_known[b] + place[e]] = weight[e] * share[b]
    cursor = np.empty(n_children, np.int64)
    for j in range(q):
        for b in range(n_children):
            cursor[b] = q * starts[b] + j * (starts[b + 1] - starts[b])
        for i in range(rows.size):
            e = order[j, i]
            if branch[e] >= 0:
                out_order[cursor[branch[e]]] = place[e]
                cursor[branch[e]] += 1
            else:
                for b in range(n_children):
                    if share[b] > 0.0:
                        out_order[cursor[b]] = n_known[b] + place[e]
                        cursor[b] += 1


# --- Absolute error -------------------------------------------------------------------------------
#
# Compiled search of thresholds by absolute error.
#
# The cost of a branch is `sum_i w_i |y_i - median|`. Entries join a branch one after the other, and
# a Fenwick tree over the ranks of the targets, with weights and weighted targets, gives the median
# and the cost of what has joined in `O(log m)`: one pass from below, one from above.


@kernel("float64(float64[:,::1], float64[::1], int64, float64, float64)")
def join(fenwick, totals, place, w, y):  # type: ignore[no-untyped-def]
    """Add an entry; `totals` are the weight and the weighted target of all entries."""
    totals[0] += w
    totals[1] += w * y
    at = place + 1
    while at < fenwick.shape[1]:
        fenwick[0, at] += w
        fenwick[1, at] += w * y
        at += at & -at
    return totals[0]


@kernel("float64(float64[:,::1], float64[::1], float64[::1])")
def deviation(fenwick, totals, ranked):  # type: ignore[no-untyped-def]
    """`sum w |y - median|` of the entries that have joined; `ranked` are the targets by rank."""
    size = fenwick.shape[1]
    step = 1
    while 2 * step < size:
        step *= 2
    at, w, s = 0, 0.0, 0.0
    while step > 0:
        if at + step < size and w + fenwick[0, at + step] < totals[0] / 2:
            at += step
            w += fenwick[0, at]
            s += fenwick[1, at]
        step //= 2
    # Entries before rank `at` weigh w, less than half; with those of rank `at` it is half or more.
    median = ranked[min(at, ranked.size - 1)]
    return median * w - s + (totals[1] - s) - median * (totals[0] - w)


@kernel(
    "void(float64[:,::1], float64[::1], int64, int32[::1], int64[::1], float64[::1], float64[::1])"
)
def join_missing(fenwick, totals, known, order, place, weight, targets):  # type: ignore[no-untyped-def]
    """Add the entries whose cell is missing: those behind the first `known` of `order`."""
    for i in range(known, order.size):
        join(fenwick, totals, place[order[i]], weight[order[i]], targets[order[i]])


@kernel(
    "void(float64[:,::1], int64[::1], int32[:,::1], int64, int32[::1], float64[::1], "
    "float64[::1], float64[::1], uint64[::1], float64[:,::1])"
)
def scan_deviations(  # type: ignore[no-untyped-def]
    columns, chosen, order, n_ordered, rows, weight, limits, fractions, state, out
):
    """The best threshold of each chosen ordered column, as `scan_sums`, by absolute error.

    Rows `n_ordered, ...` of `columns` and `order` are the targets.
    """
    m, n_targets = rows.size, columns.shape[0] - n_ordered
    keys, scores, below = np.empty(m), np.empty(m), np.empty(m)
    place = np.empty((n_targets, m), np.int64)
    targets, ranked = np.empty((n_targets, m)), np.empty((n_targets, m))
    for t in range(n_targets):
        y = columns[n_ordered + t]
        # Taken from the median of the node, so that sums do not cancel.
        center = y[rows[order[n_ordered + t, m // 2]]]
        for i in range(m):
            e = order[n_ordered + t, i]
            place[t, e] = i
            targets[t, e] = ranked[t, i] = y[rows[e]] - center
    fenwick, totals = np.empty((2, m + 1)), np.empty(2)
    base, scan = np.empty(3), np.empty(6)
    base[1] = 1.0 / n_targets
    for c in range(chosen.size):
        j = chosen[c]
        known = m
        while known > 0 and math.isnan(columns[j, rows[order[j, known - 1]]]):
            known -= 1
        out[c, :] = 0.0
        out[c, GAIN], out[c, TOWARDS] = -np.inf, -1.0
        for i in range(known):
            keys[i] = columns[j, rows[order[j, i]]]
        rule = limits[MISSING_RULE] if known < m else FRACTIONAL
        # Missing cells left out, in the upper branch, in the lower one.
        for way in range(1 if rule == DIRECTION else 0, 1 if rule == FRACTIONAL else 3):
            if known < 2 or not keys[0] + limits[RESOLUTION] < keys[known - 1]:
                break
            directed = way > 0
            scores[:] = 0.0
            base[0] = 0.0
            for t in range(n_targets):
                # Pass 0 fills the upper branch from above, pass 1 the lower one from below.
                for passing in range(2):
                    fenwick[:, :] = 0.0
                    totals[:] = 0.0
                    if directed and passing == way - 1:
                        join_missing(fenwick, totals, known, order[j], place[t], weight, targets[t])
                    for i in range(known):
                        at = i if passing == 1 else known - 1 - i
                        e = order[j, at]
                        w = join(fenwick, totals, place[t, e], weight[e], targets[t, e])
                        if passing == 1 and i < known - 1 and keys[i] != keys[i + 1]:
                            below[i] = w
                            scores[i] -= deviation(fenwick, totals, ranked[t])
                        elif passing == 0 and at > 0 and keys[at - 1] != keys[at]:
                            scores[at - 1] -= deviation(fenwick, totals, ranked[t])
                    if passing == 1:
                        base[2] = totals[0]
                        if way == 1:
                            join_missing(
                                fenwick, totals, known, order[j], place[t], weight, targets[t]
                            )
                        base[0] -= deviation(fenwick, totals, ranked[t])
                        both = totals[0]
            scan[GAIN] = -np.inf
            tried = best_cut(
                keys, scores, below, known, both, base, limits, fractions[c], state, scan
            )
            keep(tried, both, limits[MARGIN], 2.0 - way if directed else -1.0, scan, out[c])
        if rule == AUTO and known > 0:
            gain, known_weight, lost_weight = 0.0, 0.0, 0.0
            for t in range(n_targets):
                for part in range(2):
                    # The known cells and then all of them; the missing ones alone.
                    fenwick[:, :] = 0.0
                    totals[:] = 0.0
                    if part == 0:
                        for i in range(known):
                            e = order[j, i]
                            join(fenwick, totals, place[t, e], weight[e], targets[t, e])
                        known_weight = totals[0]
                        gain -= deviation(fenwick, totals, ranked[t])
                    join_missing(fenwick, totals, known, order[j], place[t], weight, targets[t])
                    cost = deviation(fenwick, totals, ranked[t])
                    gain += cost if part == 0 else -cost
                    lost_weight = totals[0]
            keep_known(gain * base[1], known_weight, lost_weight, limits, out[c])
