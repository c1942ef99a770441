"""Poisson regression of counts; the objective reached is the quality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.protocols import fit_and_predict
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

ALPHA = 1e-4


def counts(n: int, p: int, seed: int = 0) -> Data:
    """Correlated columns, and counts of mean about 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.3 * rng.normal(size=(n, 1))
    score = X @ (rng.normal(size=p) * 0.4 / np.sqrt(p))
    return Data(X=X, y=rng.poisson(np.exp(score)).astype(float), X_test=X[:1000])


def poisson(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Mean of `m - y log m` + alpha |w|^2 / 2, the intercept free."""
    estimator, _ = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        w = np.ravel(estimator.coef_)
        score = data.X @ w + estimator.intercept_
        return {"objective": np.mean(np.exp(score) - data.y * score) + ALPHA * w @ w / 2}

    return figures


workload(
    "linear.generalized.poisson",
    Recipe(counts, rows(200_000), 50),
    poisson,
    [
        Peer(
            "sklearn newton-cholesky",
            build("sklearn.linear_model:PoissonRegressor", alpha=ALPHA, solver="newton-cholesky"),
        ),
        Peer(
            "sklearn lbfgs",
            build("sklearn.linear_model:PoissonRegressor", alpha=ALPHA, max_iter=1000),
        ),
        Peer(
            "glum",
            build("glum:GeneralizedLinearRegressor", alpha=ALPHA, l1_ratio=0, family="poisson"),
        ),
    ],
    novum=novum("novum.linear:PoissonRegressor", alpha=ALPHA),
    target=1.5,
    quality=Quality("objective", "low", 1e-8),
    note="200k x 50, log link, weak L2",
)
