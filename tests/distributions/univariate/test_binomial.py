"""Binomial: exact fractions, SciPy, a billion trials, and the promises on statistics."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.binomial import Binomial, BinomialStatistics

shares = st.floats(1e-6, 1 - 1e-6)


def definition(k: int, n: int, p: float) -> float:
    """The formula in exact fractions."""
    exact = Fraction(p)
    return float(math.comb(n, k) * exact**k * (1 - exact) ** (n - k))


@given(st.integers(0, 60), shares)
def test_density_is_the_definition(n: int, p: float) -> None:
    k = np.arange(n + 1)
    expected = [definition(int(i), n, p) for i in k]
    # 1 - p is rounded once, to the power n; and exp magnifies the last digit of a logarithm by
    # the size of that, which is below 14 n here.
    np.testing.assert_allclose(Binomial(n, p).density(k), expected, rtol=1e-13 + 14 * n * 1e-15)


@given(st.integers(1, 500), shares)
def test_agrees_with_scipy(n: int, p: float) -> None:
    law, k = Binomial(n, p), np.arange(-1, n + 2)
    # Below 1e-250 SciPy loses digits; the test below takes exact fractions there.
    np.testing.assert_allclose(law.cdf(k), stats.binom.cdf(k, n, p), rtol=1e-9, atol=1e-250)
    assert law.mean == pytest.approx(stats.binom.mean(n, p))
    assert law.variance == pytest.approx(stats.binom.var(n, p))


@pytest.mark.parametrize("k", [33, 60, 150, 250])
def test_cdf_is_the_exact_sum(k: int) -> None:
    n, p = 293, Fraction(15, 16)
    exact = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
    assert float(Binomial(n, float(p)).cdf(k)) == pytest.approx(float(exact), rel=1e-13)


@given(st.integers(1, 200), shares, st.floats(1e-9, 1 - 1e-9))
def test_quantile_is_the_smallest_count_that_reaches_its_level(
    n: int, p: float, level: float
) -> None:
    law = Binomial(n, p)
    k = float(law.quantile(level))
    assert law.cdf(k) >= level
    assert k == 0 or law.cdf(k - 1) < level


@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (11, 0.5), (7, 0.125), (4, 0.0), (4, 1.0)])
def test_mode_is_the_likeliest_count(n: int, p: float) -> None:
    law = Binomial(n, p)
    assert law.mode == np.argmax(np.round(law.density(np.arange(n + 1)), 12))


@given(st.integers(1, 30), shares)
def test_entropy_is_its_sum(n: int, p: float) -> None:
    terms = [definition(k, n, p) for k in range(n + 1)]
    expected = -sum(q * math.log(q) for q in terms if q > 0)
    assert Binomial(n, p).entropy == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_expansion_of_the_entropy_continues_the_sum() -> None:
    # On both sides of the change the two forms must agree: the sum grows by log(n'/n)/2.
    below, above = Binomial(399_999_999, 0.5), Binomial(400_000_001, 0.5)
    assert below.variance < 1e8 < above.variance
    assert above.entropy - below.entropy == pytest.approx(2.5e-9, abs=2e-12)


def test_a_billion_trials_keep_their_digits() -> None:
    law = Binomial(10**9, 0.5)
    # 60 digits: mpmath.
    assert float(law.log_density(5e8)) == pytest.approx(-10.587424271367933, rel=1e-15)
    assert float(law.quantile(0.5)) == 5e8
    assert float(law.interval_probability(5e8, 5e8)) == pytest.approx(
        math.exp(-10.587424271367933), rel=1e-6
    )


def test_far_tail_does_not_cancel() -> None:
    law = Binomial(100, 0.1)
    exact = sum(Fraction(0.1) ** k * (1 - Fraction(0.1)) ** (100 - k) * math.comb(100, k)
                for k in range(90, 101))  # fmt: skip
    assert float(law.interval_probability(90, 200)) == pytest.approx(float(exact), rel=1e-12)


def test_no_trials_is_the_constant_zero() -> None:
    law = Binomial(0, 0.3)
    assert law.density([0, 1]).tolist() == [1, 0]
    assert law.quantile([0, 0.5, 1]).tolist() == [0, 0, 0]
    assert law.entropy == 0
    assert law.kl(Binomial(0, 0.9)) == 0


def test_estimate_is_the_share_of_all_trials() -> None:
    assert Binomial.fit([3, 1, 4], trials=5) == Binomial(5, 8 / 15)
    assert Binomial.fit([3, 1, 4], [1, 2, 0], trials=5) == Binomial(5, 1 / 3)
    assert Binomial.fit_moments([3, 1, 4], trials=5) == Binomial(5, 8 / 15)


def test_statistics_of_other_trials_do_not_add() -> None:
    three, four = (Binomial.statistics([1, 2], trials=n) for n in (3, 4))
    assert not three.isclose(four)
    with pytest.raises(InputError, match="of 3 and 4 trials do not add up"):
        three + four
    assert (three + three) - three == three
    assert three.zero() == BinomialStatistics(3)


def test_divergence_needs_equal_trials() -> None:
    assert Binomial(10, 0.2).kl(Binomial(10, 0.2)) == 0
    assert Binomial(10, 0.2).kl(Binomial(10, 0.0)) == np.inf
    with pytest.raises(InputError, match="equal trials only, got 10 and 11"):
        Binomial(10, 0.2).kl(Binomial(11, 0.2))


@pytest.mark.parametrize("bad", [-1, 2.5, "3", 2**60])
def test_bad_trials_are_named(bad: object) -> None:
    with pytest.raises(InputError, match=r"whole number of trials from 0 to 2\^53"):
        Binomial(bad, 0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1, 6], "whole numbers from 0 to 5; 1 of 2 are not, the first is 6 at position 1"),
        ([0.5], "whole numbers"),
        ([-1], "whole numbers"),
        ([], "no data"),
    ],
)
def test_bad_samples_are_named(x: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Binomial.fit(x, trials=5)


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(InputError, match="cannot have 7 successes"):
        BinomialStatistics(3, 2.0, 7.0)
