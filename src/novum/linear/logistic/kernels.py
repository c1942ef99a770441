"""Compiled passes over dense rows: margins, losses, gradient and Hessian in one reading.

Blocks of rows are transposed into a scratch that stays in the first cache, with the rows along the
long axis, so that every loop below runs over 128 rows at a time. A few full passes are the whole
fit (`benchmarks/linear/bench_logistic.py`), which is why the sums may be reordered and
multiply-adds fused here. Exponentials and logarithms are polynomials, because the scalar ones of
the C library do not vectorize; they are right to 4e-16 relative.

Scratch rows are padded to a multiple of 4, and their length is no power of two: strides that are
powers of two fall into the same cache sets.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import exp_of_negative, fast_kernel, kernel

# Rows of a block, and the length of a scratch row.
BLOCK = 128
STRIDE = BLOCK + 8


@kernel("float64(float64)")
def log_of_one_plus(e):  # type: ignore[no-untyped-def]
    """`log(1 + e)` for `0 <= e <= 1`: `2 atanh(z)` with `z = e / (2 + e) <= 1/3`."""
    z = e / (2.0 + e)
    s = z * z
    p = s * (1.0 / 33.0) + 1.0 / 31.0
    p = p * s + 1.0 / 29.0
    p = p * s + 1.0 / 27.0
    p = p * s + 1.0 / 25.0
    p = p * s + 1.0 / 23.0
    p = p * s + 1.0 / 21.0
    p = p * s + 1.0 / 19.0
    p = p * s + 1.0 / 17.0
    p = p * s + 1.0 / 15.0
    p = p * s + 1.0 / 13.0
    p = p * s + 1.0 / 11.0
    p = p * s + 1.0 / 9.0
    p = p * s + 1.0 / 7.0
    p = p * s + 1.0 / 5.0
    p = p * s + 1.0 / 3.0
    p = p * s + 1.0
    return 2.0 * z * p


# --- Building blocks ------------------------------------------------------------------------------


@kernel("void(float64[:,::1], int64, int64, float64[::1], float64[:,::1])")
def transpose_block(X, start, m, center, out):  # type: ignore[no-untyped-def]
    """Rows `start .. start + m`, centered, as columns of `out`."""
    for i in range(m):
        for j in range(X.shape[1]):
            out[j, i] = X[start + i, j] - center[j]


@fast_kernel("void(float64[:,::1], float64[:,::1], int64, float64[:,::1])")
def block_scores(W, T, m, out):  # type: ignore[no-untyped-def]
    """`out = W T` for one block, intercepts (the last column of `W`) included."""
    d = W.shape[1] - 1
    for k in range(W.shape[0]):
        b = W[k, d]
        for t in range(m):
            out[k, t] = b
        for j in range(d):
            c = W[k, j]
            for t in range(m):
                out[k, t] += c * T[j, t]


@fast_kernel("void(float64[:,::1], float64[:,::1], int64, int64, float64[:,::1])")
def add_products(A, B, m, upper, out):  # type: ignore[no-untyped-def]
    """`out += A B'` over the first `m` columns, by tiles of 4 x 4 that live in registers.

    With `upper` 1, tiles below the diagonal are left out. Rows come in multiples of 4.
    """
    for a in range(0, out.shape[0], 4):
        for b in range(a * upper, out.shape[1], 4):
            s00 = s01 = s02 = s03 = 0.0
            s10 = s11 = s12 = s13 = 0.0
            s20 = s21 = s22 = s23 = 0.0
            s30 = s31 = s32 = s33 = 0.0
            for t in range(m):
                u0, u1, u2, u3 = A[a, t], A[a + 1, t], A[a + 2, t], A[a + 3, t]
                v0, v1, v2, v3 = B[b, t], B[b + 1, t], B[b + 2, t], B[b + 3, t]
                s00 += u0 * v0
                s01 += u0 * v1
                s02 += u0 * v2
                s03 += u0 * v3
                s10 += u1 * v0
                s11 += u1 * v1
                s12 += u1 * v2
                s13 += u1 * v3
                s20 += u2 * v0
                s21 += u2 * v1
                s22 += u2 * v2
                s23 += u2 * v3
                s30 += u3 * v0
                s31 += u3 * v1
                s32 += u3 * v2
                s33 += u3 * v3
            out[a, b] += s00
            out[a, b + 1] += s01
            out[a, b + 2] += s02
            out[a, b + 3] += s03
            out[a + 1, b] += s10
            out[a + 1, b + 1] += s11
            out[a + 1, b + 2] += s12
            out[a + 1, b + 3] += s13
            out[a + 2, b] += s20
            out[a + 2, b + 1] += s21
            out[a + 2, b + 2] += s22
            out[a + 2, b + 3] += s23
            out[a + 3, b] += s30
            out[a + 3, b + 1] += s31
            out[a + 3, b + 2] += s32
            out[a + 3, b + 3] += s33


# --- Two classes ----------------------------------------------------------------------------------


@kernel(
    "void(float64[:,::1], float64[::1], float64[::1], int64, int64, float64[:,::1], "
    "float64[::1], float64[::1])"
)
def binary_links(scores, sign, w, start, m, out_residual, out_curvature, out_loss):  # type: ignore[no-untyped-def]
    """Loss `w log(1 + exp(-s f))` of every row of a block, and its two derivatives by `f`."""
    for t in range(m):
        s = sign[start + t]
        x = scores[0, t] * s
        e = exp_of_negative(-abs(x))
        share = 1.0 / (1.0 + e)
        weight = w[start + t]
        rest = log_of_one_plus(e)
        out_loss[t] = weight * (rest if x >= 0 else rest - x)
        out_residual[0, t] = -s * weight * (e * share if x >= 0 else share)
        out_curvature[t] = weight * (e * share * share)


@fast_kernel(
    "float64(float64[:,::1], float64[::1], float64[::1], float64[:,::1], float64[::1], int64, "
    "float64[::1], float64[:,::1], float64[:,::1])"
)
def binary_pass(X, sign, w, W, center, with_hessian, out_gradient, out_mixed, out_hessian):  # type: ignore[no-untyped-def]
    """Sum of the losses; gradient (p4,), `sum w p (1 - p)` and upper Hessian (p4, p4) are added to.

    `sign` is 1 for the second class and -1 for the first; `W` has shape (1, d + 1).
    """
    n, d = X.shape
    T = np.zeros((out_gradient.size, STRIDE))
    U = np.zeros((out_gradient.size, STRIDE))
    scores = np.zeros((1, STRIDE))
    residual = np.zeros((1, STRIDE))
    curvature = np.zeros(STRIDE)
    loss = np.zeros(STRIDE)
    for t in range(STRIDE):
        T[d, t] = 1.0
    total = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        transpose_block(X, start, m, center, T)
        block_scores(W, T, m, scores)
        binary_links(scores, sign, w, start, m, residual, curvature, loss)
        part = 0.0
        mixed = 0.0
        for t in range(m):
            part += loss[t]
            mixed += curvature[t]
        total += part
        out_mixed[0, 0] += mixed
        for j in range(d + 1):
            part = 0.0
            for t in range(m):
                part += residual[0, t] * T[j, t]
            out_gradient[j] += part
        if with_hessian == 1:
            for j in range(d + 1):
                for t in range(m):
                    U[j, t] = T[j, t] * curvature[t]
            add_products(U, T, m, 1, out_hessian)
    return total


# --- More classes ---------------------------------------------------------------------------------


@kernel(
    "void(float64[:,::1], int64[::1], float64[::1], int64, int64, float64[:,::1], float64[::1], "
    "float64[::1])"
)
def softmax_links(scores, codes, w, start, m, out_share, out_top, out_loss):  # type: ignore[no-untyped-def]
    """Probabilities (K, m) and losses of a block; `out_top` is scratch."""
    n_classes = scores.shape[0]
    for t in range(m):
        out_top[t] = scores[0, t]
        out_loss[t] = 0.0
    for k in range(1, n_classes):
        for t in range(m):
            s = scores[k, t]
            out_top[t] = s if s > out_top[t] else out_top[t]
    for k in range(n_classes):
        for t in range(m):
            e = exp_of_negative(scores[k, t] - out_top[t])
            out_share[k, t] = e
            out_loss[t] += e
    for k in range(n_classes):
        for t in range(m):
            out_share[k, t] /= out_loss[t]
    for t in range(m):
        own = scores[codes[start + t], t]
        out_loss[t] = w[start + t] * (np.log(out_loss[t]) + out_top[t] - own)


@fast_kernel(
    "float64(float64[:,::1], int64[::1], float64[::1], float64[:,::1], float64[::1], int64, "
    "float64[:,::1], float64[:,::1], float64[:,:,::1])"
)
def softmax_pass(X, codes, w, W, center, with_hessian, out_gradient, out_mixed, out_hessian):  # type: ignore[no-untyped-def]
    """Sum of the losses; gradient (K4, p4), `sum w p p'` (K4, K4) and Hessian blocks are added to.

    Block (k, l) with k <= l of the Hessian, in the order of rows of a triangle, is
    `sum_i w_i p_k (1[k = l] - p_l) z_i z_i'`, of which the upper half is summed.
    """
    n, d = X.shape
    n_classes, p4 = W.shape[0], out_gradient.shape[1]
    T = np.zeros((p4, STRIDE))
    U = np.zeros((p4, STRIDE))
    scores = np.zeros((n_classes, STRIDE))
    share = np.zeros((out_gradient.shape[0], STRIDE))
    residual = np.zeros((out_gradient.shape[0], STRIDE))
    top = np.zeros(STRIDE)
    loss = np.zeros(STRIDE)
    for t in range(STRIDE):
        T[d, t] = 1.0
    total = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        transpose_block(X, start, m, center, T)
        block_scores(W, T, m, scores)
        softmax_links(scores, codes, w, start, m, share, top, loss)
        part = 0.0
        for t in range(m):
            part += loss[t]
        total += part
        for k in range(n_classes):
            for t in range(m):
                residual[k, t] = share[k, t] * w[start + t]
        add_products(residual, share, m, 0, out_mixed)
        for t in range(m):
            residual[codes[start + t], t] -= w[start + t]
        add_products(residual, T, m, 0, out_gradient)
        if with_hessian == 0:
            continue
        pair = 0
        for k in range(n_classes):
            for other in range(k, n_classes):
                same = 1.0 if k == other else 0.0
                for t in range(m):
                    top[t] = w[start + t] * share[k, t] * (same - share[other, t])
                for j in range(d + 1):
                    for t in range(m):
                        U[j, t] = T[j, t] * top[t]
                add_products(U, T, m, 1, out_hessian[pair])
                pair += 1
    return total


# --- Size -----------------------------------------------------------------------------------------


@fast_kernel("float64(float64[:,::1], float64[::1], float64[::1])")
def largest_square(X, center, scale):  # type: ignore[no-untyped-def]
    """The largest of all `|(x - center) scale|^2`."""
    largest = 0.0
    for i in range(X.shape[0]):
        size = 0.0
        for j in range(X.shape[1]):
            z = (X[i, j] - center[j]) * scale[j]
            size += z * z
        largest = max(largest, size)
    return largest
