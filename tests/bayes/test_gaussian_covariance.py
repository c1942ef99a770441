"""Covariances: the definition, the constrained maximum, units, and degenerate classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_covariance import (
    GaussianEstimate,
    SingularCovarianceWarning,
    estimate,
    log_likelihood,
    raised_to_floor,
    reference_variances,
    report_singular,
)
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.errors import InputError
from novum.numerics import Floats
from tests.bayes.normal_classes import normal_classes


def sums(X: Floats, y: object) -> GaussianStatistics:
    found: GaussianStatistics = GaussianClassifier().statistics(X, y)
    return found


def test_estimates_are_the_definitions() -> None:
    X, y = normal_classes(3, 2, 15)
    statistics = sums(X, y)
    parts = [X[y == k] for k in range(3)]
    full = np.array([np.cov(part.T, bias=True) for part in parts])
    np.testing.assert_allclose(estimate(statistics, "full", 1e-9).covariances, full, rtol=1e-12)
    tied = sum(len(part) * C for part, C in zip(parts, full, strict=True)) / len(X)
    np.testing.assert_allclose(estimate(statistics, "tied", 1e-9).covariances, tied, rtol=1e-12)
    variances = np.array([part.var(axis=0) for part in parts])
    found = estimate(statistics, "diagonal", 1e-9)
    np.testing.assert_allclose(found.covariances, variances, rtol=1e-12)
    found = estimate(statistics, "spherical", 1e-9)
    np.testing.assert_allclose(found.covariances, variances.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.means, [part.mean(axis=0) for part in parts], rtol=1e-12)


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
def test_likelihood_of_the_sums_is_that_of_the_rows(structure: str) -> None:
    X, y = normal_classes(3, 2, 15)
    model = GaussianClassifier(structure).fit(X, y)
    rows = model.log_likelihood(X)[np.arange(len(y)), y]
    assert model.certificate_.value == pytest.approx(rows.sum(), rel=1e-12)
    found = estimate(sums(X, y), structure, 1e-9)
    assert log_likelihood(found, sums(X, y)) == pytest.approx(rows.sum(), rel=1e-12)


@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.5]))
def test_raised_eigenvalues_are_the_best_above_the_floor(seed: int, floor: float) -> None:
    """No other matrix above the floor has a larger likelihood."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3, 3))
    C = rows.T @ rows / 3
    reference = rng.uniform(0.5, 4.0, 3)
    best = raised_to_floor(C, reference, floor)
    unit = np.sqrt(reference)

    def value(M: Floats) -> float:
        return float(-np.linalg.slogdet(M)[1] - np.trace(np.linalg.solve(M, C)))

    assert np.linalg.eigvalsh(best.matrix / np.outer(unit, unit))[0] >= floor * (1 - 1e-9)
    np.testing.assert_allclose(best.root @ best.root.T @ best.matrix, np.eye(3), atol=1e-9)
    assert best.log_det == pytest.approx(np.linalg.slogdet(best.matrix)[1], abs=1e-9)
    for _ in range(10):
        other = best.matrix / np.outer(unit, unit)
        step = 0.1 * rng.normal(size=(3, 3))
        values, vectors = np.linalg.eigh(other + step + step.T)
        other = (vectors * np.maximum(values, floor)) @ vectors.T
        assert value(other * np.outer(unit, unit)) <= value(best.matrix) + 1e-9


def test_a_matrix_above_the_floor_keeps_its_bits() -> None:
    C = np.cov(normal_classes(1, 4, 30)[0].T)
    found = raised_to_floor(C, np.diagonal(C), 1e-9)
    assert found.matrix is C
    assert found.count == 0
    close = np.array([[1.0, 1 - 1e-7], [1 - 1e-7, 1.0]])
    found = raised_to_floor(close, np.ones(2), 1e-9)
    assert found.matrix is close
    assert 1e-9 <= found.smallest <= 1.01e-7


def test_references_are_within_then_overall_then_something() -> None:
    X = np.array(
        [[1.0, 0.0, 5.0, 0.0], [3.0, 0.0, 5.0, 0.0], [7.0, 2.0, 5.0, 0.0], [9.0, 2.0, 5.0, 0.0]]
    )
    found = reference_variances(sums(X, [0, 0, 1, 1]))
    assert found.tolist() == [1.0, 1.0, 25.0, 1.0]


# --- Degenerate classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
def test_a_class_with_one_row_is_raised_reported_and_usable(structure: str) -> None:
    X, y = normal_classes(2, 2, 20)
    X, y = np.vstack([X, [[9.0, 9.0]]]), np.append(y, 2)
    model = GaussianClassifier(structure)
    if structure == "tied":
        model.fit(X, y)
    else:
        with pytest.warns(SingularCovarianceWarning, match=r"2 \(weight 1, "):
            model.fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.predict([[9.0, 9.0]]).tolist() == [2]


@pytest.mark.parametrize("structure", ["full", "tied"])
def test_fewer_rows_than_columns(structure: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 10)), np.arange(12) % 3
    X[y == 1] += 3
    X[y == 2] -= 3
    with pytest.warns(SingularCovarianceWarning, match="of 10 directions"):
        model = GaussianClassifier(structure).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert np.isfinite(model.predict_log_proba(X + 0.1)).all()


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal"])
def test_a_constant_column_has_no_influence(structure: str) -> None:
    X, y = normal_classes(3, 2, 30)
    wide = np.column_stack([X, np.full(len(X), 3.5)])
    plain = GaussianClassifier(structure).fit(X, y)
    with pytest.warns(SingularCovarianceWarning):
        model = GaussianClassifier(structure).fit(wide, y)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-9)


def test_degenerate_fits_do_not_depend_on_units() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 6)), np.arange(12) % 3
    points = X + 0.01 * rng.normal(size=X.shape)
    scale = 2.0 ** np.array([27, -27, 3, 0, -5, 10])
    with pytest.warns(SingularCovarianceWarning):
        a = GaussianClassifier().fit(X, y).log_likelihood_ratio(points, 0, 1)
    with pytest.warns(SingularCovarianceWarning):
        b = GaussianClassifier().fit(X * scale, y).log_likelihood_ratio(points * scale, 0, 1)
    np.testing.assert_allclose(b, a, rtol=1e-9)


def test_a_floor_of_zero_refuses_classes_without_spread() -> None:
    X, y = normal_classes(2, 2, 20)
    GaussianClassifier(floor=0.0).fit(X, y)
    X[y == 1, 0] = 4.0
    for structure in ("full", "diagonal"):
        with pytest.raises(InputError, match=r"1 \(weight 20, 1 of 2 .* No likelihood is largest"):
            GaussianClassifier(structure, floor=0.0).fit(X, y)


def test_many_odd_classes_are_counted() -> None:
    K = 8
    found = GaussianEstimate(
        "full", np.zeros((K, 2)), np.zeros((K, 2, 2)), np.ones(K, int), np.zeros(K)
    )
    with pytest.warns(SingularCovarianceWarning, match="and 3 more"):
        report_singular(found, np.arange(K), np.ones(K), 1e-9, "Model")
