"""Mean and covariance of a table whose columns lie far from zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer, load
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

Covariance = Callable[[np.ndarray], np.ndarray]


def far_table(n: int, p: int, seed: int = 0) -> Data:
    """Columns at 1e5 with spread 1: a plain sum of squares loses ten digits here."""
    X = np.random.default_rng(seed).standard_normal((n, p)) + 1e5
    exact = X.astype(np.longdouble)
    exact -= exact.mean(0)
    return Data(X=X, variance=(exact**2).mean(0).astype(float))


def covariance(make: Make, data: Data, clock: Clock) -> Figures:
    """The largest relative error of a variance."""
    of = make(data)
    with clock("moments"):
        matrix = of(data.X)
    return {"error": np.max(np.abs(np.diag(matrix) / data.variance - 1))}


def novum_moments(_data: Data) -> Covariance:
    moments_of = load("novum.numerics.moments:moments_of")
    return lambda X: moments_of(X).covariance()


def sklearn_covariance(_data: Data) -> Covariance:
    from sklearn.covariance import empirical_covariance

    return lambda X: empirical_covariance(X - X.mean(0), assume_centered=True)


workload(
    "numerics.moments",
    Recipe(far_table, rows(200_000), 50),
    covariance,
    [
        Peer("numpy cov", lambda _: lambda X: np.cov(X, rowvar=False, bias=True)),
        Peer("sklearn empirical_covariance", sklearn_covariance),
    ],
    novum=Peer("novum", novum_moments, ours=True),
    target=1.0,
    quality=Quality("error", "low", required=1e-11),
    note="200k x 50 at 1e5 with spread 1",
)
