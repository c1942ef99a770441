"""Kernel support vector regression: dual objective and R2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import rings
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.protocols import fit_and_predict, r2
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload
from benchmarks.svm.duals import SAME, dual_parts, quadratic_form

EPSILON = 0.1


def regress_dual(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit and predict; `a'Ka / 2 + epsilon sum |a| - y'a` over n."""
    estimator, predicted = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        vectors, a = dual_parts(estimator)
        y = data.y[np.asarray(estimator.support_)]
        dual = quadratic_form(vectors, a, data.gamma) / 2 + EPSILON * np.abs(a).sum() - y @ a
        return {
            "dual": dual / len(data.X),
            "r2": r2(predicted, data),
            "support_vectors": len(a),
        }

    return figures


workload(
    "svm.regressor",
    Recipe(rings, rows(10_000), 20, regression=True, noise=0.5),
    regress_dual,
    [
        Peer("sklearn (LIBSVM)", build("sklearn.svm:SVR", epsilon=EPSILON, **SAME)),
        Peer("intelex", build("sklearnex.svm:SVR", epsilon=EPSILON, **SAME)),
    ],
    novum=novum("novum.svm:SVR", epsilon=EPSILON, **SAME),
    target=2.5,
    quality=Quality("dual", "low", 1e-3),
    limit=150,
    note="10k x 20, C = 1, epsilon = 0.1",
)
