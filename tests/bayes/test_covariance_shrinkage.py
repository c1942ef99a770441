"""Shrinkage: scikit-learn's functions, weights as repetitions, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf as other_ledoit_wolf
from sklearn.covariance import shrunk_covariance
from sklearn.preprocessing import StandardScaler

from novum.bayes.gaussian_covariance import ledoit_wolf, mixed_with_identity, shrunk
from novum.numerics import Floats
from tests.bayes.normal_classes import normal_classes


def standardized_ledoit_wolf(X: Floats) -> Floats:
    """As scikit-learn's discriminant analysis calls it."""
    scaler = StandardScaler()
    found = other_ledoit_wolf(scaler.fit_transform(X))[0]
    return np.asarray(scaler.scale_[:, None] * found * scaler.scale_[None, :])


@pytest.mark.parametrize("n", [2, 3, 5, 40])
def test_amounts_are_those_of_scikit_learn(n: int) -> None:
    X, _ = normal_classes(1, 4, n)
    np.testing.assert_allclose(ledoit_wolf(X), standardized_ledoit_wolf(X), rtol=1e-10, atol=1e-13)


def test_a_constant_column_and_a_single_row_are_no_trouble() -> None:
    X, _ = normal_classes(1, 3, 10)
    X[:, 1] = 7.0
    np.testing.assert_allclose(ledoit_wolf(X), standardized_ledoit_wolf(X), rtol=1e-10, atol=1e-13)
    assert ledoit_wolf(X[:1]).tolist() == np.zeros((3, 3)).tolist()


def test_weights_are_repetitions_and_units_do_not_matter() -> None:
    X, _ = normal_classes(1, 3, 12)
    weight = np.random.default_rng(0).integers(1, 4, 12)
    repeated = ledoit_wolf(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(ledoit_wolf(X, weight.astype(float)), repeated, rtol=1e-10)
    scale = 2.0 ** np.array([20, 0, -20])
    np.testing.assert_allclose(
        ledoit_wolf(X * scale + 1e3 * scale), ledoit_wolf(X) * np.outer(scale, scale), rtol=1e-9
    )


def test_fixed_amounts() -> None:
    C = np.cov(normal_classes(1, 3, 10)[0].T, bias=True)
    np.testing.assert_allclose(shrunk(C, 0.3), shrunk_covariance(C, 0.3), rtol=1e-14)
    np.testing.assert_array_equal(shrunk(C, 0.0), C)
    np.testing.assert_allclose(mixed_with_identity(C, 0.3), 0.7 * C + 0.3 * np.eye(3), rtol=1e-14)


def test_few_rows_come_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(0)
    plain, better = 0.0, 0.0
    for _ in range(30):
        X = rng.normal(size=(8, 6))
        plain += float(((np.cov(X.T, bias=True) - np.eye(6)) ** 2).sum())
        better += float(((ledoit_wolf(X) - np.eye(6)) ** 2).sum())
    assert better < 0.7 * plain
