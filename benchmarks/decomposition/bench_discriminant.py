"""Linear discriminant analysis as a projection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import linear
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

SKLEARN = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"


def project_classes(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit and transform; the part of the variance between classes along the directions found."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X, data.y)
    with clock("transform"):
        Z = np.asarray(estimator.transform(data.X))

    def separation() -> Figures:
        groups = [Z[data.y == label] for label in np.unique(data.y)]
        within = sum(len(group) / len(Z) * group.var(0) for group in groups)
        return {"separation": np.mean(1 - within / Z.var(0))}

    return separation


workload(
    "decomposition.discriminant",
    Recipe(linear, rows(200_000), 50, 10),
    project_classes,
    [
        Peer("sklearn svd", build(SKLEARN, solver="svd", n_components=5)),
        Peer("sklearn eigen", build(SKLEARN, solver="eigen", n_components=5)),
    ],
    novum=novum("novum.decomposition:DiscriminantProjection", n_components=5),
    target=3.0,
    quality=Quality("separation", tolerance=1e-3),
    note="200k x 50, 10 classes, 5 directions",
)
