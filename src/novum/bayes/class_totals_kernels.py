"""Compiled passes over sparse rows: totals of columns by class, and scores of rows.

In place of a product with a table of one column for each class, every stored cell is added where
it belongs (`benchmarks/bayes/bench_multinomial.py`).
"""

from __future__ import annotations

from novum.numerics.jit import kernel


@kernel(
    "int64(float64[::1], int32[::1], int64[::1], int64[::1], float64[::1], float64, boolean, "
    "float64[:,::1])"
)
def add_class_totals(data, columns, starts, classes, w, threshold, binary, out):  # type: ignore[no-untyped-def]
    """Add each cell, or with `binary` whether it exceeds `threshold`, to row `class` of `out`.

    Returns the position of the first cell that is negative (for `binary`: NaN) and stops there,
    or -1.
    """
    for i in range(classes.size):
        k = classes[i]
        weight = w[i]
        if binary:
            for position in range(starts[i], starts[i + 1]):
                x = data[position]
                if x != x:
                    return position
                if x > threshold:
                    out[k, columns[position]] += weight
        else:
            for position in range(starts[i], starts[i + 1]):
                x = data[position]
                if not x >= 0.0:
                    return position
                out[k, columns[position]] += weight * x
    return -1


@kernel(
    "int64(float64[::1], int32[::1], int64[::1], float64, boolean, float64[:,::1], float64[:,::1])"
)
def add_sparse_scores(data, columns, starts, threshold, binary, weights, out):  # type: ignore[no-untyped-def]
    """Add `x_ij weights[j]` over the cells of each row to `out`; `binary` as above."""
    n, n_classes = out.shape
    for i in range(n):
        for position in range(starts[i], starts[i + 1]):
            x = data[position]
            if binary:
                if x != x:
                    return position
                if x > threshold:
                    j = columns[position]
                    for k in range(n_classes):
                        out[i, k] += weights[j, k]
            else:
                if not x >= 0.0:
                    return position
                j = columns[position]
                for k in range(n_classes):
                    out[i, k] += x * weights[j, k]
    return -1
