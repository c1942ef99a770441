"""Sums of Euclidean distances of rows to groups of rows."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import fast_kernel

# Rows of a group taken at a time, whose sums stay in the nearest cache.
PIECE = 512


# Sums over groups are reordered, so that they are made many at a time (`benchmarks/clustering`,
# silhouette: four times the speed).
@fast_kernel("void(float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1])")
def euclidean_sums(X, columns, ends, out):
    """Of every row to the groups, whose rows are `ends[g]` to `ends[g + 1]` of the columns."""
    p = columns.shape[0]
    squares = np.empty(PIECE)
    for i in range(X.shape[0]):
        x = X[i]
        for g in range(ends.size - 1):
            total = 0.0
            start = ends[g]
            while start < ends[g + 1]:
                m = min(PIECE, ends[g + 1] - start)
                for t in range(m):
                    squares[t] = 0.0
                for j in range(p):
                    a, column = x[j], columns[j, start : start + m]
                    for t in range(m):
                        squares[t] += (a - column[t]) * (a - column[t])
                for t in range(m):
                    total += np.sqrt(squares[t])
                start += m
            out[i, g] = total
