"""Beta: 60-digit values (mpmath), SciPy, the errata's variance, ends of the interval."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.beta import Beta
from novum.numerics import moments_of

shapes = st.floats(0.05, 1e4)

# a, b, x, log density, entropy
VALUES = [
    (2.0, 3.0, 0.25, 0.5232481437645479, -0.2349066497880003),
    (0.5, 0.5, 1e-300, 344.2430340632574, -0.24156447527049044),
    (1e8, 1e8, 0.50003, 8.97112261131404, -8.831122612111429),
    (0.3, 1e5, 1e-6, 11.928936935247751, -12.568893925702163),
    (1e6, 3.0, 0.999998, 12.508660738521053, -11.967936047596929),
    (1e-3, 1e-3, 0.5, -6.215992750249577, -991.4023785712345),
]
DIVERGENCES = [
    (2.0, 3.0, 3.0, 3.0, 0.16704260145917826),
    (1e8, 1e8, 1e8 + 1, 1e8, 2.50000000625e-09),
    (0.5, 0.5, 1e-3, 2.0, 7.149706548280664),
    (1e5, 0.3, 1e5, 0.31, 0.0006000239330299715),
]


@pytest.mark.parametrize(("a", "b", "x", "log_density", "entropy"), VALUES)
def test_sixty_digit_values(
    a: float, b: float, x: float, log_density: float, entropy: float
) -> None:
    law = Beta(a, b)
    # n x is rounded once; with 2e8 and a deviance of 0.4 that costs three digits.
    assert float(law.log_density(x)) == pytest.approx(log_density, rel=1e-12)
    assert law.entropy == pytest.approx(entropy, rel=1e-13)


@pytest.mark.parametrize(("a", "b", "c", "d", "expected"), DIVERGENCES)
def test_divergences_to_sixty_digits(
    a: float, b: float, c: float, d: float, expected: float
) -> None:
    assert Beta(a, b).kl(Beta(c, d)) == pytest.approx(expected, rel=1e-8)


@given(shapes, shapes, st.floats(0.01, 0.99))
def test_agrees_with_scipy(a: float, b: float, level: float) -> None:
    law, other = Beta(a, b), stats.beta(a, b)
    x = float(law.quantile(level))
    if 0 < x < 1:
        assert float(law.log_density(x)) == pytest.approx(other.logpdf(x), rel=1e-8, abs=1e-8)
        assert float(law.cdf(x)) == pytest.approx(other.cdf(x), rel=1e-8)
    assert law.mean == pytest.approx(other.mean(), rel=1e-12)


@given(st.integers(1, 50), st.integers(1, 50))
def test_variance_has_the_square_that_the_notes_miss(a: int, b: int) -> None:
    exact = Fraction(a * b, (a + b) ** 2 * (a + b + 1))
    assert Beta(a, b).variance == pytest.approx(float(exact), rel=1e-14)
    assert Beta(a, b).mean == pytest.approx(float(Fraction(a, a + b)), rel=1e-15)


def test_integer_shapes_are_polynomials() -> None:
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(Beta(2, 3).density(x), 12 * x * (1 - x) ** 2, atol=1e-14)
    np.testing.assert_allclose(Beta(1, 1).density(x), 1, rtol=1e-14)
    np.testing.assert_allclose(Beta(1, 3).cdf(x), 1 - (1 - x) ** 3, atol=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "left", "right"),
    [
        (0.5, 0.5, np.inf, np.inf),
        (0.5, 2.0, np.inf, 0.0),
        (2.0, 0.5, 0.0, np.inf),
        (1.0, 3.0, 3.0, 0.0),
        (3.0, 1.0, 0.0, 3.0),
        (1.0, 0.5, 0.5, np.inf),
        (0.5, 1.0, np.inf, 0.5),
        (2.0, 2.0, 0.0, 0.0),
    ],
)
def test_density_at_the_ends(a: float, b: float, left: float, right: float) -> None:
    np.testing.assert_allclose(Beta(a, b).density([0.0, 1.0]), [left, right], rtol=1e-13)


@pytest.mark.parametrize(
    ("a", "b", "mode"),
    [(2.0, 3.0, 1 / 3), (0.5, 2.0, 0.0), (1.0, 2.0, 0.0), (2.0, 1.0, 1.0), (1.0, 0.5, 1.0),
     (0.5, 1.0, 0.0), (3.0, 0.2, 1.0)],
)  # fmt: skip
def test_mode_is_where_the_density_is_largest(a: float, b: float, mode: float) -> None:
    law = Beta(a, b)
    assert law.mode == pytest.approx(mode)
    x = np.linspace(0, 1, 1001)
    assert law.density(mode) >= law.density(x).max() - 1e-3


@pytest.mark.parametrize(("a", "b", "why"), [(1.0, 1.0, "constant"), (0.5, 0.9, "infinite")])
def test_no_single_mode_is_an_error(a: float, b: float, why: str) -> None:
    with pytest.raises(InputError, match=f"no single mode: its density is {why}"):
        _ = Beta(a, b).mode


def test_moments_fit_takes_zeros_and_ones() -> None:
    x = np.array([0.0, 0.5, 1.0, 0.25])
    law = Beta.fit_moments(x, [1, 1, 1, 2])
    repeated = np.repeat(x, [1, 1, 1, 2])
    assert law.mean == pytest.approx(repeated.mean())
    assert law.variance == pytest.approx(repeated.var())


def test_far_tail_does_not_cancel() -> None:
    found = float(Beta(1.0, 50.0).probability(0.9, 1.0))
    assert found == pytest.approx(0.1**50, rel=1e-10)


@pytest.mark.parametrize("a", [1e-300, 1e-10, 1e10, 1e300])
@pytest.mark.parametrize("b", [1e-300, 1.0, 1e300])
def test_extreme_parameters_give_no_nan(a: float, b: float) -> None:
    law = Beta(a, b)
    x = np.array([0.0, 1e-300, 1e-10, 0.5, 1 - 1e-16, 1.0])
    for found in (law.log_density(x), law.cdf(x), law.density(x)):
        assert not np.isnan(found).any()
    assert not np.isnan([law.mean, law.variance, law.entropy, law.kl(law)]).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Beta(0.0, 1.0), "finite a above 0, got 0"),
        (lambda: Beta(1.0, np.inf), "finite b above 0, got inf"),
        (lambda: Beta.fit([0.5, 1.0]), r"below 1; .* is 1 at position 1\. .*fit_moments"),
        (lambda: Beta.fit([0.5, 0.5]), "All values equal 0.5"),
        (lambda: Beta.fit([]), "no data"),
        (lambda: Beta.fit_moments([0.0, 1.0]), "All values are 0 or 1"),
        (lambda: Beta.fit_moments([0.5, 2.0]), "numbers from 0 to 1"),
        (lambda: Beta.fit_moments([]), "no data"),
        (lambda: Beta.from_statistics(moments_of([[1.0]])), "log\\(1 - x\\), got 1"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
