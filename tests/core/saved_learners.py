"""Small learners that carry one of everything a model file must keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from novum.core.learners import Certificate, Verdict
from novum.core.tables import Column, Kind, Schema


class Mean(RegressorMixin, BaseEstimator):
    """Predicts a mean, and carries one of everything a fitted model has."""

    names_: Any
    big_: Any

    def __init__(self, shrinkage: float = 0.0, point: Any = None, base: Any = None) -> None:
        self.shrinkage = shrinkage
        self.point = point
        self.base = base

    def fit(self, X: Any, y: Any) -> Mean:
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.array(["größe", "x y"], dtype=object)
        self.coef_ = X.mean(axis=0)
        self.scatter_ = np.asfortranarray(X.T @ X)
        self.mean_ = np.mean(y)
        self.certificate_ = Certificate(
            objective="squares", verdict=Verdict.PROVED, value=1.5, details={"a": (1, 2)}
        )
        self.schema_ = Schema((Column("größe"), Column("x y", Kind.NOMINAL, ("a", "b"))))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_) + X @ self.coef_

    def _check_state(self) -> None:
        if self.coef_.shape != (self.n_features_in_,):
            raise ValueError(f"coef_ has shape {self.coef_.shape}")


class Neighbors(Mean):
    _holds_training_rows = True


X = np.random.default_rng(0).normal(size=(20, 2))


def fitted(**params: Any) -> Mean:
    return Mean(**params).fit(X, np.arange(20.0))
