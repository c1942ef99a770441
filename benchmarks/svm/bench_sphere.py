"""One-class support vector machine: the support of a distribution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import rings
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload
from benchmarks.svm.duals import dual_parts, quadratic_form

ONE_CLASS = {"kernel": "rbf", "nu": 0.1, "gamma": "@gamma", "cache_size": 500}


def one_class(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit and predict; `a'Ka / 2` over n and the sum of a, which peers scale differently."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X)
    with clock("predict"):
        predicted = estimator.predict(data.X_test)

    def figures() -> Figures:
        vectors, a = dual_parts(estimator)
        dual = quadratic_form(vectors, a, data.gamma) / 2 / len(data.X) / a.sum()
        outside = np.mean(np.asarray(predicted) < 0)
        return {"dual": dual, "outside": outside, "support_vectors": len(a)}

    return figures


workload(
    "svm.sphere.one_class",
    Recipe(rings, rows(20_000), 20),
    one_class,
    [Peer("sklearn (LIBSVM)", build("sklearn.svm:OneClassSVM", **ONE_CLASS))],
    novum=novum("novum.svm:OneClassSVM", **ONE_CLASS),
    target=4.0,
    quality=Quality("dual", "low", 1e-3),
    note="20k x 20, nu = 0.1",
)
