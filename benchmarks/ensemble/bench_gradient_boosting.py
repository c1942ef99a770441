"""Gradient boosting of histogram trees, and contributions of columns to what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.datasets import table
from benchmarks.peers import Make, Peer, build, novum
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload
from benchmarks.trees.rivals import catboost, lightgbm, xgboost

HISTOGRAM = "sklearn.ensemble:HistGradientBoostingClassifier"
EXPLAINED = 1000


def log_loss(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit and predict; the mean of -log p of the true classes of test rows."""
    learner = make(data)
    # What a process loads once is measured by `benchmarks.startup`.
    learner.fit(data.X[:500], data.y[:500])
    with clock("fit"):
        learner.fit(data.X, data.y)
    with clock("predict"):
        p = learner.predict_proba(data.X_test)
    own = p[np.arange(len(p)), np.asarray(data.y_test, int)]
    return {"log loss": float(-np.log(np.maximum(own, 1e-15)).mean())}


def contributions(make: Make, data: Data, clock: Clock) -> Figures:
    """Contributions to the scores of rows; how far their sums are from the scores."""
    learner = make(data).fit(data.X, data.y)
    of, score = _explaining(learner)
    of(data.X_test[:32])
    with clock("contributions"):
        found = of(data.X_test[:EXPLAINED])
    return {"error": float(np.abs(found - score(data.X_test[:EXPLAINED])).max())}


def _explaining(learner: Any) -> tuple[Any, Any]:
    if isinstance(learner, _Explained):
        return learner.contributions, learner.scores
    if hasattr(learner, "contributions"):
        return lambda X: learner.contributions(X).predictions, learner.decision_function
    return (
        lambda X: learner.predict(X, pred_contrib=True).sum(axis=1),
        lambda X: learner.predict(X, raw_score=True),
    )


class _Explained:
    """LightGBM's trees, explained by shap's own code for trees."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Explained:
        from shap import TreeExplainer

        self.learner.fit(X, y)
        self.explainer = TreeExplainer(self.learner, feature_perturbation="tree_path_dependent")
        # The library's own code would be called in place of shap's.
        self.explainer.model.original_model = None
        self.explainer.model.model_type = "internal"
        return self

    def contributions(self, X: np.ndarray) -> np.ndarray:
        values = np.asarray(self.explainer.shap_values(X, check_additivity=False))
        shares: np.ndarray = values.sum(axis=-1) + self.explainer.expected_value
        return shares

    def scores(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.learner.predict(X, raw_score=True)
        return found


def explained(trees: int) -> Make:
    make = lightgbm("Classifier", n_estimators=trees)
    return lambda data: _Explained(make(data))


def peers(trees: int, levels: bool = False) -> list[Peer]:
    """The same number of rounds and leaves, and the same rate; other settings as they come."""
    nominal = {"categorical_features": "@nominal"} if levels else {}
    return [
        Peer("lightgbm", lightgbm("Classifier", n_estimators=trees)),
        Peer(
            "xgboost",
            xgboost(
                "XGBClassifier",
                n_estimators=trees,
                learning_rate=0.1,
                max_leaves=31,
                max_depth=0,
                grow_policy="lossguide",
                tree_method="hist",
            ),
        ),
        Peer("sklearn", build(HISTOGRAM, max_iter=trees, early_stopping=False, **nominal)),
        Peer(
            "catboost",
            catboost("Classifier", iterations=trees, learning_rate=0.1),
            # Its statistics of levels are what it is known for; elsewhere it is shown.
            other_method=not levels,
        ),
        # By default it chooses its rate for the number of trees, where others have 0.1.
        Peer("catboost, rate chosen", catboost("Classifier", iterations=trees), other_method=True),
    ]


BOOSTING = "novum.ensemble:GradientBoostingClassifier"
workload(
    "ensemble.gradient_boosting.numeric",
    Recipe(table, rows(100_000), 30, 2),
    log_loss,
    peers(500),
    novum=novum(BOOSTING, n_estimators=500),
    target=1.0,
    quality=Quality("log loss", better="low"),
    limit=300,
    note="100k x 30, 2 classes, 500 trees of 31 leaves",
)
workload(
    "ensemble.gradient_boosting.mixed",
    Recipe(table, rows(100_000), 15, 2, nominal=10, missing=0.1, seed=1),
    log_loss,
    peers(200, levels=True),
    novum=novum(BOOSTING, n_estimators=200, categorical_features="@nominal"),
    target=1.2,
    quality=Quality("log loss", better="low"),
    limit=300,
    note="100k x (15 numeric with 10 % missing + 10 nominal), 200 trees",
)
workload(
    "ensemble.gradient_boosting.small",
    Recipe(table, rows(1000), 30, 2),
    log_loss,
    peers(200),
    novum=novum(BOOSTING, n_estimators=200),
    target=2.0,
    quality=Quality("log loss", better="low", tolerance=0.05),
    note="1000 x 30, 2 classes, 200 trees of 31 leaves",
)
workload(
    "ensemble.gradient_boosting.contributions",
    Recipe(table, rows(20_000), 30, 2),
    contributions,
    [Peer("lightgbm", lightgbm("Classifier", n_estimators=500)), Peer("shap", explained(500))],
    novum=novum(BOOSTING, n_estimators=500),
    target=2.0,
    quality=Quality("error", better="low", required=1e-8),
    limit=300,
    note="contributions of 1000 rows, 500 trees of 31 leaves",
)
