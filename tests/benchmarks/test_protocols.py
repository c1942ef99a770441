"""Protocols: figures that can be computed by hand, phases that are named."""

import numpy as np
import pytest

from benchmarks.clock import Clock
from benchmarks.peers import function
from benchmarks.protocols import accuracy, apply, classify, fit_and_predict, r2, regress
from benchmarks.recipes import Data


class Constant:
    """Predicts what it was told to."""

    def __init__(self, value: float) -> None:
        self.value = value

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        self.seen = len(X), len(y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.value)


DATA = Data(
    X=np.zeros((3, 1)),
    y=np.zeros(3),
    X_test=np.zeros((4, 1)),
    y_test=np.array([1.0, 1.0, 1.0, 3.0]),
)


@pytest.mark.slow
def test_accuracy_is_the_part_that_is_right() -> None:
    clock = Clock()
    assert classify(lambda _: Constant(1.0), DATA, clock) == {"accuracy": 0.75}
    assert list(clock.cpu) == ["fit", "predict"]


@pytest.mark.slow
def test_fit_and_predict_gives_both_back() -> None:
    clock = Clock()
    estimator, predicted = fit_and_predict(lambda _: Constant(2.0), DATA, clock)
    assert estimator.seen == (3, 3)
    assert predicted.tolist() == [2.0] * 4
    assert list(clock.cpu) == ["fit", "predict"]
    # Mean squared error 1 and variance 0.75 of the test labels.
    assert r2(predicted, DATA) == 1 - 1 / 0.75
    assert accuracy(predicted, DATA) == 0.0


@pytest.mark.slow
def test_r2_of_the_mean_is_zero() -> None:
    assert regress(lambda _: Constant(1.5), DATA, Clock()) == {"r2": 0.0}


@pytest.mark.slow
def test_apply_keeps_the_array_and_its_figure() -> None:
    make = function("numpy:outer")
    protocol = apply("gram", "a", "a", figure="trace", array="gram")
    figures = protocol(make, Data(a=np.array([1.0, 2.0])), Clock())
    assert not callable(figures)
    assert figures["trace"] == 5.0
    np.testing.assert_array_equal(figures["_gram"], [[1, 2], [2, 4]])
