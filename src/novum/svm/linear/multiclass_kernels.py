"""Compiled visits of the machine of Crammer and Singer, to compressed rows.

A visit solves the dual over the coefficients `a_im` of one row, all classes at once: with
`B_m = z_i'w_m + 1[m != y] - Q a_im` and `Q = |z_i|^2`,

    a_im = min(c_i 1[m = y], (t - B_m) / Q),        t such that the sum over m is zero,

and `t` is found by going down the sorted values (Keerthi et al. 2008).
"""

from __future__ import annotations

from novum.numerics import fast_kernel, kernel


@kernel("float64(float64[::1], float64, float64[::1])")
def level(values, total, out_sorted):  # type: ignore[no-untyped-def]
    """The `t` with `sum_m max(0, values_m - t) = total`, for `total > 0`."""
    n = values.size
    for m in range(n):
        x = values[m]
        k = m
        while k > 0 and out_sorted[k - 1] < x:
            out_sorted[k] = out_sorted[k - 1]
            k -= 1
        out_sorted[k] = x
    t = out_sorted[0] - total
    r = 1
    while r < n and t < r * out_sorted[r]:
        t += out_sorted[r]
        r += 1
    return t / r


# Sums over stored cells may be reordered and fused; the gap is summed elsewhere.
@fast_kernel(
    "void(float64[::1], int32[::1], int64[::1], float64, float64[::1], float64[::1], int64[::1], "
    "int64[::1], float64[:,::1], float64[:,::1], float64[:,::1])"
)
def multiclass_visits(  # type: ignore[no-untyped-def]
    data, indices, starts, constant, squares, weight, codes, order, out_a, out_W, out_scratch
):
    """Visit rows in the order given; `out_scratch` has three rows of one cell for each class."""
    K = out_W.shape[1]
    last = out_W.shape[0] - 1
    B, shifted, ranked = out_scratch[0], out_scratch[1], out_scratch[2]
    for k in range(order.size):
        i = order[k]
        y = codes[i]
        Q = squares[i]
        for m in range(K):
            B[m] = 1.0 - Q * out_a[i, m]
            if constant > 0.0:
                B[m] += constant * out_W[last, m]
        B[y] -= 1.0
        for e in range(starts[i], starts[i + 1]):
            x, j = data[e], indices[e]
            for m in range(K):
                B[m] += x * out_W[j, m]
        for m in range(K):
            shifted[m] = B[m]
        shifted[y] += Q * weight[i]
        t = level(shifted, Q * weight[i], ranked)
        changed = False
        for m in range(K):
            new = (t - B[m]) / Q
            most = weight[i] if m == y else 0.0
            new = new if new < most else most
            shifted[m] = new - out_a[i, m]
            changed = changed or shifted[m] != 0.0
            out_a[i, m] = new
        if not changed:
            continue
        for e in range(starts[i], starts[i + 1]):
            x, j = data[e], indices[e]
            for m in range(K):
                out_W[j, m] += shifted[m] * x
        if constant > 0.0:
            for m in range(K):
                out_W[last, m] += shifted[m] * constant
