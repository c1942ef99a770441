"""Compiled sums of every column within every class, about a center, in one pass over the rows.

NumPy needs one pass with a masked copy for each class; here the cells are read once.
"""

from __future__ import annotations

from novum.numerics.jit import kernel


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
