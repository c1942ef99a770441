"""Credible intervals: coverage, shortness against a search, coverage of true parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.conjugacy import credible_interval, posterior
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT

LAWS = [
    Beta(2.0, 5.0),
    Beta(1.0, 4.0),
    Beta(30.0, 1.0),
    Beta(0.5, 3.0),
    Gamma(3.0, 0.5),
    Gamma(0.7, 2.0),
    Normal(1.0, 4.0),
    StudentT(3.0, -2.0, 0.5),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("kind", ["equal_tailed", "highest_density"])
def test_intervals_hold_their_probability(law: Any, level: float, kind: str) -> None:
    low, high = credible_interval(law, level, kind)
    assert low < high
    assert float(law.cdf(high)) - float(law.cdf(low)) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_no_interval_is_shorter(law: Any) -> None:
    low, high = credible_interval(law, 0.8, "highest_density")
    below = np.linspace(0, 0.2, 2001)
    lengths = law.quantile(np.minimum(below + 0.8, 1.0)) - law.quantile(below)
    assert high - low <= float(lengths.min()) * (1 + 1e-12)


@pytest.mark.parametrize("law", [Normal(1.0, 4.0), StudentT(3.0, -2.0, 0.5), Beta(3.0, 3.0)])
def test_both_kinds_agree_for_symmetric_laws(law: Any) -> None:
    tails = credible_interval(law, 0.9)
    densest = credible_interval(law, 0.9, "highest_density")
    np.testing.assert_allclose(densest, tails, rtol=1e-7)


def test_falling_densities_begin_at_the_end_of_the_support() -> None:
    assert credible_interval(Beta(1.0, 4.0), 0.9, "highest_density").low == 0.0
    assert credible_interval(Beta(30.0, 1.0), 0.9, "highest_density").high == 1.0
    low, high = credible_interval(Gamma(1.0, 2.0), 0.95, "highest_density")
    assert (low, high) == (0.0, pytest.approx(-math.log(0.05) / 2))


@given(st.floats(1.5, 40), st.floats(1.5, 40), st.floats(0.1, 0.99))
def test_densities_at_both_ends_are_equal(a: float, b: float, level: float) -> None:
    law = Beta(a, b)
    low, high = credible_interval(law, level, "highest_density")
    # Inside there is no point of lower density than at the ends.
    inside = law.density(np.linspace(low, high, 101))
    edge = max(float(law.density(low)), float(law.density(high)))
    assert inside.min() >= edge * (1 - 1e-3) - 1e-6


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        share = rng.beta(2.0, 2.0)
        data = (rng.random(10) < share).astype(int)
        low, high = credible_interval(posterior(Beta(2.0, 2.0), Bernoulli, data), 0.9)
        hits += low <= share <= high
    # Four standard errors of a share of 1000.
    assert abs(hits / 1000 - 0.9) < 4 * math.sqrt(0.09 / 1000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: credible_interval(Normal(), 1.0), "between 0 and 1, got 1.0"),
        (lambda: credible_interval(Normal(), 0.9, "shortest"), "got 'shortest'"),
        (lambda: credible_interval(Dirichlet([1.0, 1.0])), "Take a marginal first"),
        (lambda: credible_interval(Bernoulli(0.5)), "no continuous law"),
        (
            lambda: credible_interval(Beta(0.5, 0.5), 0.9, "highest_density"),
            "peaks at both ends",
        ),
    ],
)
def test_wrong_questions_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
