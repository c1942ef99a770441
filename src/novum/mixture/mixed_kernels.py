"""Kernel of mixtures of mixed tables: normal numbers and levels by tables of log-probabilities."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from novum.mixture.diagonal_kernels import add_column_logs, add_column_sums, fill_gaps
from novum.mixture.gaussian_kernels import LOG_TWO_PI, shared_among, write_joint
from novum.mixture.row_blocks import ROWS
from novum.numerics import fast_kernel


@fast_kernel(
    "float64(float64[:,:,::1],int32[:,::1],float64[::1],int64[::1],float64[::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1],float64[:,::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1])"
)
def mixed_step(
    X, codes, weights, starts, constants, means, variances, levels,
    out_joint, out_weight, out_seen, out_linear, out_square, out_counts,
):  # fmt: skip
    """One pass; returns the log-likelihood.

    Codes of group j of categorical columns begin at `starts[j]` in `levels` (K, entries), the
    log-probabilities of combinations of levels. `out_seen` (K, p) are the weights of the numbers
    that are present, the other sums those of `diagonal_step`, `out_counts` (K, entries) expected
    counts. Missing cells take no part in any sum of their column.
    """
    K, p, q = constants.shape[0], X.shape[1], codes.shape[1]
    without_gaps, present = np.empty((p, ROWS)), np.empty((p, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    peaks, slopes = -0.5 * (np.log(variances) + LOG_TWO_PI), -0.5 / variances
    place = np.empty((q, ROWS), np.int64)
    value = 0.0
    for block in range(X.shape[0]):
        first = block * ROWS
        n = min(ROWS, weights.shape[0] - first)
        complete = not fill_gaps(X[block], n, without_gaps, present)
        cells = X[block] if complete else without_gaps
        for b in range(n):
            for j in range(q):
                place[j, b] = starts[j] + codes[first + b, j]
        for k in range(K):
            for b in range(n):
                joint[k, b] = constants[k]
            add_column_logs(cells, present, complete, means[k], peaks[k], slopes[k], n, joint[k])
            for j in range(q):
                for b in range(n):
                    joint[k, b] += levels[k, place[j, b]]
        write_joint(joint, first, n, out_joint)
        if out_weight.shape[0] == 0:
            continue
        value += shared_among(joint, weights, first, n, top, share)
        for k in range(K):
            total = 0.0
            for b in range(n):
                total += joint[k, b]
            out_weight[k] += total
            add_column_sums(
                cells, present, complete, means[k], joint[k], total, n,
                out_seen[k], out_linear[k], out_square[k],
            )  # fmt: skip
            for j in range(q):
                for b in range(n):
                    out_counts[k, place[j, b]] += joint[k, b]
    return value
