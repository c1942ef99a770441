"""Compiled accumulation of column moments over one block of rows with missing cells.

Two passes over the block, both in row order: weight and mean, then scatter. NumPy needs a dozen
passes and as many temporary arrays for the masks.
"""

from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel


@kernel("void(float64[:,::1], float64[::1], float64[:,::1])")
def accumulate_columns(X, w, out):  # type: ignore[no-untyped-def]
    """Write weight, center, mean minus center, and scatter of each column into the rows of `out`.

    `out` (4, d) comes in as zeros. The center is the mean up to rounding; the last pass corrects
    the scatter for the difference. Columns without a present cell stay zero.
    """
    n, d = X.shape
    for j in range(d):
        for i in range(n):
            if not np.isnan(X[i, j]):
                out[1, j] = X[i, j]
                break
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            present = x == x
            out[0, j] += w[i] if present else 0.0
            out[2, j] += w[i] * (x - out[1, j]) if present else 0.0
    for j in range(d):
        if out[0, j] > 0.0:
            out[1, j] += out[2, j] / out[0, j]
        out[2, j] = 0.0
    for i in range(n):
        for j in range(d):
            x = X[i, j]
            centered = x - out[1, j] if x == x else 0.0
            out[2, j] += w[i] * centered
            out[3, j] += w[i] * centered * centered
    for j in range(d):
        if out[0, j] > 0.0:
            out[2, j] /= out[0, j]
        out[3, j] -= out[0, j] * out[2, j] * out[2, j]
