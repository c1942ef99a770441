"""Walks over orders of the variables, compiled.

sums    (variables, sets of candidates): logarithms of the sums over all parents in a set
bits    (variable, other): place of the other among the variable's candidates, or -1
masks   of each variable, which of its candidates come before it
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel, kernel


@inner_kernel()
def masks_of(bits, order, out_masks):
    """Which candidates come before each variable."""
    d = order.size
    for i in range(d):
        v, mask = order[i], 0
        for j in range(i):
            bit = bits[v, order[j]]
            if bit >= 0:
                mask |= 1 << bit
        out_masks[v] = mask


@inner_kernel()
def relocate(sums, bits, order, masks, v, chance, power, rest, weights):
    """Draws a new place of one variable, given the order of the others; whether it moved.

    `power` flattens the distribution.
    """
    d, n, old = order.size, 0, 0
    for i in range(d):
        if order[i] == v:
            old = i
        else:
            rest[n] = order[i]
            n += 1
    # weights[p]: v after p of the others.
    behind = resummed(sums, bits, masks, v, rest, 0, n)
    weights[0] = behind + sums[v, 0]
    mask_v, top = 0, weights[0]
    for p in range(1, d):
        x = rest[p - 1]
        bit = bits[x, v]
        if bit >= 0:
            behind += sums[x, masks[x] & ~(1 << bit)] - sums[x, masks[x] | (1 << bit)]
        bit = bits[v, x]
        if bit >= 0:
            mask_v |= 1 << bit
        if not behind > -np.inf:
            # Required edges: infinities do not cancel.
            behind = resummed(sums, bits, masks, v, rest, p, n)
        weights[p] = behind + sums[v, mask_v]
        top = max(top, weights[p])
    if not top > -np.inf:
        return 0
    wanted = 0.0
    for p in range(d):
        wanted += math.exp(power * (weights[p] - top))
    wanted *= chance
    new = old
    for p in range(d):
        if weights[p] > -np.inf:
            new = p
            wanted -= math.exp(power * (weights[p] - top))
            if wanted < 0.0:
                break
    if new == old:
        return 0
    for p in range(n):
        order[p if p < new else p + 1] = rest[p]
    order[new] = v
    masks_of(bits, order, masks)
    return 1


@inner_kernel()
def resummed(sums, bits, masks, v, rest, p, n):
    """What the others add where v comes after p of them."""
    total = 0.0
    for j in range(n):
        x = rest[j]
        bit = bits[x, v]
        mask = masks[x]
        if bit >= 0:
            mask = mask & ~(1 << bit) if j < p else mask | (1 << bit)
        total += sums[x, mask]
    return total


@inner_kernel()
def order_log(sums, masks):
    total = 0.0
    for v in range(masks.size):
        total += sums[v, masks[v]]
    return total


@kernel(
    "void(float64[:, ::1], int64[:, ::1], int64[::1], float64[:, ::1], float64[::1], int64, int64, "
    "int64, float64[::1], int64[:, ::1], int64[::1])",
    vectorize=False,
)
def walk_orders(
    sums, bits, order, chances, powers, begin, end, thin, out_logs, out_orders, out_counters
):
    """Steps `begin` to `end`: one variable is moved, and two are exchanged where chance has it.

    `chances` has five uniform numbers for each step, `powers` what the distribution is raised to;
    it is the posterior where that is 1. Every `thin` steps order and log are kept.
    `out_counters`: variables that moved, exchanges that were accepted.
    """
    d = order.size
    masks, others = np.empty(d, np.int64), np.empty(d, np.int64)
    rest, weights = np.empty(d, np.int64), np.empty(d)
    changed = np.empty(d, np.int64)
    masks_of(bits, order, masks)
    log = order_log(sums, masks)
    for t in range(begin, end):
        v = order[min(int(chances[t, 0] * d), d - 1)]
        moved = relocate(sums, bits, order, masks, v, chances[t, 1], powers[t], rest, weights)
        out_counters[0] += moved
        log = order_log(sums, masks)
        i = min(int(chances[t, 2] * d), d - 1)
        j = min(int(chances[t, 3] * d), d - 1)
        if i != j:
            changed[:] = order
            changed[i], changed[j] = order[j], order[i]
            masks_of(bits, changed, others)
            proposed = order_log(sums, others)
            if proposed > -np.inf and math.log(chances[t, 4] + 1e-300) < powers[t] * (
                proposed - log
            ):
                order[:] = changed
                masks[:] = others
                log = proposed
                out_counters[1] += 1
        if (t + 1) % thin == 0:
            place = (t + 1) // thin - 1
            out_logs[place] = log
            out_orders[place] = order


@kernel("void(float64[:, ::1], int64[:, ::1], int64[:, ::1], float64[:, :, ::1])", vectorize=False)
def edge_chances(sums, bits, orders, out_chances):
    """P(parent -> child | order) of every order: one minus the share of sets without the parent."""
    d = orders.shape[1]
    masks = np.empty(d, np.int64)
    for r in range(orders.shape[0]):
        masks_of(bits, orders[r], masks)
        for child in range(d):
            for parent in range(d):
                bit = bits[child, parent]
                chance = 0.0
                if bit >= 0 and masks[child] >> bit & 1:
                    fewer = sums[child, masks[child] & ~(1 << bit)]
                    chance = -math.expm1(fewer - sums[child, masks[child]])
                out_chances[r, parent, child] = chance


@kernel(
    "void(float64[:, ::1], int64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], "
    "float64[::1], float64[:, ::1], int8[:, :, ::1])",
    vectorize=False,
)
def draw_graphs(sums, bits, members, orders, starts, sets, logs, chances, out_graphs):
    """A graph of every order; sets of parents of v are `sets[starts[v]:starts[v + 1]]`.

    `members` are the candidates of every variable.
    """
    d = orders.shape[1]
    masks = np.empty(d, np.int64)
    for r in range(orders.shape[0]):
        masks_of(bits, orders[r], masks)
        for v in range(d):
            wanted, chosen = chances[r, v], -1
            total = sums[v, masks[v]]
            for f in range(starts[v], starts[v + 1]):
                if sets[f] & ~masks[v] == 0:
                    chosen = sets[f]
                    wanted -= math.exp(logs[f] - total)
                    if wanted < 0.0:
                        break
            for bit in range(members.shape[1]):
                if chosen >= 0 and chosen >> bit & 1:
                    out_graphs[r, members[v, bit], v] = 1
