"""Normal-gamma: the product of its two laws, quadrature, Student t marginal, fits of pairs."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.distributions.contracts import (
    LawCase,
    check_density,
    check_divergence,
    check_entropy,
    check_immutable,
    check_normalization,
    check_sampling,
)
from novum.distributions.multivariate.normal_gamma import NormalGamma
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT

LAW = NormalGamma(1.0, 2.0, 3.0, 4.0)


def half_plane_rule() -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Trapezoids in the standardized mean and in the logarithm of the precision."""
    z, log_t = np.linspace(-9, 9, 121), np.linspace(-16, 5, 241)
    u, s = (grid.ravel() for grid in np.meshgrid(z, log_t, indexing="ij"))
    t = np.exp(s)
    deviation = 1 / np.sqrt(LAW.strength * t)
    area = (z[1] - z[0]) * (log_t[1] - log_t[0])
    return (LAW.mean + u * deviation, t), area * deviation * t


CASE = LawCase(LAW, NormalGamma(0.5, 1.0, 2.0, 4.0), rule=half_plane_rule())
PAIR_CHECKS = [
    check_immutable,
    check_density,
    check_normalization,
    check_entropy,
    check_sampling,
    check_divergence,
]


@pytest.mark.parametrize("check", PAIR_CHECKS, ids=lambda check: check.__name__[6:])
def test_contract(check: Any) -> None:
    check(CASE)


positive = st.floats(0.1, 100)


@given(st.floats(-50, 50), positive, positive, positive, st.floats(-50, 50), positive)
def test_density_is_the_product_of_its_laws(
    m: float, k: float, a: float, b: float, mu: float, t: float
) -> None:
    expected = stats.gamma.logpdf(t, a, scale=1 / b) + stats.norm.logpdf(mu, m, (k * t) ** -0.5)
    found = float(NormalGamma(m, k, a, b).log_density(mu, t))
    assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


def test_marginal_mean_is_a_student_t_by_quadrature() -> None:
    law = LAW.marginal("mean")
    # Squared scale b / (a k), not the precision.
    assert isinstance(law, StudentT)
    assert (law.degrees_of_freedom, law.location) == (6.0, 1.0)
    assert law.scale**2 == pytest.approx(4.0 / (3.0 * 2.0), rel=1e-14)
    for mu in (-2.0, 1.0, 3.5):
        total = integrate.quad(lambda t, mu=mu: float(LAW.density(mu, t)), 0, 40, epsabs=1e-13)[0]
        assert float(law.density(mu)) == pytest.approx(total, rel=1e-8)


@given(st.floats(-9, 9), positive)
def test_joint_is_marginal_times_conditional(mu: float, t: float) -> None:
    joint = float(LAW.log_density(mu, t))
    by_mean = LAW.marginal("mean").log_density(mu) + LAW.condition("mean", mu).log_density(t)
    by_precision = LAW.marginal("precision").log_density(t) + LAW.condition(
        "precision", t
    ).log_density(mu)
    assert float(by_mean) == pytest.approx(joint, rel=1e-9, abs=1e-9)
    assert float(by_precision) == pytest.approx(joint, rel=1e-9, abs=1e-9)


def test_parts_have_their_laws() -> None:
    assert LAW.marginal("precision") == Gamma(3.0, 4.0)
    assert LAW.condition("precision", 0.5) == Normal(1.0, 1.0)
    mu, t = LAW.sample(20_000, random_state=0)
    assert stats.kstest(mu, LAW.marginal("mean").cdf).pvalue > 1e-3
    assert stats.kstest(t, LAW.marginal("precision").cdf).pvalue > 1e-3


def test_moments_and_mode() -> None:
    mu, t = LAW.sample(40_000, random_state=1)
    # Means have few moments, so only the spread of precisions is compared closely.
    assert np.var(mu) == pytest.approx(LAW.covariance[0, 0], rel=0.1)
    assert np.var(t) == pytest.approx(LAW.covariance[1, 1], rel=0.05)
    assert t.mean() == pytest.approx(LAW.expected_precision, rel=0.02)
    m, p = LAW.mode
    best = LAW.log_density(m, p)
    assert np.all(LAW.log_density([m + 0.01, m, m], [p, p * 1.01, p * 0.99]) < best)


