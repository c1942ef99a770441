"""Compiled steps of sequential minimal optimization on a block of variables.

A step takes the variable `i` that can rise and has the least gradient, and of those that can fall
the `j` that promises most by the second-order model (Fan, Chen and Lin 2005),

    gain_j = (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij),

and moves `b_i` up and `b_j` down by `(f_j - f_i) / curvature`, as far as the bounds allow. Each
step is two passes over the block: update the gradient and find `i`; find `j`.

Minima of floating-point numbers are not vectorized, minima of integers are. The bits of a float,
with all but the sign turned over where it is negative, are an integer in the same order (`_key`;
for gains, which are not negative, the bits themselves); a second pass finds where the extreme is.
Offsets of `-inf` and `inf` take variables at their bounds out of a search without a branch.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import fast_kernel, kernel

# Columns of the gradient that are updated by many rows while they stay in the first-level cache.
_COLUMNS = 2048


@kernel("int32(float32)")
def _bits(value):  # type: ignore[no-untyped-def]
    return np.float32(value).view(np.int32)


@kernel("float32(int32)")
def _of_bits(bits):  # type: ignore[no-untyped-def]
    return np.int32(bits).view(np.float32)


@kernel("int32(float32)")
def _key(value):  # type: ignore[no-untyped-def]
    bits = _bits(value)
    return np.int32(bits ^ (np.int32(bits >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@kernel("float32(int32)")
def _of_key(key):  # type: ignore[no-untyped-def]
    return _of_bits(np.int32(key ^ (np.int32(key >> np.int32(31)) & np.int32(0x7FFFFFFF))))


@fast_kernel(
    "int64(float32[:,::1], float32[:,::1], float64[:,::1], int64[::1], float64, float64, int64)"
)
def block_steps(K, out_work, out_bounds, starts, tau, tol, max_steps):  # type: ignore[no-untyped-def]
    """Steps within each group of a block until none violates by more than `tol`; their number.

    `out_work` has the rows gradient, offset of risers (0 or inf), offset of fallers (0 or -inf),
    diagonal and scratch; `out_bounds` the coefficients, lower and upper bounds. Group `g` lies
    between `starts[g]` and `starts[g + 1]`. Curvatures below `tau (K_ii + K_jj)` count as that.
    """
    f = out_work[0]
    up = out_work[1]
    low = out_work[2]
    diagonal = out_work[3]
    gains = out_work[4]
    b = out_bounds[0]
    i = 0
    j = 0
    step_i = np.float32(0.0)
    step_j = np.float32(0.0)
    for step in range(max_steps + 1):
        worst = -np.inf
        worst_key = np.int32(0)
        group = 0
        row_i = K[i]
        row_j = K[j]
        for s in range(starts.size - 1):
            least = np.int32(0x7FFFFFFF)
            largest = np.int32(-0x7FFFFFFF)
            o = np.uint64(starts[s])
            for t in range(starts[s + 1] - starts[s]):
                k = o + np.uint64(t)
                value = f[k] + (step_i * row_i[k] + step_j * row_j[k])
                f[k] = value
                rising = _key(value + up[k])
                falling = _key(value + low[k])
                least = rising if rising < least else least
                largest = falling if falling > largest else largest
            violation = np.float64(_of_key(largest)) - np.float64(_of_key(least))
            if violation > worst:
                worst = violation
                worst_key = least
                group = s
        if not worst > tol or step == max_steps:
            return step
        o = np.uint64(starts[group])
        size = starts[group + 1] - starts[group]
        f_i = _of_key(worst_key)
        place = size
        for t in range(size):
            k = o + np.uint64(t)
            there = t if f[k] + up[k] == f_i else size
            place = there if there < place else place
        i = starts[group] + place
        k_i = diagonal[i]
        row_i = K[i]
        best = np.int32(-1)
        floor = np.float32(tau)
        for t in range(size):
            k = o + np.uint64(t)
            excess = (f[k] + low[k]) - f_i
            total = k_i + diagonal[k]
            curvature = total - np.float32(2.0) * row_i[k]
            curvature = max(curvature, floor * total + np.float32(1e-30))
            gain = excess * excess / curvature
            gain = gain if excess > np.float32(0.0) else np.float32(0.0)
            gains[k] = gain
            bits = _bits(gain)
            best = bits if bits > best else best
        top = _of_bits(best)
        place = size
        for t in range(size):
            k = o + np.uint64(t)
            there = t if gains[k] == top else size
            place = there if there < place else place
        j = starts[group] + place
        total = np.float64(k_i) + np.float64(diagonal[j])
        curvature64 = max(total - 2.0 * np.float64(K[i, j]), tau * total + 1e-30)
        wanted = (np.float64(f[j]) - np.float64(f_i)) / curvature64
        rise = out_bounds[2, i] - b[i]
        fall = b[j] - out_bounds[1, j]
        move = min(wanted, rise, fall)
        # A bound that is reached is met exactly, so that masks and counts can compare for equality.
        b[i] = out_bounds[2, i] if move >= rise else b[i] + move
        b[j] = out_bounds[1, j] if move >= fall else b[j] - move
        up[i] = np.float32(np.inf) if b[i] >= out_bounds[2, i] else np.float32(0.0)
        low[i] = np.float32(0.0) if b[i] > out_bounds[1, i] else np.float32(-np.inf)
        up[j] = np.float32(0.0) if b[j] < out_bounds[2, j] else np.float32(np.inf)
        low[j] = np.float32(-np.inf) if b[j] <= out_bounds[1, j] else np.float32(0.0)
        step_i = np.float32(move)
        step_j = np.float32(-move)
    return max_steps


@kernel(
    "void(float32[:,::1], int64[::1], int64[::1], float32, float32[:,::1], int64[::1], "
    "float32[:,::1])"
)
def gather_block(rows, slots, columns, factor, before, places, out_block):  # type: ignore[no-untyped-def]
    """`out_block[a, c] = factor rows[slots[a], columns[c]]`, symmetric.

    What was in the block before, at `places` (or -1), is copied from there: whole rows of the cache
    pass through memory to be gathered from.
    """
    for a in range(slots.size):
        if places[a] >= 0:
            old = before[places[a]]
            for c in range(slots.size):
                if places[c] >= 0:
                    out_block[a, c] = old[places[c]]
        else:
            row = rows[slots[a]]
            for c in range(slots.size):
                out_block[a, c] = factor * row[np.uint64(columns[c])]
    for a in range(slots.size):
        if places[a] >= 0:
            for c in range(slots.size):
                if places[c] < 0:
                    out_block[a, c] = out_block[c, a]


@fast_kernel("void(float32[:,::1], int64[::1], float64[::1], float64[::1])")
def add_rows(rows, slots, amounts, out_F):  # type: ignore[no-untyped-def]
    """`out_F += sum_r amounts[r] rows[slots[r]]`, summed in double precision."""
    n = out_F.size
    quads = slots.size // 4
    for start in range(0, n, _COLUMNS):
        o = np.uint64(start)
        width = min(_COLUMNS, n - start)
        for quad in range(quads):
            r = 4 * quad
            first = rows[slots[r]]
            second = rows[slots[r + 1]]
            third = rows[slots[r + 2]]
            fourth = rows[slots[r + 3]]
            for t in range(width):
                k = o + np.uint64(t)
                pair = amounts[r] * first[k] + amounts[r + 1] * second[k]
                out_F[k] += pair + (amounts[r + 2] * third[k] + amounts[r + 3] * fourth[k])
        for r in range(4 * quads, slots.size):
            last = rows[slots[r]]
            for t in range(width):
                k = o + np.uint64(t)
                out_F[k] += amounts[r] * last[k]
