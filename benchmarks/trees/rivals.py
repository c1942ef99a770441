"""How the tree libraries are set to grow the same trees, nominal columns included."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Make, build, load, threads
from benchmarks.recipes import Data

# One unpruned tree: a boosting library grows it as a single round with step 1.
LIGHTGBM_TREE = {
    "n_estimators": 1,
    "learning_rate": 1.0,
    "num_leaves": 20_000,
    "min_child_samples": 1,
    "min_child_weight": 0.0,
    "max_bin": 255,
}
XGBOOST_TREE = {
    "n_estimators": 1,
    "learning_rate": 1.0,
    "max_depth": 0,
    "min_child_weight": 0.0,
    "reg_lambda": 0.0,
    "grow_policy": "lossguide",
    "max_leaves": 20_000,
    "tree_method": "hist",
}
LIGHTGBM_FOREST = {
    "boosting_type": "rf",
    "n_estimators": 100,
    "bagging_freq": 1,
    "bagging_fraction": 0.632,
    "num_leaves": 1024,
    "min_child_samples": 2,
    "min_child_weight": 0.0,
}
XGBOOST_FOREST = {
    "n_estimators": 100,
    "subsample": 0.632,
    "reg_lambda": 1e-6,
    "max_depth": 0,
    "grow_policy": "lossguide",
    "max_leaves": 1024,
    "min_child_weight": 0.0,
    "tree_method": "hist",
}


def one_hot(path: str, **parameters: Any) -> Make:
    """scikit-learn's way with nominal columns: a one-hot encoder before the tree, timed with it."""

    def make(data: Data) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore", dtype=np.float32)
        columns = ColumnTransformer([("nominal", encoder, data.nominal)], remainder="passthrough")
        return make_pipeline(columns, build(path, **parameters)(data))

    return make


def lightgbm(kind: str, **parameters: Any) -> Make:
    """LightGBM with its own treatment of nominal columns."""

    def make(data: Data) -> Any:
        estimator = load(f"lightgbm:LGBM{kind}")(
            n_jobs=threads(), verbose=-1, random_state=0, **parameters
        )
        return _Categorical(estimator, data.nominal) if data.nominal else estimator

    return make


class _Categorical:
    """LightGBM learns of nominal columns in `fit`, not in the constructor."""

    def __init__(self, estimator: Any, nominal: list[int]) -> None:
        self.estimator = estimator
        self.nominal = nominal

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.estimator.fit(X, y, categorical_feature=self.nominal)

    def predict(self, X: np.ndarray) -> np.ndarray:
        predicted: np.ndarray = self.estimator.predict(X)
        return predicted

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        probabilities: np.ndarray = self.estimator.predict_proba(X)
        return probabilities


def xgboost(kind: str, **parameters: Any) -> Make:
    """XGBoost with its own treatment of nominal columns."""

    def make(data: Data) -> Any:
        kinds = ["c" if column in data.nominal else "q" for column in range(data.X.shape[1])]
        return load(f"xgboost:{kind}")(
            n_jobs=threads(),
            random_state=0,
            enable_categorical=True,
            feature_types=kinds,
            **parameters,
        )

    return make


def catboost(kind: str, **parameters: Any) -> Make:
    """CatBoost with its own treatment of nominal columns, which it wants as integers or text."""

    def make(data: Data) -> Any:
        estimator = load(f"catboost:CatBoost{kind}")(
            thread_count=threads(),
            random_seed=0,
            verbose=False,
            allow_writing_files=False,
            cat_features=list(data.nominal),
            **parameters,
        )
        return _Whole(estimator, data.nominal) if data.nominal else estimator

    return make


class _Whole:
    """Hands nominal columns over as whole numbers, a missing one as -1; timed with the fit."""

    def __init__(self, estimator: Any, nominal: list[int]) -> None:
        self.estimator = estimator
        self.nominal = nominal

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.estimator.fit(self._frame(X), y)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        probabilities: np.ndarray = self.estimator.predict_proba(self._frame(X))
        return probabilities

    def _frame(self, X: np.ndarray) -> Any:
        import pandas as pd

        frame = pd.DataFrame(X)
        for column in self.nominal:
            frame[column] = np.nan_to_num(X[:, column], nan=-1.0).astype(np.int64)
        return frame
