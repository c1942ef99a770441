"""Majority, soft and mean: the definitions by loops, ties, order, rounding."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.ensemble.combining import (
    checked_votes,
    in_order,
    log_mean,
    vote_shares,
    weighted_mean,
    winners,
)

ballots = st.integers(1, 9).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 3), min_size=m, max_size=m), min_size=1, max_size=6)
)


@given(ballots)
def test_the_winner_has_most_votes_and_is_the_lowest_of_those(rows: list[list[int]]) -> None:
    found = winners(vote_shares(np.array(rows), 4), len(rows[0]))
    for row, winner in zip(rows, found.tolist(), strict=True):
        counts = Counter(row)
        best = max(counts.values())
        assert winner == min(k for k, count in counts.items() if count == best)


@given(ballots, st.data())
def test_weighted_votes_are_exact_fractions(rows: list[list[int]], data: st.DataObject) -> None:
    m = len(rows[0])
    tenths = data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m).filter(any))
    found = winners(vote_shares(np.array(rows), 4, [t / 10 for t in tenths]), m)
    for row, winner in zip(rows, found.tolist(), strict=True):
        votes = [sum(Fraction(t, 10) for t, k in zip(tenths, row, strict=True) if k == c)
                 for c in range(4)]  # fmt: skip
        assert winner == votes.index(max(votes))


@given(ballots)
def test_shares_add_up_to_one(rows: list[list[int]]) -> None:
    np.testing.assert_allclose(vote_shares(np.array(rows), 4).sum(axis=1), 1)


def test_a_majority_of_independent_members_errs_as_condorcet_says() -> None:
    rng = np.random.default_rng(0)
    n, m, p = 20_000, 11, 0.3
    codes = (rng.random((n, m)) < p).astype(int)
    wrong = winners(vote_shares(codes, 2), m).mean()
    expected = stats.binom.sf(m // 2, m, p)
    # Four standard errors: a chance of 6e-5 of failing with another seed.
    assert abs(wrong - expected) < 4 * math.sqrt(expected * (1 - expected) / n)


@given(st.integers(1, 40), st.integers(1, 3))
@settings(max_examples=30)
def test_means_are_the_definition_for_any_number_of_jobs(m: int, jobs: int) -> None:
    rng = np.random.default_rng(m)
    values, weights = rng.normal(size=(m, 4)), rng.random(m) + 0.1
    found = weighted_mean(lambda k: values[k], m, weights, jobs)
    np.testing.assert_allclose(found, weights @ values / weights.sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weighted_mean(lambda k: values[k], m), values.mean(axis=0))
    one = weighted_mean(lambda k: values[k], m, weights, 1)
    assert found.tobytes() == one.tobytes()
    assert list(in_order(lambda k: k, m, jobs)) == list(range(m))


def test_the_mean_is_no_worse_than_its_members_on_average() -> None:
    rng = np.random.default_rng(0)
    y, said = rng.normal(size=50), rng.normal(size=(7, 50))
    mean = weighted_mean(lambda k: said[k], 7)
    spread = ((said - mean) ** 2).mean()
    assert ((mean - y) ** 2).mean() == pytest.approx(((said - y) ** 2).mean() - spread)


def test_logarithms_of_means_do_not_underflow() -> None:
    logs = np.array([[-2000.0, -1.0, -np.inf], [-2001.0, -2.0, -np.inf], [-5000.0, -3.0, -np.inf]])
    found = log_mean(lambda k: logs[k], 3)
    expected = [
        -2000 + math.log(1 + math.exp(-1)) - math.log(3),
        math.log((math.exp(-1) + math.exp(-2) + math.exp(-3)) / 3),
        -math.inf,
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "must be equal; got 2 weights for 3 estimators: a, b, c"),
        ([1, -2, 1], r"The weight of 'b' is -2\.0; give finite numbers"),
        ([1, 2, np.nan], "The weight of 'c' is nan"),
        (["x", "y", "z"], "weights are numbers"),
    ],
)
def test_impossible_votes_are_named(weights: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_votes(weights, ["a", "b", "c"])


def test_votes_may_be_absent_or_zero_for_some() -> None:
    assert checked_votes(None, ["a"]) is None
    assert checked_votes([0, 1], ["a", "b"]).tolist() == [0.0, 1.0]  # type: ignore[union-attr]
