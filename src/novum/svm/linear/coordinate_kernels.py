"""Compiled visits of dual coordinate descent, to dense and to compressed sparse rows.

A visit to row i minimizes the dual over its coefficient `a_i = c_i b_i` alone,

    a_i <- clip(soft(a_i - g / Q_i, zone / Q_i), lower_i, upper_i),     g = z_i'u + h_i a_i - q_i,

with `Q_i = |z_i|^2 + h_i`, and moves `u = Z'a` along. Visits follow each other, so they cannot be
done for many rows at once. What a visit needs to know of a row stands in one line of `rows`,

    q_i, h_i, lower_i, upper_i, Q_i,

since visits in random order wait for memory: of compressed rows, those that are visited next are
touched ahead, so that they are there in time (`benchmarks/svm/bench_linear.py`).

A row whose coefficient is at a bound, or at zero, and which the gradient keeps there by more than
`limit`, is marked by 0 in `out_keep`. `out_state` gathers the largest violation `|change| Q`; its
second cell is of no use but to keep the touches.
"""

from __future__ import annotations

from novum.numerics import fast_kernel, kernel

# Visits between touching a row and visiting it; cells and indices of a line of the cache.
AHEAD = 2
CELLS = 8
INDICES = 16


@kernel("float64(float64, float64, float64[:,::1], int64, float64)")
def best_coefficient(a, gradient, rows, i, zone):  # type: ignore[no-untyped-def]
    """The coefficient that minimizes the dual over one row."""
    x = a - gradient / rows[i, 4]
    width = zone / rows[i, 4]
    if x > width:
        x -= width
    elif x < -width:
        x += width
    else:
        x = 0.0
    if x < rows[i, 2]:
        return rows[i, 2]
    if x > rows[i, 3]:
        return rows[i, 3]
    return x


@kernel("float64(float64, float64, float64[:,::1], int64, float64)")
def hold(a, gradient, rows, i, zone):  # type: ignore[no-untyped-def]
    """By how much the gradient keeps a coefficient at its bound or at zero; 0 where it is free."""
    if a == 0.0:
        down = gradient + zone
        up = zone - gradient
        if rows[i, 3] <= 0.0:
            return up
        if rows[i, 2] >= 0.0:
            return down
        return down if down < up else up
    if a >= rows[i, 3]:
        return -gradient - zone
    if a <= rows[i, 2]:
        return gradient - zone
    return 0.0


# Sums may be reordered and fused: each visit ends in a rounding of its own, and the gap is summed
# elsewhere (`benchmarks/svm/bench_linear.py`).
@fast_kernel(
    "void(float64[::1], int32[::1], int64[::1], float64, float64[:,::1], float64, int64[::1], "
    "float64, float64[::1], float64[::1], uint8[::1], float64[::1])"
)
def sparse_visits(  # type: ignore[no-untyped-def]
    data, indices, starts, constant, rows, zone, order, limit, out_a, out_u, out_keep, out_state
):
    """Visit compressed rows in the order given."""
    last = out_u.size - 1
    n = order.size
    largest = out_state[0]
    touched = 0.0
    for k in range(n):
        later = order[min(k + AHEAD, n - 1)]
        touched += rows[later, 0] + out_a[later]
        for e in range(starts[later], starts[later + 1], CELLS):
            touched += data[e]
        for e in range(starts[later], starts[later + 1], INDICES):
            touched += indices[e]
        i = order[k]
        a = out_a[i]
        begin, end = starts[i], starts[i + 1]
        gradient = rows[i, 1] * a - rows[i, 0]
        if constant > 0.0:
            gradient += constant * out_u[last]
        for e in range(begin, end):
            gradient += data[e] * out_u[indices[e]]
        new = best_coefficient(a, gradient, rows, i, zone)
        change = new - a
        if change == 0.0:
            out_keep[k] = 0 if hold(a, gradient, rows, i, zone) > limit else 1
            continue
        out_keep[k] = 1
        largest = max(largest, abs(change) * rows[i, 4])
        out_a[i] = new
        for e in range(begin, end):
            out_u[indices[e]] += change * data[e]
        if constant > 0.0:
            out_u[last] += change * constant
    out_state[0] = largest
    out_state[1] = touched


@fast_kernel(
    "void(float64[:,::1], float64, float64[:,::1], float64, int64[::1], float64, float64[::1], "
    "float64[::1], uint8[::1], float64[::1])"
)
def dense_visits(  # type: ignore[no-untyped-def]
    X, constant, rows, zone, order, limit, out_a, out_u, out_keep, out_state
):
    """Visit dense rows in the order given."""
    d = X.shape[1]
    largest = out_state[0]
    for k in range(order.size):
        i = order[k]
        a = out_a[i]
        gradient = rows[i, 1] * a - rows[i, 0]
        if constant > 0.0:
            gradient += constant * out_u[d]
        for j in range(d):
            gradient += X[i, j] * out_u[j]
        new = best_coefficient(a, gradient, rows, i, zone)
        change = new - a
        if change == 0.0:
            out_keep[k] = 0 if hold(a, gradient, rows, i, zone) > limit else 1
            continue
        out_keep[k] = 1
        largest = max(largest, abs(change) * rows[i, 4])
        out_a[i] = new
        for j in range(d):
            out_u[j] += change * X[i, j]
        if constant > 0.0:
            out_u[d] += change * constant
    out_state[0] = largest
