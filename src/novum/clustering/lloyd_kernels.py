"""Rows to their nearest centers: exact distances, and the bounds that make most of them needless.

Squared differences are added column after column in one order, so that every way to the nearest
center compares the same bits; of equally near centers the one of smaller number wins.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel

# A distance from bounds, which are rounded, must be beaten by more than their rounding.
SURE = 1.0 - 1e-12


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


# centers, the same column by column, how far each moved, half the way to the nearest other one
CENTERS = "Tuple((float64[:, ::1], float64[:, ::1], float64[::1], float64[::1]))"
# labels (-1: none yet), bounds of the distances to the own center and to all others
BOUNDS = "Tuple((int32[::1], float64[::1], float64[::1]))"


@kernel(
    f"int64(float64[:, ::1], float64[::1], float64[::1], {CENTERS}, {BOUNDS}, float64[:, ::1], "
    "float64[:, ::1])"
)
def bounded_pass(X, weights, origin, centers, bounds, counts, sums):
    """One pass by Hamerly's bounds; sums follow the rows that change. Returns how many do.

    A row stays where the bound of its distance to its own center is below that to any other, which
    holds by the triangle inequality: centers that move by d change a distance by d at most.
    `counts` are weights and numbers of the rows of each cluster.
    """
    C, turned, moved, half = centers
    labels, upper, lower = bounds
    p, k = turned.shape
    out = np.empty(k)
    bits = out.view(np.int64)
    far, farther = 0, 0.0
    for j in range(1, k):
        if moved[j] > moved[far]:
            far = j
    for j in range(k):
        if j != far:
            farther = max(farther, moved[j])
    changes = 0
    for i in range(X.shape[0]):
        old = labels[i]
        if old >= 0:
            u = upper[i] + moved[old]
            lower[i] -= farther if old == far else moved[far]
            limit = max(lower[i], half[old]) * SURE
            if u < limit:
                upper[i] = u
                continue
            upper[i] = np.sqrt(square_apart(X[i], C[old]))
            if upper[i] < limit:
                continue
        squares_to_centers(X[i], turned, out)
        best, first, second = two_nearest(out, bits)
        upper[i], lower[i] = np.sqrt(first), np.sqrt(second)
        if best == old:
            continue
        changes += 1
        w = weights[i]
        labels[i] = best
        counts[0, best] += w
        counts[1, best] += 1.0
        new = sums[best]
        for t in range(p):
            new[t] += w * (X[i, t] - origin[t])
        if old >= 0:
            counts[0, old] -= w
            counts[1, old] -= 1.0
            gone = sums[old]
            for t in range(p):
                gone[t] -= w * (X[i, t] - origin[t])
    return changes
