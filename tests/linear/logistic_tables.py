"""Tables and references that the tests of logistic regression share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from novum.core.files import registry
from novum.linear.logistic.information import LogisticSummary
from novum.linear.logistic.objective import PenalizedLoss, Shape
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.logistic.rows import Rows
from novum.linear.logistic.separation import Separation
from novum.numerics import Array, Floats

# Twelve rows whose reference values statsmodels 0.15 gave (Logit and MNLogit, tol 1e-14).
SMALL_X = np.array(
    [
        [0.5, 1], [1.5, 0], [2.0, 1], [0.7, 0], [3.1, 1], [2.2, 0],
        [4.0, 1], [1.1, 1], [2.9, 0], [3.6, 1], [0.2, 0], [1.9, 1],
    ]
)  # fmt: skip
SMALL_Y = np.array([0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1])
SMALL_Y3 = np.array([0, 2, 1, 0, 1, 0, 2, 1, 1, 0, 2, 1])


def logistic_table(
    n: int, d: int, n_classes: int = 2, seed: int = 0, strength: float = 1.0
) -> tuple[Floats, Array]:
    """Normal columns, and labels drawn from a softmax model of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    W = strength * rng.normal(size=(n_classes, d)) / np.sqrt(d)
    scores = X @ W.T + rng.gumbel(size=(n, n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def objective(model: Any, X: Any, y: Array, C: float, weight: Floats | None = None) -> float:
    """The objective of a fitted model, by its definition."""
    scores = np.asarray(X @ model.coef_.T) + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    codes = np.searchsorted(model.classes_, y)
    loss = np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), codes]
    w = np.ones(len(y)) if weight is None else weight
    return float(w @ loss + (model.coef_**2).sum() / (2 * C))


def loss_of(X: Any, y: Array, *, penalty: float = 1.0, fit_intercept: bool = True) -> PenalizedLoss:
    """The objective over checked rows."""
    rows = rows_of(X, y, fit_intercept=fit_intercept)
    return PenalizedLoss(rows, Shape(rows.n_classes, rows.n_columns, fit_intercept, penalty))


def rows_of(X: Any, y: Array, weight: Any = None, *, fit_intercept: bool = True) -> Rows:
    """Rows as a fit sees them."""
    model = LogisticRegression(fit_intercept=fit_intercept)
    return model._rows(model._read(X, y, weight, None)).rows


@contextmanager
def known_to_files() -> Iterator[None]:
    """Lists the classes in the registry where it does not have them yet."""
    estimators = {"LogisticRegression": LogisticRegression}
    values = {"LogisticSummary": LogisticSummary, "Separation": Separation}
    new = {k: v for k, v in estimators.items() if k not in registry.ESTIMATORS}
    more = {k: v for k, v in values.items() if k not in registry.VALUES}
    with registry.registered(estimators=new, values=more):
        yield
