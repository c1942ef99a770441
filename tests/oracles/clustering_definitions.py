"""Clusterings by their definitions: nested loops over rows, the oracle of tests."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def lloyd(X: Any, start: Any, weights: Any = None, max_iter: int = 1000) -> tuple[Any, Any, float]:
    """Centers, labels and the sum of squares by Lloyd's algorithm without missing cells."""
    X, centers = np.asarray(X, float), np.array(start, float)
    w = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    for _ in range(max_iter):
        squares = ((X[:, None] - centers) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        new = centers.copy()
        for j in range(len(centers)):
            mine = labels == j
            if mine.any():
                new[j] = np.average(X[mine], axis=0, weights=w[mine])
        if np.array_equal(new, centers):
            break
        centers = new
    squares = ((X[:, None] - centers) ** 2).sum(axis=2)
    return centers, squares.argmin(axis=1), float(w @ squares.min(axis=1))


def partial_squares(X: Any, centers: Any) -> Any:
    """Squared distances over known cells, scaled up to all columns."""
    X = np.asarray(X, float)
    p = X.shape[1]
    out = np.empty((len(X), len(centers)))
    for i, row in enumerate(X):
        known = ~np.isnan(row)
        for j, center in enumerate(centers):
            out[i, j] = ((row[known] - center[known]) ** 2).sum() * p / known.sum()
    return out


def partitions(n: int, k: int) -> Any:
    """All labelings of n rows with k groups, each once."""
    for labels in itertools.product(range(k), repeat=n):
        if len(set(labels)) == k and list(dict.fromkeys(labels)) == sorted(set(labels)):
            yield np.array(labels)


def best_inertia(X: Any, k: int) -> float:
    """The least sum of squared distances to k means, over all partitions."""
    X = np.asarray(X, float)
    return min(
        sum(((X[p == j] - X[p == j].mean(axis=0)) ** 2).sum() for j in range(k))
        for p in partitions(len(X), k)
    )


def naive_heights(D: Any, method: str, X: Any = None) -> list[float]:
    """Heights of merging the nearest two clusters, from the definition of each linkage."""
    D = np.asarray(D, float)
    clusters = [[i] for i in range(len(D))]

    def apart(a: list[int], b: list[int]) -> float:
        block = D[np.ix_(a, b)]
        if method == "ward":
            gap = X[a].mean(axis=0) - X[b].mean(axis=0)
            return float(np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * (gap**2).sum()))
        if method == "centroid":
            return float(np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0)))
        return float({"single": np.min, "complete": np.max, "average": np.mean}[method](block))

    heights = []
    while len(clusters) > 1:
        pairs = list(itertools.combinations(range(len(clusters)), 2))
        costs = [apart(clusters[i], clusters[j]) for i, j in pairs]
        best = int(np.argmin(costs))
        i, j = pairs[best]
        heights.append(costs[best])
        clusters[i] = clusters[i] + clusters.pop(j)
    return heights
