"""Principal components of a tall and of a wide table, and of a tall one that comes in chunks."""

from __future__ import annotations

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import low_rank
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

SKLEARN = "sklearn.decomposition:PCA"
INTELEX = "sklearnex.decomposition:PCA"


def project(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit and transform `X`; the part of the variance the projection keeps."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)
    with clock("transform"):
        Z = estimator.transform(data.X)
    return {"captured": np.var(np.asarray(Z), axis=0).sum() / np.var(data.X, axis=0).sum()}


def project_stream(make: Make, data: Data, clock: Clock) -> Figures:
    """The same from ten chunks of rows; peers that know no chunks get the whole table."""
    estimator = make(data)
    n = len(data.X)
    with clock("fit"):
        if hasattr(estimator, "fit_stream"):
            estimator.fit_stream([(data.X[i : i + n // 10],) for i in range(0, n, n // 10)])
        else:
            estimator.fit(data.X)
    with clock("transform"):
        Z = estimator.transform(data.X)
    return {"captured": np.var(np.asarray(Z), axis=0).sum() / np.var(data.X, axis=0).sum()}


workload(
    "decomposition.pca.tall",
    Recipe(low_rank, rows(200_000), 50, 20),
    project,
    [
        Peer("sklearn full", build(SKLEARN, n_components=10, svd_solver="full")),
        Peer("sklearn covariance", build(SKLEARN, n_components=10, svd_solver="covariance_eigh")),
        Peer(
            "sklearn randomized",
            build(SKLEARN, n_components=10, svd_solver="randomized", random_state=0),
        ),
        Peer("intelex", build(INTELEX, n_components=10, svd_solver="covariance_eigh")),
    ],
    novum=novum("novum.decomposition:PCA", n_components=10),
    target=1.0,
    quality=Quality("captured", tolerance=1e-3),
    note="200k x 50, 10 components",
)
workload(
    "decomposition.pca.stream",
    Recipe(low_rank, rows(200_000), 50, 20),
    project_stream,
    [
        Peer("sklearn covariance", build(SKLEARN, n_components=10, svd_solver="covariance_eigh")),
        Peer("sklearn incremental", build("sklearn.decomposition:IncrementalPCA", n_components=10)),
    ],
    novum=novum("novum.decomposition:PCA", n_components=10),
    # Within 1.3 times the time that the best rival takes in memory.
    target=0.77,
    quality=Quality("captured", tolerance=1e-3),
    note="200k x 50 in ten chunks, 10 components",
)
workload(
    "decomposition.pca.wide",
    Recipe(low_rank, 500, rows(20_000), 60, seed=1),
    project,
    [
        Peer("sklearn full", build(SKLEARN, n_components=20, svd_solver="full")),
        Peer(
            "sklearn arpack", build(SKLEARN, n_components=20, svd_solver="arpack", random_state=0)
        ),
        Peer(
            "sklearn randomized",
            build(SKLEARN, n_components=20, svd_solver="randomized", random_state=0),
        ),
        Peer("intelex", build(INTELEX, n_components=20, svd_solver="full")),
    ],
    novum=novum("novum.decomposition:PCA", n_components=20),
    target=3.0,
    # Exact quality: a randomised rival that stops short of it does not count.
    quality=Quality("captured", tolerance=1e-6),
    note="500 x 20k, 20 components",
)
