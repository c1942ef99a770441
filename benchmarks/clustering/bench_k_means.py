"""k-means from a given start; the inertia reached is the quality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.clustering.starts import blobs_with_start
from benchmarks.peers import Make, Peer, build, novum, threads
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

SAME = {"n_clusters": 50, "init": "@start", "n_init": 1, "max_iter": 100, "tol": 1e-4}


def cluster(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)

    def figures() -> Figures:
        centers = np.asarray(estimator.cluster_centers_)
        return {
            "inertia": inertia(data.X, centers) / len(data.X),
            "iterations": estimator.n_iter_,
        }

    return figures


def inertia(X: np.ndarray, centers: np.ndarray) -> float:
    """Sum of squared distances to the nearest center, in blocks."""
    norms = (centers**2).sum(1)
    total = 0.0
    for start in range(0, len(X), 10_000):
        block = X[start : start + 10_000]
        nearest = (block**2).sum(1) + (norms - 2 * block @ centers.T).min(1)
        total += float(np.maximum(nearest, 0).sum())
    return total


class Faiss:
    """faiss behind `fit`; it has no tolerance, so it makes all iterations."""

    def __init__(self, start: np.ndarray, iterations: int) -> None:
        self.start = start
        self.n_iter_ = iterations

    def fit(self, X: np.ndarray) -> None:
        import faiss

        faiss.omp_set_num_threads(threads())
        k_means = faiss.Kmeans(
            X.shape[1], len(self.start), niter=self.n_iter_, max_points_per_centroid=len(X)
        )
        k_means.train(X.astype(np.float32), init_centroids=self.start.astype(np.float32))
        self.cluster_centers_ = k_means.centroids


PEERS = [
    Peer("sklearn lloyd", build("sklearn.cluster:KMeans", **SAME)),
    Peer("sklearn elkan", build("sklearn.cluster:KMeans", algorithm="elkan", **SAME)),
    Peer("intelex lloyd", build("sklearnex.cluster:KMeans", algorithm="lloyd", **SAME)),
    Peer("faiss (float32, 100 iterations)", lambda data: Faiss(data.start, 100)),
]
NOTE = "200k x 16, k = 50, the same start, tol 1e-4, at most 100 iterations"

workload(
    "clustering.k_means",
    Recipe(blobs_with_start, rows(200_000), 16, 50, spread=2.0),
    cluster,
    PEERS,
    novum=novum("novum.clustering:KMeans", **SAME),
    target=3.0,
    quality=Quality("inertia", "low", 2e-3),
    note=NOTE,
)

workload(
    "clustering.k_means.structureless",
    Recipe(blobs_with_start, rows(200_000), 16, 1, spread=2.0, starts=50),
    cluster,
    PEERS,
    novum=novum("novum.clustering:KMeans", **SAME),
    target=1.4,
    quality=Quality("inertia", "low", 2e-3),
    note=f"one normal cloud, {NOTE}",
)
