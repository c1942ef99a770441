"""Compiled visits of the perceptron, to dense and to compressed sparse rows.

A visit corrects the weights if the row lies on the wrong side, so visits follow each other and
cannot be done for many rows at once: NumPy needs 3 microseconds for each, a kernel 20 nanoseconds.
What a visit does is told in `perceptron.training`, whose plain path these kernels must agree with.

`out_state` holds the mistakes, the weight visited, the weight visited since the last mistake, the
longest such run so far, and the error of the pocket.
"""

from __future__ import annotations

import math

from novum.numerics import kernel

# --- One row --------------------------------------------------------------------------------------


@kernel("float64(float64, float64, float64)")
def repeated_step(margin, square, weight):  # type: ignore[no-untyped-def]
    """How far a row of this margin, `margin <= 0`, moves the weights in `weight` visits.

    Each visit adds 1 while the row is wrong, the last one the part of a visit that is left.
    """
    whole = math.floor(weight)
    needed = math.floor(-margin / square) + 1.0 if square > 0.0 else whole
    if needed <= whole:
        return needed
    return weight


@kernel("float64(float64[:,::1], int64, float64, float64[::1])")
def dense_score(X, i, constant, w):  # type: ignore[no-untyped-def]
    # Four sums side by side: one sum waits four cycles for each addition.
    d = X.shape[1]
    a = constant * w[d]
    b = 0.0
    c = 0.0
    e = 0.0
    for k in range(d // 4):
        j = 4 * k
        a += X[i, j] * w[j]
        b += X[i, j + 1] * w[j + 1]
        c += X[i, j + 2] * w[j + 2]
        e += X[i, j + 3] * w[j + 3]
    for k in range(d % 4):
        j = d - 1 - k
        a += X[i, j] * w[j]
    return (a + b) + (c + e)


@kernel("float64(float64[::1], int64[::1], int64[::1], int64, float64, float64[::1])")
def sparse_score(data, indices, starts, i, constant, w):  # type: ignore[no-untyped-def]
    score = constant * w[w.size - 1]
    for e in range(starts[i], starts[i + 1]):
        score += data[e] * w[indices[e]]
    return score


# --- Errors of all rows ---------------------------------------------------------------------------


@kernel("float64(float64[:,::1], int64[::1], float64[::1], float64[::1], float64, float64[::1])")
def dense_error(X, rows, sign, weight, constant, w):  # type: ignore[no-untyped-def]
    """Weight of the rows that are not strictly on their side."""
    error = 0.0
    for g in range(rows.size):
        if not sign[g] * dense_score(X, rows[g], constant, w) > 0.0:
            error += weight[g]
    return error


@kernel(
    "float64(float64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], "
    "float64, float64[::1])"
)
def sparse_error(data, indices, starts, rows, sign, weight, constant, w):  # type: ignore[no-untyped-def]
    error = 0.0
    for g in range(rows.size):
        if not sign[g] * sparse_score(data, indices, starts, rows[g], constant, w) > 0.0:
            error += weight[g]
    return error


# --- Visits ---------------------------------------------------------------------------------------


@kernel(
    "void(float64[:,::1], int64[::1], float64[::1], float64[::1], int64[::1], float64, float64, "
    "float64[::1], float64[::1], float64[::1], float64[::1])"
)
def dense_visits(  # type: ignore[no-untyped-def]
    X, rows, sign, weight, order, rate, constant, out_w, out_lag, out_pocket, out_state
):
    """Visit the rows in the order given."""
    d = X.shape[1]
    for k in range(order.size):
        g = order[k]
        i = rows[g]
        margin = sign[g] * dense_score(X, i, constant, out_w)
        if margin > 0.0:
            out_state[2] += weight[g]
        else:
            if out_state[2] > 1.5 * out_state[3]:
                out_state[3] = out_state[2]
                error = dense_error(X, rows, sign, weight, constant, out_w)
                if error < out_state[4]:
                    out_state[4] = error
                    for j in range(d + 1):
                        out_pocket[j] = out_w[j]
            square = constant * constant
            for j in range(d):
                square += X[i, j] * X[i, j]
            step = repeated_step(margin, rate * square, weight[g])
            amount = rate * step * sign[g]
            for j in range(d):
                out_w[j] += amount * X[i, j]
                out_lag[j] += out_state[1] * amount * X[i, j]
            out_w[d] += amount * constant
            out_lag[d] += out_state[1] * amount * constant
            out_state[0] += step
            out_state[2] = 0.0
        out_state[1] += weight[g]


@kernel(
    "void(float64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], "
    "int64[::1], float64, float64, float64[::1], float64[::1], float64[::1], float64[::1])"
)
def sparse_visits(  # type: ignore[no-untyped-def]
    data,
    indices,
    starts,
    rows,
    sign,
    weight,
    order,
    rate,
    constant,
    out_w,
    out_lag,
    out_pocket,
    out_state,
):
    """Visit the rows in the order given; only their stored cells are touched."""
    d = out_w.size - 1
    for k in range(order.size):
        g = order[k]
        i = rows[g]
        margin = sign[g] * sparse_score(data, indices, starts, i, constant, out_w)
        if margin > 0.0:
            out_state[2] += weight[g]
        else:
            if out_state[2] > 1.5 * out_state[3]:
                out_state[3] = out_state[2]
                error = sparse_error(data, indices, starts, rows, sign, weight, constant, out_w)
                if error < out_state[4]:
                    out_state[4] = error
                    for j in range(d + 1):
                        out_pocket[j] = out_w[j]
            square = constant * constant
            for e in range(starts[i], starts[i + 1]):
                square += data[e] * data[e]
            step = repeated_step(margin, rate * square, weight[g])
            amount = rate * step * sign[g]
            for e in range(starts[i], starts[i + 1]):
                out_w[indices[e]] += amount * data[e]
                out_lag[indices[e]] += out_state[1] * amount * data[e]
            out_w[d] += amount * constant
            out_lag[d] += out_state[1] * amount * constant
            out_state[0] += step
            out_state[2] = 0.0
        out_state[1] += weight[g]
