"""Comparing classifiers by ten times ten-fold cross-validation on a table of 1000 rows.

A peer is a function from `X, y` to accuracies, classifiers x 100 folds (stratified, seed 0). In
`ten_by_ten` both sides run the same five learners of scikit-learn, so that the difference is what
running, scoring and judging the folds costs; in `own_learners` each side brings its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import table
from benchmarks.peers import Make, Peer, load
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Quality, workload

Scores = Callable[[np.ndarray, np.ndarray], Any]
Models = Mapping[str, Any]


def cross_validate(make: Make, data: Data, clock: Clock) -> Figures:
    """Mean accuracy over all folds and classifiers, and how much it differs over the folds."""
    accuracies = make(data)
    with clock("folds"):
        scores = np.asarray(accuracies(data.X, data.y))
    return {"accuracy": scores.mean(), "spread": scores.std(1).mean(), "fits": scores.size}


# --- Learners -------------------------------------------------------------------------------------


def three_of_sklearn() -> Models:
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    return {
        "naive Bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    }


def five_of_sklearn() -> Models:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return {
        **three_of_sklearn(),
        "neighbors": KNeighborsClassifier(5),
        "SVM": make_pipeline(StandardScaler(), SVC()),
    }


def three_of_novum() -> Models:
    return {
        "naive Bayes": load("novum.bayes:GaussianNB")(),
        "tree": load("novum.trees:DecisionTreeClassifier")(random_state=0),
        "logistic": load("novum.linear:LogisticRegression")(),
    }


# --- Sides ----------------------------------------------------------------------------------------


def by_cross_val_score(models: Callable[[], Models]) -> Make:
    """Bare scores: no tests, no verdict."""

    def make(_data: Data) -> Scores:
        from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

        chosen = models().values()

        def run(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
            folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
            return [cross_val_score(m, X, y, cv=folds, scoring="accuracy") for m in chosen]

        return run

    return make


def by_compare(models: Callable[[], Models]) -> Make:
    """The same folds, with every test and the verdict; 5x2cv, which has fits of its own, aside."""

    def make(_data: Data) -> Scores:
        compare = load("novum.evaluation:compare")
        chosen = models()

        def run(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
            found = compare(chosen, X, y, cv="10x10", scoring="accuracy", five_by_two=False)
            assert found.verdict
            return list(found.scores["data"].values())

        return run

    return make


workload(
    "evaluation.comparison.ten_by_ten",
    Recipe(table, 1_000, 15, 3, test=100, seed=6),
    cross_validate,
    [Peer("sklearn cross_val_score", by_cross_val_score(five_of_sklearn))],
    novum=Peer("novum", by_compare(five_of_sklearn), ours=True),
    target=1.0,
    quality=Quality("accuracy"),
    note="1000 x 15, 3 classes; naive Bayes, 5-NN, tree, logistic regression, RBF SVM: 500 fits",
)
workload(
    "evaluation.comparison.own_learners",
    Recipe(table, 1_000, 15, 3, test=100, seed=6),
    cross_validate,
    [Peer("sklearn cross_val_score", by_cross_val_score(three_of_sklearn))],
    novum=Peer("novum", by_compare(three_of_novum), ours=True),
    target=1.0,
    quality=Quality("accuracy"),
    note="1000 x 15, 3 classes; naive Bayes, tree, logistic regression: 300 fits",
)
