"""Compiled look-up of log-probabilities of coded columns, summed over the columns.

NumPy would gather a table of (rows, classes) for each column and add it; here a row is read once.
Codes are checked by the caller.
"""

from __future__ import annotations

from novum.numerics.jit import kernel


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
