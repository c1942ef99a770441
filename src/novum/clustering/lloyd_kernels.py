"""Rows to their nearest centers: exact distances, and the bounds that make most of them needless.

Squared differences are added column after column in one order, so that every way to the nearest
center compares the same bits; of equally near centers the one of smaller number wins.

Which center is nearest is first asked in single precision, of a block of rows at a time:

    |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - x'c)

with x and c less an origin, in some unit. The bracket is wrong by at most
`(p + 8) 2^-23 (|x| + C) C`, where C is the length of the longest center. A center that leads by
more than twice as much is the nearest; otherwise all distances of the row are computed.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import fast_inner_kernel, inner_kernel, kernel

# A distance from bounds, which are rounded, must be beaten by more than their rounding.
SURE = 1.0 - 1e-12
# Rows whose bounds are looked at in one go.
CHUNK = 4096
# Rows of a block. Centers and columns are taken four at a time.
BLOCK = 128
FOUR = 4
# Twice the rounding of single precision, and lengths whose squares it may not hold.
EPSILON, TOO_LONG = 2.0**-23, 1e18


@inner_kernel()
def squares_to_centers(x, turned, out):
    """Squared distances of a row to all centers, which are given column by column."""
    k, p = out.size, x.size
    for j in range(k):
        out[j] = 0.0
    t = 0
    while t + 4 <= p:
        a, b, c, d = x[t], x[t + 1], x[t + 2], x[t + 3]
        u, v, w, z = turned[t], turned[t + 1], turned[t + 2], turned[t + 3]
        for j in range(k):
            s = out[j]
            s += (a - u[j]) * (a - u[j])
            s += (b - v[j]) * (b - v[j])
            s += (c - w[j]) * (c - w[j])
            s += (d - z[j]) * (d - z[j])
            out[j] = s
        t += 4
    while t < p:
        a, u = x[t], turned[t]
        for j in range(k):
            out[j] += (a - u[j]) * (a - u[j])
        t += 1


@inner_kernel()
def two_nearest(squares, bits):
    """The nearest center, its square, and the second smallest square.

    `bits` are those of the squares as whole numbers, whose order is the same and which are compared
    many at a time.
    """
    k = bits.size
    least = bits[0]
    for j in range(k):
        b = bits[j]
        least = b if b < least else least
    best = 0
    while bits[best] != least:
        best += 1
    first = squares[best]
    squares[best] = np.inf
    least = bits[0]
    for j in range(k):
        b = bits[j]
        least = b if b < least else least
    second = np.inf
    for j in range(k):
        if bits[j] == least:
            second = squares[j]
            break
    return best, first, second


@inner_kernel()
def square_apart(x, z):
    """The squared distance of two rows, by the same sums."""
    s = 0.0
    for t in range(x.size):
        s += (x[t] - z[t]) * (x[t] - z[t])
    return s


@kernel("void(float64[:, ::1], float64[:, ::1], int32[::1], float64[::1])")
def assign(X, turned, labels, squares):
    """The nearest center of every row, and the squared distance to it."""
    out = np.empty(turned.shape[1])
    bits = out.view(np.int64)
    for i in range(X.shape[0]):
        squares_to_centers(X[i], turned, out)
        best, first, _ = two_nearest(out, bits)
        labels[i], squares[i] = best, first


@kernel("void(float64[:, ::1], float64[:, ::1], int32[::1], float64[::1])")
def assign_partially(X, turned, labels, squares):
    """As `assign`, of rows with missing cells: what is known, scaled up to all columns.

    A row without a known cell is 0 apart from every center.
    """
    p, k = turned.shape
    out = np.empty(k)
    bits = out.view(np.int64)
    for i in range(X.shape[0]):
        n_known = 0
        for j in range(k):
            out[j] = 0.0
        for t in range(p):
            a, column = X[i, t], turned[t]
            if np.isnan(a):
                continue
            n_known += 1
            for j in range(k):
                out[j] += (a - column[j]) * (a - column[j])
        best, first, _ = two_nearest(out, bits)
        labels[i] = best
        squares[i] = first * p / n_known if n_known > 0 else 0.0


@kernel(
    "void(float64[:, ::1], float64[::1], float64[::1], int32[::1], float64[::1], float64[:, ::1])"
)
def add_rows(X, weights, origin, labels, counts, sums):
    """Adds weights and rows, less the origin, to the sums of their clusters."""
    for i in range(X.shape[0]):
        w, total = weights[i], sums[labels[i]]
        counts[labels[i]] += w
        for t in range(X.shape[1]):
            total[t] += w * (X[i, t] - origin[t])


@kernel(
    "void(float64[:, ::1], float64[::1], float64[::1], int32[::1], float64[::1], float64[:, ::1], "
    "float64[:, ::1])"
)
def add_cells(X, weights, origin, labels, counts, cells, sums):
    """As `add_rows`, of rows with missing cells; `cells` are the weights of known ones.

    The cells of a row count by how far its known part is scaled up.
    """
    p = X.shape[1]
    for i in range(X.shape[0]):
        n_known = 0
        for t in range(p):
            n_known += not np.isnan(X[i, t])
        counts[labels[i]] += weights[i]
        w = weights[i] * p / n_known if n_known > 0 else 0.0
        total, known = sums[labels[i]], cells[labels[i]]
        for t in range(p):
            if not np.isnan(X[i, t]):
                total[t] += w * (X[i, t] - origin[t])
                known[t] += w


@kernel("void(float64[:, ::1], float64[:, ::1], int32[::1], float64[::1])")
def own_squares(X, centers, labels, squares):
    """Squared distances of rows to the centers that they belong to."""
    for i in range(X.shape[0]):
        squares[i] = square_apart(X[i], centers[labels[i]])


# --- Blocks of rows in single precision -----------------------------------------------------------

# rows, the same moved and scaled, to whole fours of columns, and their lengths
ROWS = "Tuple((float64[:, ::1], float32[:, ::1], float64[::1]))"
# moved and scaled centers and half their squares, to whole fours; the length of the longest; unit
COARSE = "Tuple((float32[:, ::1], float64, float64))"


@kernel("void(float64[:, ::1], float64[::1], float64, float32[:, ::1], float64[::1])")
def fill_coarse(X, origin, unit, out, out_lengths):
    """Moves and scales rows; their lengths."""
    for i in range(X.shape[0]):
        total = 0.0
        for t in range(X.shape[1]):
            a = (X[i, t] - origin[t]) / unit
            out[i, t] = a
            total += a * a
        out_lengths[i] = np.sqrt(total)


@fast_inner_kernel()
def coarse_square_apart(z, c):
    """The squared distance of two rows in single precision."""
    s = np.float32(0.0)
    for t in range(z.size):
        s += (z[t] - c[t]) * (z[t] - c[t])
    return s


@inner_kernel()
def most_apart(square, length, longest, p):
    """What the distance of a row and a center is at most, from a coarse square."""
    return np.sqrt(square) * (1.0 + (p + 8) * EPSILON) + EPSILON * (length + longest) + 1e-18


@inner_kernel()
def bracket_error(length, longest, p):
    """How wrong a bracket is at most; exact squares, too, are rounded."""
    if not length + longest < TOO_LONG:
        return np.inf
    return (p + 8) * EPSILON * (length + longest) * longest + 2.0**-40 * length * length + 1e-36


@inner_kernel(allocates=True)
def new_block(p):
    """Cells column by column, brackets; the least and the next of each row, and which is least."""
    return (
        np.zeros(p * BLOCK, np.float32),
        np.empty(FOUR * BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.float32),
        np.empty(BLOCK, np.int32),
    )


@inner_kernel()
def place_row(z, at, cells):
    """Puts a row at a place of a block."""
    for t in range(z.size):
        cells[t * BLOCK + at] = z[t]


@fast_inner_kernel()
def four_brackets(cells, centers, j, out):
    """The brackets of four centers, from number j on, for a block (`benchmarks/clustering`)."""
    p = centers.shape[1] - 1
    a, b, c, d = centers[j], centers[j + 1], centers[j + 2], centers[j + 3]
    for i in range(BLOCK):
        out[i], out[BLOCK + i] = a[p], b[p]
        out[2 * BLOCK + i], out[3 * BLOCK + i] = c[p], d[p]
    for t in range(0, p, FOUR):
        a0, a1, a2, a3 = a[t], a[t + 1], a[t + 2], a[t + 3]
        b0, b1, b2, b3 = b[t], b[t + 1], b[t + 2], b[t + 3]
        c0, c1, c2, c3 = c[t], c[t + 1], c[t + 2], c[t + 3]
        d0, d1, d2, d3 = d[t], d[t + 1], d[t + 2], d[t + 3]
        x = cells[t * BLOCK : (t + FOUR) * BLOCK]
        for i in range(BLOCK):
            u, v, w, z = x[i], x[BLOCK + i], x[2 * BLOCK + i], x[3 * BLOCK + i]
            out[i] -= u * a0 + v * a1 + w * a2 + z * a3
            out[BLOCK + i] -= u * b0 + v * b1 + w * b2 + z * b3
            out[2 * BLOCK + i] -= u * c0 + v * c1 + w * c2 + z * c3
            out[3 * BLOCK + i] -= u * d0 + v * d1 + w * d2 + z * d3


@inner_kernel()
def two_least(block, centers):
    """The least and the next bracket of every row of a block, and the center of the least."""
    cells, brackets, least, following, best = block
    for i in range(BLOCK):
        least[i], following[i], best[i] = np.inf, np.inf, 0
    for j in range(0, centers.shape[0], FOUR):
        four_brackets(cells, centers, j, brackets)
        for c in range(FOUR):
            number, line = np.int32(j + c), brackets[c * BLOCK : (c + 1) * BLOCK]
            for i in range(BLOCK):
                a, first, second, center = line[i], least[i], following[i], best[i]
                is_less = a < first
                other = a if a < second else second
                following[i] = first if is_less else other
                best[i] = number if is_less else center
                least[i] = a if is_less else first


# --- Bounds ---------------------------------------------------------------------------------------

# centers, the same column by column, how far each moved, half the way to the nearest other one
CENTERS = "Tuple((float64[:, ::1], float64[:, ::1], float64[::1], float64[::1]))"
# labels (-1: none yet), bounds of the distances to the own center and to all others
BOUNDS = "Tuple((int32[::1], float64[::1], float64[::1]))"


@kernel(
    f"int64({ROWS}, float64[::1], float64[::1], {CENTERS}, {COARSE}, {BOUNDS}, "
    "float64[:, ::1], float64[:, ::1])"
)
def bounded_pass(rows, weights, origin, centers, coarse, bounds, counts, sums):
    """One pass by Hamerly's bounds; sums follow the rows that change. Returns how many do.

    A row stays where the bound of its distance to its own center is below that to any other, which
    holds by the triangle inequality: centers that move by d change a distance by d at most.
    `counts` are weights and numbers of the rows of each cluster.
    """
    X, Z, lengths = rows
    coarse_centers, longest, unit = coarse
    C, turned, moved, half = centers
    labels, upper, lower = bounds
    p, k = turned.shape
    out, doubtful, limits = np.empty(k), np.empty(CHUNK, np.int64), np.empty(CHUNK)
    bits = out.view(np.int64)
    block = new_block(Z.shape[1])
    cells, _, least, following, best = block
    far, farther = 0, 0.0
    for j in range(1, k):
        if moved[j] > moved[far]:
            far = j
    for j in range(k):
        if j != far:
            farther = max(farther, moved[j])
    changes = 0
    for start in range(0, X.shape[0], CHUNK):
        # Rows are listed and not branched on, so that many are on their way from memory at a time.
        n_doubtful = 0
        for i in range(start, min(start + CHUNK, X.shape[0])):
            own, limit = labels[i], 0.0
            if own >= 0:
                upper[i] += moved[own]
                lower[i] -= farther if own == far else moved[far]
                limit = max(lower[i], half[own]) * SURE
            doubtful[n_doubtful], limits[n_doubtful] = i, limit
            n_doubtful += not (upper[i] < limit)
        n_rows = 0
        for at in range(n_doubtful):
            i = doubtful[at]
            if labels[i] >= 0:
                square = coarse_square_apart(Z[i], coarse_centers[labels[i], : Z.shape[1]])
                upper[i] = unit * most_apart(square, lengths[i], longest, p)
            doubtful[n_rows] = i
            n_rows += not (upper[i] < limits[at])
        for first in range(0, n_rows, BLOCK):
            rows_of_block = doubtful[first : min(first + BLOCK, n_rows)]
            for at in range(rows_of_block.size):
                place_row(Z[rows_of_block[at]], at, cells)
            two_least(block, coarse_centers)
            for at in range(rows_of_block.size):
                row = rows_of_block[at]
                old, new = labels[row], np.int64(best[at])
                error = bracket_error(lengths[row], longest, p)
                if following[at] - least[at] > 2.0 * error:
                    second = max(lengths[row] ** 2 + 2.0 * (following[at] - error), 0.0)
                    lower[row] = np.sqrt(second) * unit
                    if new != old:
                        upper[row] = np.sqrt(square_apart(X[row], C[new]))
                else:
                    squares_to_centers(X[row], turned, out)
                    new, nearest, second = two_nearest(out, bits)
                    upper[row], lower[row] = np.sqrt(nearest), np.sqrt(second)
                if new == old:
                    continue
                changes += 1
                w = weights[row]
                labels[row] = new
                counts[0, new] += w
                counts[1, new] += 1.0
                total = sums[new]
                for t in range(p):
                    total[t] += w * (X[row, t] - origin[t])
                if old >= 0:
                    counts[0, old] -= w
                    counts[1, old] -= 1.0
                    gone = sums[old]
                    for t in range(p):
                        gone[t] -= w * (X[row, t] - origin[t])
    return changes
