"""AdaBoost of 200 stumps; gradient boosting of stumps is a neighbor, not the same method."""

from __future__ import annotations

from typing import Any

from benchmarks.datasets import table
from benchmarks.peers import Peer, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Quality, workload
from benchmarks.trees.rivals import lightgbm, xgboost

ROUNDS = {"n_estimators": 200, "learning_rate": 0.5}


def stumps(_data: Data) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=200, random_state=0)


workload(
    "ensemble.adaboost.stumps",
    Recipe(table, rows(20_000), 20, 2, seed=4),
    classify,
    [
        Peer("sklearn", stumps),
        Peer(
            "lightgbm 200 logistic stumps",
            lightgbm("Classifier", num_leaves=2, **ROUNDS),
            other_method=True,
        ),
        Peer(
            "xgboost 200 logistic stumps",
            xgboost("XGBClassifier", max_depth=1, **ROUNDS),
            other_method=True,
        ),
    ],
    novum=novum("novum.ensemble:AdaBoostClassifier", n_estimators=200, random_state=0),
    target=100.0,
    against="sklearn",
    quality=Quality("accuracy"),
    note="20k x 20, 2 classes, 200 stumps",
)
