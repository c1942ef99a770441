"""One decision tree for classes, unpruned, on numeric and on nominal columns."""

from __future__ import annotations

from benchmarks.datasets import table
from benchmarks.peers import Peer, build, novum
from benchmarks.protocols import classify
from benchmarks.recipes import Recipe, rows
from benchmarks.registry import Quality, workload
from benchmarks.trees.rivals import LIGHTGBM_TREE, XGBOOST_TREE, lightgbm, one_hot, xgboost

TREE = "sklearn.tree:DecisionTreeClassifier"
BOOSTING = [
    Peer("lightgbm 1 round", lightgbm("Classifier", **LIGHTGBM_TREE), slow=True),
    Peer("xgboost 1 round", xgboost("XGBClassifier", **XGBOOST_TREE), slow=True),
]

workload(
    "trees.classifier.numeric",
    Recipe(table, rows(50_000), 30, 2),
    classify,
    [Peer("sklearn", build(TREE, random_state=0)), *BOOSTING],
    novum=novum("novum.trees:DecisionTreeClassifier", random_state=0),
    target=15.0,
    quality=Quality("accuracy", tolerance=0.02),
    note="50k x 30, 2 classes, unpruned; the boosting libraries grow one tree a class",
)
workload(
    "trees.classifier.nominal",
    Recipe(table, rows(50_000), 20, 4, nominal=10, seed=1),
    classify,
    [
        Peer("sklearn one-hot", one_hot(TREE, random_state=0)),
        Peer("sklearn codes as numbers", build(TREE, random_state=0)),
        *BOOSTING,
    ],
    novum=novum(
        "novum.trees:DecisionTreeClassifier", random_state=0, categorical_features="@nominal"
    ),
    target=15.0,
    quality=Quality("accuracy", tolerance=0.02),
    note="50k x (20 numeric + 10 nominal), 4 classes",
)
