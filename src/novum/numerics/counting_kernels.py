"""Compiled counting of coded columns against classes, one pass over the rows for all columns.

Per-column `bincount` reads the classes and writes an index array for every column; one pass in row
order does neither. Codes are checked by the caller: indices are not checked here.
"""

from __future__ import annotations

from novum.numerics.jit import kernel


@kernel("void(int32[:,::1], int64[::1], int32[::1], float64[::1], float64[:,::1])")
def add_class_counts(codes, offsets, classes, w, out):  # type: ignore[no-untyped-def]
    """Add the weight of every cell to row `offsets[j] + 2 + code`, column `class` of `out`.

    The two rows before level 0 of a column belong to its reserved codes -2 and -1.
    """
    n, d = codes.shape
    for i in range(n):
        label = classes[i]
        weight = w[i]
        for j in range(d):
            out[offsets[j] + 2 + codes[i, j], label] += weight
