"""Tables and tiny learners that the tests of conformal prediction share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from novum.numerics import Array, Floats

SIMULATIONS = 1000


class MeanLine(RegressorMixin, BaseEstimator):
    """Least squares through the origin in one column: a fit of microseconds."""

    def fit(self, X: Any, y: Any) -> Self:
        x = np.asarray(X)[:, 0]
        self.slope_ = float(x @ y / (x @ x))
        return self

    def predict(self, X: Any) -> Floats:
        return self.slope_ * np.asarray(X)[:, 0]


class Shifted(MeanLine):
    """The line, moved by so much: a quantile of noise that does not depend on the row."""

    def __init__(self, by: float = 0.0) -> None:
        self.by = by

    def predict(self, X: Any) -> Floats:
        return super().predict(X) + self.by


class Shares(ClassifierMixin, BaseEstimator):
    """Shares of the classes on both sides of zero, smoothed: a fit of microseconds."""

    def fit(self, X: Any, y: Any) -> Self:
        side = (np.asarray(X)[:, 0] > 0).astype(int)
        self.classes_, codes = np.unique(y, return_inverse=True)
        counts = np.ones((2, len(self.classes_)))
        np.add.at(counts, (side, codes), 1.0)
        self.shares_ = counts / counts.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: Any) -> Floats:
        x = np.asarray(X)[:, 0]
        # A little of the cell itself keeps scores apart from each other.
        near = np.exp(-np.abs(x[:, None] - np.arange(len(self.classes_)) + 1.0))
        mixed = self.shares_[(x > 0).astype(int)] + near
        return mixed / mixed.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def line(n: int, rng: np.random.Generator, d: int = 1) -> tuple[Floats, Floats]:
    """Skewed noise around a line, wider to the right."""
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + (1 + (X[:, 0] > 0)) * (rng.exponential(size=n) - 1)


def three_classes(n: int, rng: np.random.Generator) -> tuple[Floats, Array]:
    """Overlapping classes a, b and c of unequal shares."""
    codes = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(n, 1)) + codes[:, None] - 1.0, np.array(["a", "b", "c"])[codes]


def assert_share(covered: Any, low: float, high: float = 1.0) -> None:
    """The share of a binomial count agrees with a probability between two, at a level of 1e-6."""
    hits, n = int(np.sum(covered)), int(np.size(covered))
    assert stats.binom.cdf(hits, n, low) > 1e-6, f"{hits} of {n} is too few for {low}"
    assert stats.binom.sf(hits - 1, n, high) > 1e-6, f"{hits} of {n} is too many for {high}"
