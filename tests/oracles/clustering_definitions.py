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


def dbscan(D: Any, eps: float, min_samples: float, weights: Any = None) -> Any:
    """Labels by the definition: core rows, their components, borders to the first cluster."""
    D = np.asarray(D, float)
    n = len(D)
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    near = eps >= D
    core = ((near @ w) >= min_samples) & (w > 0)
    labels, number = np.full(n, -1), 0
    for i in range(n):
        if not core[i] or labels[i] >= 0:
            continue
        reached = [i]
        labels[i] = number
        while reached:
            for j in np.flatnonzero(near[reached.pop()] & core & (labels < 0)):
                labels[j] = number
                reached.append(j)
        number += 1
    for i in np.flatnonzero(~core):
        around = labels[near[i] & core]
        labels[i] = around.min() if len(around) else -1
    return labels


def components_below(M: Any, rows: Any, height: float) -> list[Any]:
    """Components of some rows over pairs that are nearer than a height."""
    rows, parts = list(rows), []
    while rows:
        part, open_ = [], [rows.pop(0)]
        while open_:
            i = open_.pop()
            part.append(i)
            near = [j for j in rows if M[i, j] < height]
            rows = [j for j in rows if M[i, j] >= height]
            open_ += near
        parts.append(sorted(part))
    return parts


def hdbscan(D: Any, k: int, least: int) -> set[frozenset[int]]:
    """The most stable clusters, by going down through all heights of mutual reachability."""
    D = np.asarray(D, float)
    core = np.sort(D, axis=1)[:, k - 1]
    M = np.maximum(np.maximum(D, core[:, None]), core[None, :])
    heights = sorted({float(h) for h in M[np.triu_indices(len(D), 1)]}, reverse=True)

    def solved(rows: list[int], birth: float, place: int) -> tuple[float, set[frozenset[int]]]:
        stability, current = 0.0, rows
        for at in range(place, len(heights)):
            value = 1 / heights[at] if heights[at] > 0 else np.inf
            parts = components_below(M, current, heights[at])
            large = [part for part in parts if len(part) >= least]
            gone = sum(len(part) for part in parts if len(part) < least)
            stability += gone * (value - birth) if gone else 0.0
            if len(large) > 1:
                stability += sum(map(len, large)) * (value - birth)
                below = [solved(part, value, at + 1) for part in large]
                total = sum(found[0] for found in below)
                if total > stability or birth == 0.0:
                    return total, set().union(*(found[1] for found in below))
                return stability, {frozenset(rows)}
            if not large:
                break
            current = large[0]
        return stability, {frozenset(rows)} if birth else set()

    return solved(list(range(len(D))), 0.0, 0)[1]
