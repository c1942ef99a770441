"""k nearest neighbors: 50k training rows, 5k queries, k = 10, in few and in many dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.datasets import blobs
from benchmarks.peers import Peer, build, novum, threads
from benchmarks.protocols import classify
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

K = 10
Search = Callable[[np.ndarray], np.ndarray]


class Index:
    """A classifier over a search index: `index(X)` gives a function from queries to row numbers."""

    def __init__(self, index: Callable[[np.ndarray], Search]) -> None:
        self.index = index

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.search = self.index(X)
        self.y = y
        self.classes = int(y.max()) + 1

    def predict(self, X: np.ndarray) -> np.ndarray:
        votes = np.arange(len(X))[:, None] * self.classes + self.y[self.search(X)]
        counts = np.bincount(votes.ravel(), minlength=len(X) * self.classes)
        return counts.reshape(-1, self.classes).argmax(1)


def faiss_flat(_data: Data) -> Index:
    import faiss

    faiss.omp_set_num_threads(threads())

    def index(X: np.ndarray) -> Search:
        flat = faiss.IndexFlatL2(X.shape[1])
        flat.add(X.astype(np.float32))
        return lambda queries: flat.search(queries.astype(np.float32), K)[1]

    return Index(index)


def hnsw(_data: Data) -> Index:
    import hnswlib

    def index(X: np.ndarray) -> Search:
        graph = hnswlib.Index(space="l2", dim=X.shape[1])
        graph.set_num_threads(threads())
        graph.init_index(len(X), M=16, ef_construction=100, random_seed=0)
        graph.add_items(X)
        graph.set_ef(50)
        return lambda queries: graph.knn_query(queries, K)[0].astype(np.int64)

    return Index(index)


def scipy_tree(_data: Data) -> Index:
    from scipy.spatial import cKDTree

    def index(X: np.ndarray) -> Search:
        tree = cKDTree(X)
        return lambda queries: tree.query(queries, K, workers=threads())[1]

    return Index(index)


def single_blobs(*sizes: Any, **options: Any) -> Data:
    """Blobs in single precision."""
    data = blobs(*sizes, **options)
    data.X, data.X_test = data.X.astype(np.float32), data.X_test.astype(np.float32)
    return data


def nearest(library: str, **options: Any) -> Any:
    path = f"{library}.neighbors:KNeighborsClassifier"
    return build(path, n_neighbors=K, n_jobs=1, **options)


EXACT = [
    Peer("sklearn brute", nearest("sklearn", algorithm="brute")),
    Peer("intelex brute", nearest("sklearnex", algorithm="brute")),
    Peer("faiss flat (float32)", faiss_flat),
    Peer("hnswlib (approximate)", hnsw, slow=True),
]
TREES = [
    Peer("sklearn auto", nearest("sklearn")),
    Peer("sklearn kd_tree", nearest("sklearn", algorithm="kd_tree")),
    Peer("intelex kd_tree", nearest("sklearnex", algorithm="kd_tree")),
    Peer("scipy cKDTree", scipy_tree),
]

workload(
    "neighbors.classifier.few_dimensions",
    Recipe(
        blobs, rows(50_000), 10, 40, test=rows(5_000), spread=3.0, classes=5, seed=10, decay=0.8
    ),
    classify,
    [*EXACT, *TREES],
    novum=novum("novum.neighbors:KNeighborsClassifier", n_neighbors=K),
    target=2.5,
    quality=Quality("accuracy", tolerance=0.002),
    note="50k x 10 training rows, 5k queries, k = 10, 5 classes, clustered",
)
workload(
    "neighbors.classifier.many_dimensions",
    Recipe(blobs, rows(50_000), 100, 40, test=rows(5_000), spread=8.0, classes=5, seed=100),
    classify,
    [peer for peer in EXACT if "float32" not in peer.name],
    novum=novum("novum.neighbors:KNeighborsClassifier", n_neighbors=K),
    target=1.2,
    quality=Quality("accuracy", tolerance=0.002),
    note="50k x 100 training rows of float64, 5k queries, k = 10, 5 classes",
)
workload(
    "neighbors.classifier.single_precision",
    Recipe(single_blobs, rows(50_000), 100, 40, test=rows(5_000), spread=8.0, classes=5, seed=100),
    classify,
    EXACT,
    novum=novum("novum.neighbors:KNeighborsClassifier", n_neighbors=K),
    target=1.1,
    quality=Quality("accuracy", tolerance=0.002),
    note="the same rows in float32",
)
