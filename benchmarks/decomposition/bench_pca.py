"""Principal components of a tall and of a wide table."""

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
    target=1.0,
    quality=Quality("captured", tolerance=1e-3),
    note="500 x 20k, 20 components",
)
