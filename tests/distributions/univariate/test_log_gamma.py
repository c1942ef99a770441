"""Gamma functions without cancellation: 60-digit values (mpmath), identities, and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from novum.distributions.univariate.log_gamma import (
    deviance,
    digamma_half_step,
    log_binomial_term,
    log_gamma_divergence,
    log_gamma_half_step,
    log_minus_digamma,
    log_poisson_term,
    ratio_deviance,
    stirling_error,
    stirling_slope,
)

# x, e(x), log x - digamma(x), log Gamma(x + 1/2) - log Gamma(x), digamma(x + 1/2) - digamma(x)
STIRLING = [
    (1e-300, 344.4688254159022, 9.999999999999999e299, -690.203162955289, 9.999999999999999e299),
    (0.001, 2.5422704679670947, 993.6678166528282, -6.336774987884822, 998.6169883097939),
    (0.5, 0.15342640972002736, 1.2703628454614782, -0.5723649429247001, 1.3862943611198906),
    (3.0, 0.02767792568499834, 0.17582795356964256, 0.5078264217871289, 0.18037230554677605),
    (15.5, 0.005375599032926835, 0.032604781334835506, 1.362356892725278, 0.03277808573709494),
    (16.0, 0.0052076559196096404, 0.03157539391232087, 1.378483131199923, 0.03173804329516313),
    (1e3, 8.333333055555635e-05, 0.000500083333325, 3.453752639496277, 0.000500124999984375),
    (1e9, 8.333333333333333e-11, 5.000000000833333e-10, 10.361632918348205, 5.00000000125e-10),
    (1e15, 8.333333333333333e-17, 5e-16, 17.269388197455342, 5.000000000000001e-16),
]

positive = st.floats(1e-3, 1e12)


@pytest.mark.parametrize(("x", "error", "gap", "half", "slope"), STIRLING)
def test_sixty_digit_values(x: float, error: float, gap: float, half: float, slope: float) -> None:
    # Below 16 a difference of terms up to 30 leaves a few units of 1e-15.
    assert float(stirling_error(x)) == pytest.approx(error, rel=1e-14, abs=1e-14)
    assert float(log_minus_digamma(x)) == pytest.approx(gap, rel=1e-12)
    assert float(log_gamma_half_step(x)) == pytest.approx(half, rel=1e-14, abs=1e-14)
    assert float(digamma_half_step(x)) == pytest.approx(slope, rel=1e-12)


def test_the_two_forms_meet_without_a_step() -> None:
    x = np.array([np.nextafter(16.0, 0), 16.0])
    for function in (stirling_error, stirling_slope):
        below, above = function(x)
        assert below == pytest.approx(above, abs=2e-14)


@given(positive)
def test_gap_of_the_digamma_lies_between_its_bounds(x: float) -> None:
    assert 0.5 / x < float(log_minus_digamma(x)) < 1 / x


@pytest.mark.parametrize(
    ("x", "m", "expected"),
    [
        # In doubles the second argument is 1 + 1.0000000005838672e-7.
        (1.0, 1.0000001, 4.999999672505363e-15),
        (1e9, 1e9 + 3e4, 0.44999100020249516),
        (5.0, 4.0, 0.11571775657104878),
        (1e-300, 1.0, 1.0),
        (1e300, 1e-300, 1.3805510557964276e303),
        (3e15, 3e15 + 1e7, 0.01666666662962963),
        (0.0, 7.0, 7.0),
        (0.0, 0.0, 0.0),
        (2.0, 0.0, np.inf),
    ],
)
def test_deviance_keeps_its_digits(x: float, m: float, expected: float) -> None:
    assert float(deviance(x, m)) == pytest.approx(expected, rel=1e-14)


@given(positive, positive)
def test_deviance_is_never_negative(x: float, m: float) -> None:
    found = float(deviance(x, m))
    assert found >= 0
    assert (found == 0) == (x == m) or abs(x - m) < 1e-7 * x


def test_ratio_deviance_is_that_of_one() -> None:
    assert float(ratio_deviance(math.e)) == pytest.approx(math.e - 2, rel=1e-14)
    assert float(ratio_deviance(1.0)) == 0


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_divergence_of_log_gamma_is_its_definition(y: float, x: float) -> None:
    direct = special.gammaln(y) - special.gammaln(x) - special.digamma(x) * (y - x)
    found = float(deviance(y, x) + log_gamma_divergence(y, x))
    # The direct form subtracts terms as large as digamma(x) y, about 1e4.
    assert found == pytest.approx(float(direct), rel=1e-9, abs=1e-11)
    assert float(log_gamma_divergence(y, x)) >= 0


@pytest.mark.parametrize(
    ("x", "m", "expected"),
    [
        (0.0, 2.0, -2.0),
        (3.5, 3.0, -1.6085935605040582),
        (1e9, 1e9 + 1e4, -11.330571118430377),
        (1e15, 1e15 - 1e7, -18.23832673099335),
        (0.25, 1e-200, -115.03098281328047),
    ],
)
def test_poisson_terms(x: float, m: float, expected: float) -> None:
    assert float(log_poisson_term(x, m)) == pytest.approx(expected, rel=2e-15)


@pytest.mark.parametrize(
    ("k", "n", "p", "expected"),
    [
        (3.0, 10.0, 0.25, -1.3851658477400923),
        (5e8, 1e9, 0.5, -10.587424271367933),
        # np is rounded to 1e-16 of 3e8, four standard deviations of 1.4e4 away from it.
        (299990000.0, 1e9, 0.3, -10.738334803564518),
        (2.5, 7.25, 0.125, -2.36738068853031),
        (7.0, 1e15, 2.0**-47, -1.9045763585136226),
    ],
)
def test_binomial_terms(k: float, n: float, p: float, expected: float) -> None:
    assert float(log_binomial_term(k, n, p, 1 - p)) == pytest.approx(expected, rel=1e-11)


def test_terms_at_the_ends_have_no_zero_times_infinity() -> None:
    assert float(log_binomial_term(0, 5, 0.0, 1.0)) == 0
    assert float(log_binomial_term(5, 5, 1.0, 0.0)) == 0
    assert float(log_binomial_term(5, 5, 0.0, 1.0)) == -np.inf
    assert float(log_binomial_term(0, 0, 0.3, 0.7)) == 0
    assert float(log_binomial_term(0, 1e9, 1e-20, 1.0)) == pytest.approx(-1e-11, rel=1e-12)
