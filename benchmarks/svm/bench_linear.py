"""Linear support vector machines; the objective reached is the quality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import linear, text
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.protocols import accuracy, fit_and_predict
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

LIBLINEAR = "sklearn.svm:LinearSVC"
STOCHASTIC = "sklearn.linear_model:SGDClassifier"
TABLE = Recipe(linear, rows(200_000), 50, 2)
SMALL_TABLE = Recipe(linear, rows(50_000), 50, 2)
WORDS = Recipe(text, rows(50_000), 20_000, 2, weighted=True)

PRIMAL = Peer("liblinear primal", build(LIBLINEAR, dual=False))
DUAL = build(LIBLINEAR, dual=True, random_state=0)
DUAL_HINGE = Peer("liblinear dual", build(LIBLINEAR, dual=True, loss="hinge", random_state=0))
SQUARED_SGD = build(STOCHASTIC, loss="squared_hinge", alpha="@rate", random_state=0)
HINGE_SGD = build(STOCHASTIC, loss="hinge", alpha="@rate", random_state=0)


def hinge(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """C sum of (squared) hinge losses + |w|^2 / 2 at C = 1, over n."""
    estimator, predicted = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        w, offset = np.asarray(estimator.coef_).ravel(), float(np.ravel(estimator.intercept_)[0])
        margin = (2 * data.y - 1) * (np.asarray(data.X @ w) + offset)
        loss = np.maximum(0, 1 - margin)
        penalty = (w**2).sum() / 2
        return {
            "accuracy": accuracy(predicted, data),
            "squared_hinge": ((loss**2).sum() + penalty) / len(loss),
            "hinge": (loss.sum() + penalty) / len(loss),
        }

    return figures


workload(
    "svm.linear.squared_hinge",
    TABLE,
    hinge,
    [
        PRIMAL,
        Peer("liblinear dual", DUAL, slow=True),
        Peer("SGD", SQUARED_SGD, slow=True),
    ],
    novum=novum("novum.svm:LinearSVC", random_state=0),
    target=5.0,
    quality=Quality("squared_hinge", "low", 1e-3),
    note="200k x 50, 2 classes, C = 1",
)
workload(
    "svm.linear.hinge",
    SMALL_TABLE,
    hinge,
    [DUAL_HINGE, Peer("SGD", HINGE_SGD)],
    novum=novum("novum.svm:LinearSVC", loss="hinge", random_state=0),
    target=5.0,
    quality=Quality("hinge", "low", 1e-2),
    note="50k x 50, 2 classes, C = 1",
)
workload(
    "svm.linear.squared_hinge_text",
    WORDS,
    hinge,
    [PRIMAL, Peer("liblinear dual", DUAL), Peer("SGD", SQUARED_SGD, slow=True)],
    novum=novum("novum.svm:LinearSVC", random_state=0),
    target=1.5,
    quality=Quality("squared_hinge", "low", 1e-3),
    note="50k x 20k sparse tf-idf, 2 classes, C = 1",
)
workload(
    "svm.linear.hinge_text",
    WORDS,
    hinge,
    [DUAL_HINGE, Peer("SGD", HINGE_SGD)],
    novum=novum("novum.svm:LinearSVC", loss="hinge", random_state=0),
    target=1.5,
    against="liblinear dual",
    quality=Quality("hinge", "low", 1e-2),
    note="50k x 20k sparse tf-idf, 2 classes, C = 1",
)
