"""The nearest rows by a tree of boxes in single precision; what it cannot rule out is exact.

Rows, boxes and queries are moved and scaled to about [-1, 1] and rounded to single precision. That
changes the distance of a query x and a row, by any Minkowski distance of order r, by at most
`e = 2^-22 (|x|_1 + p)`. So a row whose power of the distance is at most w has a coarse power of at
most

    limit(w) = (w^(1/r) / scale + e)^r

up to the rounding of sums, and so has the box that it lies in. Boxes and rows beyond the limit of
the worst of the k best so far are passed over; of all others the distance is computed as everywhere
else. The first limit comes from the rows of the leaf at the query, before any is computed exactly.

Nodes are numbered from 1, so the descendants of node h that are b levels below are `h 2^b` and
those after it. Four levels are gone down at a time: 16 boxes lie column by column and are looked
at together.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import fast_inner_kernel, inner_kernel, kernel, lean_kernel
from novum.numerics.spatial.kd_tree_kernels import leaf_powers, power_with
from novum.numerics.spatial.nearest_kernels import (
    is_worse,
    place_of_worst,
    replace_worst,
    sort_kept,
)

# Levels that are gone down at a time, and boxes then: a vector of single precision.
LEVELS, GROUP = 4, 16
# Four times the rounding of single precision.
ROUNDING = 2.0**-22
# Powers below vanish in double and in single precision.
TINY, COARSE_TINY = 1e-290, 1e-37


@kernel("void(float64[::1], int64[::1], float64[::1], float64, float32[:, ::1])")
def fill_coarse(cells, starts, center, scale, out):
    """Moved and scaled cells, leaf by leaf, column by column; `starts` has those of the leaves."""
    p = center.size
    width = out.shape[1] // max(p, 1)
    for leaf in range(out.shape[0]):
        start = starts[leaf]
        m = starts[leaf + 1] - start
        for j in range(p):
            column, line = cells[start * p + j * m :], out[leaf, j * width :]
            for t in range(m):
                line[t] = (column[t] - center[j]) / scale


# --- Coarse powers --------------------------------------------------------------------------------


@inner_kernel()
def box_side(a, low, high):
    """How far a number is from an interval."""
    below, above = low - a, a - high
    side = below if below > above else above
    return side if side > 0.0 else np.float32(0.0)


@inner_kernel()
def box_powers(x, corners, power, out):
    """Powers of the distances of a point to a group of boxes."""
    n = corners.shape[2]
    for t in range(n):
        out[t] = 0.0
    for j in range(x.size):
        a, low, high = x[j], corners[0, j], corners[1, j]
        if power == 2.0:
            for t in range(n):
                side = box_side(a, low[t], high[t])
                out[t] += side * side
        elif power == 1.0:
            for t in range(n):
                out[t] += box_side(a, low[t], high[t])
        elif np.isinf(power):
            for t in range(n):
                side = box_side(a, low[t], high[t])
                out[t] = side if side > out[t] else out[t]
        else:
            for t in range(n):
                out[t] += box_side(a, low[t], high[t]) ** power


@fast_inner_kernel()
def coarse_powers(x, cells, n, power, out):
    """As `leaf_powers`, for squares two columns at a time (`benchmarks/neighbors`)."""
    if power != 2.0:
        leaf_powers(x, cells, n, power, out)
        return
    p = x.size
    for t in range(n):
        out[t] = 0.0
    for j in range(0, p - 1, 2):
        a, b = x[j], x[j + 1]
        u, v = cells[j * n : (j + 1) * n], cells[(j + 1) * n : (j + 2) * n]
        for t in range(n):
            out[t] += (a - u[t]) * (a - u[t]) + (b - v[t]) * (b - v[t])
    if p % 2 == 1:
        a, u = x[p - 1], cells[(p - 1) * n : p * n]
        for t in range(n):
            out[t] += (a - u[t]) * (a - u[t])


@inner_kernel()
def least_of(powers, n):
    """The least of the first n; the bits of numbers that are not negative are in their order."""
    bits = powers.view(np.int32)
    least = bits[0]
    for t in range(1, n):
        least = bits[t] if bits[t] < least else least
    return np.int32(least).view(np.float32)


@fast_inner_kernel()
def level_of(powers, n, width, rank):
    """A number that at least `rank` of n powers do not exceed, and few more; infinity if none.

    Powers from n to `width` are infinite.
    """
    if n < rank:
        return np.float32(np.inf)
    bits = powers.view(np.int32)
    most = bits[0]
    for t in range(1, n):
        most = bits[t] if bits[t] > most else most
    low, high = np.float32(0.0), np.int32(most).view(np.float32)
    for _ in range(10):
        middle = (low + high) * np.float32(0.5)
        count = np.float32(0.0)
        for t in range(width):
            count += np.float32(1.0) if powers[t] <= middle else np.float32(0.0)
        if count < rank:
            low = middle
        else:
            high = middle
            if count <= rank + 2:
                break
    return high


# --- Search ---------------------------------------------------------------------------------------


@inner_kernel()
def coarse_limit(worst, power, scale, error, p):
    """What the coarse power of a row is at most whose power is at most `worst`."""
    worst = max(worst, TINY)
    if power == 2.0:
        r = np.sqrt(worst)
    elif power == 1.0 or np.isinf(power):
        r = worst
    else:
        r = worst ** (1.0 / power)
    r = (r / scale + error) * (1.0 + ROUNDING)
    if power == 2.0:
        r = r * r
    elif not (power == 1.0 or np.isinf(power)):
        r = r**power
    return np.float32(r * (1.0 + (p + 8) * ROUNDING) + COARSE_TINY)


# coarse cells of leaves, corners of groups of boxes, center, scale, levels below the root at first
COARSE = "Tuple((float32[:, ::1], float32[:, :, :, ::1], float64[::1], float64, int64))"
# nodes to look at, bounds of their powers, a coarse query, coarse powers
SCRATCH = "Tuple((int64[::1], float32[::1], float32[::1], float32[::1]))"


@inner_kernel()
def first_limit(z, coarse, starts, rank, power, error, out):
    """A limit from the leaf that is reached when only the nearest box of a group is opened."""
    leaves, boxes, _, scale, first_levels = coarse
    n_leaves, p = leaves.shape[0], z.size
    node = 1
    while node < n_leaves:
        levels = first_levels if node == 1 else LEVELS
        first = node << levels
        box_powers(z, boxes[first // GROUP], power, out)
        node = first
        for child in range(first + 1, first + (1 << levels)):
            if out[child % GROUP] < out[node % GROUP]:
                node = child
    width = leaves.shape[1] // p
    coarse_powers(z, leaves[node - n_leaves], width, power, out)
    m = starts[node - n_leaves + 1] - starts[node - n_leaves]
    worst = level_of(out, m, width, rank) + COARSE_TINY
    # Coarse powers of two rows are compared here; and no limit is below that of equal rows.
    limit = coarse_limit(worst, power, 1.0, 2.0 * error, p)
    return max(limit, coarse_limit(0.0, power, scale, error, p))


@inner_kernel()
def exact_power(x, cells, n, t, power):
    """The power of the distance of a point to a row of a leaf, as everywhere else."""
    total = 0.0
    for j in range(x.size):
        total = power_with(total, abs(x[j] - cells[j * n + t]), power)
    return total


@lean_kernel(
    f"int64(float64[::1], int64[::1], int64[::1], {COARSE}, float64[:, ::1], int64[::1], float64, "
    f"float64[:, ::1], int64[:, ::1], {SCRATCH})"
)
def nearest(cells, order, starts, coarse, queries, own, power, near, places, scratch):
    """The k nearest rows of every query, the nearest first; how many rows were looked at.

    Cells are given leaf by leaf, as in `KDTree`; `starts` are those of the leaves.
    """
    stack, bounds, z, out = scratch
    leaves, boxes, center, scale, first_levels = coarse
    n_leaves, p, k = leaves.shape[0], queries.shape[1], near.shape[1]
    width = leaves.shape[1] // p
    at = place_of_worst(k)
    looked_at = 0
    for q in range(queries.shape[0]):
        x, heap, kept = queries[q], near[q], places[q]
        error = float(p)
        for j in range(p):
            z[j] = (x[j] - center[j]) / scale
            error += abs((x[j] - center[j]) / scale)
        error *= ROUNDING
        limit = first_limit(z, coarse, starts, k + (own[q] >= 0), power, error, out)
        stack[0], bounds[0] = 1, 0.0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if bounds[size] > limit:
                continue
            if node < n_leaves:
                levels = first_levels if node == 1 else LEVELS
                first = node << levels
                box_powers(z, boxes[first // GROUP], power, out)
                bottom = size
                for child in range(first, first + (1 << levels)):
                    bound = out[child % GROUP]
                    if bound > limit:
                        continue
                    # The nearest on top.
                    i = size
                    while i > bottom and bounds[i - 1] < bound:
                        stack[i], bounds[i] = stack[i - 1], bounds[i - 1]
                        i -= 1
                    stack[i], bounds[i] = child, bound
                    size += 1
                continue
            leaf = node - n_leaves
            start, stop = starts[leaf], starts[leaf + 1]
            m = stop - start
            looked_at += m
            coarse_powers(z, leaves[leaf], width, power, out)
            if least_of(out, width) > limit:
                continue
            for t in range(m):
                if out[t] > limit:
                    continue
                i = order[start + t]
                d = exact_power(x, cells[start * p : stop * p], m, t, power)
                if i != own[q] and is_worse(heap[at], kept[at], d, i):
                    replace_worst(d, i, heap, kept)
            limit = min(limit, coarse_limit(heap[at], power, scale, error, p))
        sort_kept(heap, kept)
    return looked_at
