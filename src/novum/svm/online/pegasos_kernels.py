"""Compiled steps of Pegasos, on dense and on compressed rows.

With `v = lambda t w` a step of the method is an addition: a batch of k rows adds `s_i z_i / k` of
each row whose margin under `w = v / (lambda (t - 1))` is below 1. `v` is held as `g out_v`, so that
a projection is one multiplication of `g`.

`out_state` holds the steps t so far, `g`, and `|v|^2`. `out_shares` gathers the `1 / k` of every
row, divided by `g` like `out_v`: `v = g sum_i shares_i s_i z_i`.
"""

from __future__ import annotations

import math

from novum.numerics import fast_kernel, kernel

# Smaller factors `g` go into `out_v` and `out_shares`: many projections would make them zero.
LEAST_FACTOR = 1e-100


@kernel("void(float64, float64[::1], float64[::1], float64[::1])")
def project(penalty, out_v, out_shares, out_state):  # type: ignore[no-untyped-def]
    """Onto the ball of radius `1 / sqrt(lambda)`, in which the optimum lies."""
    largest = math.sqrt(penalty) * out_state[0]
    if out_state[2] > largest * largest:
        factor = largest / math.sqrt(out_state[2])
        out_state[1] *= factor
        out_state[2] = largest * largest
        if out_state[1] < LEAST_FACTOR:
            for j in range(out_v.size):
                out_v[j] *= out_state[1]
            for g in range(out_shares.size):
                out_shares[g] *= out_state[1]
            out_state[1] = 1.0


# Sums over the cells of a row may be reordered and fused; values are judged elsewhere.
@fast_kernel("float64(float64[:,::1], int64, float64, float64[::1])")
def dense_product(X, i, constant, v):  # type: ignore[no-untyped-def]
    total = constant * v[v.size - 1]
    for j in range(X.shape[1]):
        total += X[i, j] * v[j]
    return total


@fast_kernel("float64(float64[::1], int32[::1], int64[::1], int64, float64, float64[::1])")
def sparse_product(data, indices, starts, i, constant, v):  # type: ignore[no-untyped-def]
    total = constant * v[v.size - 1]
    for e in range(starts[i], starts[i + 1]):
        total += data[e] * v[indices[e]]
    return total


@fast_kernel(
    "void(float64[:,::1], int64[::1], float64[::1], float64[::1], float64, int64[::1], int64, "
    "float64, int64, float64[::1], float64[::1], float64[::1], uint8[::1])"
)
def dense_steps(  # type: ignore[no-untyped-def]
    X,
    rows,
    sign,
    squares,
    constant,
    order,
    batch,
    penalty,
    projects,
    out_v,
    out_shares,
    out_state,
    out_wrong,
):
    """Steps over consecutive batches of `order`; `out_wrong` is scratch for one batch."""
    for start in range(0, order.size, batch):
        size = min(batch, order.size - start)
        bound = penalty * out_state[0] / out_state[1]
        for k in range(size):
            g = order[start + k]
            value = sign[g] * dense_product(X, rows[g], constant, out_v)
            out_wrong[k] = 1 if value < bound or out_state[0] == 0.0 else 0
        out_state[0] += 1.0
        for k in range(size):
            if out_wrong[k] == 0:
                continue
            g = order[start + k]
            i = rows[g]
            share = 1.0 / (size * out_state[1])
            value = out_state[1] * sign[g] * dense_product(X, i, constant, out_v)
            out_state[2] += (2.0 * value + squares[g] / size) / size
            out_shares[g] += share
            for j in range(X.shape[1]):
                out_v[j] += share * sign[g] * X[i, j]
            out_v[out_v.size - 1] += share * sign[g] * constant
        if projects == 1:
            project(penalty, out_v, out_shares, out_state)


@fast_kernel(
    "void(float64[::1], int32[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64, "
    "int64[::1], int64, float64, int64, float64[::1], float64[::1], float64[::1], uint8[::1])"
)
def sparse_steps(  # type: ignore[no-untyped-def]
    data,
    indices,
    starts,
    rows,
    sign,
    squares,
    constant,
    order,
    batch,
    penalty,
    projects,
    out_v,
    out_shares,
    out_state,
    out_wrong,
):
    """As `dense_steps`; only stored cells are touched."""
    for start in range(0, order.size, batch):
        size = min(batch, order.size - start)
        bound = penalty * out_state[0] / out_state[1]
        for k in range(size):
            g = order[start + k]
            value = sign[g] * sparse_product(data, indices, starts, rows[g], constant, out_v)
            out_wrong[k] = 1 if value < bound or out_state[0] == 0.0 else 0
        out_state[0] += 1.0
        for k in range(size):
            if out_wrong[k] == 0:
                continue
            g = order[start + k]
            i = rows[g]
            share = 1.0 / (size * out_state[1])
            product = sparse_product(data, indices, starts, i, constant, out_v)
            value = out_state[1] * sign[g] * product
            out_state[2] += (2.0 * value + squares[g] / size) / size
            out_shares[g] += share
            for e in range(starts[i], starts[i + 1]):
                out_v[indices[e]] += share * sign[g] * data[e]
            out_v[out_v.size - 1] += share * sign[g] * constant
        if projects == 1:
            project(penalty, out_v, out_shares, out_state)


# --- Rows of a kernel matrix ----------------------------------------------------------------------


@kernel(
    "void(float64[:,::1], float64[::1], float64, int64[::1], int64, float64, int64, "
    "float64[::1], float64[::1], float64[::1], uint8[::1])"
)
def kernel_steps(  # type: ignore[no-untyped-def]
    K,
    sign,
    constant,
    order,
    batch,
    penalty,
    projects,
    out_values,
    out_shares,
    out_state,
    out_wrong,
):
    """As `dense_steps`; row k of `K` is that of object `order[k]`, and values stand for `v`."""
    for start in range(0, order.size, batch):
        size = min(batch, order.size - start)
        bound = penalty * out_state[0] / out_state[1]
        for k in range(size):
            g = order[start + k]
            wrong = sign[g] * out_values[g] < bound or out_state[0] == 0.0
            out_wrong[k] = 1 if wrong else 0
        out_state[0] += 1.0
        for k in range(size):
            if out_wrong[k] == 0:
                continue
            g = order[start + k]
            share = 1.0 / (size * out_state[1])
            value = out_state[1] * sign[g] * out_values[g]
            square = K[start + k, g] + constant
            out_state[2] += (2.0 * value + square / size) / size
            out_shares[g] += share
            for j in range(out_values.size):
                out_values[j] += share * sign[g] * (K[start + k, j] + constant)
        if projects == 1:
            project(penalty, out_values, out_shares, out_state)
