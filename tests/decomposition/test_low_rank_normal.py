"""The law of probabilistic PCA: scipy's normal, marginals, Bayes' rule, estimation, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.decomposition.low_rank_normal import LowRankNormal
from novum.distributions import MultivariateNormal
from tests.decomposition.component_tables import low_rank_table, with_holes


def law_with(d: int, q: int, seed: int = 0, noise: float = 0.5) -> LowRankNormal:
    rng = np.random.default_rng(seed)
    return LowRankNormal(rng.normal(size=d), rng.normal(size=(d, q)), noise)


@given(st.integers(0, 500), st.integers(1, 5), st.integers(0, 3))
@settings(max_examples=30)
def test_density_is_that_of_the_full_covariance(seed: int, d: int, q: int) -> None:
    law = law_with(d, q, seed)
    points = np.random.default_rng(seed + 1).normal(size=(4, d)) * 3
    full = stats.multivariate_normal(law.mean, law.covariance)
    np.testing.assert_allclose(law.log_density(points), full.logpdf(points).ravel(), rtol=1e-9)
    np.testing.assert_allclose(law.density(points), np.exp(law.log_density(points)))
    assert law.entropy == pytest.approx(float(full.entropy()), rel=1e-9)
    np.testing.assert_allclose(law.precision @ law.covariance, np.eye(d), atol=1e-9)
    np.testing.assert_allclose(law.variance, np.diagonal(law.covariance))
    np.testing.assert_array_equal(law.mode, law.mean)


def test_missing_coordinates_are_integrated_out() -> None:
    law = law_with(5, 2)
    X = with_holes(law.sample(50, random_state=0), 0.4)
    X[0] = np.nan
    expected = MultivariateNormal(law.mean, law.covariance).log_density_observed(X)
    np.testing.assert_allclose(law.log_density_observed(X), expected, rtol=1e-9, atol=1e-12)
    assert law.log_density_observed(X)[0] == 0.0
    assert np.isnan(law.log_density(X)[np.isnan(X).any(axis=1)]).all()
    part = law.marginal([3, 1])
    full = MultivariateNormal(law.mean, law.covariance).marginal([3, 1])
    np.testing.assert_allclose(part.covariance, full.covariance)


def test_posterior_is_bayes_rule_in_the_joint_law() -> None:
    law = law_with(4, 2)
    # z and x together are normal: [I W'; W C].
    joint = MultivariateNormal(
        np.append(np.zeros(2), law.mean),
        np.block([[np.eye(2), law.loadings.T], [law.loadings, law.covariance]]),
    )
    row = np.array([1.0, -2.0, 0.5, 3.0])
    found, expected = law.posterior(row), joint.condition([2, 3, 4, 5], row)
    np.testing.assert_allclose(found.mean[0], expected.mean, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-10)
    holed = np.array([1.0, np.nan, 0.5, np.nan])
    found, expected = law.posterior(holed), joint.condition([2, 4], holed[[0, 2]])
    latent = expected.marginal([0, 1])
    np.testing.assert_allclose(found.mean[0], latent.mean, rtol=1e-10)
    np.testing.assert_allclose(found.covariance[0], latent.covariance, rtol=1e-10)


def test_the_posterior_matrix_has_latent_size() -> None:
    # M = W'W + s2 I is q x q; the notes print it with the wrong transpose.
    law = law_with(6, 2, noise=0.3)
    M = law.loadings.T @ law.loadings + 0.3 * np.eye(2)
    row = law.sample(1, random_state=0)
    found = law.posterior(row)
    expected = np.linalg.solve(M, law.loadings.T @ (row[0] - law.mean))
    np.testing.assert_allclose(found.mean[0], expected, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, 0.3 * np.linalg.inv(M), rtol=1e-10)


def test_samples_have_the_moments_of_the_law() -> None:
    law = law_with(3, 1)
    drawn = law.sample((100, 400), random_state=0).reshape(-1, 3)
    # Standard errors are below 0.02 with 40,000 rows.
    np.testing.assert_allclose(drawn.mean(axis=0), law.mean, atol=0.08)
    np.testing.assert_allclose(np.cov(drawn.T), law.covariance, atol=0.15)


def test_estimates_merge_and_are_likeliest() -> None:
    X = low_rank_table(60, 4, 2)
    law = LowRankNormal.fit(X, 2)
    a, b = LowRankNormal.statistics(X[:20]), LowRankNormal.statistics(X[20:])
    merged = LowRankNormal.from_statistics(a + b, 2)
    np.testing.assert_allclose(merged.covariance, law.covariance, atol=1e-10)
    doubled = LowRankNormal.fit(X, 2, np.full(60, 2.0))
    np.testing.assert_allclose(doubled.covariance, law.covariance, atol=1e-10)
    best = law.log_density(X).sum()
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = LowRankNormal(
            law.mean, law.loadings + 0.05 * rng.normal(size=(4, 2)), law.noise_variance
        )
        assert other.log_density(X).sum() < best


def test_weights_that_sum_to_less_than_one_serve_mixtures() -> None:
    X = low_rank_table(60, 4, 2)
    weight = np.full(60, 1 / 120)
    found = LowRankNormal.from_statistics(LowRankNormal.statistics(X, weight), 2)
    np.testing.assert_allclose(found.covariance, LowRankNormal.fit(X, 2).covariance, atol=1e-10)


def test_laws_are_values() -> None:
    a, b = law_with(3, 1), law_with(3, 1)
    assert a == b
    assert hash(a) == hash(b)
    assert a != law_with(3, 1, seed=1)
    with pytest.raises(ValueError, match="read-only"):
        a.loadings[0, 0] = 1.0


@pytest.mark.parametrize(
    ("mean", "loadings", "noise", "message"),
    [
        ([0.0, 1.0], [[1.0]], 1.0, r"loadings of shape \(2, q\), got shape \(1, 1\)"),
        ([0.0], [[np.nan]], 1.0, "finite loadings"),
        ([0.0], [[1.0]], 0.0, "a finite number above 0, got 0.0"),
        ([np.inf], [[1.0]], 1.0, "must be finite"),
    ],
)
def test_impossible_parameters_are_refused(
    mean: list[float], loadings: list[list[float]], noise: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        LowRankNormal(np.array(mean), np.array(loadings), noise)


def test_impossible_samples_are_refused() -> None:
    with pytest.raises(InputError, match="the weight is 0"):
        LowRankNormal.from_statistics(0.0 * LowRankNormal.statistics(np.eye(2)), 1)
    with pytest.raises(InputError, match="below the number of columns, 2"):
        LowRankNormal.fit(np.eye(2), 2)
    with pytest.raises(InputError, match="needs rows that differ"):
        LowRankNormal.fit(np.ones((3, 2)), 1)
    with pytest.raises(InputError, match="missing"):
        LowRankNormal.statistics([[1.0, np.nan]])
    with pytest.raises(InputError, match="have 3 coordinates, got shape"):
        law_with(3, 1).log_density([1.0, 2.0])
