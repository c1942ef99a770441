"""Kernels of Gaussian mixtures: densities, responsibilities and expected sums in one pass.

A block of rows lies transposed in the cache, so that loops run along its rows and become vector
instructions. For every component k the differences `D = x - m_k` stay in the cache from the density
to the sums, which are taken about the old means, near the new ones: nothing cancels.

Missing cells u of a row, given its present cells o, have under component k with precision P

    mean  m_u - P_uu^-1 P_uo (x_o - m_o),      covariance  P_uu^-1,

and with the row completed by that mean `(x - m)'P(x - m)` is the square of the present cells alone,
while `log|C_oo| = log|C| + log|P_uu|`. Rows of one pattern share the small matrix `P_uu`.

`fast_kernel`: sums along a block may be reordered and fused (`benchmarks/mixture`).
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from novum.numerics import exp_of_negative, fast_inner_kernel, fast_kernel

ROWS = 128
LOG_TWO_PI = float(np.log(2.0 * np.pi))

# Responsibilities below this leave no trace in double precision sums.
NEGLIGIBLE = 1e-20


@fast_inner_kernel()
def shared_among(joint, weights, first, n, top, shares):
    """Turns log joint densities (K, rows) into weighted responsibilities; the log-likelihood."""
    K = joint.shape[0]
    for b in range(n):
        top[b] = joint[0, b]
    for k in range(1, K):
        for b in range(n):
            top[b] = max(top[b], joint[k, b])
    for b in range(n):
        shares[b] = 0.0
    for k in range(K):
        for b in range(n):
            joint[k, b] = exp_of_negative(joint[k, b] - top[b])
            shares[b] += joint[k, b]
    value = 0.0
    for b in range(n):
        w = weights[first + b]
        value += w * (top[b] + np.log(shares[b]))
        shares[b] = w / shares[b]
    for k in range(K):
        for b in range(n):
            joint[k, b] *= shares[b]
    return value


@fast_inner_kernel()
def write_joint(joint, first, n, out):
    """Log joint densities (K, rows) of a block into those of all rows (n, K), if wanted."""
    if out.shape[0] > 0:
        for b in range(n):
            for k in range(joint.shape[0]):
                out[first + b, k] = joint[k, b]


@fast_inner_kernel()
def whitened_squares(D, root, n, z, square):
    """Adds `|D A|^2` of every row of a block to `square`; `A` is upper triangular."""
    for j in range(root.shape[0]):
        for b in range(n):
            z[b] = 0.0
        i = 0
        while i + 4 <= j + 1:
            a0, a1, a2, a3 = root[i, j], root[i + 1, j], root[i + 2, j], root[i + 3, j]
            for b in range(n):
                z[b] += a0 * D[i, b] + a1 * D[i + 1, b] + a2 * D[i + 2, b] + a3 * D[i + 3, b]
            i += 4
        while i <= j:
            a0 = root[i, j]
            for b in range(n):
                z[b] += a0 * D[i, b]
            i += 1
        for b in range(n):
            square[b] += z[b] * z[b]


@fast_inner_kernel()
def add_products(D, share, n, scaled, linear, scatter):
    """Adds `sum_b r_b D_b` and the lower triangle of `sum_b r_b D_b D_b'`."""
    d = linear.shape[0]
    for j in range(d):
        s = 0.0
        for b in range(n):
            scaled[j, b] = share[b] * D[j, b]
            s += scaled[j, b]
        linear[j] += s
    i = 0
    while i + 1 < d:
        j = 0
        while j <= i:
            # A tile of two by two takes every number from the cache once for two products.
            s00, s01, s10, s11 = 0.0, 0.0, 0.0, 0.0
            for b in range(n):
                u0, u1, v0, v1 = scaled[i, b], scaled[i + 1, b], D[j, b], D[j + 1, b]
                s00 += u0 * v0
                s01 += u0 * v1
                s10 += u1 * v0
                s11 += u1 * v1
            scatter[i, j] += s00
            scatter[i + 1, j] += s10
            scatter[i + 1, j + 1] += s11
            if j + 1 <= i:
                scatter[i, j + 1] += s01
            j += 2
        i += 2
    if i < d:
        for j in range(d):
            s = 0.0
            for b in range(n):
                s += scaled[i, b] * D[j, b]
            scatter[i, j] += s


@fast_inner_kernel()
def inverted(precision, columns, m, factor, inverse):
    """The inverse of the block of some columns of a precision, and half its log-determinant."""
    half = 0.0
    for i in range(m):
        for j in range(i + 1):
            s = precision[columns[i], columns[j]]
            for c in range(j):
                s -= factor[i, c] * factor[j, c]
            if i == j:
                factor[i, i] = np.sqrt(s)
                half += np.log(factor[i, i])
            else:
                factor[i, j] = s / factor[j, j]
    for column in range(m):
        for i in range(column, m):
            s = 1.0 if i == column else 0.0
            for c in range(column, i):
                s -= factor[i, c] * inverse[c, column]
            inverse[i, column] = s / factor[i, i]
        for i in range(m - 1, -1, -1):
            s = inverse[i, column] if i >= column else 0.0
            for c in range(i + 1, m):
                s -= factor[c, i] * inverse[c, column]
            inverse[i, column] = s / factor[i, i]
    return half


@fast_inner_kernel()
def complete_block(D, precision, inverse, columns, m, n, away):
    """Fills the missing cells of a block, given as zeros, by their conditional means."""
    d = precision.shape[0]
    for a in range(m):
        for b in range(n):
            away[a, b] = 0.0
        for j in range(d):
            p = precision[columns[a], j]
            for b in range(n):
                away[a, b] += p * D[j, b]
    for a in range(m):
        for c in range(m):
            p = inverse[a, c]
            for b in range(n):
                D[columns[a], b] -= p * away[c, b]


@fast_kernel(
    "float64(float64[:,::1],float64[::1],int64[::1],uint8[:,::1],float64[::1],float64[:,::1],"
    "float64[:,:,::1],float64[:,:,::1],float64[:,::1],float64[::1],float64[:,::1],"
    "float64[:,:,::1])"
)
def matrix_step(
    X, weights, starts, missing, constants, means, roots, precisions,
    out_joint, out_weight, out_linear, out_scatter,
):  # fmt: skip
    """One pass with a matrix for every component; returns the log-likelihood.

    `starts` (G + 1) are the first rows of groups of one pattern of `missing` (G, d). `constants`
    are `log weight - (log|C| + d log 2 pi) / 2`. Where `out_joint` has rows, the log joint
    densities (n, K) are written to it; where `out_weight` has entries, the expected sums are added.
    """
    K, d = means.shape
    D = np.zeros((K, d, ROWS))
    xt, scaled, away = np.empty((d, ROWS)), np.empty((d, ROWS)), np.empty((d, ROWS))
    packed = np.empty((d, ROWS))
    joint, share = np.empty((K, ROWS)), np.empty(ROWS)
    z, square, top = np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
    columns = np.empty(d, np.int64)
    factor, inverses = np.empty((d, d)), np.empty((K, d, d))
    halves = np.zeros(K)
    value = 0.0
    for g in range(missing.shape[0]):
        m = 0
        for j in range(d):
            if missing[g, j]:
                columns[m] = j
                m += 1
        for k in range(K):
            halves[k] = 0.0
            if m > 0:
                half = inverted(precisions[k], columns, m, factor, inverses[k])
                halves[k] = half - 0.5 * m * LOG_TWO_PI
        for first in range(starts[g], starts[g + 1], ROWS):
            n = min(ROWS, starts[g + 1] - first)
            for b in range(n):
                for j in range(d):
                    xt[j, b] = X[first + b, j]
            for k in range(K):
                Dk = D[k]
                for j in range(d):
                    mean = means[k, j]
                    if missing[g, j]:
                        for b in range(n):
                            Dk[j, b] = 0.0
                    else:
                        for b in range(n):
                            Dk[j, b] = xt[j, b] - mean
                if m > 0:
                    complete_block(Dk, precisions[k], inverses[k], columns, m, n, away)
                for b in range(n):
                    square[b] = 0.0
                whitened_squares(Dk, roots[k], n, z, square)
                constant = constants[k] - halves[k]
                for b in range(n):
                    joint[k, b] = constant - 0.5 * square[b]
            write_joint(joint, first, n, out_joint)
            if out_weight.shape[0] == 0:
                continue
            value += shared_among(joint, weights, first, n, top, share)
            for k in range(K):
                Dk = D[k]
                total, kept = 0.0, 0
                for b in range(n):
                    total += joint[k, b]
                    kept += joint[k, b] > NEGLIGIBLE
                out_weight[k] += total
                if kept == 0:
                    continue
                if 4 * kept < 3 * n:
                    at = 0
                    for b in range(n):
                        if joint[k, b] > NEGLIGIBLE:
                            for j in range(d):
                                packed[j, at] = Dk[j, b]
                            share[at] = joint[k, b]
                            at += 1
                    add_products(packed, share, kept, scaled, out_linear[k], out_scatter[k])
                else:
                    add_products(Dk, joint[k], n, scaled, out_linear[k], out_scatter[k])
                for a in range(m):
                    for c in range(a + 1):
                        out_scatter[k, columns[a], columns[c]] += total * inverses[k, a, c]
    return value


@fast_inner_kernel()
def transposed(X, first, n, xt, present):
    """Copies a block of rows; whether no cell is missing. If so, `present` is left as it is."""
    d = X.shape[1]
    total = 0.0
    for b in range(n):
        for j in range(d):
            total += X[first + b, j]
    if not np.isnan(total):
        for b in range(n):
            for j in range(d):
                xt[j, b] = X[first + b, j]
        return True
    for b in range(n):
        for j in range(d):
            x = X[first + b, j]
            there = not np.isnan(x)
            xt[j, b] = x if there else 0.0
            present[j, b] = 1.0 if there else 0.0
    return False


@fast_inner_kernel()
def add_scaled_squares(xt, mean, precision, n, out):
    """Adds `sum_j p_j (x_j - m_j)^2` to every row; four columns share a load and store."""
    d = mean.shape[0]
    j = 0
    while j + 4 <= d:
        m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
        p0, p1, p2, p3 = precision[j], precision[j + 1], precision[j + 2], precision[j + 3]
        for b in range(n):
            t0, t1, t2, t3 = xt[j, b] - m0, xt[j + 1, b] - m1, xt[j + 2, b] - m2, xt[j + 3, b] - m3
            out[b] += p0 * t0 * t0 + p1 * t1 * t1 + p2 * t2 * t2 + p3 * t3 * t3
        j += 4
    while j < d:
        m0, p0 = mean[j], precision[j]
        for b in range(n):
            t0 = xt[j, b] - m0
            out[b] += p0 * t0 * t0
        j += 1


@fast_inner_kernel()
def add_column_logs(xt, present, complete, mean, precision, log, n, z, out):
    """Adds `-(p_j (x_j - m_j)^2 + log_j) / 2` of the present cells of every row."""
    d = mean.shape[0]
    if complete:
        constant = 0.0
        for j in range(d):
            constant += log[j]
        for b in range(n):
            z[b] = constant
        add_scaled_squares(xt, mean, precision, n, z)
        for b in range(n):
            out[b] -= 0.5 * z[b]
        return
    for j in range(d):
        m, p, c = mean[j], precision[j], log[j]
        for b in range(n):
            t = xt[j, b] - m
            out[b] -= 0.5 * present[j, b] * (p * t * t + c)


@fast_inner_kernel()
def add_column_sums(xt, present, complete, mean, share, total, n, seen, linear, square):
    """Adds `sum_b r_b`, `sum_b r_b t_b` and `sum_b r_b t_b^2` over the present cells of columns.

    `t = x - m`; `total` is the sum of `r` over all rows.
    """
    d = mean.shape[0]
    if not complete:
        for j in range(d):
            m, w, s, q = mean[j], 0.0, 0.0, 0.0
            for b in range(n):
                r = share[b] * present[j, b]
                t = xt[j, b] - m
                w += r
                s += r * t
                q += r * t * t
            seen[j] += w
            linear[j] += s
            square[j] += q
        return
    for j in range(d):
        seen[j] += total
    j = 0
    while j + 2 <= d:
        m0, m1 = mean[j], mean[j + 1]
        s0, s1, q0, q1 = 0.0, 0.0, 0.0, 0.0
        for b in range(n):
            r = share[b]
            t0, t1 = xt[j, b] - m0, xt[j + 1, b] - m1
            u0, u1 = r * t0, r * t1
            s0 += u0
            s1 += u1
            q0 += u0 * t0
            q1 += u1 * t1
        linear[j] += s0
        linear[j + 1] += s1
        square[j] += q0
        square[j + 1] += q1
        j += 2
    if j < d:
        m0, s0, q0 = mean[j], 0.0, 0.0
        for b in range(n):
            t0 = xt[j, b] - m0
            u0 = share[b] * t0
            s0 += u0
            q0 += u0 * t0
        linear[j] += s0
        square[j] += q0


@fast_kernel(
    "float64(float64[:,::1],float64[::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[::1],float64[:,::1],float64[:,::1])"
)
def diagonal_step(
    X, weights, constants, means, variances, out_joint, out_weight, out_linear, out_square
):  # fmt: skip
    """The same for uncorrelated columns; `constants` are logarithms of weights."""
    K, d = means.shape
    xt, present = np.empty((d, ROWS)), np.empty((d, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    logs, precisions = np.log(variances) + LOG_TWO_PI, 1.0 / variances
    whole, seen = np.zeros(K), np.zeros((K, d))
    value = 0.0
    for first in range(0, X.shape[0], ROWS):
        n = min(ROWS, X.shape[0] - first)
        complete = transposed(X, first, n, xt, present)
        for k in range(K):
            for b in range(n):
                joint[k, b] = constants[k]
            add_column_logs(
                xt, present, complete, means[k], precisions[k], logs[k], n, share, joint[k]
            )
        write_joint(joint, first, n, out_joint)
        if out_weight.shape[0] == 0:
            continue
        value += shared_among(joint, weights, first, n, top, share)
        for k in range(K):
            total = 0.0
            for b in range(n):
                total += joint[k, b]
            whole[k] += total
            if total > NEGLIGIBLE:
                add_column_sums(
                    xt, present, complete, means[k], joint[k], total, n,
                    seen[k], out_linear[k], out_square[k],
                )  # fmt: skip
            else:
                for j in range(d):
                    seen[k, j] += total
    if out_weight.shape[0] > 0:
        # A missing cell is expected at the mean with the variance of its component.
        for k in range(K):
            out_weight[k] += whole[k]
            for j in range(d):
                out_square[k, j] += (whole[k] - seen[k, j]) * variances[k, j]
    return value


@fast_kernel(
    "float64(float64[:,::1],float64[::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1],float64[::1],float64[:,::1])"
)
def shared_matrix_step(
    X, weights, constants, means, root, places, out_joint, out_weight, out_linear
):  # fmt: skip
    """The same for complete rows and one matrix; `places` (K, d) are the whitened means."""
    K, d = means.shape
    xt, white = np.empty((d, ROWS)), np.empty((d, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    value = 0.0
    for first in range(0, X.shape[0], ROWS):
        n = min(ROWS, X.shape[0] - first)
        for b in range(n):
            for j in range(d):
                xt[j, b] = X[first + b, j]
        for j in range(d):
            for b in range(n):
                white[j, b] = 0.0
            for i in range(j + 1):
                a = root[i, j]
                for b in range(n):
                    white[j, b] += a * xt[i, b]
        for k in range(K):
            for b in range(n):
                joint[k, b] = 0.0
            for j in range(d):
                place = places[k, j]
                for b in range(n):
                    t = white[j, b] - place
                    joint[k, b] += t * t
            for b in range(n):
                joint[k, b] = constants[k] - 0.5 * joint[k, b]
        write_joint(joint, first, n, out_joint)
        if out_weight.shape[0] == 0:
            continue
        value += shared_among(joint, weights, first, n, top, share)
        for k in range(K):
            total = 0.0
            for b in range(n):
                total += joint[k, b]
            out_weight[k] += total
            if total <= NEGLIGIBLE:
                continue
            for j in range(d):
                mean, s = means[k, j], 0.0
                for b in range(n):
                    s += joint[k, b] * (xt[j, b] - mean)
                out_linear[k, j] += s
    return value
