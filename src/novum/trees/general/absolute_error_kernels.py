"""Compiled search of thresholds by absolute error.

The cost of a branch is `sum_i w_i |y_i - median|`. Entries join a branch one after the other, and a
Fenwick tree over the ranks of the targets, with weights and weighted targets, gives the median and
the cost of what has joined in `O(log m)`: one pass from below, one from above.
"""

from __future__ import annotations

import math

import numpy as np

from novum.numerics.jit import kernel
from novum.trees.general.exact_table import GAIN, MARGIN, MISSING_RULE, RESOLUTION, TOWARDS
from novum.trees.general.growing_kernels import best_cut, keep, keep_known


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
    base, found = np.empty(3), np.empty(6)
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
        rule = limits[MISSING_RULE] if known < m else 0.0
        # Missing cells left out, in the upper branch, in the lower one.
        for way in range(1 if rule == 1.0 else 0, 1 if rule == 0.0 else 3):
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
            found[GAIN] = -np.inf
            tried = best_cut(
                keys, scores, below, known, both, base, limits, fractions[c], state, found
            )
            keep(tried, both, limits[MARGIN], 2.0 - way if directed else -1.0, found, out[c])
        if rule == 2.0 and known > 0:
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
