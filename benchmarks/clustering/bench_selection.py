"""The silhouette of a clustering."""

from __future__ import annotations

from benchmarks.datasets import blobs
from benchmarks.peers import Peer, function, novum_function
from benchmarks.protocols import apply
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload

workload(
    "clustering.selection.silhouette",
    Recipe(blobs, rows(20_000), 10, 20, seed=5),
    apply("score", "X", "y", figure="silhouette"),
    [Peer("sklearn", function("sklearn.metrics:silhouette_score"))],
    novum=novum_function("novum.clustering:silhouette_score"),
    target=5.0,
    quality=Quality("silhouette", tolerance=1e-6),
    note="20k x 10, 20 clusters",
)
