"""Normal-Wishart: the normal-gamma as its case d = 1, product of laws, conditionals, fits."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.contracts import (
    LawCase,
    check_density,
    check_divergence,
    check_entropy,
    check_immutable,
    check_sampling,
)
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.multivariate.normal_wishart import NormalWishart
from novum.distributions.multivariate.wishart import Wishart

T = np.array([[2.0, 0.5], [0.5, 1.0]])
LAW = NormalWishart([1.0, -1.0], 2.0, 5.5, T)
CASE = LawCase(LAW, NormalWishart([0.9, -1.1], 1.5, 6.0, T * 0.9), size=10_000)
PAIR_CHECKS = [check_immutable, check_density, check_entropy, check_sampling, check_divergence]


@pytest.mark.parametrize("check", PAIR_CHECKS, ids=lambda check: check.__name__[6:])
def test_contract(check: Any) -> None:
    check(CASE)


def random_matrix(seed: int, size: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(size, size))
    return half @ half.T + 0.3 * np.eye(size)


@given(st.integers(0, 10**6), st.integers(1, 4), st.floats(0.2, 30), st.floats(0.1, 30))
def test_density_is_the_product_of_its_laws(seed: int, d: int, room: float, k: float) -> None:
    rng = np.random.default_rng(seed)
    scale, L, m, mu = random_matrix(seed, d), random_matrix(seed + 1, d), *rng.normal(size=(2, d))
    v = d - 1 + room
    expected = stats.wishart.logpdf(L, v, scale) + stats.multivariate_normal.logpdf(
        mu, m, np.linalg.inv(k * L)
    )
    found = float(NormalWishart(m, k, v, scale).log_density(mu, L))
    assert found == pytest.approx(float(expected), rel=1e-8, abs=1e-7)


def test_one_coordinate_is_a_normal_gamma() -> None:
    # Wishart(v, T) of one row is Gamma(v / 2, 1 / (2 T)).
    law, gamma = NormalWishart([0.5], 2.0, 7.0, [[0.4]]), NormalGamma(0.5, 2.0, 3.5, 1.25)
    mu, t = np.array([0.1, 2.0, -5.0]), np.array([0.2, 1.0, 9.0])
    np.testing.assert_allclose(
        law.log_density(mu[:, None], t[:, None, None]), gamma.log_density(mu, t), rtol=1e-12
    )
    assert law.entropy == pytest.approx(gamma.entropy, rel=1e-12)
    other, same = NormalWishart([0.0], 1.0, 4.0, [[0.7]]), NormalGamma(0.0, 1.0, 2.0, 0.5 / 0.7)
    assert law.kl(other) == pytest.approx(gamma.kl(same), rel=1e-12)
    t_law, scalar = law.marginal("mean"), gamma.marginal("mean")
    assert t_law.degrees_of_freedom == scalar.degrees_of_freedom
    assert t_law.shape[0, 0] == pytest.approx(scalar.scale**2, rel=1e-13)


@given(st.integers(0, 10**6), st.floats(-3, 3))
def test_joint_is_marginal_times_conditional(seed: int, far: float) -> None:
    mu, L = far * np.array([1.0, -2.0]), random_matrix(seed, 2)
    joint = float(LAW.log_density(mu, L))
    by_mean = LAW.marginal("mean").log_density(mu) + LAW.condition("mean", mu).log_density(L)
    by_precision = LAW.marginal("precision").log_density(L) + LAW.condition(
        "precision", L
    ).log_density(mu)
    assert float(by_mean) == pytest.approx(joint, rel=1e-8, abs=1e-8)
    assert float(by_precision) == pytest.approx(joint, rel=1e-8, abs=1e-8)


def test_parts_have_their_laws() -> None:
    assert LAW.marginal("precision") == Wishart(5.5, T)
    assert isinstance(LAW.condition("precision", np.eye(2)), MultivariateNormal)
    inverse = np.linalg.inv(T)
    np.testing.assert_allclose(LAW.marginal("mean").shape, inverse / (2.0 * 4.5), rtol=1e-13)
    away = np.array([2.0, 1.0])
    given_mean = LAW.condition("mean", LAW.mean + away)
    np.testing.assert_allclose(
        given_mean.inverse_scale, inverse + 2.0 * np.outer(away, away), rtol=1e-12
    )
    # A mean at 1e6 leaves the scale definite, where a difference of matrices would not.
    assert np.all(np.linalg.eigvalsh(LAW.condition("mean", [1e6, 0.0]).scale) > 0)
    mu, _ = LAW.sample(20_000, random_state=0)
    assert stats.kstest(mu[:, 0], LAW.marginal("mean").marginal(0).cdf).pvalue > 1e-3


def test_moments_and_mode() -> None:
    mu, L = LAW.sample(20_000, random_state=1)
    error = L.std(axis=0) / np.sqrt(len(L))
    assert np.all(np.abs(L.mean(axis=0) - LAW.expected_precision) < 5 * error)
    np.testing.assert_allclose(np.cov(mu.T), LAW.covariance, rtol=0.15, atol=0.02)
    m, best = LAW.mode
    top = LAW.log_density(m, best)
    for change in (np.diag([0.01, 0.0]), np.diag([0.0, -0.01]), [[0, 0.01], [0.01, 0]]):
        assert LAW.log_density(m, best + change) < top
    assert LAW.log_density(m + 0.01, best) < top


def test_inverse_scale_goes_round() -> None:
    law = NormalWishart.from_inverse_scale([1.0, -1.0], 2.0, 5.5, np.linalg.inv(T))
    np.testing.assert_allclose(law.scale, T, rtol=1e-13)
    np.testing.assert_allclose(LAW.inverse_scale, np.linalg.inv(T), rtol=1e-13)


def test_extreme_arguments() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LAW.log_density([1e300, 0.0], np.eye(2)) == -np.inf
        assert LAW.log_density([np.inf, 0.0], np.eye(2)) == -np.inf
        assert LAW.log_density([0.0, 0.0], np.zeros((2, 2))) == -np.inf
        assert LAW.log_density([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]) == -np.inf
        assert np.isnan(LAW.log_density([np.nan, 0.0], np.eye(2)))
        assert np.isnan(LAW.log_density([0.0, 0.0], [[np.nan, 0.0], [0.0, 1.0]]))


# --- Estimation -----------------------------------------------------------------------------------


def test_fit_recovers_the_law_and_nothing_is_likelier() -> None:
    mu, L = LAW.sample(4000, random_state=2)
    best = NormalWishart.fit(mu, L)
    # Four standard errors of about 1 % each.
    np.testing.assert_allclose(best.mean, LAW.mean, atol=0.05)
    assert best.strength == pytest.approx(2.0, rel=0.08)
    assert best.degrees_of_freedom == pytest.approx(5.5, rel=0.08)
    np.testing.assert_allclose(best.scale, T, rtol=0.12)
    top = best.log_density(mu, L).sum()
    for factor in (0.98, 1.02):
        for worse in (
            NormalWishart(best.mean * factor, best.strength, best.degrees_of_freedom, best.scale),
            NormalWishart(best.mean, best.strength * factor, best.degrees_of_freedom, best.scale),
            NormalWishart(best.mean, best.strength, best.degrees_of_freedom * factor, best.scale),
            NormalWishart(best.mean, best.strength, best.degrees_of_freedom, best.scale * factor),
        ):
            assert worse.log_density(mu, L).sum() < top


def test_statistics_add_up_and_come_off() -> None:
    mu, L = LAW.sample(60, random_state=3)
    mu = mu + 1e6
    whole = NormalWishart.statistics(mu, L)
    first, second = (
        NormalWishart.statistics(mu[:25], L[:25]),
        NormalWishart.statistics(mu[25:], L[25:]),
    )
    # The offset of 1e6 costs six of sixteen digits of the distances.
    assert whole.isclose(first + second, rtol=1e-8)
    assert first.isclose(whole - second, rtol=1e-7)
    assert (whole + whole).isclose(2.0 * whole)
    assert whole.isclose(whole + first.zero())
    assert whole.isclose(first.zero() + whole)
    assert (whole - whole).weight == 0
    assert not whole.isclose(first)
    weight = np.arange(60) % 3
    weighted = NormalWishart.fit(mu, L, weight)
    repeated = NormalWishart.fit(np.repeat(mu, weight, axis=0), np.repeat(L, weight, axis=0))
    assert weighted.strength == pytest.approx(repeated.strength, rel=1e-8)
    assert weighted.degrees_of_freedom == pytest.approx(repeated.degrees_of_freedom, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NormalWishart([0.0], 1.0, 3.0, T), r"scale of shape \(1, 1\), got \(2, 2\)"),
        (lambda: NormalWishart([0.0, 0.0], 0.0, 3.0, T), "strength of a NormalWishart"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 1.0, T), "above 1, got 1.0"),
        (lambda: LAW.marginal("variance"), '"mean" and "precision"'),
        (lambda: LAW.condition("precision", [[1.0, 1.0], [1.0, 1.0]]), "A precision is singular"),
        (lambda: LAW.condition("mean", [1.0]), "has 2 coordinates"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 1.5, T).mode, "mode from 2 degrees of freedom"),
        (lambda: NormalWishart([0.0, 0.0], 1.0, 3.0, T).covariance, "above 3; there are 3"),
        (lambda: NormalWishart.fit([[1.0, 2.0]], [[[1.0]]]), r"got \(1, 2\) and \(1, 1, 1\)"),
        (lambda: NormalWishart.fit([[1.0, np.nan]], [T]), "finite means"),
        (lambda: NormalWishart.fit([[1.0, 2.0]] * 2, [T, 2 * T]), "All means are equal"),
        (lambda: NormalWishart.fit(np.empty((0, 2)), np.empty((0, 2, 2))), "weight is 0"),
        (lambda: LAW.kl(NormalWishart([0.0], 1.0, 3.0, [[1.0]])), "2 and of 1 coordinates"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_pairs_that_were_never_added_cannot_leave() -> None:
    mu, L = LAW.sample(30, random_state=5)
    part = NormalWishart.statistics(mu[:20], L[:20])
    foreign = NormalWishart.statistics(mu[20:] + 100.0, 0.5 * L[:10])
    with pytest.raises(InputError, match="never added: the spread would fall"):
        part - foreign
