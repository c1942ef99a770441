"""Compiled sums and scores of every column within every class.

Sums: NumPy needs one pass with a masked copy for each class, a sparse product a table of one column
for each; here every cell is read once and added where it belongs. Scores of normal columns: the
differences to the class means are formed cell by cell, so nothing cancels, whatever the offset of a
column; rows are turned on their side by blocks, so that the innermost loop runs over rows. Scores
of levels: NumPy would gather a table of (rows, classes) for each column; here a row is read once
(`benchmarks/bayes`). Codes are checked by the caller.
"""

from __future__ import annotations

from novum.numerics import kernel

# --- Sums -----------------------------------------------------------------------------------------


@kernel(
    "void(float64[:,::1], int64[::1], float64[::1], float64[:,::1], float64[:,::1], "
    "float64[:,::1], float64[:,::1])"
)
def add_centered_sums(X, classes, w, center, out_missing, out_linear, out_square):  # type: ignore[no-untyped-def]
    """Add the sums of `w (x - c)` and `w (x - c)^2`, and the weight of missing cells, by class.

    All arrays but the first three have shape (n_classes, d). Rows are complete far more often than
    not, and then need no mask.
    """
    n, d = X.shape
    for i in range(n):
        k = classes[i]
        weight = w[i]
        n_missing = 0
        for j in range(d):
            n_missing += X[i, j] != X[i, j]
        if n_missing == 0:
            for j in range(d):
                centered = X[i, j] - center[k, j]
                out_linear[k, j] += weight * centered
                out_square[k, j] += weight * centered * centered
        else:
            for j in range(d):
                x = X[i, j]
                present = x == x
                centered = x - center[k, j] if present else 0.0
                out_missing[k, j] += 0.0 if present else weight
                out_linear[k, j] += weight * centered
                out_square[k, j] += weight * centered * centered


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


# --- Scores ---------------------------------------------------------------------------------------


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


@kernel("void(int32[:,::1], int64[::1], float64[:,::1], float64[:,::1])")
def add_level_scores(codes, offsets, table, out):  # type: ignore[no-untyped-def]
    """Add row `offsets[j] + 2 + code` of `table` for every column j to row i of `out`."""
    n, d = codes.shape
    n_classes = out.shape[1]
    for i in range(n):
        for j in range(d):
            row = offsets[j] + 2 + codes[i, j]
            for k in range(n_classes):
                out[i, k] += table[row, k]


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
