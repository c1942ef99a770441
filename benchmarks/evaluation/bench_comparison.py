"""Comparing five classifiers by ten times ten-fold cross-validation on a table of 1000 rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import table
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Quality, workload

Scores = Callable[[np.ndarray, np.ndarray], Any]


def cross_validate(make: Make, data: Data, clock: Clock) -> Figures:
    """`f(X, y)` gives accuracies, classifiers x 100 folds (stratified, seed 0)."""
    accuracies = make(data)
    with clock("folds"):
        scores = np.asarray(accuracies(data.X, data.y))
    return {"accuracy": scores.mean(), "spread": scores.std(1).mean(), "fits": scores.size}


def with_sklearn(_data: Data) -> Scores:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    models = [
        GaussianNB(),
        KNeighborsClassifier(5),
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        make_pipeline(StandardScaler(), SVC()),
    ]

    def run(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
        return [cross_val_score(m, X, y, cv=folds, scoring="accuracy", n_jobs=1) for m in models]

    return run


workload(
    "evaluation.comparison.ten_by_ten",
    Recipe(table, 1_000, 15, 3, test=100, seed=6),
    cross_validate,
    [Peer("sklearn cross_val_score", with_sklearn)],
    target=1.0,
    quality=Quality("accuracy"),
    note="1000 x 15, 3 classes; naive Bayes, 5-NN, tree, logistic regression, RBF SVM: 500 fits",
)
