"""Merging rows of numbers: the minimum spanning tree, and Ward's chain on centers.

Rows or centers lie in blocks, column by column, exactly and once more moved and scaled to [-1, 1]
and rounded to single precision. That changes the distance of two of them by at most
`e = p 2^-21`, so a cluster whose power of the distance is at most w has a coarse power of at most
`coarse_limit(w)`, and with weights, a rise of the sum of squares w of at most that with
`e sqrt(weight)`. Clusters beyond the limit are passed over; of all others the distance is computed
exactly, by the same sums as everywhere.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.clustering.merging_kernels import begun, least_of, powers_to
from novum.numerics import (
    coarse_limit,
    fast_inner_kernel,
    inner_kernel,
    kernel,
    lean_kernel,
    power_with,
)

# Slots of a block, whose columns stay in the nearest cache.
BLOCK = 128
# So many doubtful slots of a block are computed together with all others.
MANY = 8


@fast_inner_kernel()
def coarse_powers(z, cells, power, out):
    """Sums of powers in single precision, of a point to a block (`benchmarks/clustering`)."""
    p = z.size
    if power != 2.0:
        powers_to(cells, 0, BLOCK, z, power, out)
        return
    for t in range(BLOCK):
        out[t] = 0.0
    done = 0
    while done + 4 <= p:
        a, b, c, d = z[done], z[done + 1], z[done + 2], z[done + 3]
        u, v, w, y = cells[done], cells[done + 1], cells[done + 2], cells[done + 3]
        for t in range(BLOCK):
            s = (a - u[t]) * (a - u[t]) + (b - v[t]) * (b - v[t])
            out[t] += s + (c - w[t]) * (c - w[t]) + (d - y[t]) * (d - y[t])
        done += 4
    for j in range(done, p):
        a, u = z[j], cells[j]
        for t in range(BLOCK):
            out[t] += (a - u[t]) * (a - u[t])


@fast_inner_kernel()
def count_within(powers, limits):
    """How many slots of a block are within their limits."""
    count = np.float32(0.0)
    for t in range(BLOCK):
        count += np.float32(1.0) if powers[t] <= limits[t] else np.float32(0.0)
    return int(count)


@inner_kernel()
def power_to(x, cells, t, power):
    """The sum of powers of a point to a slot of a block, as `powers_to` has it."""
    total = 0.0
    for j in range(x.size):
        total = power_with(total, abs(x[j] - cells[j, t]), power)
    return total


@inner_kernel()
def least_of_block(bits):
    """The least of the bits of a block."""
    least = bits[0]
    for t in range(BLOCK):
        least = bits[t] if bits[t] < least else least
    return least


# cells of blocks, the same moved and scaled, where to, scale, the error of a coarse distance
BLOCKS = "Tuple((float64[:, :, ::1], float32[:, :, ::1], float64[::1], float64, float64))"
# a point, the same moved and scaled, powers and coarse powers of a block
SCRATCH = "Tuple((float64[::1], float32[::1], float64[::1], float32[::1]))"

# --- Single linkage -------------------------------------------------------------------------------

# row numbers, distances to the tree, their coarse limits, nearest in the tree, least of each block
OUTSIDE = "Tuple((int64[::1], float64[::1], float32[::1], int64[::1], float64[::1]))"


@lean_kernel(
    f"void({BLOCKS}, {OUTSIDE}, int64, int64, float64, {SCRATCH}, int64[::1], int64[:, ::1], "
    "float64[::1])"
)
def span(blocks, outside, n_outside, steps, power, scratch, state, edges, lengths):
    """Prim's algorithm for some steps; the point of `scratch` and `state` are the last row.

    Slots beyond `n_outside` are infinitely far, with limits below any power.
    """
    cells, coarse, _, scale, error = blocks
    rows, near, limits, inside, least = outside
    x, z, powers, out = scratch
    p = x.size
    bits, least_bits = near.view(np.int64), least.view(np.int64)
    # Of other powers the coarse ones cost as much.
    is_screened = power == 2.0 or power == 1.0 or np.isinf(power)
    for t in range(BLOCK):
        out[t] = 0.0
    for _ in range(steps):
        last = state[0]
        n_blocks = (n_outside + BLOCK - 1) // BLOCK
        for b in range(n_blocks):
            first, count = b * BLOCK, BLOCK
            own = limits[first : first + BLOCK]
            if is_screened:
                coarse_powers(z, coarse[b], power, out)
                count = count_within(out, own)
            if count == 0:
                continue
            if count > MANY:
                powers_to(cells[b], 0, BLOCK, x, power, powers)
            for t in range(BLOCK):
                if out[t] > own[t]:
                    continue
                length = powers[t] if count > MANY else power_to(x, cells[b], t, power)
                if length < near[first + t]:
                    near[first + t], inside[first + t] = length, last
                    own[t] = coarse_limit(length, power, scale, error, p)
                    least[b] = min(least[b], length)
        b = least_of(least_bits, n_blocks)
        at = least_of(bits[b * BLOCK :], BLOCK)
        t = b * BLOCK + at
        edge = state[1]
        edges[edge, 0], edges[edge, 1], lengths[edge] = inside[t], rows[t], near[t]
        state[0], state[1] = rows[t], edge + 1
        # The last row takes the place of the one that leaves.
        n_outside -= 1
        c, end = n_outside // BLOCK, n_outside % BLOCK
        for j in range(p):
            x[j], z[j] = cells[b, j, at], coarse[b, j, at]
            cells[b, j, at], coarse[b, j, at] = cells[c, j, end], coarse[c, j, end]
        rows[t], near[t], inside[t] = rows[n_outside], near[n_outside], inside[n_outside]
        limits[t] = limits[n_outside]
        near[n_outside], limits[n_outside] = np.inf, -1.0
        least_bits[b] = least_of_block(bits[b * BLOCK : (b + 1) * BLOCK])
        least_bits[c] = least_of_block(bits[c * BLOCK : (c + 1) * BLOCK])


# --- Ward's method on centers ---------------------------------------------------------------------

# weights (0: gone), the same in single precision, numbers of rows
CLUSTERS = "Tuple((float64[::1], float32[::1], int64[::1]))"
# as SCRATCH, with coarse rises of all blocks and the least of each
RISES = f"{SCRATCH[:-2]}, float32[:, ::1], float32[::1]))"


@inner_kernel()
def coarse_rises(size, sizes, out):
    """Coarse squares of a block as rises of the sum of squares; the bits of the least."""
    for t in range(BLOCK):
        other = sizes[t]
        rise = out[t] * (size * other / (size + other))
        out[t] = rise if other > 0 else np.float32(np.inf)
    return least_of_block(out.view(np.int32))


@kernel(f"void({BLOCKS}, {CLUSTERS}, int64, int64[::1], int64[::1])", vectorize=False)
def pack(blocks, clusters, n_slots, chain, state):
    """Moves clusters that are left to the front of the slots, in their order."""
    cells, coarse, _, _, _ = blocks
    sizes, coarse_sizes, rows = clusters
    numbers = np.empty(n_slots, np.int64)
    m = 0
    for t in range(n_slots):
        if sizes[t] == 0:
            continue
        b, at, c, to = t // BLOCK, t % BLOCK, m // BLOCK, m % BLOCK
        for j in range(cells.shape[1]):
            cells[c, j, to], coarse[c, j, to] = cells[b, j, at], coarse[b, j, at]
        sizes[m], coarse_sizes[m], rows[m], numbers[t] = sizes[t], sizes[t], rows[t], m
        m += 1
    sizes[m:n_slots], coarse_sizes[m:n_slots] = 0.0, 0.0
    for i in range(state[0]):
        chain[i] = numbers[chain[i]]


@lean_kernel(
    f"int64({BLOCKS}, {CLUSTERS}, int64, int64, int64, {RISES}, int64[::1], int64[::1], "
    "int64[:, ::1], float64[::1])"
)
def ward_chain(blocks, clusters, n_slots, left, budget, scratch, chain, state, merges, heights):
    """Merges of mutual nearest clusters by Ward's criterion, of centers alone.

    `state` is the length of the chain and the number of merges. Ends when an eighth of the
    clusters is gone, or after `budget` slots were looked at; returns how many are left.
    """
    cells, coarse, center, scale, error = blocks
    sizes, coarse_sizes, rows = clusters
    x, z, powers, _, rises, least = scratch
    p, n_blocks = x.size, (n_slots + BLOCK - 1) // BLOCK
    least_bits = least.view(np.int32)
    enough = (7 * left) // 8
    seen = 0
    while left > 1 and seen < budget and (left > enough or left < 64):
        seen += n_blocks * BLOCK
        length, done = begun(chain, state[0], sizes), state[1]
        tip = chain[length - 1]
        b, at = tip // BLOCK, tip % BLOCK
        for j in range(p):
            x[j], z[j] = cells[b, j, at], coarse[b, j, at]
        size = sizes[tip]
        # Not to be found itself.
        coarse_sizes[tip] = 0.0
        for c in range(n_blocks):
            coarse_powers(z, coarse[c], 2.0, rises[c])
            own = coarse_sizes[c * BLOCK : (c + 1) * BLOCK]
            least_bits[c] = coarse_rises(np.float32(size), own, rises[c])
        coarse_sizes[tip] = size
        c = least_of(least_bits, n_blocks)
        nearest = c * BLOCK + least_of(rises[c].view(np.int32), BLOCK)
        other = sizes[nearest]
        rise = power_to(x, cells[c], nearest % BLOCK, 2.0) * (size * other / (size + other))
        limit = coarse_limit(rise, 2.0, scale, error * np.sqrt(size), p)
        rise = np.inf
        for c in range(n_blocks):
            if least[c] > limit:
                continue
            own = sizes[c * BLOCK : (c + 1) * BLOCK]
            count = 0
            for t in range(BLOCK):
                count += rises[c, t] <= limit
            if count > MANY:
                powers_to(cells[c], 0, BLOCK, x, 2.0, powers)
            else:
                for t in range(BLOCK):
                    is_near = rises[c, t] <= limit
                    powers[t] = power_to(x, cells[c], t, 2.0) if is_near else 0.0
            for t in range(BLOCK):
                square = powers[t] * (size * own[t] / (size + own[t]))
                powers[t] = square if own[t] > 0 and rises[c, t] <= limit else np.inf
            if c == b:
                powers[at] = np.inf
            t = least_of(powers.view(np.int64), BLOCK)
            if powers[t] < rise:
                rise, nearest = powers[t], c * BLOCK + t
        if length > 1:
            before = chain[length - 2]
            other = sizes[before]
            square = power_to(x, cells[before // BLOCK], before % BLOCK, 2.0)
            square *= size * other / (size + other)
        if length > 1 and square <= rise:
            # The one before is nearest: of equals it must win, or the chain never ends.
            merges[done, 0], merges[done, 1], heights[done] = rows[tip], rows[before], square
            total = size + other
            c, t = before // BLOCK, before % BLOCK
            for j in range(p):
                # By the way to the larger one, so that equal centers stay where they are.
                cells[c, j, t] = x[j] + (cells[c, j, t] - x[j]) * (other / total)
                coarse[c, j, t] = (cells[c, j, t] - center[j]) / scale
            sizes[before], sizes[tip] = total, 0.0
            coarse_sizes[before], coarse_sizes[tip] = total, 0.0
            left -= 1
            state[0], state[1] = length - 2, done + 1
        else:
            chain[length] = nearest
            state[0] = length + 1
    return left
