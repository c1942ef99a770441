"""Compiled steps of Pegasos: the textbook's, dense and sparse, with batches and projection."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.linear.perceptron.training import Visits
from novum.svm.online.pegasos_training import PegasosRule, RowMachine
from tests.oracles.linear_svm_definitions import pegasos
from tests.svm.linear_tables import overlapping, with_constant

DRAWS = np.random.default_rng(0).integers(0, 30, 400)


def machine(X: object, side: np.ndarray, rule: PegasosRule, constant: float = 1.0) -> RowMachine:
    rows = np.arange(len(side), dtype=np.int64)
    return RowMachine(Visits(X, rows, side, np.ones(len(side)), constant, 1.0), rule)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_steps_are_the_textbooks(make: object) -> None:
    X, side = overlapping(30)
    found = machine(make(X), side, PegasosRule(0.1, 1, False, False))  # type: ignore[operator]
    found.take(DRAWS)
    expected = pegasos(with_constant(X), side, 0.1, DRAWS.tolist())
    np.testing.assert_allclose(found.weights, expected, atol=1e-12)
    # The shares are the dual point of the same weights.
    np.testing.assert_allclose(found.vector(found.shares / (0.1 * 400)), expected, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("batch", [1, 7])
def test_batches_and_projections_by_their_definition(make: object, batch: int) -> None:
    X, side = overlapping(30)
    penalty, Z = 0.01, with_constant(X)
    found = machine(make(X), side, PegasosRule(penalty, batch, True, False))  # type: ignore[operator]
    found.take(DRAWS)
    w = np.zeros(4)
    for t, start in enumerate(range(0, 400, batch), start=1):
        chosen = DRAWS[start : start + batch]
        wrong = chosen[side[chosen] * (Z[chosen] @ w) < 1]
        w = (1 - 1 / t) * w + (side[wrong] @ Z[wrong]) / (penalty * t * len(chosen))
        w *= min(1.0, 1 / (np.sqrt(penalty) * max(np.linalg.norm(w), 1e-300)))
    np.testing.assert_allclose(found.weights, w, atol=1e-10)
    np.testing.assert_allclose(found.vector(found.shares / (penalty * found.steps)), w, atol=1e-10)


def test_without_an_intercept_its_cell_stays_zero() -> None:
    X, side = overlapping(30)
    found = machine(X, side, PegasosRule(0.1, 1, True, False), constant=0.0)
    found.take(DRAWS)
    assert found.weights[-1] == 0.0
    np.testing.assert_allclose(found.margins(np.ones(30))[0], side * (X @ (side @ X)))


def test_steps_go_on_from_a_start() -> None:
    X, side = overlapping(30)
    rule = PegasosRule(0.1, 1, True, False)
    whole, first = machine(X, side, rule), machine(X, side, rule)
    whole.take(DRAWS)
    first.take(DRAWS[:150])
    visits = Visits(X, np.arange(30), side, np.ones(30), 1.0, 1.0)
    second = RowMachine(visits, rule, (first.v, first.steps))
    second.take(DRAWS[150:])
    np.testing.assert_allclose(second.weights, whole.weights, atol=1e-12)
