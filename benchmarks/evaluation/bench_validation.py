"""Cross-validation from sums in place of a fit for every fold.

A peer is a function from `X, y` to the scores of all folds. Two rivals: scikit-learn's
`cross_validate` on its own learners, and Novum's learners refitted for every fold. All must give
the scores of the refits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import table
from benchmarks.linear.tables import regression_table
from benchmarks.peers import Make, Peer, load
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

FOLDS = 10
Scores = Callable[[np.ndarray, np.ndarray], Any]
SCORING = {"ridge": "neg_mean_squared_error", "gaussian": "accuracy", "naive_bayes": "accuracy"}
LEARNERS = {
    "ridge": ("novum.linear:Ridge", "sklearn.linear_model:Ridge"),
    "gaussian": (
        "novum.bayes:GaussianClassifier",
        "sklearn.discriminant_analysis:QuadraticDiscriminantAnalysis",
    ),
    "naive_bayes": ("novum.bayes:GaussianNB", "sklearn.naive_bayes:GaussianNB"),
}


def numbers(n: int, p: int, learner: str, folds: int, seed: int = 0) -> Data:
    """A regression table; `folds` 0 stands for leave-one-out."""
    return _judged(regression_table(n, p, seed), learner, folds)


def classes(n: int, p: int, learner: str, folds: int, seed: int = 0) -> Data:
    """A table with three classes; `folds` 0 stands for leave-one-out."""
    return _judged(table(n, p, 3, test=1, seed=seed), learner, folds)


def _judged(data: Data, learner: str, folds: int) -> Data:
    data.learner, data.folds = learner, folds
    return data


def scores(make: Make, data: Data, clock: Clock) -> Figures:
    """The mean over the folds; exactness has tests of its own."""
    validate = make(data)
    with clock("folds"):
        found = np.asarray(validate(data.X, data.y))
    return {"score": found.mean(), "folds": found.size}


def splitter(data: Data) -> Any:
    from sklearn.model_selection import KFold, LeaveOneOut

    return KFold(data.folds) if data.folds else LeaveOneOut()


def _sklearn(data: Data) -> Scores:
    from sklearn.model_selection import cross_validate

    model = load(LEARNERS[data.learner][1])()
    scoring = SCORING[data.learner]
    return lambda X, y: cross_validate(model, X, y, cv=splitter(data), scoring=scoring)[
        "test_score"
    ]


def _refitted(data: Data) -> Scores:
    """Novum's learner, fitted anew for every fold by scikit-learn's loop."""
    from sklearn.model_selection import cross_validate

    model = load(LEARNERS[data.learner][0])()
    scoring = SCORING[data.learner]
    return lambda X, y: cross_validate(model, X, y, cv=splitter(data), scoring=scoring)[
        "test_score"
    ]


def _from_sums(data: Data) -> Scores:
    model = load(LEARNERS[data.learner][0])()
    validate = load("novum.evaluation:cross_validate")
    scoring = SCORING[data.learner]
    return lambda X, y: validate(model, X, y, cv=splitter(data), scoring=scoring)["test_score"]


def _declare(learner: str, make: Any, ten: tuple[int, int], one: tuple[int, int]) -> None:
    rivals = [Peer("sklearn cross_validate", _sklearn), Peer("novum refitted", _refitted)]
    for name, (n, p), folds, target in (
        ("ten_fold", ten, FOLDS, 5.0),
        ("leave_one_out", one, 0, 50.0),
    ):
        workload(
            f"evaluation.validation.{learner}.{name}",
            Recipe(make, rows(n, quick=n // 5), p, learner, folds, seed=1),
            scores,
            rivals,
            novum=Peer("novum", _from_sums, ours=True),
            target=target,
            against="sklearn cross_validate",
            quality=Quality("score"),
            note=f"{n} x {p}, {name.replace('_', ' ')} scores of {learner.replace('_', ' ')}",
        )


_declare("ridge", numbers, (100_000, 50), (1_000, 20))
_declare("gaussian", classes, (100_000, 30), (1_000, 10))
_declare("naive_bayes", classes, (100_000, 30), (1_000, 20))
