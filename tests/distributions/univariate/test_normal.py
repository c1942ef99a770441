"""Normal: the notes' heights, SciPy, affine maps and sums by simulation, exact removal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.normal import Normal
from novum.numerics import Moments, moments_of

means = st.floats(-1e6, 1e6)
variances = st.floats(1e-6, 1e6)


def test_heights_of_the_notes() -> None:
    assert float(Normal(175.33, 52.89).density(174)) == pytest.approx(0.05395, abs=5e-6)
    assert float(Normal(161.82, 46.89).density(174)) == pytest.approx(0.01198, abs=5e-6)


@given(means, variances, st.floats(-8, 8))
def test_agrees_with_scipy(mean: float, variance: float, score: float) -> None:
    law, other = Normal(mean, variance), stats.norm(mean, np.sqrt(variance))
    x = mean + score * np.sqrt(variance)
    # Both standardize x, whose last digit is worth this much of a standard deviation.
    digit = 1e-12 + 8 * np.spacing(abs(x)) / np.sqrt(variance)
    assert float(law.log_density(x)) == pytest.approx(other.logpdf(x), rel=digit, abs=10 * digit)
    assert float(law.cdf(x)) == pytest.approx(other.cdf(x), rel=100 * digit)
    assert law.entropy == pytest.approx(other.entropy(), rel=1e-12, abs=1e-12)


def test_far_tail_does_not_cancel() -> None:
    law = Normal()
    for a, b in ((20.0, 21.0), (-21.0, -20.0)):
        found = float(law.probability(a, b))
        assert found == pytest.approx(stats.norm.sf(20) - stats.norm.sf(21), rel=1e-12)
    assert float(law.probability(-1.96, 1.96)) == pytest.approx(0.9500042097, rel=1e-9)


def test_both_estimates_have_the_denominator_of_the_sample() -> None:
    x = [1.0, 2.0, 3.0, 6.0]
    assert Normal.fit(x) == Normal.fit_moments(x) == Normal(3.0, 14 / 4)
    assert Normal.fit(x, [0, 1, 1, 0]) == Normal(2.5, 0.25)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30).filter(lambda x: np.ptp(x) > 1e-3))
def test_no_other_parameters_are_likelier(x: list[float]) -> None:
    best = Normal.fit(x)
    spread = best.standard_deviation
    top = best.log_density(x).sum()
    for shift, factor in ((0.01, 1.0), (-0.01, 1.0), (0.0, 1.01), (0.0, 0.99)):
        other = Normal(best.mean + shift * spread, best.variance * factor)
        assert other.log_density(x).sum() < top


def test_statistics_are_moments_and_come_off_far_from_zero() -> None:
    near = 1e8 + np.array([0.1, 0.2, 0.4])
    far = Normal.statistics([0.0, -1e8])
    assert isinstance(far, Moments)
    found = Normal.from_statistics(Normal.statistics(near) + far - far)
    assert found.variance == pytest.approx(Normal.fit(near).variance, rel=1e-12)


@given(means, variances, st.floats(-50, 50).filter(lambda a: abs(a) > 0.01), means)
def test_affine_map_moves_points_and_keeps_probabilities(
    mean: float, variance: float, scale: float, shift: float
) -> None:
    law = Normal(mean, variance)
    mapped = law.affine(scale, shift)
    x = mean + 0.7 * law.standard_deviation
    image = scale * x + shift
    chance = float(law.cdf(x)) if scale > 0 else 1 - float(law.cdf(x))
    lost = np.spacing(max(abs(image), abs(shift), abs(scale * x))) / mapped.standard_deviation
    assert float(mapped.cdf(image)) == pytest.approx(chance, abs=1e-9 + 8 * lost)


def test_sum_of_independent_variables() -> None:
    a, b = Normal(1.0, 9.0), Normal(-2.0, 16.0)
    assert a + b == Normal(-1.0, 25.0)
    drawn = a.sample(20_000, random_state=1) + b.sample(20_000, random_state=2)
    # The Kolmogorov distance exceeds 1.95 / sqrt(n) in one of a thousand samples.
    assert stats.kstest(drawn, (a + b).cdf).statistic < 1.95 / np.sqrt(20_000)
    with pytest.raises(TypeError):
        a + 3  # type: ignore[operator]


def test_kl_is_the_quadrature() -> None:
    from scipy import integrate

    a, b = Normal(1.0, 2.0), Normal(0.0, 3.0)
    expected, _ = integrate.quad(
        lambda x: float(a.density(x) * (a.log_density(x) - b.log_density(x))), -30, 30
    )
    assert a.kl(b) == pytest.approx(expected, rel=1e-10)


def test_kl_of_close_laws_keeps_its_digits() -> None:
    # To second order (d v / v)^2 / 4.
    assert Normal(0.0, 1.0).kl(Normal(0.0, 1 + 1e-9)) == pytest.approx(2.5e-19, rel=1e-6)


def test_extreme_parameters() -> None:
    assert float(Normal(0.0, 1e-300).log_density(0.0)) == pytest.approx(
        -0.5 * np.log(2 * np.pi) + 150 * np.log(10)
    )
    assert float(Normal(-1e308, 1.0).log_density(1e308)) == -np.inf
    assert float(Normal(1e308, 1.0).cdf(-1e308)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Normal(0.0, 0.0), "finite variance above 0, got 0"),
        (lambda: Normal(np.inf, 1.0), "finite mean, got inf"),
        (lambda: Normal.fit([2.0, 2.0, 2.0]), r"All values equal 2,.*prior on the variance"),
        (lambda: Normal.fit([1.0]), "All values equal 1"),
        (lambda: Normal.fit([]), "no data"),
        (lambda: Normal.fit([1.0, np.nan]), "the first is nan at position 1"),
        (lambda: Normal.fit([1e200, -1e200]), "Normal cannot be estimated. The squares of column"),
        (lambda: Normal.fit_moments([1.0]), "All values equal 1"),
        (lambda: Normal().affine(0.0, 1.0), "scale of 0 maps"),
        (lambda: Normal.from_statistics(moments_of(np.eye(2))), "moments of 1 column, got 2"),
        (lambda: Normal().quantile(2.0), "levels from 0 to 1"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
