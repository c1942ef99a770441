"""The multivariate gamma function against scipy's and against fractions of factorials."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from novum.distributions.multivariate.matrix_gamma import (
    halves,
    log_gamma_ratio,
    log_matrix_gamma,
    matrix_digamma,
    matrix_gamma_divergence,
)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("x", [2.1, 7.5, 300.0])
def test_agrees_with_scipy(size: int, x: float) -> None:
    assert log_matrix_gamma(x, size) == pytest.approx(special.multigammaln(x, size), rel=1e-14)
    step = 1e-5
    slope = (log_matrix_gamma(x + step, size) - log_matrix_gamma(x - step, size)) / (2 * step)
    # Rounding of values up to 7000 over the step, and the third derivative near the pole at 0.1.
    assert matrix_digamma(x, size) == pytest.approx(slope, abs=3e-7)


@pytest.mark.parametrize("a", [1e-300, 1e-3, 0.7, 13.0, 1e4, 1e12])
def test_ratio_by_three_is_a_product(a: float) -> None:
    # Gamma(a + 3) / (Gamma(a) a^3) = (1 + 1/a) (1 + 2/a).
    exact = math.log1p(1 / a) + math.log1p(2 / a)
    assert float(log_gamma_ratio(a, 3.0)) == pytest.approx(exact, rel=1e-13, abs=1e-15)
    assert float(log_gamma_ratio(a, 0.0)) == 0


@pytest.mark.parametrize("a", [1, 5, 40, 3000])
def test_ratio_by_a_half_is_a_central_binomial(a: int) -> None:
    # Gamma(a + 1/2) / Gamma(a) = a C(2a, a) sqrt(pi) / 4^a, in whole numbers.
    share = float(Fraction(a * math.comb(2 * a, a), 4**a))
    exact = math.log(share * math.sqrt(math.pi / a))
    assert float(log_gamma_ratio(float(a), 0.5)) == pytest.approx(exact, rel=1e-12, abs=1e-15)


def test_ratio_of_factorials() -> None:
    exact = math.factorial(9) / (math.factorial(6) * 7.0**3)
    assert float(log_gamma_ratio(7.0, 3.0)) == pytest.approx(math.log(exact), rel=1e-14)


@pytest.mark.parametrize(("y", "x"), [(3.0, 2.5), (2.5, 3.0), (50.0, 4.0)])
def test_divergence_is_what_the_tangent_misses(y: float, x: float) -> None:
    size = 3
    bend = log_matrix_gamma(y, size) - log_matrix_gamma(x, size)
    bend -= matrix_digamma(x, size) * (y - x)
    deviance = y * math.log(y / x) + x - y
    found = matrix_gamma_divergence(y, x, size)
    assert found == pytest.approx(bend - size * deviance, rel=1e-10)


def test_halves() -> None:
    np.testing.assert_array_equal(halves(5.0, 3), [2.5, 2.0, 1.5])
