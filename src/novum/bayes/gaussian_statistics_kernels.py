"""Dealing rows into buffers of their classes, centered, in one pass over the table.

The table is read in its own order, which memory serves faster than row after row of one class, and
every buffer stays in a cache until a matrix product has used it (`benchmarks/bayes`).
"""

from __future__ import annotations

from novum.numerics import kernel


@kernel(
    "int64(float64[:,::1], int64[::1], float64[::1], float64[:,::1], "
    "float64[:,:,::1], int64[::1], int64)"
)
def deal_rows(X, codes, roots, centers, out, out_counts, start):  # type: ignore[no-untyped-def]
    """Deals the rows from `start` on; returns the first row whose buffer is full, or their number.

    `out[k]` takes `[r (x - center), r]` for the rows of class k, with `r` the root of the weight;
    `out_counts[k]` says how many it holds. `roots` is empty where all weights are one.
    """
    n, d = X.shape
    height = out.shape[1]
    weighted = roots.size > 0
    for i in range(start, n):
        k = codes[i]
        place = out_counts[k]
        if place == height:
            return i
        root = roots[i] if weighted else 1.0
        if weighted:
            for j in range(d):
                out[k, place, j] = root * (X[i, j] - centers[k, j])
        else:
            for j in range(d):
                out[k, place, j] = X[i, j] - centers[k, j]
        out[k, place, d] = root
        out_counts[k] = place + 1
    return n
