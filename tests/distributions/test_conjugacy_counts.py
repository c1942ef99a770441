"""Counts: posteriors in exact fractions, evidence by enumeration, levels by name."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.conjugacy import log_evidence, posterior, predictive
from novum.distributions.conjugacy_counts import log_choose
from novum.distributions.conjugacy_knowns import KnownLevels, KnownTrials
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.multivariate.multinomial import Multinomial
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial
from novum.distributions.univariate.categorical import Categorical


def rising(a: int, n: int) -> int:
    return math.prod(range(a, a + n))


@given(st.integers(1, 5), st.integers(1, 5), st.lists(st.integers(0, 1), max_size=12))
def test_evidence_of_trials_in_fractions(a: int, b: int, trials: list[int]) -> None:
    s, f = sum(trials), len(trials) - sum(trials)
    exact = Fraction(rising(a, s) * rising(b, f), rising(a + b, s + f))
    found = log_evidence(Beta(a, b), Bernoulli, trials)
    assert found == pytest.approx(math.log(exact), abs=1e-12)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 6))
def test_evidence_of_categories_in_fractions(a: list[int], n: int) -> None:
    data = [i % len(a) for i in range(n)]
    counts = [data.count(k) for k in range(len(a))]
    top = math.prod(rising(x, c) for x, c in zip(a, counts, strict=True))
    exact = Fraction(top, rising(sum(a), n))
    found = log_evidence(Dirichlet(np.array(a, float)), Categorical, data)
    assert found == pytest.approx(math.log(exact), abs=1e-12)


def test_probabilities_of_all_count_tables_sum_to_one() -> None:
    prior = Dirichlet([0.5, 2.0, 1.0])
    tables = [k for k in itertools.product(range(5), repeat=3) if sum(k) == 4]
    total = sum(math.exp(log_evidence(prior, KnownTrials(4), [k])) for k in tables)
    assert total == pytest.approx(1.0, abs=1e-12)
    coins = sum(math.exp(log_evidence(Beta(0.3, 4.0), KnownTrials(6), [k])) for k in range(7))
    assert coins == pytest.approx(1.0, abs=1e-12)


def test_order_of_trials_does_not_matter_but_their_grouping_does() -> None:
    single = log_evidence(Beta(1, 1), Bernoulli, [1, 1, 0])
    grouped = log_evidence(Beta(1, 1), KnownTrials(3), [2])
    assert grouped - single == pytest.approx(math.log(3), abs=1e-13)
    assert posterior(Beta(1, 1), Bernoulli, [1, 1, 0]) == posterior(Beta(1, 1), KnownTrials(3), [2])


def test_levels_are_matched_by_name() -> None:
    levels = KnownLevels(["low", "mid", "high"])
    after = posterior(Dirichlet([1.0, 2.0, 3.0]), levels, ["high", "low", "high"])
    assert after.concentration.tolist() == [2.0, 2.0, 5.0]
    sums = Categorical.statistics(["high", "low"]) + Categorical.statistics(["high"])
    assert posterior(Dirichlet([1.0, 2.0, 3.0]), levels, sums) == after
    next_one = predictive(after, levels)
    assert float(next_one.density("high")) == pytest.approx(5 / 9)


def test_a_level_that_never_occurred_is_predicted() -> None:
    after = posterior(Dirichlet([1.0, 1.0]), Categorical, [0, 0, 0])
    assert predictive(after, Categorical).probabilities.tolist() == pytest.approx([0.8, 0.2])


def test_counts_of_a_billion_stay_finite_and_relative() -> None:
    n = 10**9
    sums = Bernoulli.statistics([1, 0], weight=[n, n])
    found = log_evidence(Beta(1, 1), Bernoulli, sums)
    # 1 / ((2n + 1) C(2n, n)), with Stirling's formula for the coefficient.
    wanted = -math.log(2 * n + 1) - (2 * n * math.log(2) - 0.5 * math.log(math.pi * n))
    assert found == pytest.approx(wanted, rel=1e-12)


@given(st.integers(0, 40), st.integers(0, 40))
def test_log_choose_is_the_coefficient(n: int, k: int) -> None:
    if k <= n:
        assert float(log_choose(n, k)) == pytest.approx(math.log(math.comb(n, k)), abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: posterior(Dirichlet([1.0, 1.0]), KnownLevels("abc"), []),
            "single string|2 concentrations",
        ),
        (
            lambda: posterior(Dirichlet([1.0, 1.0]), KnownLevels(["a", "b", "c"]), ["a"]),
            "2 concentrations cannot be the prior of 3 levels",
        ),
        (
            lambda: posterior(
                Dirichlet([1.0, 1.0]), Categorical, Categorical.statistics(["x", "y"])
            ),
            "Name the levels in the order of the prior",
        ),
        (lambda: posterior(Dirichlet([1.0, 1.0]), Categorical, [2]), "unknown, the first is"),
        (
            lambda: posterior(Beta(1, 1), KnownTrials(3), Binomial.statistics([1], trials=2)),
            "Statistics of 2 trials do not fit KnownTrials",
        ),
        (
            lambda: posterior(Dirichlet([1.0, 1.0]), KnownTrials(3), [[1, 1, 1]]),
            "Counts of 3 outcomes do not fit a Dirichlet of 2",
        ),
        (
            lambda: posterior(
                Dirichlet([1.0, 1.0]), KnownTrials(3), Multinomial.statistics([[1, 1]])
            ),
            "Statistics of 2 trials",
        ),
    ],
)
def test_what_does_not_fit_is_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
