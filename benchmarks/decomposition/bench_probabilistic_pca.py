"""Probabilistic PCA as a density: fit, then the log-likelihood of further rows."""

from __future__ import annotations

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import low_rank
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def density(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit `X`, score `X_test`; the mean log-likelihood."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)
    with clock("score"):
        scores = estimator.score_samples(data.X_test)
    return {"log_likelihood": np.mean(scores)}


SKLEARN = build("sklearn.decomposition:PCA", n_components=10, svd_solver="covariance_eigh")
FACTORS = build("sklearn.decomposition:FactorAnalysis", n_components=10, random_state=0)

workload(
    "decomposition.probabilistic_pca",
    Recipe(low_rank, rows(200_000), 50, 20, seed=2, test=rows(50_000)),
    density,
    [
        Peer("sklearn PCA + score_samples", SKLEARN),
        Peer("sklearn FactorAnalysis", FACTORS, slow=True),
    ],
    novum=novum("novum.decomposition:ProbabilisticPCA", n_components=10),
    target=1.0,
    quality=Quality("log_likelihood", tolerance=0.02),
    note="200k x 50, 10 components, log-likelihood of 50k further rows",
)
