"""Poisson: 60-digit values (mpmath), SciPy, the mean as the maximum, sums of counts, odd input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions import Poisson

# rate, count, log probability
VALUES = [
    (2.5, 3, -1.5428872736055899),
    (1e9, 1000100000, -16.280454790927536),
    (0.001, 7, -56.88044831394037),
    (1e15, 1000000010000000, -18.23832673549335),
    (12345.678, 0, -12345.678),
]
# rate, entropy
ENTROPIES = [
    (0.02, 0.0983787070981355),
    (2.5, 1.8307266079269717),
    (700.0, 4.694359567918972),
    (300000.0, 7.724707132245601),
]


@pytest.mark.parametrize(("rate", "count", "expected"), VALUES)
def test_sixty_digit_values(rate: float, count: int, expected: float) -> None:
    assert float(Poisson(rate).log_density(count)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("rate", "expected"), ENTROPIES)
def test_entropies(rate: float, expected: float) -> None:
    assert Poisson(rate).entropy == pytest.approx(expected, rel=1e-12)


@given(st.floats(1e-3, 1e5), st.floats(0.001, 0.999))
def test_agrees_with_scipy(rate: float, level: float) -> None:
    law, other = Poisson(rate), stats.poisson(rate)
    count = other.ppf(level)
    assert float(law.quantile(level)) == count
    assert float(law.cdf(count)) == pytest.approx(other.cdf(count), rel=1e-10)
    assert float(law.density(count)) == pytest.approx(other.pmf(count), rel=1e-9)


def test_the_mean_is_likeliest_and_rates_of_sums_add() -> None:
    counts, weight = np.array([3.0, 0, 7, 1]), np.array([1.0, 2, 0, 4])
    law = Poisson.fit(counts, weight)
    assert law.rate == 1.0
    best = weight @ law.log_density(counts)
    for rate in (0.97, 1.03):
        assert weight @ Poisson(rate).log_density(counts) < best
    both = Poisson(1.5) + Poisson(2.0)
    by_hand = sum(Poisson(1.5).density(k) * Poisson(2.0).density(4 - k) for k in range(5))
    assert float(both.density(4)) == pytest.approx(float(by_hand), rel=1e-13)


def test_a_rate_of_zero_is_certain() -> None:
    law = Poisson(0.0)
    assert law.density([0, 1]).tolist() == [1.0, 0.0]
    assert law.entropy == 0.0
    assert law.support == (0.0, 0.0)
    assert (law.mode, float(law.quantile(1.0))) == (0.0, 0.0)
    assert Poisson(2.0).mode == 1.0


def test_refusals() -> None:
    with pytest.raises(InputError, match="rate from 0 to 2\\^50, got -1"):
        Poisson(-1.0)
    with pytest.raises(InputError, match=r"1 of 3 are not, the first is 1\.5 at position 1"):
        Poisson.fit([1, 1.5, 2])
    with pytest.raises(InputError, match="no data"):
        Poisson.fit([])
