"""Densities of mixed rows by a learned network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.clock import Clock
from benchmarks.graphical.learning.bench_gaussian_families import numbers
from benchmarks.peers import Make, Peer, build
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload


def density(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    model: Any = make(data)
    with clock("fit"):
        model.fit(data.frame)
    with clock("score"):
        scores = model.score_samples(data.test)
    return lambda: {"test_log_density": float(scores.mean())}


workload(
    "graphical.density.numbers",
    Recipe(numbers, rows(5_000), 10),
    density,
    [
        Peer(
            "sklearn mixture",
            build("sklearn.mixture:GaussianMixture", n_components=1),
            other_method=True,
        ),
        Peer("sklearn kernels", build("sklearn.neighbors:KernelDensity", bandwidth=0.5)),
    ],
    novum=Peer("novum", build("novum.graphical:BayesianNetworkDensity"), ours=True),
    target=2.0,
    quality=Quality("test_log_density", tolerance=0.05),
    note="10 columns of numbers, 5k rows; a network of intervals against kernels (one normal law, "
    "which the rows are drawn from, is shown beside)",
)
