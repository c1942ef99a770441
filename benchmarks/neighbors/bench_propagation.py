"""Label spreading over a graph of neighbors: 20k rows, 10 neighbors, 2 % of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import blobs
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

K = 10


def few_labels(*sizes: Any, **options: Any) -> Data:
    """Blobs of which one row in fifty has its label; -1 marks the others."""
    data = blobs(*sizes, **options)
    data.truth = data.y.copy()
    data.y = np.where(np.arange(len(data.y)) % 50 == 0, data.y, -1)
    return data


def label(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit; the part of the hidden labels that is right."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X, data.y)
    hidden = data.y == -1
    return {"accuracy": float(np.mean(estimator.transduction_[hidden] == data.truth[hidden]))}


TABLE = Recipe(few_labels, rows(20_000), 10, 40, test=rows(100), spread=3.0, classes=5, seed=23)

for name in ("LabelSpreading", "LabelPropagation"):
    # Theirs counts a row among its own neighbors.
    settings = {"kernel": "knn"}
    workload(
        f"neighbors.propagation.{name}",
        TABLE,
        label,
        [
            Peer(
                "sklearn",
                build(f"sklearn.semi_supervised:{name}", n_neighbors=K + 1, **settings),
            )
        ],
        novum=novum(f"novum.neighbors:{name}", n_neighbors=K, **settings),
        target=5.0,
        quality=Quality("accuracy", tolerance=0.005),
        note="20k x 10, 40 blobs of 5 classes, 400 labels, 10 neighbors",
    )
