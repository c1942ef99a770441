"""Kernels of Gaussian mixtures: densities, responsibilities and expected sums in one pass.

Rows come in blocks (`row_blocks`). For every component k the differences `D = x - m_k` stay in the
cache from the density to the sums, which are taken about the old means, near the new ones: nothing
cancels.

Missing cells u of a row, given its present cells o, have under component k with precision P

    mean  m_u - P_uu^-1 P_uo (x_o - m_o),      covariance  P_uu^-1,

and with the row completed by that mean `(x - m)'P(x - m)` is the square of the present cells alone,
while `log|C_oo| = log|C| + log|P_uu|`. Rows of one pattern share the small matrix `P_uu`, and
patterns that begin with the same columns the factors of those; a block of rows has many patterns.

`fast_kernel`: sums along a block may be reordered and fused (`benchmarks/mixture`).
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.mixture.row_blocks import ROWS
from novum.numerics import exp_of_negative, fast_inner_kernel, fast_kernel, log_of_positive

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
        value += w * (top[b] + log_of_positive(shares[b]))
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
    """`|D A|^2` of every row of a block; `A` is upper triangular.

    Columns come by fours: a tile of four by four takes every number from the cache once for four
    products, and the last tile of a column keeps its sums in registers.
    """
    for b in range(n):
        square[b] = 0.0
    for j in range(0, root.shape[0], 4):
        z0, z1, z2, z3 = z[0], z[1], z[2], z[3]
        for b in range(n):
            z0[b], z1[b], z2[b], z3[b] = 0.0, 0.0, 0.0, 0.0
        for i in range(0, j, 4):
            p, q, r, s = root[i], root[i + 1], root[i + 2], root[i + 3]
            p0, p1, p2, p3 = p[j], p[j + 1], p[j + 2], p[j + 3]
            q0, q1, q2, q3 = q[j], q[j + 1], q[j + 2], q[j + 3]
            r0, r1, r2, r3 = r[j], r[j + 1], r[j + 2], r[j + 3]
            s0, s1, s2, s3 = s[j], s[j + 1], s[j + 2], s[j + 3]
            for b in range(n):
                t, u, v, w = D[i, b], D[i + 1, b], D[i + 2, b], D[i + 3, b]
                z0[b] += p0 * t + q0 * u + r0 * v + s0 * w
                z1[b] += p1 * t + q1 * u + r1 * v + s1 * w
                z2[b] += p2 * t + q2 * u + r2 * v + s2 * w
                z3[b] += p3 * t + q3 * u + r3 * v + s3 * w
        p, q, r, s = root[j], root[j + 1], root[j + 2], root[j + 3]
        p0, p1, p2, p3 = p[j], p[j + 1], p[j + 2], p[j + 3]
        q1, q2, q3, r2, r3, s3 = q[j + 1], q[j + 2], q[j + 3], r[j + 2], r[j + 3], s[j + 3]
        for b in range(n):
            t, u, v, w = D[j, b], D[j + 1, b], D[j + 2, b], D[j + 3, b]
            e = z0[b] + p0 * t
            f = z1[b] + p1 * t + q1 * u
            g = z2[b] + p2 * t + q2 * u + r2 * v
            h = z3[b] + p3 * t + q3 * u + r3 * v + s3 * w
            square[b] += e * e + f * f + g * g + h * h


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


class MissingBlocks(NamedTuple):
    """Blocks of the missing columns of one pattern in the precisions of all components.

    `columns` are their numbers, `factor` the Cholesky factors L, `inverse_factor` L^-1, `half`
    (K, d + 1) half the log-determinants of leading blocks, and `inverse` the inverses.
    """

    columns: Any
    factor: Any
    inverse_factor: Any
    half: Any
    inverse: Any


@fast_inner_kernel()
def next_pattern(missing, columns, m):
    """Writes the missing columns over the `m` before; how many they are, and begin as before."""
    count, same = 0, 0
    for j in range(missing.shape[0]):
        if missing[j]:
            same += same == count and count < m and columns[count] == j
            columns[count] = j
            count += 1
    return count, same


@fast_inner_kernel()
def invert(blocks, k, precision, same, m):
    """Inverts the block of component k; what the first `same` columns say is there already."""
    columns, half, inverse = blocks.columns, blocks.half[k], blocks.inverse[k]
    L, M = blocks.factor[k], blocks.inverse_factor[k]
    if same == m:
        return
    for i in range(same, m):
        row = precision[columns[i]]
        s = row[columns[i]]
        for j in range(i):
            t = row[columns[j]]
            for c in range(j):
                t -= L[i, c] * L[j, c]
            L[i, j] = t * M[j, j]
            s -= L[i, j] * L[i, j]
        half[i + 1] = half[i] + 0.5 * np.log(s)
        M[i, i] = 1.0 / np.sqrt(s)
        for j in range(i):
            t = 0.0
            for c in range(j, i):
                t -= L[i, c] * M[c, j]
            M[i, j] = t * M[i, i]
    for i in range(m):
        for j in range(i + 1):
            t = 0.0
            for c in range(i, m):
                t += M[c, i] * M[c, j]
            inverse[i, j] = t
            inverse[j, i] = t


@fast_inner_kernel()
def add_combination(sign, coefficients, rows, n_rows, begin, end, out):
    """Adds `sign * sum_i c_i row_i` between two places; four rows share a load and store."""
    i = 0
    while i + 4 <= n_rows:
        p, q = sign * coefficients[i], sign * coefficients[i + 1]
        r, s = sign * coefficients[i + 2], sign * coefficients[i + 3]
        for b in range(begin, end):
            out[b] += p * rows[i, b] + q * rows[i + 1, b] + r * rows[i + 2, b] + s * rows[i + 3, b]
        i += 4
    while i < n_rows:
        p = sign * coefficients[i]
        for b in range(begin, end):
            out[b] += p * rows[i, b]
        i += 1


@fast_inner_kernel()
def complete(D, precision, inverse, columns, m, begin, end, away):
    """Fills the missing cells of some rows of a block by their conditional means."""
    for a in range(m):
        for b in range(begin, end):
            D[columns[a], b] = 0.0
            away[a, b] = 0.0
    for a in range(m):
        add_combination(1.0, precision[columns[a]], D, precision.shape[0], begin, end, away[a])
    for a in range(m):
        add_combination(-1.0, inverse[a], away, m, begin, end, D[columns[a]])


@fast_inner_kernel()
def add_conditional_covariances(totals, missing, precisions, blocks, out_scatter):
    """Adds the covariances of missing cells given the others; `totals` (G, K) weigh the groups."""
    m = 0
    for g in range(missing.shape[0]):
        m, same = next_pattern(missing[g], blocks.columns, m)
        for k in range(totals.shape[1]):
            invert(blocks, k, precisions[k], same, m)
            for a in range(m):
                i = blocks.columns[a]
                for c in range(a + 1):
                    out_scatter[k, i, blocks.columns[c]] += totals[g, k] * blocks.inverse[k, a, c]


@fast_inner_kernel()
def keep_rows(D, joint, n, at, kept, shares):
    """Appends the rows of a block that leave a trace to those `at` are kept of; how many are."""
    for b in range(n):
        if joint[b] > NEGLIGIBLE:
            for j in range(kept.shape[0]):
                kept[j, at] = D[j, b]
            shares[at] = joint[b]
            at += 1
    return at


@fast_kernel(
    "float64(float64[:,:,::1],float64[::1],int64[::1],uint8[:,::1],float64[::1],float64[:,::1],"
    "float64[:,:,::1],float64[:,:,::1],float64[:,::1],float64[::1],float64[:,::1],"
    "float64[:,:,::1])"
)
def matrix_step(
    X, weights, starts, missing, constants, means, roots, precisions,
    out_joint, out_weight, out_linear, out_scatter,
):  # fmt: skip
    """One pass with a matrix for every component; returns the log-likelihood.

    `X` are blocks. `starts` (G + 1) are the first rows of groups of one pattern of `missing`
    (G, d). `constants` are `log weight - (log|C| + d log 2 pi) / 2`. `roots` are filled up with
    zeros to a multiple of four. Where `out_joint` has rows, the log joint densities (n, K) are
    written to it; where `out_weight` has entries, the expected sums are added.
    """
    K, d = means.shape
    G = missing.shape[0]
    D, kept = np.zeros((K, roots.shape[1], ROWS)), np.empty((K, d, ROWS))
    scaled, z = np.empty((d, ROWS)), np.empty((4, ROWS))
    square, top = np.empty(ROWS), np.empty(ROWS)
    joint, shares = np.empty((K, ROWS)), np.empty((K, ROWS))
    n_kept, totals = np.zeros(K, np.int64), np.zeros((G, K))
    blocks = MissingBlocks(
        np.empty(d, np.int64), np.empty((K, d, d)), np.empty((K, d, d)),
        np.zeros((K, d + 1)), np.empty((K, d, d)),
    )  # fmt: skip
    value, group, m = 0.0, 0, 0
    for block in range(X.shape[0]):
        first = block * ROWS
        n = min(ROWS, weights.shape[0] - first)
        for k in range(K):
            for j in range(d):
                mean = means[k, j]
                for b in range(n):
                    D[k, j, b] = X[block, j, b] - mean
            for b in range(n):
                joint[k, b] = constants[k]
        while starts[group + 1] <= first:
            group += 1
        after = group
        while after < G and starts[after] < first + n:
            m, same = next_pattern(missing[after], blocks.columns, m)
            begin, end = max(starts[after] - first, 0), min(starts[after + 1] - first, n)
            for k in range(K if m > 0 else 0):
                invert(blocks, k, precisions[k], same, m)
                complete(
                    D[k], precisions[k], blocks.inverse[k], blocks.columns, m, begin, end, scaled
                )
                less = blocks.half[k, m] - 0.5 * m * LOG_TWO_PI
                for b in range(begin, end):
                    joint[k, b] -= less
            after += 1
        for k in range(K):
            whitened_squares(D[k], roots[k], n, z, square)
            for b in range(n):
                joint[k, b] -= 0.5 * square[b]
        write_joint(joint, first, n, out_joint)
        if out_weight.shape[0] == 0:
            continue
        value += shared_among(joint, weights, first, n, top, square)
        for k in range(K):
            total, count = 0.0, 0
            for b in range(n):
                total += joint[k, b]
                count += joint[k, b] > NEGLIGIBLE
            out_weight[k] += total
            if 4 * count >= 3 * n:
                add_products(D[k], joint[k], n, scaled, out_linear[k], out_scatter[k])
                continue
            # Few rows matter: they wait until they fill a block.
            if n_kept[k] + count > ROWS:
                add_products(kept[k], shares[k], n_kept[k], scaled, out_linear[k], out_scatter[k])
                n_kept[k] = 0
            n_kept[k] = keep_rows(D[k], joint[k], n, n_kept[k], kept[k], shares[k])
        for g in range(group, after):
            for k in range(K):
                for b in range(max(starts[g] - first, 0), min(starts[g + 1] - first, n)):
                    totals[g, k] += joint[k, b]
    if out_weight.shape[0] > 0:
        for k in range(K):
            add_products(kept[k], shares[k], n_kept[k], scaled, out_linear[k], out_scatter[k])
        add_conditional_covariances(totals, missing, precisions, blocks, out_scatter)
    return value


@fast_kernel(
    "float64(float64[:,:,::1],float64[::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1],float64[::1],float64[:,::1])"
)
def shared_matrix_step(
    X, weights, constants, means, root, places, out_joint, out_weight, out_linear
):  # fmt: skip
    """The same for complete rows and one matrix; `places` (K, d) are the whitened means."""
    K, d = means.shape
    white = np.empty((d, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    value = 0.0
    for block in range(X.shape[0]):
        first, cells = block * ROWS, X[block]
        n = min(ROWS, weights.shape[0] - first)
        for j in range(d):
            for b in range(n):
                white[j, b] = 0.0
            for i in range(j + 1):
                a = root[i, j]
                for b in range(n):
                    white[j, b] += a * cells[i, b]
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
                    s += joint[k, b] * (cells[j, b] - mean)
                out_linear[k, j] += s
    return value
