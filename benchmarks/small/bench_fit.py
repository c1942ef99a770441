"""Fits on 150 x 4 cells against scikit-learn's class of the same name: the fixed cost of a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer, build, load, novum
from benchmarks.recipes import Data, Recipe
from benchmarks.registry import Figures, Protocol, Quality, workload

FITS = 30
CLASSIFIERS = {
    "LogisticRegression": "linear:linear_model",
    "SVC": "svm:svm",
    "LinearSVC": "svm:svm",
    "DecisionTreeClassifier": "trees:tree",
    "RandomForestClassifier": "trees:ensemble",
    "ExtraTreesClassifier": "trees:ensemble",
    "AdaBoostClassifier": "ensemble:ensemble",
    "GaussianNB": "bayes:naive_bayes",
    "LinearDiscriminantAnalysis": "bayes:discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "bayes:discriminant_analysis",
}
REGRESSORS = {
    "LinearRegression": "linear:linear_model",
    "Ridge": "linear:linear_model",
    "SVR": "svm:svm",
    "DecisionTreeRegressor": "trees:tree",
    "RandomForestRegressor": "trees:ensemble",
    "PCA": "decomposition:decomposition",
}
RANDOM = ("Forest", "ExtraTrees", "AdaBoost", "DecisionTree")


def small_table(regression: bool) -> Data:
    """Iris: its classes, or its first column as a target."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return Data(X=np.ascontiguousarray(X[:, 1:]), y=X[:, 0]) if regression else Data(X=X, y=y)


def repeated(fits: int) -> Protocol:
    """Many fits, since one is too quick for the clock; the score on the training rows."""

    def protocol(make: Make, data: Data, clock: Clock) -> Figures:
        learner = make(data)
        with clock("fit"):
            for _ in range(fits):
                learner.fit(data.X, data.y)
        return {"score": float(learner.score(data.X, data.y))}

    return protocol


def validated(make: Make, data: Data, clock: Clock) -> Figures:
    """Five folds of the library that the learner is from."""
    learner, cross_validate = make(data)
    with clock("folds"):
        for _ in range(FITS):
            scores = cross_validate(learner, data.X, data.y, cv=5)
    return {"score": float(np.mean(scores["test_score"]))}


def _in(package: str, name: str) -> Any:
    options = {"random_state": 0} if any(word in name for word in RANDOM) else {}
    return build(f"{package}:{name}", **options)


for regression, learners in ((False, CLASSIFIERS), (True, REGRESSORS)):
    for name, packages in learners.items():
        ours, theirs = packages.split(":")
        workload(
            f"small.fit.{name}",
            Recipe(small_table, regression),
            repeated(3 if "Forest" in name or "Extra" in name or "Ada" in name else FITS),
            [Peer("sklearn", _in(f"sklearn.{theirs}", name))],
            novum=novum(
                f"novum.{ours}:{name}",
                **({"random_state": 0} if any(word in name for word in RANDOM) else {}),
            ),
            target=1.0,
            against="sklearn",
            quality=Quality("score", tolerance=0.05),
            note="150 x 4, fits only",
        )


def _with_folds(package: str, learner: str, function: str) -> Make:
    return lambda _: (load(f"{package}:{learner}")(), load(function))


for name, packages in (
    ("GaussianNB", "bayes:naive_bayes"),
    ("LogisticRegression", "linear:linear_model"),
    ("DecisionTreeClassifier", "trees:tree"),
    ("SVC", "svm:svm"),
    ("Ridge", "linear:linear_model"),
):
    ours, theirs = packages.split(":")
    folds = "sklearn.model_selection:cross_validate"
    workload(
        f"small.fit.folds.{name}",
        Recipe(small_table, name == "Ridge"),
        validated,
        [Peer("sklearn", _with_folds(f"sklearn.{theirs}", name, folds))],
        novum=Peer(
            "novum",
            _with_folds(f"novum.{ours}", name, "novum.evaluation:cross_validate"),
            ours=True,
        ),
        target=2.0,
        against="sklearn",
        quality=Quality("score", tolerance=0.05),
        note="150 x 4, cross_validate with five folds",
    )
