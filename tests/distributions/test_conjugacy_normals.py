"""Normal pairs: textbook updates, direct linear algebra, the errata, and extreme scales."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.conjugacy import log_evidence, posterior, predictive
from novum.distributions.conjugacy_knowns import KnownCovariance, KnownVariance
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.multivariate.normal_wishart import NormalWishart
from novum.distributions.univariate.normal import Normal

# Rounded: squares of differences below 1e-160 vanish, and moments refuse such samples.
numbers = st.lists(st.floats(-100, 100).map(lambda x: round(x, 6)), min_size=1, max_size=20)


@given(numbers, st.floats(0.1, 10), st.floats(0.1, 10))
def test_known_variance_adds_precisions(x: list[float], u: float, v: float) -> None:
    after = posterior(Normal(1.0, u), KnownVariance(v), x)
    precision = 1 / u + len(x) / v
    assert 1 / after.variance == pytest.approx(precision, rel=1e-12)
    assert after.mean == pytest.approx((1 / u + sum(x) / v) / precision, rel=1e-9, abs=1e-9)


@given(numbers, st.floats(0.1, 10), st.floats(0.1, 10))
def test_known_variance_evidence_is_a_joint_normal(x: list[float], u: float, v: float) -> None:
    n = len(x)
    joint = stats.multivariate_normal(np.ones(n), v * np.eye(n) + u * np.ones((n, n)))
    wanted = float(joint.logpdf(x))
    assert log_evidence(Normal(1.0, u), KnownVariance(v), x) == pytest.approx(
        wanted, rel=1e-8, abs=1e-8
    )


def vectors(seed: int, n: int, d: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)) @ np.triu(np.ones((d, d)))


@pytest.mark.parametrize(("n", "d"), [(1, 2), (5, 3), (40, 4)])
def test_known_covariance_is_direct_linear_algebra(n: int, d: int) -> None:
    x, mean = vectors(n, n, d), np.arange(d, dtype=float)
    a, b = vectors(1, 9, d), vectors(2, 9, d)
    prior_covariance, known = a.T @ a / 9, b.T @ b / 9
    after = posterior(MultivariateNormal(mean, prior_covariance), KnownCovariance(known), x)
    precision = np.linalg.inv(prior_covariance) + n * np.linalg.inv(known)
    np.testing.assert_allclose(np.linalg.inv(after.covariance), precision, rtol=1e-9)
    wanted = np.linalg.solve(
        precision,
        np.linalg.solve(prior_covariance, mean) + np.linalg.solve(known, x.sum(axis=0)),
    )
    np.testing.assert_allclose(after.mean, wanted, rtol=1e-9)
    whole = np.kron(np.eye(n), known) + np.kron(np.ones((n, n)), prior_covariance)
    joint = stats.multivariate_normal(np.tile(mean, n), whole)
    found = log_evidence(MultivariateNormal(mean, prior_covariance), KnownCovariance(known), x)
    assert found == pytest.approx(float(joint.logpdf(x.ravel())), rel=1e-9)


def test_known_covariance_with_much_data_keeps_its_digits() -> None:
    # The posterior covariance is C/n up to 1e-14 of it, a difference of 1e20 in U would lose it.
    known = np.array([[2.0, 1.0], [1.0, 3.0]])
    sums = 1e6 * MultivariateNormal.statistics([[1.0, 2.0]])
    after = posterior(MultivariateNormal([0.0, 0.0], 1e8 * np.eye(2)), KnownCovariance(known), sums)
    np.testing.assert_allclose(after.covariance, known / 1e6, rtol=1e-11)
    np.testing.assert_allclose(after.mean, [1.0, 2.0], rtol=1e-12)


def test_one_dimension_is_the_scalar_case() -> None:
    x = [0.3, 1.7, 2.0]
    one = posterior(Normal(1.0, 2.0), KnownVariance(0.5), x)
    same = posterior(
        MultivariateNormal([1.0], [[2.0]]), KnownCovariance([[0.5]]), np.array(x)[:, None]
    )
    assert same.mean[0] == pytest.approx(one.mean, rel=1e-14)
    assert same.covariance[0, 0] == pytest.approx(one.variance, rel=1e-14)
    # Normal-Wishart in one dimension: shape v/2, rate 1/(2 T).
    gamma = posterior(NormalGamma(1.0, 2.0, 1.5, 0.8), Normal, x)
    wishart = posterior(
        NormalWishart([1.0], 2.0, 3.0, [[1 / 1.6]]), MultivariateNormal, np.array(x)[:, None]
    )
    assert wishart.degrees_of_freedom == pytest.approx(2 * gamma.shape)
    assert wishart.scale[0, 0] == pytest.approx(1 / (2 * gamma.rate), rel=1e-13)
    assert log_evidence(
        NormalWishart([1.0], 2.0, 3.0, [[1 / 1.6]]), MultivariateNormal, np.array(x)[:, None]
    ) == pytest.approx(log_evidence(NormalGamma(1.0, 2.0, 1.5, 0.8), Normal, x), rel=1e-13)


def test_normal_gamma_update_by_hand() -> None:
    after = posterior(NormalGamma(0.0, 1.0, 2.0, 3.0), Normal, [1.0, 3.0])
    # Mean 2, scatter 2, n = 2: b = 3 + 1 + 1 * 2 * 4 / (2 * 3).
    assert (after.mean, after.strength, after.shape) == (pytest.approx(4 / 3), 3.0, 3.0)
    assert after.rate == pytest.approx(3 + 1 + 4 / 3)


def test_predictives_have_squared_scales_not_precisions() -> None:
    t = predictive(NormalGamma(1.0, 2.0, 3.0, 6.0), Normal)
    assert t.degrees_of_freedom == 6.0
    assert t.scale**2 == pytest.approx(6.0 / 3.0 * 3.0 / 2.0)
    scale = np.array([[0.5, 0.1], [0.1, 0.25]])
    law = predictive(NormalWishart([0.0, 0.0], 2.0, 5.0, scale), MultivariateNormal)
    # v - d + 1 degrees of freedom, T^-1 (k + 1) / (k (v - d + 1)).
    assert law.degrees_of_freedom == 4.0
    np.testing.assert_allclose(law.shape, np.linalg.inv(scale) * 3 / (2 * 4), rtol=1e-12)


def test_wishart_predictive_by_simulation() -> None:
    law = NormalWishart([0.0, 1.0], 2.0, 7.0, [[0.5, 0.1], [0.1, 0.25]])
    means, precisions = law.sample(20_000, random_state=0)
    covariances = np.linalg.inv(precisions)
    drawn = np.random.default_rng(1).normal(size=(20_000, 2))
    x = means + np.einsum("nij,nj->ni", np.linalg.cholesky(covariances), drawn)
    t = predictive(law, MultivariateNormal)
    # Covariance of a Student t: shape v / (v - 2); heavy tails, so 8 % at 20000 draws.
    wanted = t.shape * t.degrees_of_freedom / (t.degrees_of_freedom - 2)
    np.testing.assert_allclose(np.cov(x.T), wanted, atol=0.08 * wanted.max())


def test_a_sample_far_from_zero_keeps_its_spread() -> None:
    x = 1e8 + np.array([0.0, 0.1, 0.2, 0.3])
    after = posterior(NormalGamma(1e8, 1.0, 1.0, 0.01), Normal, x)
    # The cells themselves are rounded to 1.5e-8.
    near = posterior(NormalGamma(0.0, 1.0, 1.0, 0.01), Normal, x - 1e8)
    assert after.rate == pytest.approx(near.rate, rel=1e-12)


def test_extreme_scales_neither_overflow_nor_vanish() -> None:
    sure = posterior(Normal(0.0, 1e300), KnownVariance(1e-300), [5.0])
    assert sure.mean == 5.0
    assert sure.variance == 1e-300
    deaf = posterior(Normal(1.0, 1e-300), KnownVariance(1e300), [5.0])
    assert deaf.mean == 1.0
    assert math.isfinite(log_evidence(Normal(0.0, 1e-200), KnownVariance(1e-200), [0.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: posterior(
                Normal(), KnownVariance(1.0), MultivariateNormal.statistics([[1.0, 2.0]])
            ),
            "moments of 2 columns",
        ),
        (
            lambda: posterior(
                MultivariateNormal([0.0, 0.0], np.eye(2)), KnownCovariance(np.eye(3)), [[1.0, 2.0]]
            ),
            "known covariance of 3",
        ),
        (
            lambda: posterior(
                NormalWishart([0.0, 0.0], 1.0, 2.0, np.eye(2)), MultivariateNormal, [[1.0]]
            ),
            "prior of 2 coordinates does not fit observations of 1",
        ),
    ],
)
def test_what_does_not_fit_is_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
