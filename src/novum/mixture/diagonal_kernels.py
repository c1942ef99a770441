"""Kernels of mixtures of uncorrelated numbers: the same as `gaussian_kernels`, column by column.

A missing cell takes no part in a density. What is expected of it is the mean and the variance of
its component.

`fast_kernel`: sums along a block may be reordered and fused (`benchmarks/mixture`).
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from novum.mixture.gaussian_kernels import (
    LOG_TWO_PI,
    NEGLIGIBLE,
    shared_among,
    write_joint,
)
from novum.mixture.row_blocks import ROWS
from novum.numerics import fast_inner_kernel, fast_kernel


@fast_inner_kernel()
def fill_gaps(cells, n, out_cells, out_present):
    """Whether a block has gaps; if so, `out_cells` has zeros in them."""
    total = 0.0
    for j in range(cells.shape[0]):
        for b in range(n):
            total += cells[j, b]
    if not np.isnan(total):
        return False
    for j in range(cells.shape[0]):
        for b in range(n):
            there = not np.isnan(cells[j, b])
            out_cells[j, b] = cells[j, b] if there else 0.0
            out_present[j, b] = 1.0 if there else 0.0
    return True


@fast_inner_kernel()
def add_column_logs(cells, present, complete, mean, peak, slope, n, out):
    """Adds `peak_j + slope_j (x_j - m_j)^2` of the present cells of every row.

    Four columns of a complete block share a load and store.
    """
    d = mean.shape[0]
    if not complete:
        for j in range(d):
            m, p, c = mean[j], slope[j], peak[j]
            for b in range(n):
                t = cells[j, b] - m
                out[b] += present[j, b] * (p * t * t + c)
        return
    total = np.sum(peak)
    for b in range(n):
        out[b] += total
    j = 0
    while j + 4 <= d:
        m0, m1, m2, m3 = mean[j], mean[j + 1], mean[j + 2], mean[j + 3]
        p0, p1, p2, p3 = slope[j], slope[j + 1], slope[j + 2], slope[j + 3]
        for b in range(n):
            t0, t1 = cells[j, b] - m0, cells[j + 1, b] - m1
            t2, t3 = cells[j + 2, b] - m2, cells[j + 3, b] - m3
            out[b] += p0 * t0 * t0 + p1 * t1 * t1 + p2 * t2 * t2 + p3 * t3 * t3
        j += 4
    while j < d:
        m, p = mean[j], slope[j]
        for b in range(n):
            t = cells[j, b] - m
            out[b] += p * t * t
        j += 1


@fast_inner_kernel()
def add_column_sums(cells, present, complete, mean, share, total, n, seen, linear, square):
    """Adds `sum_b r_b`, `sum_b r_b t_b` and `sum_b r_b t_b^2` over the present cells of columns.

    `t = x - m`; `total` is the sum of `r` over all rows.
    """
    d = mean.shape[0]
    if not complete:
        for j in range(d):
            m, w, s, q = mean[j], 0.0, 0.0, 0.0
            for b in range(n):
                r = share[b] * present[j, b]
                t = cells[j, b] - m
                w += r
                s += r * t
                q += r * t * t
            seen[j] += w
            linear[j] += s
            square[j] += q
        return
    for j in range(d):
        seen[j] += total
    for j in range(d):
        m, s, q = mean[j], 0.0, 0.0
        for b in range(n):
            t = cells[j, b] - m
            u = share[b] * t
            s += u
            q += u * t
        linear[j] += s
        square[j] += q


@fast_kernel(
    "float64(float64[:,:,::1],float64[::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[::1],float64[:,::1],float64[:,::1])"
)
def diagonal_step(
    X, weights, constants, means, variances, out_joint, out_weight, out_linear, out_square
):  # fmt: skip
    """As `matrix_step`, for uncorrelated columns; `constants` are logarithms of weights."""
    K, d = means.shape
    without_gaps, present = np.empty((d, ROWS)), np.empty((d, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    peaks, slopes = -0.5 * (np.log(variances) + LOG_TWO_PI), -0.5 / variances
    whole, seen = np.zeros(K), np.zeros((K, d))
    value = 0.0
    for block in range(X.shape[0]):
        first = block * ROWS
        n = min(ROWS, weights.shape[0] - first)
        complete = not fill_gaps(X[block], n, without_gaps, present)
        cells = X[block] if complete else without_gaps
        for k in range(K):
            for b in range(n):
                joint[k, b] = constants[k]
            add_column_logs(cells, present, complete, means[k], peaks[k], slopes[k], n, joint[k])
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
                    cells, present, complete, means[k], joint[k], total, n,
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
