"""Shrinkage within classes: another implementation, the best amount, units, weights."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage, shrunk_covariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from novum.core.tables import Sample, Schema
from novum.decomposition.discriminant import ledoit_wolf_within, shrunk
from novum.numerics import Floats, Integers


def table(n: int = 40, d: int = 6) -> tuple[Floats, Integers]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None], y


def sample(X: Floats, y: Integers, weight: Floats | None = None) -> Sample:
    schema = Schema.of_array(X.shape[1])
    return Sample(schema, X, np.empty((len(X), 0), np.int32), y, np.unique(y), weight)


def test_a_given_amount_agrees_with_another_implementation() -> None:
    C = np.cov(table()[0].T)
    np.testing.assert_allclose(shrunk(C, 0.3), shrunk_covariance(C, 0.3), rtol=1e-13)
    np.testing.assert_array_equal(shrunk(C, 0.0), C)


def test_the_best_amount_agrees_with_another_implementation() -> None:
    X, y = table()
    shares = np.bincount(y) / len(y)
    other = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X, y)
    found = ledoit_wolf_within(sample(X, y), shares)
    np.testing.assert_allclose(found, other.covariance_, rtol=1e-10)
    one = X[y == 0]
    Z = (one - one.mean(axis=0)) / one.std(axis=0)
    amount = ledoit_wolf_shrinkage(Z)
    expected = shrunk_covariance(np.cov(Z.T, ddof=0), amount) * np.outer(one.std(0), one.std(0))
    np.testing.assert_allclose(
        ledoit_wolf_within(sample(X, y), np.array([1.0, 0.0, 0.0])), expected, rtol=1e-10
    )


def test_units_offsets_and_repetition() -> None:
    X, y = table()
    shares = np.full(3, 1 / 3)
    unit = 2.0 ** np.arange(-3, 3)
    plain = ledoit_wolf_within(sample(X, y), shares)
    scaled = ledoit_wolf_within(sample(X * unit, y), shares)
    np.testing.assert_allclose(scaled, plain * np.outer(unit, unit), rtol=1e-12)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = ledoit_wolf_within(sample(X, y, weight.astype(float)), shares)
    repeated = ledoit_wolf_within(sample(np.repeat(X, weight, 0), np.repeat(y, weight)), shares)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows_and_constant_columns_are_finite(rows: int) -> None:
    X = np.ones((rows, 3))
    found = ledoit_wolf_within(sample(X, np.zeros(rows, np.int64)), np.ones(1))
    np.testing.assert_array_equal(found, np.zeros((3, 3)))
