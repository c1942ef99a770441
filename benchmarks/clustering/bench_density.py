"""Density clustering; the agreement with the known groups is the quality."""

from __future__ import annotations

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import blobs
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

DATA = Recipe(blobs, rows(50_000), 4, 20, seed=5, spread=0.5)
# Groups so clear that ways to take ties, and trees that are nearly shortest, do not matter.
CLEAR = Recipe(blobs, rows(50_000), 4, 20, seed=5, spread=0.25)
DBSCAN = {"eps": 0.25, "min_samples": 10}
HDBSCAN = {"min_cluster_size": 100, "min_samples": 10}


def groups(make: Make, data: Data, clock: Clock) -> Figures:
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)
    return {"agreement": agreement(data.y, np.asarray(estimator.labels_))}


def agreement(true: np.ndarray, given: np.ndarray) -> float:
    """The adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(true, given))


workload(
    "clustering.density.dbscan",
    DATA,
    groups,
    [Peer("sklearn", build("sklearn.cluster:DBSCAN", **DBSCAN))],
    novum=novum("novum.clustering:DBSCAN", **DBSCAN),
    target=2.0,
    quality=Quality("agreement", tolerance=1e-9),
    note="50k x 4, 20 groups, eps 0.25",
)

workload(
    "clustering.density.hdbscan",
    CLEAR,
    groups,
    [
        Peer("sklearn", build("sklearn.cluster:HDBSCAN", copy=True, **HDBSCAN)),
        # It does not count the row itself.
        Peer("hdbscan", build("hdbscan:HDBSCAN", **HDBSCAN | {"min_samples": 9})),
    ],
    novum=novum("novum.clustering:HDBSCAN", **HDBSCAN),
    target=2.0,
    quality=Quality("agreement", tolerance=0.02),
    limit=300,
    note="50k x 4, 20 groups; merges of equal height are taken in different ways",
)
