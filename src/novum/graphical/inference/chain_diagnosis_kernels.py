"""Autocorrelation times of many short chains."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import lean_kernel


@lean_kernel("float64(float64[:,::1], int64)")
def mean_covariance(chains, lag):
    """Autocovariance of chains around their means, averaged over them."""
    total = 0.0
    for chain in range(chains.shape[0]):
        for i in range(chains.shape[1] - lag):
            total += chains[chain, i] * chains[chain, i + lag]
    return total / chains.size


@lean_kernel("void(float64[:,:,::1], float64[::1], float64[::1], float64[::1])")
def correlation_times(centered, within, variance, out_times):
    """`1 + 2 * sum` of autocorrelations for each cell, in pairs that are positive and falling."""
    for cell in range(centered.shape[0]):
        total = 0.0
        lowest = np.inf
        for pair in range(centered.shape[2] // 2):
            first = 1.0
            if pair > 0:
                covariance = mean_covariance(centered[cell], 2 * pair)
                first -= (within[cell] - covariance) / variance[cell]
            covariance = mean_covariance(centered[cell], 2 * pair + 1)
            both = first + 1.0 - (within[cell] - covariance) / variance[cell]
            if not both > 0.0:
                break
            lowest = min(lowest, both)
            total += lowest
        out_times[cell] = 2.0 * total - 1.0