def test_extreme_arguments() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = LAW.log_density(
            [1e300, 0.0, 0.0, np.inf, 1e200, 1.0], [1.0, 0.0, -1.0, 1.0, 1e-300, np.inf]
        )
        assert found[[0, 1, 2, 3, 5]].tolist() == [-np.inf] * 5
        assert np.isfinite(NormalGamma(0.0, 1.0, 1.0, 1.0).log_density(1e149, 1e-300))
        assert np.isnan(LAW.log_density([np.nan, 0.0], [1.0, np.nan])).all()


# --- Estimation -----------------------------------------------------------------------------------


def test_fit_recovers_the_law() -> None:
    mu, t = LAW.sample(20_000, random_state=2)
    for found in (NormalGamma.fit(mu, t), NormalGamma.fit_moments(mu, t)):
        # Four standard errors of about 1 % each.
        assert found.mean == pytest.approx(1.0, abs=0.03)
        for name in ("strength", "shape", "rate"):
            assert getattr(found, name) == pytest.approx(getattr(LAW, name), rel=0.06)


def test_no_other_law_is_likelier() -> None:
    mu, t = LAW.sample(300, random_state=3)
    best = NormalGamma.fit(mu, t)
    top = best.log_density(mu, t).sum()
    for factor in (0.98, 1.02):
        for name in ("mean", "strength", "shape", "rate"):
            values = {part: getattr(best, part) for part in ("mean", "strength", "shape", "rate")}
            values[name] *= factor
            assert NormalGamma(**values).log_density(mu, t).sum() < top


def test_statistics_add_up_and_come_off() -> None:
    mu, t = LAW.sample(60, random_state=4)
    mu = mu + 1e6
    whole = NormalGamma.statistics(mu, t)
    first, second = NormalGamma.statistics(mu[:25], t[:25]), NormalGamma.statistics(mu[25:], t[25:])
    assert whole.isclose(first + second)
    assert first.isclose(whole - second)
    assert (whole + whole).isclose(2.0 * whole)
    assert whole.isclose(whole + first.zero())
    assert not whole.isclose(first)
    weight = np.arange(60) % 3
    weighted = NormalGamma.fit(mu, t, weight)
    repeated = NormalGamma.fit(np.repeat(mu, weight), np.repeat(t, weight))
    assert weighted.strength == pytest.approx(repeated.strength, rel=1e-9)
    assert weighted.shape == pytest.approx(repeated.shape, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NormalGamma(np.nan, 1, 1, 1), "mean of a NormalGamma must be finite"),
        (lambda: NormalGamma(0, 0, 1, 1), "strength of a NormalGamma must be a finite number"),
        (lambda: LAW.marginal("variance"), '"mean" and "precision", got \'variance\''),
        (lambda: LAW.condition("precision", -1.0), "A precision must be a finite number above 0"),
        (lambda: LAW.condition("mean", np.inf), "known mean must be finite"),
        (lambda: NormalGamma(0, 1, 0.4, 1).mode, "mode from shape 1/2 on"),
        (lambda: NormalGamma(0, 1, 1.0, 1).covariance, "shape above 1; it is 1"),
        (lambda: NormalGamma.fit([1.0], [1.0, 2.0]), "1 means and 2 precisions"),
        (lambda: NormalGamma.fit([1.0, 2.0], [1.0, -2.0]), "numbers above 0"),
        (lambda: NormalGamma.fit([1.0, 1.0], [1.0, 2.0]), "All means are equal"),
        (lambda: NormalGamma.fit([1.0, np.nan], [1.0, 2.0]), "missing"),
        (lambda: NormalGamma.fit([], []), "no data"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
