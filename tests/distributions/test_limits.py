"""Limits: bounds that hold for extreme laws, sample sizes that are smallest, simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.limits import (
    central_limit_theorem,
    chebyshev_bound,
    chebyshev_sample_size,
    hoeffding_bound,
    hoeffding_sample_size,
    law_of_large_numbers,
    standardized_means,
)
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT


@given(st.floats(0.01, 10), st.floats(1, 10))
def test_chebyshev_is_reached_by_the_three_point_law(spread: float, k: float) -> None:
    # Mass 1/(2k^2) at each of -k s and k s, the rest at 0: variance s^2, P(|X| >= k s) = 1/k^2.
    assert chebyshev_bound(spread**2, k * spread) == pytest.approx(1 / k**2, rel=1e-9)


@given(st.floats(1e-3, 1e3), st.floats(0.05, 5), st.floats(0.01, 0.5))
def test_chebyshev_sample_size_is_the_smallest(v: float, d: float, risk: float) -> None:
    n = chebyshev_sample_size(v, d, risk)
    assert chebyshev_bound(v, d, n) <= risk * (1 + 1e-12)
    if n > 1:
        assert chebyshev_bound(v, d, n - 1) > risk * (1 - 1e-12)


@given(st.floats(0.05, 2), st.floats(0.001, 0.5), st.floats(0.5, 4))
def test_hoeffding_sample_size_is_the_smallest(d: float, risk: float, width: float) -> None:
    n = hoeffding_sample_size(-1.0, width - 1.0, d, risk)
    assert hoeffding_bound(-1.0, width - 1.0, d, n) <= risk * (1 + 1e-9)
    if n > 1:
        assert hoeffding_bound(-1.0, width - 1.0, d, n - 1) > risk * (1 - 1e-9)


@pytest.mark.parametrize("n", [1, 10, 50, 200])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_bounds_hold_for_coins(n: int, p: float) -> None:
    distance = 0.15
    exact = stats.binom.cdf(np.floor(n * (p - distance) + 1e-9), n, p) + stats.binom.sf(
        np.ceil(n * (p + distance) - 1e-9) - 1, n, p
    )
    assert exact <= chebyshev_bound(p * (1 - p), distance, n) + 1e-12
    assert exact <= hoeffding_bound(0.0, 1.0, distance, n) + 1e-12


def test_decimal_input_means_what_is_written() -> None:
    assert chebyshev_sample_size(0.25, 0.1, 0.05) == 500
    assert chebyshev_sample_size(0.25, 0.01, 0.1) == 25_000
    assert chebyshev_sample_size(0.0, 0.1, 0.05) == 1


# --- Simulations ----------------------------------------------------------------------------------


def test_means_close_in_and_stay_under_chebyshev() -> None:
    table = law_of_large_numbers(
        Bernoulli(0.3), distance=0.1, sizes=(1, 10, 100, 1000), repetitions=2000, random_state=0
    )
    assert table.n.tolist() == [1, 10, 100, 1000]
    # The spread of 2000 means is known to about 1.6 %; five times that.
    np.testing.assert_allclose(table.spread, table.expected_spread, rtol=0.08)
    # Four standard errors of a share of 2000.
    assert np.all(table.share_outside <= table.chebyshev + 4 * 0.5 / math.sqrt(2000))
    assert table.share_outside[-1] == 0.0
    assert np.all(np.diff(table.share_outside) <= 0)
    assert abs(table.mean[-1] - 0.3) < 4 * table.expected_spread[-1] / math.sqrt(2000)


def test_skewed_means_become_normal() -> None:
    table = central_limit_theorem(
        Gamma(1.0, 1.0), sizes=(1, 10, 100), repetitions=5000, random_state=1
    )
    # Exponential: skewness 2 / sqrt(n), excess kurtosis 6 / n.
    np.testing.assert_allclose(table.skewness, [2, 2 / math.sqrt(10), 0.2], atol=0.25)
    assert abs(table.excess_kurtosis[-1]) < 0.4
    assert np.all(np.diff(table.distance) < 0)
    # Berry-Esseen with E|X - 1|^3 = 12/e - 2, plus the noise of the simulation.
    third = 12 / math.e - 2
    bound = 0.4748 * third / np.sqrt(table.n)
    assert np.all(table.distance <= bound + table.noise)


def test_normal_means_are_normal_at_once() -> None:
    table = central_limit_theorem(Normal(5.0, 4.0), sizes=(1, 7), random_state=2)
    assert np.all(table.distance <= table.noise)


def test_kolmogorov_distance_is_scipys() -> None:
    scores = standardized_means(Gamma(2.0, 1.0), 5, 1000, random_state=3)
    table = central_limit_theorem(Gamma(2.0, 1.0), sizes=(5,), repetitions=1000, random_state=3)
    assert table.distance[0] == pytest.approx(stats.kstest(scores, "norm").statistic, abs=1e-12)


def test_rows_of_one_size_do_not_depend_on_the_others() -> None:
    alone = law_of_large_numbers(Normal(), 0.1, sizes=(50,), repetitions=100, random_state=4)
    among = law_of_large_numbers(Normal(), 0.1, sizes=(3, 50), repetitions=100, random_state=4)
    assert alone.mean[0] == among.mean[1]
    again = law_of_large_numbers(Normal(), 0.1, sizes=(50,), repetitions=100, random_state=4)
    assert alone.mean[0] == again.mean[0]
    other = law_of_large_numbers(Normal(), 0.1, sizes=(50,), repetitions=100, random_state=5)
    assert alone.mean[0] != other.mean[0]


def test_results_are_tables() -> None:
    table = law_of_large_numbers(Normal(), 0.1, sizes=(1, 2), repetitions=10, random_state=0)
    arrow = table.to_arrow()
    assert arrow.column_names == [
        "n",
        "mean",
        "spread",
        "expected_spread",
        "share_outside",
        "chebyshev",
    ]
    assert arrow.num_rows == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: chebyshev_bound(-1.0, 1.0), "variance must be finite and at least 0"),
        (lambda: chebyshev_bound(1.0, 0.0), "distance must be finite and above 0"),
        (lambda: chebyshev_bound(1.0, 1.0, 0), "n must be a whole number"),
        (lambda: chebyshev_bound(float("nan"), 1.0), "got nan"),
        (lambda: chebyshev_sample_size(1.0, 1.0, 0.0), "between 0 and 1, got 0.0"),
        (lambda: hoeffding_bound(1.0, 0.0, 0.1), "between two numbers"),
        (lambda: hoeffding_sample_size(0.0, 1.0, 0.1, 1.0), "got 1.0"),
        (lambda: law_of_large_numbers(StudentT(1.5, 0.0, 1.0), 0.1), "finite variance"),
        (lambda: law_of_large_numbers(Normal(), 0.1, sizes=()), "at least one sample size"),
        (lambda: law_of_large_numbers(Normal(), 0.1, sizes=(0,)), "a sample size must be"),
        (lambda: central_limit_theorem(Bernoulli(1.0)), "variance of the law must be finite"),
    ],
)
def test_wrong_questions_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(("size", "distance"), [(10, 0.1), (10, 0.3), (20, 0.15), (100, 0.07)])
def test_errors_that_equal_the_distance_are_outside(size: int, distance: float) -> None:
    found = law_of_large_numbers(Bernoulli(0.5), distance, [size], 20_000, random_state=0)
    reach = round(distance * size)
    exact = 2 * float(stats.binom.cdf(size / 2 - reach, size, 0.5))
    # Four standard errors of a share of 20,000.
    assert found.share_outside[0] == pytest.approx(exact, abs=4 * np.sqrt(0.25 / 20_000))
