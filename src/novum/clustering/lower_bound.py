"""How small the sum of squared distances to k centers can be at all: bounds from below.

The sum over all columns is that along any orthonormal axes, so with the principal axes of the rows
and their eigenvalues l_1 >= l_2 >= ... of the scatter matrix, the best sum is at least

    sum over j <= m of Q_k(axis j)  +  sum over j > m + k - 1 of l_j        for every m,

where Q_k is the best sum for the coordinates along one axis alone, which dynamic programming finds
exactly: the clusters of an axis are intervals. The second term is the spectral relaxation of the
other axes, `trace S - trace(H'SH)` over all orthonormal H with k - 1 columns in place of indicators
of a partition. The best m is taken; m = 0 is the spectral bound of Ding and He.

References
----------
Ding and He, K-means clustering via principal component analysis, ICML 2004. Wang and Song,
Ckmeans.1d.dp: optimal k-means clustering in one dimension by dynamic programming, 2011.
"""

from __future__ import annotations

import numpy as np

from novum.numerics import Floats, as_argument, inner_kernel, kernel

# Steps of dynamic programming, some tenths of a second; axes beyond have the spectral bound.
_BUDGET = 50_000_000


def best_sum_bound(moved: Floats, weights: Floats, n_clusters: int) -> float:
    """A lower bound of the weighted sum of squared distances to any centers.

    Parameters
    ----------
    moved : array (n, p)
        Rows less their mean.
    weights : array (n,)
    n_clusters : int

    Examples
    --------
    >>> rows = np.array([[-5.0, -1.0], [-5.0, 1.0], [5.0, -1.0], [5.0, 1.0]])
    >>> best_sum_bound(rows, np.ones(4), 2)
    4.0
    """
    (n, p), k = moved.shape, n_clusters
    scaled = np.sqrt(weights)[:, np.newaxis] * moved
    if p <= n:
        values, axes = np.linalg.eigh(scaled.T @ scaled)
        values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1]
    else:
        _, singular, turned = np.linalg.svd(scaled, full_matrices=False)
        values, axes = singular**2, turned.T
    tails = np.concatenate([np.cumsum(values[::-1])[::-1], np.zeros(k)])
    price = n * max(np.log2(n), 1.0) * k
    n_axes = min(len(values), int(_BUDGET // price))
    best, along = float(tails[k - 1]), 0.0
    for m in range(n_axes):
        along += least_along(moved @ axes[:, m], weights, k)
        best = max(best, along + float(tails[m + k]))
    return best


def least_along(x: Floats, weights: Floats, n_clusters: int) -> float:
    """The least sum of squared differences of numbers to k centers.

    Examples
    --------
    >>> least_along(np.array([0.0, 9.0, 1.0, 10.0]), np.ones(4), 2)
    1.0
    """
    if n_clusters >= len(x):
        return 0.0
    order = np.argsort(x, kind="stable")
    return float(least_of_intervals(as_argument(x[order]), as_argument(weights[order]), n_clusters))


@inner_kernel()
def interval_cost(weight, first, second, i, j):  # type: ignore[no-untyped-def]
    """The sum of squares about the mean, of the sorted numbers i to j."""
    w = weight[j + 1] - weight[i]
    s = first[j + 1] - first[i]
    return max(second[j + 1] - second[i] - s * s / w, 0.0)


@kernel("float64(float64[::1], float64[::1], int64)")
def least_of_intervals(x, weights, k):  # type: ignore[no-untyped-def]
    """Sorted numbers in k intervals: dynamic programming, whose best cuts never move back.

    Cuts of every second number are found first, then those between, each between its neighbors'.
    """
    n = x.size
    weight, first, second = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        weight[i + 1] = weight[i] + weights[i]
        first[i + 1] = first[i] + weights[i] * x[i]
        second[i + 1] = second[i] + weights[i] * x[i] * x[i]
    costs, better = np.empty(n), np.empty(n)
    cuts = np.zeros(n, np.int64)
    for j in range(n):
        costs[j] = interval_cost(weight, first, second, 0, j)
    for _ in range(1, k):
        stride = 1
        while 2 * stride <= n:
            stride *= 2
        while stride > 0:
            for j in range(stride - 1, n, 2 * stride):
                low = cuts[j - stride] if j - stride >= 0 else 0
                high = cuts[j + stride] if j + stride < n else j
                better[j], cuts[j] = costs[j], 0
                for i in range(max(low, 1), min(high, j) + 1):
                    cost = costs[i - 1] + interval_cost(weight, first, second, i, j)
                    if cost < better[j]:
                        better[j], cuts[j] = cost, i
            stride //= 2
        for j in range(n):
            costs[j] = better[j]
    return costs[n - 1]
