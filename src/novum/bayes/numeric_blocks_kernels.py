"""Compiled log-densities of normal columns, summed over the columns for every class.

The differences to the class means are formed cell by cell, so nothing cancels, whatever the offset
of a column; a matrix product of squares would be no quicker. Rows are turned on their side by
blocks, so that the innermost loop runs over rows.
"""

from __future__ import annotations

from novum.numerics.jit import kernel


@kernel(
    "void(float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], "
    "float64[:,::1])"
)
def add_normal_scores(X, mean, half, constant, scratch, out):  # type: ignore[no-untyped-def]
    """Add `sum_j constant_kj - half_kj (x_j - mean_kj)^2` over the present cells to `out[i, k]`.

    `scratch` has shape (d + 1, rows of a block); its last row holds the sums of one class.
    """
    n, d = X.shape
    height = scratch.shape[1]
    for start in range(0, n, height):
        size = min(height, n - start)
        for r in range(size):
            for j in range(d):
                scratch[j, r] = X[start + r, j]
        for k in range(out.shape[1]):
            for r in range(size):
                scratch[d, r] = 0.0
            for j in range(d):
                m = mean[k, j]
                h = half[k, j]
                c = constant[k, j]
                for r in range(size):
                    centered = scratch[j, r] - m
                    term = c - h * centered * centered
                    scratch[d, r] += term if term == term else 0.0
            for r in range(size):
                out[start + r, k] += scratch[d, r]
