"""Equality but for rounding: decimals, opposite signs, margins, and what stays apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import (
    DIFFERENCES,
    ROUNDING,
    at_least,
    best_of,
    merge_differences,
    merge_rounding,
    score_differences,
)

hundredths = st.integers(0, 100)


@given(st.lists(st.tuples(hundredths, hundredths), min_size=1, max_size=20), st.integers(0, 20))
def test_differences_of_decimals_are_those_of_the_integers(
    pairs: list[tuple[int, int]], margin: int
) -> None:
    exact = np.array([a - b for a, b in pairs])
    found = merge_differences([a / 100 - b / 100 for a, b in pairs], margin / 100)
    np.testing.assert_array_equal(found == 0, exact == 0)
    np.testing.assert_array_equal(found[:, None] == found, exact[:, None] == exact)
    np.testing.assert_array_equal(found == -found[:, None], exact == -exact[:, None])
    for ours, whole in ((found > margin / 100, exact > margin), (found < 0, exact < 0)):
        np.testing.assert_array_equal(ours, whole)


@given(st.lists(st.tuples(hundredths, hundredths), min_size=1, max_size=20))
def test_scores_are_equal_but_for_rounding(pairs: list[tuple[int, int]]) -> None:
    whole = np.array([a + b for a, b in pairs])
    sums = merge_rounding([a / 100 + b / 100 for a, b in pairs])
    np.testing.assert_array_equal(sums[:, None] == sums, whole[:, None] == whole)


def test_infinite_and_missing_numbers_stay_what_they_are() -> None:
    given_numbers = np.array([np.inf, 1.0, -np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(merge_rounding(given_numbers), given_numbers)
    np.testing.assert_array_equal(merge_differences(given_numbers), given_numbers)
    assert merge_rounding([]).shape == (0,)


def test_numbers_of_other_sizes_do_not_widen_the_tolerance() -> None:
    numbers = np.array([1e-10, 2e-10, 1e10])
    np.testing.assert_array_equal(merge_rounding(numbers), numbers)


def test_what_is_further_apart_than_stated_stays_apart() -> None:
    near, far = 0.1 * (1 + 0.5 * DIFFERENCES), 0.1 * (1 + 2.5 * DIFFERENCES)
    assert merge_differences([0.1, near]).tolist() == [0.1, 0.1]
    assert merge_differences([0.1, far]).tolist() == [0.1, far]


def test_scores_that_are_equal_have_no_difference() -> None:
    first = [0.3, 1e300, 0.5]
    second = [0.1 + 0.2, 1e300, 0.4]
    assert score_differences(first, second).tolist() == [0.0, 0.0, pytest.approx(0.1)]


@given(hundredths, hundredths, hundredths)
def test_limits_of_decimals_are_those_of_the_integers(a: int, b: int, limit: int) -> None:
    assert bool(at_least(a / 100 + b / 100, limit / 100)) == (a + b >= limit)


def test_no_chain_draws_far_numbers_together() -> None:
    steps = 1.0 + 0.75 * ROUNDING * np.arange(9)
    merged = merge_rounding(steps)
    assert len(np.unique(merged)) == 5
    assert (np.abs(merged - steps) <= ROUNDING * steps).all()


def test_the_best_of_equals() -> None:
    scores = [0.2, 0.1 + 0.2, 0.3, np.nan]
    assert best_of(scores) == 1
    assert best_of(scores, last=True) == 2
    assert best_of([-np.inf, -np.inf]) == 0
