"""Gamma: 60-digit values (mpmath), SciPy, the equations of the maximum, degenerate samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from novum.core.errors import InputError
from novum.distributions.univariate.gamma import Gamma
from novum.numerics import moments_of

shapes = st.floats(0.05, 1e4)
rates = st.floats(1e-6, 1e6)

# shape, rate, x, log density, entropy
VALUES = [
    (3.0, 2.0, 1.0, -0.6137056388801094, 1.1544313298030657),
    (0.3, 1.0, 1e-300, 482.44707153393153, -1.0559689607220177),
    (1e8, 1e8, 1.0001, 7.791335173771487, -7.791401842104843),
    (12.0, 1e-300, 1e-10, -8560.093002853784, 693.4085572643537),
    (1e12, 3.0, 333330000000.0, -63.636160138284275, 14.135836802500505),
    (20.0, 1e300, 1e-300, 650.4356437110142, -687.8755995636151),
]
# shape, rate, other shape, other rate, divergence
DIVERGENCES = [
    (3.0, 2.0, 2.0, 2.0, 0.22963715453852182),
    (1e8, 1e8, 1e8 + 10, 1e8, 4.99999985833334e-07),
    (0.5, 0.5, 1e-3, 2.0, 6.853636145113343),
    (1e12, 3.0, 1e12, 3.000001, 0.05555554322541051),
]


@pytest.mark.parametrize(("shape", "rate", "x", "log_density", "entropy"), VALUES)
def test_sixty_digit_values(
    shape: float, rate: float, x: float, log_density: float, entropy: float
) -> None:
    law = Gamma(shape, rate)
    # b x is rounded once, which moves a deviance of k standard deviations by k sqrt(a) digits.
    assert float(law.log_density(x)) == pytest.approx(log_density, rel=1e-12)
    assert law.entropy == pytest.approx(entropy, rel=1e-13)


@pytest.mark.parametrize(("a", "b", "c", "d", "expected"), DIVERGENCES)
def test_divergences_to_sixty_digits(
    a: float, b: float, c: float, d: float, expected: float
) -> None:
    # The ratio of the rates is rounded; at 1e12 degrees that costs four digits.
    assert Gamma(a, b).kl(Gamma(c, d)) == pytest.approx(expected, rel=1e-9)


@given(shapes, rates, st.floats(0.001, 0.999))
def test_agrees_with_scipy(shape: float, rate: float, level: float) -> None:
    law, other = Gamma(shape, rate), stats.gamma(shape, scale=1 / rate)
    x = other.ppf(level)
    assert float(law.log_density(x)) == pytest.approx(other.logpdf(x), rel=1e-9, abs=1e-9)
    assert float(law.cdf(x)) == pytest.approx(other.cdf(x), rel=1e-9)
    assert law.mean == pytest.approx(other.mean())
    assert law.variance == pytest.approx(other.var())


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30).filter(lambda x: np.ptp(x) > 1e-2))
def test_fit_solves_the_equations_of_the_maximum(x: list[float]) -> None:
    law = Gamma.fit(x)
    assert law.mean == pytest.approx(np.mean(x), rel=1e-12)
    gap = np.log(np.mean(x)) - np.mean(np.log(x))
    # The gap is a difference of logarithms; what rounding leaves of it is all there is.
    assert np.log(law.shape) - special.digamma(law.shape) == pytest.approx(gap, abs=1e-13)


def test_fit_agrees_with_scipy() -> None:
    x = Gamma(2.5, 0.5).sample(500, random_state=3)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    assert Gamma.fit(x).shape == pytest.approx(shape, rel=1e-4)
    assert Gamma.fit(x).rate == pytest.approx(1 / scale, rel=1e-4)


@pytest.mark.parametrize(("shape", "rate"), [(0.1, 5.0), (2.0, 1e-3), (300.0, 40.0), (1e8, 1.0)])
def test_parameters_are_recovered_within_four_standard_errors(shape: float, rate: float) -> None:
    n = 20_000
    found = Gamma.fit(Gamma(shape, rate).sample(n, random_state=0))
    # Fisher information of (a, b): [[digamma'(a), -1/b], [-1/b, a/b^2]].
    information = special.polygamma(1, shape) - 1 / shape
    assert abs(found.shape - shape) < 4 / np.sqrt(n * information)
    assert found.rate / rate == pytest.approx(found.shape / shape, rel=0.05)


def test_tight_samples_have_large_shapes() -> None:
    x = 1 + 1e-6 * np.array([-1.0, 0.0, 1.0])
    # s = variance / 2 to first order, so the shape is 1 / variance.
    assert Gamma.fit(x).shape == pytest.approx(1.5e12, rel=1e-3)


def test_fit_moments_has_the_moments_of_the_sample() -> None:
    x = np.array([0.5, 1.0, 2.5])
    law = Gamma.fit_moments(x)
    assert law.mean == pytest.approx(x.mean())
    assert law.variance == pytest.approx(x.var())


def test_shapes_below_one_have_an_infinite_density_at_zero() -> None:
    assert Gamma(0.5, 1.0).density(0.0) == np.inf
    assert Gamma(1.0, 3.0).density(0.0) == pytest.approx(3.0)
    assert Gamma(2.0, 3.0).density(0.0) == 0
    assert Gamma(50.0, 3.0).density(0.0) == 0
    assert [Gamma(a, 2.0).mode for a in (0.5, 1.0, 3.0)] == [0, 0, 1]


def test_far_tail_does_not_cancel() -> None:
    found = float(Gamma(2.0, 1.0).probability(100.0, np.inf))
    assert found == pytest.approx(101 * np.exp(-100), rel=1e-12)


def test_exponential_law_is_the_closed_form() -> None:
    law, x = Gamma(1.0, 0.25), np.array([0.0, 1.0, 7.0])
    np.testing.assert_allclose(law.density(x), 0.25 * np.exp(-0.25 * x), rtol=1e-14)
    np.testing.assert_allclose(law.cdf(x), 1 - np.exp(-0.25 * x), rtol=1e-13)


@pytest.mark.parametrize("a", [1e-300, 1e-10, 1e10, 1e300])
@pytest.mark.parametrize("b", [1e-300, 1.0, 1e300])
def test_extreme_parameters_give_no_nan(a: float, b: float) -> None:
    law = Gamma(a, b)
    x = np.array([0.0, 1e-300, 1e-150, 1.0, 1e150, 1e300])
    for found in (law.log_density(x), law.cdf(x), law.density(x)):
        assert not np.isnan(found).any()
    assert not np.isnan([law.mean, law.variance, law.mode, law.entropy, law.kl(law)]).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Gamma(0.0, 1.0), "finite shape above 0, got 0"),
        (lambda: Gamma(1.0, -1.0), "finite rate above 0, got -1"),
        (lambda: Gamma.fit([1.0, 0.0]), "numbers above 0; 1 of 2 are not, the first is 0 at"),
        (lambda: Gamma.fit([2.0, 2.0]), "All values equal 2, and the likelihood .* without bound"),
        (lambda: Gamma.fit([1.0, 1.0 + 1e-12]), "differ from 1 by rounding only"),
        (lambda: Gamma.fit([]), "no data"),
        (lambda: Gamma.fit([1e200, 1e201]), "Gamma cannot be estimated"),
        (lambda: Gamma.from_statistics(moments_of([[1.0]])), "columns x and log x, got 1"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
