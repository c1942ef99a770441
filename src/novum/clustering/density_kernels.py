"""From a tree of merges to the tree of its clusters of some size."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics import inner_kernel, kernel

# Of a node that is a part of a merge of the same height.
OPENED = -2.0


@inner_kernel()
def leave(cluster, count, density, birth, stability, last):
    """So many rows leave a cluster at a density."""
    if density > birth[cluster]:
        stability[cluster] += (density - birth[cluster]) * count
    last[cluster] = max(last[cluster], density)


@kernel(
    "int64(float64[:, ::1], int64, int64[::1], float64[::1], int64[::1], float64[::1], "
    "float64[::1], int64[::1], float64[::1])",
    vectorize=False,
)
def condense(Z, least, parent, birth, size, stability, last, home, density):
    """Goes down from all rows; a node whose rows have left has a `density` of at least 0.

    Merges of one height are one merge of several clusters, so that the order of rows, by which
    equal heights are sorted, does not matter. Returns the number of clusters.
    """
    n = Z.shape[0] + 1
    m = 1
    stack, parts = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n - 2, -1, -1):
        node = n + i
        cluster = home[node]
        if density[node] >= 0:
            for part in (int(Z[i, 0]), int(Z[i, 1])):
                home[part], density[part] = cluster, density[node]
            continue
        if density[node] == OPENED:
            continue
        # All clusters that come together at this height.
        stack[0] = node
        n_open, n_parts, n_large = 1, 0, 0
        while n_open > 0:
            n_open -= 1
            merge = stack[n_open] - n
            for side in range(2):
                part = int(Z[merge, side])
                if part >= n and Z[part - n, 2] == Z[i, 2]:
                    density[part] = OPENED
                    stack[n_open] = part
                    n_open += 1
                else:
                    parts[n_parts] = part
                    n_parts += 1
                    n_large += (Z[part - n, 3] if part >= n else 1.0) >= least
        value = 1.0 / Z[i, 2] if Z[i, 2] > 0 else np.inf
        for t in range(n_parts):
            part = parts[t]
            count = int(Z[part - n, 3]) if part >= n else 1
            home[part] = cluster
            if count < least:
                leave(cluster, count, value, birth, stability, last)
                density[part] = value
            elif n_large > 1:
                leave(cluster, count, value, birth, stability, last)
                parent[m], birth[m], size[m] = cluster, value, count
                home[part] = m
                m += 1
    return m
