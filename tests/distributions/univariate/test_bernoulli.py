"""Bernoulli: the notes' coins, exact fractions, SciPy, and the promises on statistics."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.bernoulli import Bernoulli, BernoulliStatistics
from novum.distributions.univariate.beta import Beta

samples = st.lists(st.booleans(), min_size=1, max_size=40)
shares = st.floats(0, 1)


def test_seven_throws_of_the_notes() -> None:
    throws = [side == "H" for side in "HHTTTHH"]
    assert Bernoulli.fit(throws).probability == 4 / 7


def test_three_heads_of_the_notes() -> None:
    assert Bernoulli.fit([1, 1, 1]).probability == 1
    # Add-one smoothing is the mean of the posterior of a uniform prior.
    assert Beta(1 + 3, 1 + 0).mean == 4 / 5


@given(shares)
def test_agrees_with_scipy(p: float) -> None:
    law, x = Bernoulli(p), [-1, 0, 0.5, 1, 2]
    np.testing.assert_allclose(law.density(x), [0, 1 - p, 0, p, 0], rtol=1e-14)
    np.testing.assert_allclose(law.cdf(x), stats.bernoulli.cdf(x, p), rtol=1e-14)
    assert law.mean == p
    assert law.variance == pytest.approx(stats.bernoulli.var(p))


@given(samples)
def test_estimate_is_the_exact_fraction(x: list[bool]) -> None:
    assert Bernoulli.fit(x).probability == float(Fraction(sum(x), len(x)))
    assert Bernoulli.fit_moments(x) == Bernoulli.fit(x)


@given(samples, samples)
def test_statistics_add_up_and_come_off(a: list[bool], b: list[bool]) -> None:
    both = Bernoulli.statistics(a + b)
    assert Bernoulli.statistics(a) + Bernoulli.statistics(b) == both
    assert both - Bernoulli.statistics(b) == Bernoulli.statistics(a)
    assert both + both.zero() == both


@given(samples)
def test_no_other_probability_is_likelier(x: list[bool]) -> None:
    best = Bernoulli.fit(x)
    for p in (0.01, 0.3, 0.5, 0.7, 0.99):
        assert Bernoulli(p).log_density(x).sum() <= best.log_density(x).sum() + 1e-12


def test_fractional_weights_come_off_without_a_negative_rest() -> None:
    weight = np.full(10, 0.1)
    whole = Bernoulli.statistics(np.ones(10), weight)
    rest = whole
    for _ in range(10):
        rest = rest - Bernoulli.statistics([1], [0.1])
    assert rest.isclose(whole.zero(), rtol=1e-10) or rest.weight < 1e-14


def test_ends_of_the_support() -> None:
    assert Bernoulli(1.0).support == (1.0, 1.0)
    assert Bernoulli(0.0).support == (0.0, 0.0)
    assert Bernoulli(1.0).quantile([0, 1]).tolist() == [1, 1]
    assert Bernoulli(0.0).log_density([0, 1]).tolist() == [0, -np.inf]


def test_intervals_include_their_ends() -> None:
    law = Bernoulli(0.25)
    found = law.interval_probability([-1, 0, 0.1, 1, 2], [0, 0.5, 0.9, 1, 3])
    assert found.tolist() == [0.75, 0.75, 0, 0.25, 0]


def test_tiny_probabilities_keep_their_digits() -> None:
    # H(p) = p (1 - log p) up to p^2.
    assert Bernoulli(1e-300).entropy == pytest.approx(1e-300 * (1 + 300 * np.log(10)), rel=1e-14)
    assert Bernoulli(1e-300).kl(Bernoulli(2e-300)) == pytest.approx(
        1e-300 * (1 - np.log(2)), rel=1e-12
    )


def test_divergence_from_an_impossible_value_is_infinite() -> None:
    assert Bernoulli(0.5).kl(Bernoulli(1.0)) == np.inf
    assert Bernoulli(1.0).kl(Bernoulli(0.5)) == pytest.approx(np.log(2))


def test_likelier_value_is_the_mode() -> None:
    assert [Bernoulli(p).mode for p in (0.2, 0.5, 0.6)] == [0, 0, 1]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0, 2], r"zeros and ones; 1 of 2 are not, the first is 2 at position 1\. Code the"),
        ([np.nan], "finite numbers"),
        ([], "no data"),
    ],
)
def test_bad_samples_are_named(x: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Bernoulli.fit(x)


def test_bad_values_are_named() -> None:
    with pytest.raises(InputError, match=r"probability from 0 to 1, got 1\.5"):
        Bernoulli(1.5)
    with pytest.raises(InputError, match="3 trials cannot have 4 successes"):
        BernoulliStatistics(3, 4)
    with pytest.raises(InputError, match="Remove only what was added"):
        Bernoulli.statistics([0]) - Bernoulli.statistics([1])


def test_the_last_level_is_the_upper_end_for_any_probability() -> None:
    assert Bernoulli(1e-300).quantile([0.0, 0.999, 1.0]).tolist() == [0, 0, 1]
