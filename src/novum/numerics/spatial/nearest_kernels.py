"""The k nearest so far; of equal distances the smaller row number wins.

Few are kept sorted, the nearest first; many as a heap, the worst on top. Which rows are kept
depends on distances and row numbers alone, so the order in which rows are looked at, and how they
are parted, change nothing.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import inner_kernel, kernel

# Up to so many are kept sorted: moving a few along costs less than a heap.
FEW_KEPT = 32


@inner_kernel()
def is_worse(d, i, other_d, other_i):
    """Whether a row comes after another."""
    return d > other_d or (d == other_d and i > other_i)


@inner_kernel()
def place_of_worst(k):
    """Where the worst of k is."""
    return k - 1 if k <= FEW_KEPT else 0


@inner_kernel()
def replace_worst(d, i, near, rows):
    """Takes a row in, and lets the worst go."""
    if near.size > FEW_KEPT:
        sink(d, i, near, rows)
        return
    at = near.size - 1
    while at > 0 and is_worse(near[at - 1], rows[at - 1], d, i):
        near[at], rows[at] = near[at - 1], rows[at - 1]
        at -= 1
    near[at], rows[at] = d, i


@inner_kernel()
def sink(d, i, near, rows):
    """Puts a row on top of a heap, and lets it sink."""
    k = near.size
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        if child + 1 < k and is_worse(near[child + 1], rows[child + 1], near[child], rows[child]):
            child += 1
        if not is_worse(near[child], rows[child], d, i):
            break
        near[at], rows[at] = near[child], rows[child]
        at = child
    near[at], rows[at] = d, i


@inner_kernel()
def sort_kept(near, rows):
    """The nearest first."""
    k = near.size
    if k <= FEW_KEPT:
        return
    for last in range(k - 1, 0, -1):
        d, i = near[last], rows[last]
        near[last], rows[last] = near[0], rows[0]
        sink(d, i, near[:last], rows[:last])


@kernel("void(float64[:, ::1], int64, int64[::1], float64[:, ::1], int64[:, ::1])")
def keep_nearest(powers, first, own, near, rows):
    """Takes a block of distances, of all queries to the rows from `first` on, into the heaps.

    A query that is a row itself names it in `own` and does not meet itself; -1 is none.
    """
    at = place_of_worst(near.shape[1])
    for q in range(powers.shape[0]):
        heap, places, block = near[q], rows[q], powers[q]
        worst = heap[at]
        for t in range(block.size):
            # Row numbers rise, so an equal distance never replaces an earlier row.
            if block[t] < worst and first + t != own[q]:
                replace_worst(block[t], first + t, heap, places)
                worst = heap[at]


@kernel("void(float64[:, ::1], int64[:, ::1])")
def sort_nearest(near, rows):
    """Sorts every heap, the nearest first."""
    for q in range(near.shape[0]):
        sort_kept(near[q], rows[q])


@inner_kernel()
def squared_apart(x, z, worst):
    """Sum of squared differences in the order of the columns; any number above `worst` may do."""
    total = 0.0
    for j in range(x.size):
        total += (x[j] - z[j]) * (x[j] - z[j])
        if total > worst:
            break
    return total


SCREEN = (
    "void(float32[:, ::1], int64, Tuple((float64[::1], float64[::1], float64)), float64[:, ::1], "
    "float64[:, ::1], int64[::1], float64[:, ::1], int64[:, ::1])"
)
# Products that are compared before anything is done about them.
GROUP = 64


@kernel(SCREEN)
def screen_nearest(products, first, bounds, queries, rows, own, near, places):
    """Takes a tile of products, with the rows from `first` on, into the heaps of the nearest.

    A squared distance over `scale` is `norms[q] - 2 products[q, t]`, up to `2 errors[q]`. What that
    does not show to be farther than the worst of a heap is computed exactly.
    """
    norms, errors, scale = bounds
    m, n = products.shape
    at = place_of_worst(near.shape[1])
    for q in range(m):
        heap, kept = near[q], places[q]
        limit = np.float32(0.5 * (norms[q] - heap[at] / scale) - errors[q])
        for start in range(0, n, GROUP):
            block = products[q, start : start + GROUP]
            hits = 0
            for t in range(block.size):
                hits |= not (block[t] < limit)
            if hits == 0:
                continue
            for t in range(block.size):
                if not (block[t] < limit):
                    i = first + start + t
                    d = squared_apart(queries[q], rows[i], heap[at])
                    if i != own[q] and is_worse(heap[at], kept[at], d, i):
                        replace_worst(d, i, heap, kept)
                        limit = np.float32(0.5 * (norms[q] - heap[at] / scale) - errors[q])


FEW = "void(float64[:, ::1], float64[:, ::1], int64[::1], float64, float64[:, ::1], int64[:, ::1])"


@kernel(FEW)
def nearest_of_few(rows, queries, own, power, near, places):
    """The nearest of few rows to few queries, the nearest first: one short call."""
    at = place_of_worst(near.shape[1])
    for q in range(queries.shape[0]):
        x, heap, kept = queries[q], near[q], places[q]
        for i in range(rows.shape[0]):
            z = rows[i]
            total = 0.0
            if power == 2.0:
                for j in range(x.size):
                    total += (x[j] - z[j]) * (x[j] - z[j])
            elif power == 1.0:
                for j in range(x.size):
                    total += abs(x[j] - z[j])
            elif np.isinf(power):
                for j in range(x.size):
                    total = max(total, abs(x[j] - z[j]))
            else:
                for j in range(x.size):
                    total += abs(x[j] - z[j]) ** power
            if i != own[q] and is_worse(heap[at], kept[at], total, i):
                replace_worst(total, i, heap, kept)
        sort_kept(heap, kept)
