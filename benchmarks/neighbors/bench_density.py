"""Kernel densities: 20k rows of 5 columns to a relative error of 1e-4."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.neighbors.bench_nearest import gaussian
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

# Scott's rule for 20,000 standard normal rows of 5 columns.
WIDTH = 20_000 ** (-1 / 9)
SETTINGS: dict[str, Any] = {"bandwidth": WIDTH, "rtol": 1e-4}


def density(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit and log-densities; the mean, and the largest relative error against the direct sum."""
    model = make(data)
    with clock("fit"):
        model.fit(data.X)
    with clock("density"):
        logs = model.score_samples(data.X_test)
    few = data.X_test[:50]
    squares = ((few[:, None] - data.X) ** 2).sum(axis=2) / WIDTH**2
    direct = np.log(np.exp(-0.5 * squares).mean(axis=1)) - 2.5 * np.log(2 * np.pi * WIDTH**2)
    return {"error": float(np.abs(np.expm1(logs[:50] - direct)).max())}


workload(
    "neighbors.density.gaussian",
    Recipe(gaussian, rows(20_000), 5, rows(5_000)),
    density,
    [Peer("sklearn", build("sklearn.neighbors:KernelDensity", **SETTINGS))],
    novum=novum("novum.neighbors:KernelDensity", **SETTINGS),
    target=5.0,
    quality=Quality("error", better="low", required=1e-4),
    note="20k x 5 rows, 5k queries, relative error 1e-4",
)
