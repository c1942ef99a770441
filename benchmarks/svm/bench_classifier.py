"""Kernel support vector machines for classes: dual objective, accuracy, support vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import rings
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.protocols import accuracy, fit_and_predict
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload
from benchmarks.svm.duals import SAME, dual_parts, quadratic_form


def classify_dual(make: Make, data: Data, clock: Clock) -> Callable[[], Figures]:
    """Fit and predict; `a'Ka / 2 - sum |a|` over n."""
    estimator, predicted = fit_and_predict(make, data, clock)

    def figures() -> Figures:
        vectors, a = dual_parts(estimator)
        dual = quadratic_form(vectors, a, data.gamma) / 2 - np.abs(a).sum()
        return {
            "dual": dual / len(data.X),
            "accuracy": accuracy(predicted, data),
            "support_vectors": len(a),
        }

    return figures


class Libsvm:
    """The official LIBSVM package behind `fit` and `predict`."""

    def __init__(self, data: Data) -> None:
        self.options = f"-s 0 -t 2 -c 1 -g {data.gamma} -m 500 -q"

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        import scipy.sparse as sp
        from libsvm.svmutil import svm_train

        self.model = svm_train(np.asarray(y, float), sp.csr_matrix(X), self.options)
        self.support_ = np.array(self.model.get_sv_indices()) - 1
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = np.array([values[0] for values in self.model.get_sv_coef()])

    def predict(self, X: np.ndarray) -> np.ndarray:
        import scipy.sparse as sp
        from libsvm.svmutil import svm_predict

        labels = svm_predict(np.zeros(len(X)), sp.csr_matrix(X), self.model, "-q")[0]
        return np.array(labels)


RIVALS = [
    Peer("sklearn (LIBSVM)", build("sklearn.svm:SVC", **SAME)),
    Peer("intelex", build("sklearnex.svm:SVC", **SAME)),
]

SIZES = (
    ("10k", [*RIVALS, Peer("libsvm-official", Libsvm)], 4.0),
    ("20k", RIVALS, 3.0),
)

for size, rivals, target in SIZES:
    workload(
        f"svm.classifier.{size}",
        Recipe(rings, rows(int(size[:-1]) * 1000), 20),
        classify_dual,
        rivals,
        novum=novum("novum.svm:SVC", **SAME),
        target=target,
        quality=Quality("dual", "low", 1e-3),
        limit=150,
        note=f"{size} x 20, 15 % of the labels turned over, C = 1, gamma = 1/20",
    )

# Most coefficients are unbound at a large C.
UNBOUND = {**SAME, "C": 100.0}

workload(
    "svm.classifier.10k_large_C",
    Recipe(rings, rows(10_000), 20),
    classify_dual,
    [
        Peer("sklearn (LIBSVM)", build("sklearn.svm:SVC", **UNBOUND)),
        Peer("intelex", build("sklearnex.svm:SVC", **UNBOUND)),
    ],
    novum=novum("novum.svm:SVC", **UNBOUND),
    target=3.0,
    quality=Quality("dual", "low", 1e-3),
    limit=150,
    note="10k x 20, 15 % of the labels turned over, C = 100, gamma = 1/20",
)
