"""Random forests of 100 trees for classes and for numbers."""

from __future__ import annotations

from benchmarks.datasets import table
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import classify, regress
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload
from benchmarks.trees.rivals import LIGHTGBM_FOREST, XGBOOST_FOREST, lightgbm, one_hot, xgboost

SKLEARN = "sklearn.ensemble:RandomForest"
INTELEX = "sklearnex.ensemble:RandomForest"
CLASSES = {"n_estimators": 100, "random_state": 0, "n_jobs": 1}
NUMBERS = CLASSES | {"max_features": 1 / 3, "min_samples_leaf": 5}
LIGHTGBM = lightgbm("Classifier", **LIGHTGBM_FOREST, feature_fraction_bynode=0.18)
XGBOOST = xgboost("XGBRFClassifier", **XGBOOST_FOREST, colsample_bynode=0.18)
LIGHTGBM_NUMBERS = lightgbm(
    "Regressor", **(LIGHTGBM_FOREST | {"min_child_samples": 5}), feature_fraction_bynode=1 / 3
)
XGBOOST_NUMBERS = xgboost(
    "XGBRFRegressor", **(XGBOOST_FOREST | {"min_child_weight": 5}), colsample_bynode=1 / 3
)

workload(
    "trees.forest.numeric",
    Recipe(table, rows(50_000), 30, 2),
    classify,
    [
        Peer("sklearn", build(SKLEARN + "Classifier", **CLASSES)),
        Peer("intelex", build(INTELEX + "Classifier", **CLASSES)),
        Peer("lightgbm rf", LIGHTGBM, slow=True),
        Peer("xgboost rf", XGBOOST, slow=True),
    ],
    novum=novum("novum.trees:RandomForestClassifier", **CLASSES),
    target=4.0,
    quality=Quality("accuracy"),
    limit=120,
    note="50k x 30, 2 classes, 100 trees, sqrt(p) columns a split",
)
workload(
    "trees.forest.nominal",
    Recipe(table, rows(20_000), 20, 4, nominal=10, seed=1),
    classify,
    [
        Peer("sklearn one-hot", one_hot(SKLEARN + "Classifier", **CLASSES)),
        Peer("sklearn codes as numbers", build(SKLEARN + "Classifier", **CLASSES)),
        Peer("intelex one-hot", one_hot(INTELEX + "Classifier", **CLASSES)),
        Peer("intelex codes as numbers", build(INTELEX + "Classifier", **CLASSES)),
        Peer("lightgbm rf", LIGHTGBM, slow=True),
        Peer("xgboost rf", XGBOOST),
    ],
    novum=novum("novum.trees:RandomForestClassifier", categorical_features="@nominal", **CLASSES),
    target=5.0,
    quality=Quality("accuracy"),
    limit=120,
    note="20k x (20 numeric + 10 nominal), 4 classes, 100 trees",
)
workload(
    "trees.forest.seven_classes",
    Recipe(table, rows(50_000), 30, 7, seed=5),
    classify,
    [
        Peer("sklearn", build(SKLEARN + "Classifier", **CLASSES), slow=True),
        Peer("intelex", build(INTELEX + "Classifier", **CLASSES)),
    ],
    novum=novum("novum.trees:RandomForestClassifier", **CLASSES),
    target=3.0,
    quality=Quality("accuracy"),
    limit=120,
    note="50k x 30, 7 classes, 100 trees, sqrt(p) columns a split",
)
workload(
    "trees.forest.missing",
    Recipe(table, rows(20_000), 10, 2, nominal=10, seed=6, missing=0.1),
    classify,
    [
        Peer("sklearn codes as numbers", build(SKLEARN + "Classifier", **CLASSES)),
        Peer("lightgbm rf", LIGHTGBM),
        Peer("xgboost rf", XGBOOST),
    ],
    novum=novum("novum.trees:RandomForestClassifier", categorical_features="@nominal", **CLASSES),
    target=5.0,
    quality=Quality("accuracy"),
    limit=120,
    note="20k x (10 numeric with 10 % missing + 10 nominal), 2 classes, 100 trees",
)
workload(
    "trees.forest.regression",
    Recipe(table, rows(20_000), 30, 0, regression=True, seed=2),
    regress,
    [
        Peer("sklearn", build(SKLEARN + "Regressor", **NUMBERS)),
        Peer("intelex", build(INTELEX + "Regressor", **NUMBERS)),
        Peer("lightgbm rf", LIGHTGBM_NUMBERS, slow=True),
        Peer("xgboost rf", XGBOOST_NUMBERS, slow=True),
    ],
    novum=novum("novum.trees:RandomForestRegressor", **NUMBERS),
    target=4.0,
    quality=Quality("r2"),
    limit=120,
    note="20k x 30, 100 trees, p/3 columns a split, at least 5 rows a leaf",
)
