"""Centering rows at the centers of their classes, in one pass over the table.

NumPy gathers and subtracts a center for every row and adds up by class in passes of their own.
"""

from __future__ import annotations

from novum.numerics import kernel


@kernel(
    "void(float64[:,::1], int64[::1], float64[::1], float64[:,::1], float64[:,::1], float64[:,::1])"
)
def center_rows(X, codes, roots, center, out, out_sums):  # type: ignore[no-untyped-def]
    """Writes `r (x - center)` of every row to `out`; adds `r^2 (x - center)` to its class's sums.

    `r` is the root of the weight; `roots` is empty where all weights are one.
    """
    n, d = X.shape
    weighted = roots.size > 0
    for i in range(n):
        k = codes[i]
        if weighted:
            root = roots[i]
            for j in range(d):
                value = root * (X[i, j] - center[k, j])
                out[i, j] = value
                out_sums[k, j] += root * value
        else:
            for j in range(d):
                value = X[i, j] - center[k, j]
                out[i, j] = value
                out_sums[k, j] += value
