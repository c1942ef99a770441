"""One regression tree with at least five rows a leaf, on numeric and on nominal columns."""

from __future__ import annotations

from benchmarks.datasets import table
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import regress
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload
from benchmarks.trees.rivals import LIGHTGBM_TREE, XGBOOST_TREE, lightgbm, one_hot, xgboost

TREE = "sklearn.tree:DecisionTreeRegressor"
LEAF = {"min_samples_leaf": 5, "random_state": 0}
LIGHTGBM = lightgbm("Regressor", **(LIGHTGBM_TREE | {"min_child_samples": 5}))
XGBOOST = xgboost("XGBRegressor", **(XGBOOST_TREE | {"min_child_weight": 5}))
BOOSTING = [
    Peer("lightgbm 1 round", LIGHTGBM, slow=True),
    Peer("xgboost 1 round", XGBOOST, slow=True),
]

workload(
    "trees.regressor.numeric",
    Recipe(table, rows(50_000), 30, 0, regression=True, seed=2),
    regress,
    [Peer("sklearn", build(TREE, **LEAF)), *BOOSTING],
    novum=novum("novum.trees:DecisionTreeRegressor", **LEAF),
    target=15.0,
    quality=Quality("r2", tolerance=0.02),
    note="50k x 30, at least 5 rows a leaf",
)
workload(
    "trees.regressor.nominal",
    Recipe(table, rows(50_000), 20, 0, nominal=10, regression=True, seed=3),
    regress,
    [
        Peer("sklearn one-hot", one_hot(TREE, **LEAF)),
        Peer("sklearn codes as numbers", build(TREE, **LEAF)),
        *BOOSTING,
    ],
    novum=novum("novum.trees:DecisionTreeRegressor", categorical_features="@nominal", **LEAF),
    target=15.0,
    quality=Quality("r2", tolerance=0.02),
    note="50k x (20 numeric + 10 nominal), at least 5 rows a leaf",
)
