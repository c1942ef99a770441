"""What is timed for an estimator, and what quality is read off it; shared by the workloads."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make
from benchmarks.recipes import Data
from benchmarks.registry import Figures, Protocol


def fit_and_predict(make: Make, data: Data, clock: Clock) -> tuple[Any, np.ndarray]:
    """Fit on `X, y`, predict `X_test`, each a phase; the estimator and its predictions."""
    estimator = make(data)
    with clock("fit"):
        estimator.fit(data.X, data.y)
    with clock("predict"):
        predicted = estimator.predict(data.X_test)
    return estimator, np.asarray(predicted).ravel()


def classify(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit and predict; the part of the test labels that is right."""
    return {"accuracy": accuracy(fit_and_predict(make, data, clock)[1], data)}


def regress(make: Make, data: Data, clock: Clock) -> Figures:
    """Fit and predict; R2 on the test rows."""
    return {"r2": r2(fit_and_predict(make, data, clock)[1], data)}


def accuracy(predicted: np.ndarray, data: Data) -> float:
    return float(np.mean(predicted == data.y_test))


def r2(predicted: np.ndarray, data: Data) -> float:
    return float(1 - np.mean((predicted - data.y_test) ** 2) / np.var(data.y_test))


def apply(phase: str, *inputs: str, figure: str = "", array: str = "") -> Protocol:
    """A protocol for a function: calls it on the named inputs and keeps what it returns.

    `array` names the result as an array to compare between peers, `figure` the sum of its entries
    (for a matrix the trace) as a figure of quality.
    """

    def protocol(make: Make, data: Data, clock: Clock) -> Figures:
        chosen = make(data)
        arguments = [getattr(data, name) for name in inputs]
        with clock(phase):
            result = chosen(*arguments)
        values = np.asarray(result, float)
        figures = {figure: np.trace(values) if values.ndim == 2 else values.sum()} if figure else {}
        return figures | ({"_" + array: values} if array else {})

    return protocol
