"""Estimates from samples: definitions by brute force, bias, and known laws."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from sklearn.feature_selection import mutual_info_regression
from sklearn.metrics import mutual_info_score

from novum.core.errors import InputError
from novum.distributions.information import entropy, mutual_information
from novum.distributions.information_estimates import (
    digamma_of_position,
    estimate_entropy,
    estimate_mutual_information,
    neighbor_entropy,
    neighbor_mutual_information,
)
from novum.distributions.joint_table import JointTable

samples = st.lists(st.sampled_from("abcd"), min_size=2, max_size=30)


@given(samples)
def test_jackknife_is_the_definition(sample: list[str]) -> None:
    n = len(sample)
    whole = estimate_entropy(sample, "plug_in")
    left_out = [estimate_entropy(sample[:i] + sample[i + 1 :], "plug_in") for i in range(n)]
    wanted = n * whole - (n - 1) * sum(left_out) / n
    assert estimate_entropy(sample, "jackknife") == pytest.approx(wanted, abs=1e-10)


@given(samples)
def test_plug_in_is_the_entropy_of_the_shares(sample: list[str]) -> None:
    table = JointTable.from_frame({"x": sample})
    assert estimate_entropy(table, "plug_in") == pytest.approx(entropy(table), abs=1e-12)
    corrected = entropy(table, base=math.e) + (len(set(sample)) - 1) / (2 * len(sample))
    assert estimate_entropy(sample, base=math.e) == pytest.approx(corrected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=40))
def test_plug_in_information_is_that_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    x, y = [r[0] for r in rows], [r[1] for r in rows]
    assert estimate_mutual_information(x, y, "plug_in", base=math.e) == pytest.approx(
        mutual_info_score(x, y), abs=1e-10
    )


@pytest.mark.parametrize("estimator", ["miller_madow", "jackknife"])
def test_corrections_remove_most_of_the_bias(estimator: str) -> None:
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, 16, 60) for _ in range(300)]
    plain = np.mean([estimate_entropy(x, "plug_in", base=2) for x in draws])
    better = np.mean([estimate_entropy(x, estimator, base=2) for x in draws])
    # True entropy 4 bits; the plug-in estimate is low by (16 - 1) / (2 * 60 ln 2) = 0.18 bits.
    assert 4 - plain == pytest.approx(15 / (120 * math.log(2)), rel=0.15)
    assert abs(4 - better) < 0.25 * (4 - plain)


def test_independent_columns_have_no_information_on_average() -> None:
    rng = np.random.default_rng(1)
    pairs = [rng.integers(0, 4, (2, 80)) for _ in range(200)]
    corrected = np.mean([estimate_mutual_information(x, y, base=2) for x, y in pairs])
    # The plug-in bias is 9 / (2 * 80 ln 2) = 0.08 bits; four standard errors are about 0.01.
    assert abs(corrected) < 0.015


def test_weights_count_as_rows() -> None:
    table = JointTable.from_frame({"x": ["a", "b"]}, sample_weight=[3.0, 1.0])
    assert estimate_entropy(table, "jackknife") == pytest.approx(
        estimate_entropy(["a", "a", "a", "b"], "jackknife")
    )


# --- Continuous -----------------------------------------------------------------------------------


def test_neighbor_entropy_of_normal_vectors() -> None:
    rng = np.random.default_rng(2)
    covariance = np.array([[2.0, 1.0], [1.0, 3.0]])
    x = rng.multivariate_normal([0, 0], covariance, 4000)
    exact = 0.5 * math.log((2 * math.pi * math.e) ** 2 * np.linalg.det(covariance))
    # The standard error of this estimator is about sqrt((d/2 + psi'(k)) / n) = 0.02 nats.
    assert neighbor_entropy(x, base=math.e) == pytest.approx(exact, abs=0.08)


def test_neighbor_entropy_follows_the_scale() -> None:
    x = np.random.default_rng(3).normal(size=500)
    assert neighbor_entropy(8 * x) == pytest.approx(neighbor_entropy(x) + math.log(8), abs=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_neighbor_information_of_normal_pairs(rho: float) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 3000).T
    exact = -0.5 * math.log(1 - rho**2)
    assert neighbor_mutual_information(x, y, base=math.e) == pytest.approx(exact, abs=0.06)


def test_neighbor_information_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=600)
    y = np.sin(3 * x) + 0.3 * rng.normal(size=600)
    # Theirs adds noise of 1e-10 and clips at zero; else it is the same estimator.
    theirs = mutual_info_regression(x[:, None], y, n_neighbors=3, random_state=0)[0]
    assert neighbor_mutual_information(x, y, base=math.e) == pytest.approx(theirs, abs=1e-6)


def test_neighbor_information_does_not_depend_on_units() -> None:
    x, y = np.random.default_rng(6).normal(size=(2, 400))
    scaled = neighbor_mutual_information(2.0**20 * x, 2.0**-20 * y)
    assert scaled == pytest.approx(neighbor_mutual_information(x, y), abs=1e-12)


# --- Numbers with ties ----------------------------------------------------------------------------


@given(st.integers(0, 4), st.integers(1, 6), st.data())
def test_place_of_a_marked_one_is_the_mean_over_all_orders(
    offset: int, size: int, data: st.DataObject
) -> None:
    marked = data.draw(st.integers(1, size))
    which = data.draw(st.integers(1, marked))
    places = [chosen[which - 1] for chosen in combinations(range(1, size + 1), marked)]
    wanted = np.mean([special.digamma(offset + place) for place in places])
    arguments = (np.array([v]) for v in (offset, size, marked, which))
    assert digamma_of_position(*arguments)[0] == pytest.approx(wanted, abs=1e-12)


def test_places_of_large_ties_do_not_underflow() -> None:
    # The 200th of 300 marked among a million: the first weight alone would be 1e-700.
    arguments = [np.array([v]) for v in (0, 10**6, 300, 200)]
    # From 0 strictly nearer the mean has a closed form.
    wanted = special.digamma(200) + special.digamma(10**6 + 1) - special.digamma(301)
    assert digamma_of_position(*arguments)[0] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_rounded_independent_numbers_have_no_information(decimals: int) -> None:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(12):
        x, y = rng.normal(size=(2, 500)).round(decimals)
        found += [neighbor_mutual_information(x, y), neighbor_mutual_information(x, y[::-1])]
    # One estimate has a standard error of about 0.05.
    assert abs(np.mean(found)) < 4 * 0.05 / math.sqrt(len(found))


@pytest.mark.parametrize("decimals", [1, 2])
def test_rounding_far_below_the_spread_changes_little(decimals: int) -> None:
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=(2, 3000))
    y = 0.8 * x + 0.6 * noise
    exact = -0.5 * math.log(1 - 0.64)
    rounded = neighbor_mutual_information(x.round(decimals), y.round(decimals), base=math.e)
    assert rounded == pytest.approx(exact, abs=0.06)


def test_repeated_rows_have_the_information_of_their_joint_law() -> None:
    rng = np.random.default_rng(9)
    law = np.array([[0.3, 0.1, 0.0], [0.05, 0.05, 0.5]])
    cells = rng.choice(6, 4000, p=law.ravel())
    x, y = np.divmod(cells, 3)
    # The sampling error of the mean of the log ratios is about 0.01.
    assert neighbor_mutual_information(x, y) == pytest.approx(mutual_information(law), abs=0.04)
    assert neighbor_mutual_information(x / 10, y / 10) == pytest.approx(
        neighbor_mutual_information(x, y), abs=1e-12
    )


def test_a_repeating_column_with_a_continuous_one() -> None:
    rng = np.random.default_rng(10)
    x = rng.integers(0, 2, 3000)
    # Two groups two deviations apart: 0.3363 nats by quadrature.
    found = neighbor_mutual_information(x, rng.normal(size=3000) + 2 * x, base=math.e)
    assert found == pytest.approx(0.3363, abs=0.06)


def test_ties_are_broken_as_jitter_does_on_average() -> None:
    rng = np.random.default_rng(11)
    x, noise = rng.normal(size=(2, 300)).round(1)
    y = x + noise
    jittered = [
        mutual_info_regression(x[:, None] + 0.0, y, n_neighbors=3, random_state=seed)[0]
        for seed in range(40)
    ]
    error = np.std(jittered) / math.sqrt(40)
    found = neighbor_mutual_information(x, y, base=math.e)
    # Jitter moves a row and all its distances together; one order for each row does not.
    assert found == pytest.approx(np.mean(jittered), abs=4 * error + 0.02)


def test_vectors_may_repeat() -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(800, 2)).round(0)
    y = rng.normal(size=800).round(1)
    assert abs(neighbor_mutual_information(x, y)) < 0.15
    assert neighbor_mutual_information(x, x[:, 0]) > 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: estimate_entropy(["a"], "bayes"), "one of plug_in, miller_madow, jackknife"),
        (lambda: estimate_entropy(JointTable([1.0], ["x"], [(0,)])), "not counted from a sample"),
        (
            lambda: estimate_entropy(
                JointTable.from_frame({"x": ["a", "b"]}, sample_weight=[0.5, 1.0]), "jackknife"
            ),
            "leaves out whole rows",
        ),
        (lambda: neighbor_entropy([1.0, 1.0, 1.0, 1.0, 2.0]), "distance 0, the first is row 0"),
        (lambda: neighbor_entropy([1.0, np.nan, 2.0]), "Row 1 has a missing"),
        (lambda: neighbor_entropy([1.0, 2.0]), "from 1 to 1 neighbors, got 3"),
        (lambda: neighbor_mutual_information(np.arange(9.0), np.ones(9)), "Column 0 is constant"),
        (lambda: neighbor_mutual_information(np.arange(9.0), np.arange(8.0)), "9 rows and y 8"),
        (lambda: estimate_entropy(["a", "b"], base=0), "base of a logarithm"),
    ],
)
def test_wrong_samples_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_one_row_has_no_entropy() -> None:
    assert estimate_entropy(["a"], "jackknife") == 0.0
    assert estimate_entropy(["a"]) == 0.0
