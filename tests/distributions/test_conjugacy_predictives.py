"""Beta-binomial and Dirichlet-multinomial: scipy, fractions, moments, and a billion trials."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.conjugacy_predictives import (
    BetaBinomial,
    DirichletMultinomial,
    log_beta_binomial,
)

shapes = st.floats(0.05, 50)


@given(st.integers(0, 60), shapes, shapes)
def test_beta_binomial_is_scipys(n: int, a: float, b: float) -> None:
    law, k = BetaBinomial(n, a, b), np.arange(n + 1.0)
    np.testing.assert_allclose(law.density(k), stats.betabinom.pmf(k, n, a, b), rtol=1e-9)
    np.testing.assert_allclose(law.cdf(k), stats.betabinom.cdf(k, n, a, b), atol=1e-10)
    assert law.density(k).sum() == pytest.approx(1.0, abs=1e-12)
    assert law.mean == pytest.approx(float(k @ law.density(k)), rel=1e-10, abs=1e-12)
    assert law.variance == pytest.approx(
        float((k - law.mean) ** 2 @ law.density(k)), rel=1e-8, abs=1e-12
    )


@given(st.integers(1, 40), shapes, shapes, st.floats(0, 1))
def test_quantiles_invert_the_cdf(n: int, a: float, b: float, level: float) -> None:
    law = BetaBinomial(n, a, b)
    k = float(law.quantile(level))
    assert float(law.cdf(k)) >= level
    assert k == 0 or float(law.cdf(k - 1)) < level


def exact(counts: tuple[int, ...], a: tuple[int, ...]) -> Fraction:
    n = sum(counts)
    ways = math.factorial(n) // math.prod(math.factorial(k) for k in counts)
    top = math.prod(math.prod(range(x, x + k)) for x, k in zip(a, counts, strict=True))
    return Fraction(ways * top, math.prod(range(sum(a), sum(a) + n)))


@given(st.lists(st.integers(1, 6), min_size=2, max_size=4), st.integers(0, 5))
def test_dirichlet_multinomial_in_fractions(a: list[int], n: int) -> None:
    law = DirichletMultinomial(n, np.array(a, float))
    tables = [k for k in itertools.product(range(n + 1), repeat=len(a)) if sum(k) == n]
    wanted = [float(exact(k, tuple(a))) for k in tables]
    np.testing.assert_allclose(law.density(tables), wanted, rtol=1e-11)
    np.testing.assert_allclose(law.mean, np.array(wanted) @ np.array(tables), atol=1e-12)
    centered = np.array(tables) - law.mean
    np.testing.assert_allclose(law.covariance, (centered.T * wanted) @ centered, atol=1e-10)


def test_one_outcome_against_the_rest_is_beta_binomial() -> None:
    law = DirichletMultinomial(6, [1.0, 2.5, 0.5])
    assert law.marginal(1) == BetaBinomial(6, 2.5, 1.5)
    assert law.variance[1] == pytest.approx(law.marginal(1).variance)


def test_a_billion_trials_keep_their_digits() -> None:
    n = 10**9
    # Uniform prior: every count has probability 1 / (n + 1).
    found = BetaBinomial(n, 1.0, 1.0).log_density([0, 1, n // 3, n // 2, n])
    np.testing.assert_allclose(found, -math.log(n + 1), rtol=1e-13)
    # A strong prior: nearly binomial, where the three terms could cancel most.
    strong = float(log_beta_binomial(500_000, 10**6, 1e12, 1e12))
    assert strong == pytest.approx(stats.binom.logpmf(500_000, 10**6, 0.5), abs=2e-6)


def test_samples_have_the_laws_moments() -> None:
    law = BetaBinomial(20, 2.0, 3.0)
    drawn = law.sample(20_000, random_state=0)
    assert abs(drawn.mean() - law.mean) < 5 * math.sqrt(law.variance / 20_000)
    assert drawn.var() == pytest.approx(law.variance, rel=0.05)
    many = DirichletMultinomial(20, [2.0, 3.0, 1.0])
    rows = many.sample((100, 200), random_state=1)
    assert rows.shape == (100, 200, 3)
    assert np.all(rows.sum(axis=-1) == 20)
    np.testing.assert_allclose(rows.mean(axis=(0, 1)), many.mean, atol=0.15)
    np.testing.assert_allclose(np.cov(rows.reshape(-1, 3).T), many.covariance, atol=0.8)


def test_points_off_the_support_are_impossible_and_missing_stays_missing() -> None:
    law = BetaBinomial(3, 1.0, 2.0)
    found = law.log_density([-1, 0.5, 4, np.nan, np.inf])
    assert found[[0, 1, 2, 4]].tolist() == [-np.inf] * 4
    assert np.isnan(found[3])
    assert law.cdf([-1.0, 3.0, 99.0]).tolist() == [0.0, 1.0, 1.0]
    assert np.isnan(law.cdf(np.nan))
    assert law.support == (0.0, 3.0)
    rows = DirichletMultinomial(2, [1.0, 1.0]).log_density([[1, 0], [2.5, -0.5], [np.nan, 1]])
    assert rows[:2].tolist() == [-np.inf, -np.inf]
    assert np.isnan(rows[2])


def test_entropy_is_the_sum() -> None:
    law = BetaBinomial(7, 0.5, 2.0)
    p = law.density(np.arange(8))
    assert law.entropy == pytest.approx(float(-(p * np.log(p)).sum()), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BetaBinomial(-1, 1.0, 1.0), "from 0 to 2\\^53, got -1"),
        (lambda: BetaBinomial(3, 0.0, 1.0), "a above 0, got 0.0"),
        (lambda: DirichletMultinomial(3, [1.0]), "at least two positive"),
        (lambda: DirichletMultinomial(3, [1.0, -1.0]), "at least two positive"),
        (lambda: DirichletMultinomial(1.5, [1.0, 1.0]), "got 1.5"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
