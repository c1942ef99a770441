"""Agglomerative clustering, the complete tree; the sum of the merge heights is the quality.

A peer is a function from the points to the n - 1 merge heights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import blobs
from benchmarks.peers import Make, Peer, build
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

Heights = Callable[[np.ndarray], np.ndarray]
WHOLE_TREE = {"n_clusters": None, "distance_threshold": 0.0}
TARGETS = {"single": 4.0, "complete": 1.3, "average": 1.5, "ward": 3.0}
DATA = Recipe(blobs, rows(10_000), 10, 20, seed=5)


def hierarchy(make: Make, data: Data, clock: Clock) -> Figures:
    merge_heights = make(data)
    with clock("tree"):
        heights = merge_heights(data.X)
    heights = np.sort(np.asarray(heights))
    return {"_heights": heights, "heights": heights.sum()}


def scipy_linkage(method: str) -> Make:
    def make(_data: Data) -> Heights:
        from scipy.cluster.hierarchy import linkage

        return lambda X: linkage(X, method)[:, 2]

    return make


def fastcluster_linkage(method: str, name: str = "linkage") -> Make:
    def make(_data: Data) -> Heights:
        import fastcluster

        return lambda X: getattr(fastcluster, name)(X, method)[:, 2]

    return make


def agglomerative(package: str, method: str) -> Make:
    def make(data: Data) -> Heights:
        path = f"{package}:AgglomerativeClustering"
        estimator = build(path, linkage=method, **WHOLE_TREE)(data)
        return lambda X: estimator.fit(X).distances_

    return make


for method in TARGETS:
    vector = Peer("fastcluster vector", fastcluster_linkage(method, "linkage_vector"))
    workload(
        f"clustering.hierarchical.{method}",
        DATA,
        hierarchy,
        [
            Peer("scipy", scipy_linkage(method)),
            Peer("fastcluster", fastcluster_linkage(method)),
            *([vector] if method in ("single", "ward") else []),
            Peer("sklearn", agglomerative("sklearn.cluster", method)),
        ],
        novum=Peer("novum", agglomerative("novum.clustering", method), ours=True),
        target=TARGETS[method],
        quality=Quality("heights", "low", 1e-6),
        limit=120,
        note=f"10k x 10, the complete tree, {method} linkage",
    )
