"""Search for nearest rows: trees of boxes, and mixed columns by Gower's distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import blobs
from benchmarks.peers import Make, Peer, build, novum, threads
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

K = 10


def gaussian(n: int, p: int, test: int, seed: int = 0) -> Data:
    """One cloud without structure."""
    rng = np.random.default_rng(seed)
    return Data(X=rng.standard_normal((n, p)), X_test=rng.standard_normal((test, p)))


def mixed(n: int, test: int, seed: int = 0) -> Data:
    """A data frame of five numbers and five nominal columns, and the same for queries."""
    import pandas as pd

    rng = np.random.default_rng(seed)

    def frame(m: int) -> pd.DataFrame:
        numbers = {f"x{j}": rng.standard_normal(m) for j in range(5)}
        levels = {f"z{j}": rng.choice(list("abcdefgh"), m).astype(object) for j in range(5)}
        # As objects, which is the text that the rival knows.
        return pd.DataFrame({**numbers, **levels}).astype(dict.fromkeys(levels, object))

    return Data(X=frame(n), X_test=frame(test))


# --- Protocols ------------------------------------------------------------------------------------


def search(make: Make, data: Data, clock: Clock) -> Figures:
    """Build and query; the mean distance of the neighbors, which is the same for all exact ones."""
    model = make(data)
    with clock("build"):
        model.fit(data.X)
    with clock("query"):
        distances = model.kneighbors(data.X_test)[0]
    return {"distance": float(np.mean(distances))}


def building(make: Make, data: Data, clock: Clock) -> Figures:
    """Build alone."""
    build_tree = make(data)
    with clock("build"):
        build_tree(data.X)
    return {}


# --- Peers ----------------------------------------------------------------------------------------


class ScipyTree:
    """SciPy's tree behind scikit-learn's names."""

    def fit(self, X: np.ndarray) -> None:
        from scipy.spatial import cKDTree

        self.tree = cKDTree(X)

    def kneighbors(self, X: np.ndarray) -> Any:
        return self.tree.query(X, K, workers=threads())


class GowerMatrix:
    """The package `gower` and a partial sort."""

    def fit(self, X: Any) -> None:
        self.X = X

    def kneighbors(self, X: Any) -> Any:
        import gower

        nominal = [name.startswith("z") for name in self.X.columns]
        D = gower.gower_matrix(X, self.X, cat_features=nominal)
        nearest = np.argpartition(D, 99, axis=1)[:, :100]
        return np.sort(np.take_along_axis(D, nearest, axis=1), axis=1), nearest


def tree_builder(_data: Data) -> Callable[[np.ndarray], Any]:
    from scipy.spatial import cKDTree

    return cKDTree


def our_builder(_data: Data) -> Callable[[np.ndarray], Any]:
    from novum.numerics import KDTree

    return KDTree.of


def neighbors(library: str, **options: Any) -> Make:
    return build(f"{library}.neighbors:NearestNeighbors", n_neighbors=K, n_jobs=1, **options)


TREES = [
    Peer("scipy cKDTree", lambda _: ScipyTree()),
    Peer("sklearn kd_tree", neighbors("sklearn", algorithm="kd_tree"), slow=True),
    Peer("intelex kd_tree", neighbors("sklearnex", algorithm="kd_tree")),
    Peer("intelex brute", neighbors("sklearnex", algorithm="brute")),
]

workload(
    "neighbors.nearest.gaussian",
    Recipe(gaussian, rows(100_000), 10, rows(10_000)),
    search,
    TREES,
    novum=novum("novum.neighbors:NearestNeighbors", n_neighbors=K),
    target=1.5,
    quality=Quality("distance", better="low", tolerance=1e-5),
    note="100k x 10, 10k queries, k = 10, without structure",
)
workload(
    "neighbors.nearest.clustered",
    Recipe(blobs, rows(100_000), 10, 100, test=rows(10_000), spread=0.5, decay=0.8),
    search,
    TREES,
    novum=novum("novum.neighbors:NearestNeighbors", n_neighbors=K),
    target=2.5,
    quality=Quality("distance", better="low", tolerance=1e-5),
    note="100k x 10, 10k queries, k = 10, 100 clusters",
)
workload(
    "neighbors.nearest.build",
    Recipe(gaussian, rows(100_000), 10, rows(10_000)),
    building,
    [Peer("scipy cKDTree", tree_builder)],
    novum=Peer("novum", our_builder, ours=True),
    target=1.0,
    note="the tree of 100k x 10 rows",
)
workload(
    "neighbors.nearest.mixed",
    Recipe(mixed, rows(20_000), rows(1_000)),
    search,
    [Peer("gower + argpartition", lambda _: GowerMatrix())],
    novum=novum("novum.neighbors:NearestNeighbors", n_neighbors=100),
    target=20.0,
    quality=Quality("distance", better="low", tolerance=1e-3),
    note="20k rows of 5 numbers and 5 nominal columns, 100 neighbors of 1k rows by Gower",
)
