"""Merging clusters: pairs and chains of nearest neighbors.

The least of many distances is found through their bits: of numbers that are not negative, the
order of the bits as whole numbers is the order of the numbers, and whole numbers are compared many
at a time.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel

COMPLETE, AVERAGE, WEIGHTED, WARD, CENTROID, MEDIAN = range(6)


@inner_kernel()
def least_of(bits, n):
    """The position of the least of the first `n` numbers, the first of equals."""
    least = bits[0]
    for t in range(n):
        b = bits[t]
        least = b if b < least else least
    for t in range(n):
        if bits[t] == least:
            return t
    return 0


# Rows taken at a time, whose sums stay in the nearest cache.
PIECE = 1024


@inner_kernel()
def powers_to(columns, first, n, x, power, out):
    """Sums of powers of the differences of a point to `n` rows from `first` on, by columns."""
    start = 0
    while start < n:
        m = min(PIECE, n - start)
        low, high = first + start, first + start + m
        piece = out[start : start + m]
        for t in range(m):
            piece[t] = 0.0
        done = 0
        # Four columns at a time: sums stay in registers, and are added in the same order.
        while power == 2.0 and done + 4 <= x.size:
            a, b, c, d = x[done], x[done + 1], x[done + 2], x[done + 3]
            u, v = columns[done, low:high], columns[done + 1, low:high]
            w, z = columns[done + 2, low:high], columns[done + 3, low:high]
            for t in range(m):
                s = piece[t]
                s += (a - u[t]) * (a - u[t])
                s += (b - v[t]) * (b - v[t])
                s += (c - w[t]) * (c - w[t])
                s += (d - z[t]) * (d - z[t])
                piece[t] = s
            done += 4
        for j in range(done, x.size):
            a, column = x[j], columns[j, low:high]
            if power == 2.0:
                for t in range(m):
                    piece[t] += (a - column[t]) * (a - column[t])
            elif power == 1.0:
                for t in range(m):
                    piece[t] += abs(a - column[t])
            elif np.isinf(power):
                for t in range(m):
                    d = abs(a - column[t])
                    piece[t] = d if d > piece[t] else piece[t]
            else:
                for t in range(m):
                    piece[t] += abs(a - column[t]) ** power
        start += m


# --- First merges ---------------------------------------------------------------------------------


@kernel("void(float64[:, ::1], int64, int64, float64, int64[::1], float64[::1], float64[::1])")
def nearest_rows(columns, first, last, power, later, ahead, nearest):
    """How far the nearest other row is, and the nearest later row; each pair is looked at once.

    For rows `first` to `last` and those after them, so that all rows are done after the last one.
    """
    p, n = columns.shape
    out, x = np.empty(n), np.empty(p)
    bits = out.view(np.int64)
    for i in range(first, last):
        m = n - i - 1
        for j in range(p):
            x[j] = columns[j, i]
        powers_to(columns, i + 1, m, x, power, out)
        own = nearest[i + 1 :]
        for t in range(m):
            own[t] = out[t] if out[t] < own[t] else own[t]
        if m > 0:
            t = least_of(bits, m)
            later[i], ahead[i] = i + 1 + t, out[t]
            nearest[i] = min(nearest[i], out[t])


@inner_kernel()
def powers_or_roots(columns, start, x, power, is_root, out):
    """Distances, or sums of powers, of a point to the rows from `start` on."""
    n = columns.shape[1] - start
    powers_to(columns, start, n, x, power, out)
    if is_root:
        for t in range(n):
            out[t] = np.sqrt(out[t])


@kernel(
    "void(float64[:, ::1], int64, int64, int64, int64, float64, boolean, float64[:, ::1], "
    "float64[::1])"
)
def pair_distances(columns, n_pairs, first, last, method, power, is_root, matrix, heights):
    """How far clusters `first` to `last` are from all: pairs of rows side by side, then rows.

    Each two clusters are compared once, and the other half of the matrix is as in a mirror.
    """
    p, n = columns.shape
    m = n - n_pairs
    out, other, x = np.empty(n), np.empty(n), np.empty(p)
    for c in range(first, last):
        row = matrix[c]
        start = 2 * c if c < n_pairs else c + n_pairs
        for j in range(p):
            x[j] = columns[j, start]
        powers_or_roots(columns, start, x, power, is_root, out)
        if c < n_pairs:
            heights[c] = out[1]
            for j in range(p):
                x[j] = columns[j, start + 1]
            powers_or_roots(columns, start, x, power, is_root, other)
            for t in range(n - start):
                if method == COMPLETE:
                    out[t] = other[t] if other[t] > out[t] else out[t]
                else:
                    out[t] = 0.5 * (out[t] + other[t])
        # Both rows of the pairs from here on, then the rows that are alone.
        left = max(n_pairs - c, 0)
        if method == COMPLETE:
            for t in range(left):
                row[c + t] = max(out[2 * t], out[2 * t + 1])
        else:
            for t in range(left):
                row[c + t] = 0.5 * (out[2 * t] + out[2 * t + 1])
        for t in range(c + left, m):
            row[t] = out[t + n_pairs - start]
    # Tiles, whose lines stay in the nearest cache while they are turned.
    for corner in range(first, m, 8):
        for t in range(corner, min(corner + 8, m)):
            line = matrix[t]
            for c in range(first, min(last, t)):
                line[c] = matrix[c, t]


# --- Any distances, as a matrix -------------------------------------------------------------------


@inner_kernel()
def begun(chain, length, sizes):
    """The length of a chain, which begins with the first cluster that is left."""
    if length > 0:
        return length
    tip = 0
    while sizes[tip] == 0:
        tip += 1
    chain[0] = tip
    return 1


@inner_kernel()
def merged_distance(method, a, b, between, size_a, size_b, size_c):
    """The formula of Lance and Williams: how far a cluster c is from the union of a and b."""
    if method == COMPLETE:
        return max(a, b)
    if method == AVERAGE:
        return (size_a * a + size_b * b) / (size_a + size_b)
    if method == WEIGHTED:
        return 0.5 * (a + b)
    if method == WARD:
        total = size_a + size_b + size_c
        return ((size_a + size_c) * a + (size_b + size_c) * b - size_c * between) / total
    if method == CENTROID:
        total = size_a + size_b
        return (size_a * a + size_b * b) / total - size_a * size_b * between / (total * total)
    return 0.5 * (a + b) - 0.25 * between


@kernel(
    "int64(float64[::1], int64, int64, int64, float64[::1], int64[::1], int64[:, ::1], "
    "int64[::1], int64[::1], int64[:, ::1], float64[::1])"
)
def matrix_chain(D, n_slots, method, budget, sizes, rows, times, chain, state, merges, heights):
    """Merges of mutual nearest clusters of a matrix, of which only rows are kept up to date.

    A merge writes the row of the union; `times` has when each row was written (0) and last looked
    at (1), so that whoever looks at an older row takes over what is newer. A cluster that is
    infinitely far from all others is left out. Otherwise as `ward_chain`.
    """
    left = 0
    for t in range(n_slots):
        left += sizes[t] > 0
    enough = (3 * left) // 5
    seen = 0
    while left > 1 and seen < budget and (left > enough or left < 64):
        seen += n_slots
        length, done = begun(chain, state[0], sizes), state[1]
        tip = chain[length - 1]
        row = D[tip * n_slots : (tip + 1) * n_slots]
        for t in range(n_slots):
            if times[0, t] > times[1, tip]:
                row[t] = D[t * n_slots + tip] if sizes[t] > 0 else np.inf
        times[1, tip] = done
        row[tip] = np.inf
        nearest = least_of(row.view(np.int64), n_slots)
        if row[nearest] == np.inf:
            # Never again: merging brings no two clusters nearer.
            sizes[tip], state[0] = 0.0, 0
            left -= 1
            continue
        if not (length > 1 and row[chain[length - 2]] <= row[nearest]):
            chain[length] = nearest
            state[0] = length + 1
            continue
        other = chain[length - 2]
        line = D[other * n_slots : (other + 1) * n_slots]
        for t in range(n_slots):
            if times[0, t] > times[1, other]:
                line[t] = D[t * n_slots + other] if sizes[t] > 0 else np.inf
        between = row[other]
        merges[done, 0], merges[done, 1], heights[done] = rows[tip], rows[other], between
        size_a, size_b = sizes[tip], sizes[other]
        sizes[tip] = 0.0
        for t in range(n_slots):
            if sizes[t] > 0:
                line[t] = merged_distance(
                    method, row[t], line[t], between, size_a, size_b, sizes[t]
                )
            else:
                line[t] = np.inf
        line[other] = np.inf
        sizes[other] = size_a + size_b
        times[0, other] = times[1, other] = done + 1
        # Whoever looks next must not see the one that is gone.
        times[0, tip] = done + 1
        left -= 1
        state[0], state[1] = length - 2, done + 1
    return left


@kernel("void(float64[::1], int64, int64[::1], float64[::1], int64[:, ::1])")
def compact(D, n_slots, kept, sizes, times):
    """Moves the rows and columns of `kept` slots together, at the front of the matrix."""
    m = kept.size
    for i in range(m):
        a = kept[i]
        for t in range(n_slots):
            if times[0, t] > times[1, a] and sizes[t] > 0:
                D[a * n_slots + t] = D[t * n_slots + a]
        D[a * n_slots + a] = np.inf
    for i in range(m):
        for j in range(m):
            D[i * m + j] = D[kept[i] * n_slots + kept[j]]


@kernel(
    "void(float64[:, ::1], int64, int64, float64[::1], int64[::1], float64[::1], int64[::1], "
    "int64[::1], int64[:, ::1], float64[::1])"
)
def greedy_merges(D, method, steps, sizes, near, nearest, rows, state, merges, heights):
    """Merges of the nearest two clusters, some steps of them; for criteria whose heights may fall.

    Ends where all that are left are infinitely far apart.

    `near` and `nearest` have, for every slot, the nearest slot of larger number and its distance.
    """
    n = sizes.size
    for _ in range(steps):
        done = state[0]
        a = 0
        for t in range(n):
            if nearest[t] < nearest[a]:
                a = t
        if nearest[a] == np.inf:
            return
        b = near[a]
        between = D[a, b]
        merges[done, 0], merges[done, 1], heights[done] = rows[a], rows[b], between
        size_a, size_b = sizes[a], sizes[b]
        for t in range(n):
            if sizes[t] > 0 and t != a and t != b:
                d = merged_distance(method, D[a, t], D[b, t], between, size_a, size_b, sizes[t])
                D[b, t] = D[t, b] = d
        sizes[a], sizes[b] = 0.0, size_a + size_b
        nearest[a] = np.inf
        rows[b] = sizes.size + done
        state[0] = done + 1
        for t in range(n):
            if sizes[t] == 0:
                continue
            if t == b or near[t] == a or near[t] == b:
                near[t], nearest[t] = t, np.inf
                for s in range(t + 1, n):
                    if sizes[s] > 0 and D[t, s] < nearest[t]:
                        near[t], nearest[t] = s, D[t, s]
            elif t < b and D[t, b] < nearest[t]:
                near[t], nearest[t] = b, D[t, b]


@kernel("void(int64[:, ::1], int64[::1], int64[::1], float64[:, ::1])", vectorize=False)
def name_clusters(merges, parent, names, Z):
    """Merges of rows as those of clusters, by SciPy's numbers: n + i is made by merge i."""
    n = names.size
    for i in range(merges.shape[0]):
        a, b = merges[i, 0], merges[i, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        first, second = min(names[a], names[b]), max(names[a], names[b])
        size = (Z[first - n, 3] if first >= n else 1.0) + (Z[second - n, 3] if second >= n else 1.0)
        Z[i, 0], Z[i, 1], Z[i, 3] = first, second, size
        parent[a] = b
        names[b] = n + i
