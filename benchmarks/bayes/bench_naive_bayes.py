"""Naive Bayes: Gaussian on numbers, Bernoulli on sparse word occurrences, mixed with holes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.datasets import blobs, text
from benchmarks.peers import Peer, build, load, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload

NAIVE_BAYES = "novum.bayes:NaiveBayes"


def mixed(n: int, p: int, classes: int, test: int) -> Data:
    """Arrow tables: half of the columns in five levels and a twentieth of all cells missing.

    `numbers` and `numbers_test` are the same table with all columns as numbers and no cell missing.
    """
    data = blobs(n, p, classes, test=test, spread=6.0)
    rng = np.random.default_rng(1)
    made = {}
    for name, X in (("X", data.X), ("X_test", data.X_test)):
        holes = rng.random(X.shape) < 0.05
        columns = []
        for j in range(p):
            if j < p // 2:
                columns.append(pa.array(X[:, j], mask=holes[:, j]))
                continue
            level = np.digitize(X[:, j], [-6.0, -2.0, 2.0, 6.0]).astype(np.int8)
            codes = pa.array(level, mask=holes[:, j])
            columns.append(pa.DictionaryArray.from_arrays(codes, pa.array(list("abcde"))))
        made[name] = pa.table(columns, names=[f"c{j}" for j in range(p)])
    whole = {
        name: pa.table([pa.array(X[:, j]) for j in range(p)], names=[f"c{j}" for j in range(p)])
        for name, X in (("numbers", data.X), ("numbers_test", data.X_test))
    }
    return Data(**made, **whole, y=data.y, y_test=data.y_test)


class OnNumbers:
    """Novum's own naive Bayes on the table whose columns are all numbers."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.model = load(NAIVE_BAYES)()

    def fit(self, _: Any, y: Any) -> None:
        self.model.fit(self.data.numbers, y)

    def predict(self, _: Any) -> Any:
        return self.model.predict(self.data.numbers_test)


workload(
    "bayes.naive_bayes.gaussian",
    Recipe(blobs, rows(200_000), 50, 10, test=rows(50_000), spread=6.0),
    classify,
    [Peer("sklearn", build("sklearn.naive_bayes:GaussianNB"))],
    novum=novum("novum.bayes:GaussianNB"),
    target=4.0,
    quality=Quality("accuracy", tolerance=1e-3),
    note="200k x 50, 10 classes, 50k queries",
)
workload(
    "bayes.naive_bayes.bernoulli",
    Recipe(text, rows(50_000), 20_000, 20, test=rows(10_000)),
    classify,
    [Peer("sklearn", build("sklearn.naive_bayes:BernoulliNB"))],
    novum=novum("novum.bayes:BernoulliNB"),
    target=1.5,
    quality=Quality("accuracy", tolerance=1e-3),
    note="50k x 20k sparse, 20 classes, 10k queries",
)
workload(
    "bayes.naive_bayes.mixed",
    Recipe(mixed, rows(200_000), 50, 10, test=rows(50_000)),
    classify,
    [Peer("novum, all numbers", OnNumbers)],
    novum=novum(NAIVE_BAYES),
    target=0.5,
    quality=Quality("accuracy", tolerance=0.2),
    note="200k x 50, half nominal, 5 % missing; no rival: at most twice the all-numeric time",
)
