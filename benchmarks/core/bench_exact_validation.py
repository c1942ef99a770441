"""Exact cross-validated predictions: one pass in place of a fit for every fold.

A peer is a function from `X, y` to the predictions of the rows by models that did not see them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.linear.tables import regression_table
from benchmarks.peers import Make, Peer, load
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

FOLDS = 10
Predict = Callable[[np.ndarray, np.ndarray], Any]


def with_reference(n: int, p: int, folds: int, seed: int = 0) -> Data:
    """A regression table with the predictions of explicit refits, one for each fold (QR).

    `folds` 0 stands for leave-one-out.
    """
    data = regression_table(n, p, seed)
    data.folds = folds or n
    design = np.column_stack([np.ones(n), data.X])
    data.reference = np.empty(n)
    for held_out in np.array_split(np.arange(n), data.folds):
        kept = np.ones(n, bool)
        kept[held_out] = False
        Q, R = np.linalg.qr(design[kept])
        data.reference[held_out] = design[held_out] @ np.linalg.solve(R, Q.T @ data.y[kept])
    return data


def predictions(make: Make, data: Data, clock: Clock) -> Figures:
    """The largest difference from the explicit refits, over the spread of the target."""
    predict = make(data)
    with clock("predict"):
        found = predict(data.X, data.y)
    error = np.max(np.abs(np.ravel(found) - data.reference)) / np.std(data.y)
    return {"error": error}


def splitter(data: Data) -> Any:
    from sklearn.model_selection import KFold, LeaveOneOut

    return LeaveOneOut() if data.folds == len(data.X) else KFold(data.folds)


def refits(data: Data) -> Predict:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import cross_val_predict

    return lambda X, y: cross_val_predict(LinearRegression(), X, y, cv=splitter(data), n_jobs=1)


def press(_data: Data) -> Predict:
    """statsmodels' deleted residuals, by the leverage formula."""
    import statsmodels.api as sm

    def predict(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = sm.OLS(y, sm.add_constant(X)).fit()
        found: np.ndarray = y - result.get_influence().resid_press
        return found

    return predict


def exact(data: Data) -> Predict:
    learner = load("novum.linear:LinearRegression")
    exact_cross_val_predict = load("novum.core.sums.exact_validation:exact_cross_val_predict")
    return lambda X, y: exact_cross_val_predict(learner(), X, y, splitter(data))


workload(
    "core.exact_validation.leave_one_out",
    Recipe(with_reference, rows(1_000, quick=200), 20, 0),
    predictions,
    [Peer("sklearn cross_val_predict", refits), Peer("statsmodels press", press)],
    novum=Peer("novum", exact, ours=True),
    target=50.0,
    against="sklearn cross_val_predict",
    quality=Quality("error", "low", required=1e-10),
    note="1000 x 20, leave-one-out predictions of least squares",
)
workload(
    "core.exact_validation.ten_fold",
    Recipe(with_reference, rows(100_000), 50, FOLDS, seed=1),
    predictions,
    [Peer("sklearn cross_val_predict", refits)],
    novum=Peer("novum", exact, ours=True),
    target=4.0,
    against="sklearn cross_val_predict",
    quality=Quality("error", "low", required=1e-10),
    note="100k x 50, ten folds, predictions of least squares",
)
