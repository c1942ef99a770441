"""Kernel of mixtures of mixed tables: normal numbers and levels by tables of log-probabilities."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from novum.mixture.gaussian_kernels import LOG_TWO_PI, ROWS, shared_among
from novum.numerics import fast_kernel


@fast_kernel(
    "float64(float64[:,::1],int32[:,::1],float64[::1],int64[::1],float64[::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1],float64[:,::1],float64[::1],float64[:,::1],float64[:,::1],"
    "float64[:,::1],float64[:,::1])"
)
def mixed_step(
    X, codes, weights, starts, constants, means, variances, levels,
    out_joint, out_weight, out_seen, out_linear, out_square, out_counts,
):  # fmt: skip
    """One pass; returns the log-likelihood.

    Codes of categorical column j begin at `starts[j]` in `levels` (K, number of levels), the
    log-probabilities; codes below 0 are missing. `out_seen` (K, p) are the weights of the numbers
    that are present, the other sums those of `diagonal_step`, `out_counts` (K, levels) expected
    counts. Missing cells take no part in any sum of their column.
    """
    K, p, q = constants.shape[0], X.shape[1], codes.shape[1]
    xt, present = np.empty((p, ROWS)), np.empty((p, ROWS))
    joint, share, top = np.empty((K, ROWS)), np.empty(ROWS), np.empty(ROWS)
    logs, precisions = np.log(variances) + LOG_TWO_PI, 1.0 / variances
    place = np.empty((q, ROWS), np.int64)
    value = 0.0
    for first in range(0, weights.shape[0], ROWS):
        n = min(ROWS, weights.shape[0] - first)
        for b in range(n):
            for j in range(p):
                x = X[first + b, j]
                there = not np.isnan(x)
                xt[j, b] = x if there else 0.0
                present[j, b] = 1.0 if there else 0.0
            for j in range(q):
                code = codes[first + b, j]
                place[j, b] = starts[j] + code if code >= 0 else -1
        for k in range(K):
            for b in range(n):
                joint[k, b] = constants[k]
            for j in range(p):
                mean, precision, log = means[k, j], precisions[k, j], logs[k, j]
                for b in range(n):
                    t = xt[j, b] - mean
                    joint[k, b] -= 0.5 * present[j, b] * (precision * t * t + log)
            for j in range(q):
                for b in range(n):
                    if place[j, b] >= 0:
                        joint[k, b] += levels[k, place[j, b]]
        if out_joint.shape[0] > 0:
            for b in range(n):
                for k in range(K):
                    out_joint[first + b, k] = joint[k, b]
        if out_weight.shape[0] == 0:
            continue
        value += shared_among(joint, weights, first, n, top, share)
        for k in range(K):
            total = 0.0
            for b in range(n):
                total += joint[k, b]
            out_weight[k] += total
            for j in range(p):
                mean, seen, s, square = means[k, j], 0.0, 0.0, 0.0
                for b in range(n):
                    r = joint[k, b] * present[j, b]
                    t = xt[j, b] - mean
                    seen += r
                    s += r * t
                    square += r * t * t
                out_seen[k, j] += seen
                out_linear[k, j] += s
                out_square[k, j] += square
            for j in range(q):
                for b in range(n):
                    if place[j, b] >= 0:
                        out_counts[k, place[j, b]] += joint[k, b]
    return value
