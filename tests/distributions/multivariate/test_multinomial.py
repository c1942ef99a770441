"""Multinomial: enumeration with exact fractions, scipy, large counts, and the contract of laws."""

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
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.multinomial import Multinomial
from novum.distributions.univariate.binomial import Binomial


def tables(trials: int, size: int) -> np.ndarray:
    counts = itertools.product(range(trials + 1), repeat=size)
    return np.array([k for k in counts if sum(k) == trials], float)


TABLES = tables(6, 3)
LAW = Multinomial(6, [0.2, 0.3, 0.5])
CASE = LawCase(
    LAW, Multinomial(6, [0.3, 0.3, 0.4]), {"trials": 6}, rule=(TABLES, np.ones(len(TABLES)))
)


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
def test_contract(check: Any) -> None:
    check(CASE)


def exact(k: tuple[int, ...], p: tuple[Fraction, ...]) -> Fraction:
    """The definition in fractions."""
    result = Fraction(math.factorial(sum(k)))
    for count, share in zip(k, p, strict=True):
        result *= share**count / math.factorial(count)
    return result


def test_density_is_the_definition() -> None:
    p = (Fraction(1, 8), Fraction(3, 8), Fraction(1, 2))
    law = Multinomial(6, [float(share) for share in p])
    expected = [float(exact(tuple(int(v) for v in k), p)) for k in TABLES]
    np.testing.assert_allclose(law.density(TABLES), expected, rtol=1e-14)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=5))
def test_agrees_with_scipy(k: list[int]) -> None:
    p = np.arange(1, len(k) + 1) / sum(range(1, len(k) + 1))
    law = Multinomial(sum(k), p)
    expected = stats.multinomial.logpmf(k, sum(k), p)
    assert law.log_density(k) == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_a_billion_trials_keep_their_digits() -> None:
    # Two outcomes are a binomial; at its mean the probability is 1 / sqrt(pi n / 2) (1 - 1/(4n)).
    n = 10**9
    found = Multinomial(n, [0.5, 0.5]).log_density([n / 2, n / 2])
    assert found == pytest.approx(-0.5 * math.log(math.pi * n / 2) - 1 / (4 * n), abs=1e-14)


def test_probabilities_of_zero() -> None:
    law = Multinomial(3, [0.0, 0.4, 0.6])
    assert law.log_density([1, 1, 1]) == -np.inf
    assert law.density([0, 1, 2]) == pytest.approx(3 * 0.4 * 0.36)
    assert Multinomial(0, [0.5, 0.5]).density([0, 0]) == 1


def test_off_the_support_and_missing() -> None:
    points = [[1, 2, 2], [-1, 3, 4], [1.5, 1.5, 3], [np.inf, 0, 0], [1e300, 1, 1]]
    assert LAW.log_density(points).tolist() == [-np.inf] * 5
    assert np.isnan(LAW.log_density([np.nan, 1, 2]))


def test_moments_entropy_and_mode_by_enumeration() -> None:
    chance = LAW.density(TABLES)
    np.testing.assert_allclose(chance @ TABLES, LAW.mean, rtol=1e-14)
    away = TABLES - LAW.mean
    np.testing.assert_allclose((chance[:, None] * away).T @ away, LAW.covariance, atol=1e-13)
    np.testing.assert_allclose(LAW.variance, np.diagonal(LAW.covariance))
    assert LAW.entropy == pytest.approx(-(chance * np.log(chance)).sum(), rel=1e-13)
    assert chance.max() == pytest.approx(float(LAW.density(LAW.mode)))


@given(st.integers(0, 9), st.lists(st.integers(1, 20), min_size=2, max_size=3))
def test_no_table_is_likelier_than_the_mode(n: int, shares: list[int]) -> None:
    law = Multinomial(n, np.array(shares) / sum(shares))
    assert law.mode.sum() == n
    best = law.log_density(tables(n, len(shares))).max()
    assert law.log_density(law.mode) == pytest.approx(best, abs=1e-12)


def test_entropy_of_many_trials_is_that_of_a_normal_law() -> None:
    for n in (10**6, 10**14):
        law = Multinomial(n, [0.2, 0.3, 0.5])
        # The determinant of the covariance of the first two counts is n^2 p1 p2 p3.
        limit = np.log(2 * np.pi * np.e) + 0.5 * np.log(n**2 * 0.03)
        assert law.entropy == pytest.approx(limit, abs=3 / n + 1e-10)
    assert Multinomial(5, [1.0, 0.0]).entropy == pytest.approx(0, abs=1e-15)
    assert Multinomial(0, [0.5, 0.5]).entropy == 0


def test_marginal_and_conditional_by_enumeration() -> None:
    chance = LAW.density(TABLES)
    for k in range(7):
        rows = TABLES[:, 1] == k
        assert LAW.marginal(1).density(k) == pytest.approx(chance[rows].sum(), rel=1e-12)
        rest = LAW.condition([1], [k])
        expected = chance[rows] / chance[rows].sum()
        np.testing.assert_allclose(rest.density(TABLES[rows][:, [0, 2]]), expected, rtol=1e-12)
    assert LAW.marginal(1) == Binomial(6, 0.3)
    assert LAW.marginal([2]) == Multinomial(6, [0.5, 0.5])
    assert LAW.marginal([2, 0, 1]) == Multinomial(6, [0.5, 0.2, 0.3])


def test_divergence_by_enumeration() -> None:
    other = Multinomial(6, [0.5, 0.3, 0.2])
    gaps = LAW.log_density(TABLES) - other.log_density(TABLES)
    assert LAW.kl(other) == pytest.approx(LAW.density(TABLES) @ gaps, rel=1e-12)
    assert LAW.kl(Multinomial(6, [0.0, 0.5, 0.5])) == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Multinomial(2.5, [1.0]), "whole number of trials"),
        (lambda: Multinomial(-1, [1.0]), "from 0 to 2\\^53, got -1"),
        (lambda: Multinomial(3, [0.5, 0.6]), "sum to 1.1"),
        (lambda: Multinomial.fit([[1, 2], [2, 2]]), "it is 3, but row 1 sums to 4"),
        (lambda: Multinomial.fit([[1, 2]], trials=4), "it is 4, but row 0 sums to 3"),
        (lambda: Multinomial.fit([[-1, 2]]), "first is -1 at row 0, column 0"),
        (lambda: Multinomial.fit([[0.5, 0.5]]), "whole numbers"),
        (lambda: Multinomial.fit(np.empty((0, 2))), "no data"),
        (lambda: LAW.condition([0], [7]), r"counts \[7.0\] of outcomes \[0\] cannot occur"),
        (lambda: Multinomial(2, [1.0, 0.0]).condition([0], [2]), "shares of the others are not"),
        (lambda: LAW.kl(Multinomial(5, [0.2, 0.3, 0.5])), "6 and 5 trials"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_counts_of_a_billion_are_fitted() -> None:
    law = Multinomial.fit([[10**9, 3 * 10**9]])
    assert law.trials == 4 * 10**9
    assert law.probabilities.tolist() == [0.25, 0.75]
