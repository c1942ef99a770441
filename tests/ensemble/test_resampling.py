"""Draws: a function of seed and member, the probabilities they should have, weights, limits."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError, MemoryLimitError
from novum.ensemble.resampling import Resampling, column_draws, row_draws


def draws(n: int = 20, d: int = 5, **more: Any) -> Resampling:
    words = np.random.SeedSequence(more.pop("seed", 0)).generate_state(4, np.uint32)
    given = {"row_draws": n, "column_draws": d, **more}
    return Resampling(words, 0, 1000, n, d, **given)


@given(st.integers(0, 999), st.integers(0, 99))
def test_draws_are_a_function_of_seed_and_member(member: int, seed: int) -> None:
    first, again = draws(seed=seed), pickle.loads(pickle.dumps(draws(seed=seed)))
    first.rows(3)
    np.testing.assert_array_equal(first.rows(member), again.rows(member))
    np.testing.assert_array_equal(first.columns(member), again.columns(member))
    assert first.seed(member, "random_state") == again.seed(member, "random_state") < 2**31


def test_members_parameters_and_seeds_differ() -> None:
    one = draws()
    assert not np.array_equal(one.rows(0), one.rows(1))
    assert not np.array_equal(one.rows(0), draws(seed=1).rows(0))
    assert len({one.seed(m, p) for m in range(50) for p in ("random_state", "a__b")}) == 100


def test_a_bootstrap_sample_misses_a_row_with_the_probability_of_theory() -> None:
    n, members = 10, 1000
    missed = np.array([draws(n).counts(m) == 0 for m in range(members)])
    expected = (1 - 1 / n) ** n
    error = np.sqrt(expected * (1 - expected) / members)
    # Each row's share lies within five standard errors of it (chance of failing 6e-6).
    assert (np.abs(missed.mean(axis=0) - expected) < 5 * error).all()


def test_draws_with_replacement_are_uniform_or_follow_the_weights() -> None:
    n = 8
    for weight in (None, np.array([0.0, 1.0, 2.0, 3.0, 0.0, 0.5, 0.5, 0.0])):
        total = sum(draws(n, weight=weight).counts(m) for m in range(1000))
        share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
        possible = share > 0
        assert (total[~possible] == 0).all()
        expected = share[possible] * total.sum()
        assert stats.chisquare(total[possible], expected).pvalue > 1e-4


def test_a_row_of_weight_zero_is_absent() -> None:
    weight = np.array([0.0, 2.0, 0.0, 1.0, 1.0, 0.0])
    kept = np.flatnonzero(weight)
    whole = draws(6, weight=weight, row_draws=12)
    short = draws(3, weight=weight[kept], row_draws=12)
    for member in range(20):
        np.testing.assert_array_equal(whole.rows(member), kept[short.rows(member)])


def test_without_replacement_every_row_comes_once_at_most() -> None:
    one = draws(20, bootstrap=False, row_draws=12)
    assert all(one.counts(m).max() == 1 and one.counts(m).sum() == 12 for m in range(50))
    assert not one.takes_every_row
    weight = np.array([1.0, 0.0, 5.0, 1.0])
    some = draws(4, bootstrap=False, row_draws=3, weight=weight)
    assert some.takes_every_row
    assert sorted(some.rows(0)) == [0, 2, 3]


def test_columns_come_in_order_and_once_unless_put_back() -> None:
    one = draws(d=6, column_draws=4)
    for member in range(50):
        columns = one.columns(member)
        assert sorted(set(columns.tolist())) == columns.tolist()
        assert len(columns) == 4
    assert draws(d=6).takes_every_column
    assert draws(d=6).columns(7).tolist() == list(range(6))
    again = draws(d=6, bootstrap_columns=True)
    assert not again.takes_every_column
    assert any(len(set(again.columns(m).tolist())) < 6 for m in range(20))


def test_how_many_rows() -> None:
    weight = np.array([0.0, 1.0, 2.0, 7.0] * 5)
    assert row_draws(None, 20, None, bootstrap=True) == 20
    assert row_draws(None, 20, weight, bootstrap=True) == 15
    assert row_draws(7, 20, weight, bootstrap=True) == 7
    assert row_draws(0.5, 20, weight, bootstrap=True) == 25
    assert row_draws(0.5, 20, weight, bootstrap=False) == 7
    assert row_draws(0.01, 20, None, bootstrap=True) == 1
    with pytest.raises(InputError, match=r"max_samples=16 must be <= n_samples=15"):
        row_draws(16, 20, weight, bootstrap=False)
    with pytest.warns(UserWarning, match="of a total weight of 0.05 is 1 draws for 15 rows"):
        row_draws(1.0, 20, weight / 1000, bootstrap=True)
    with pytest.raises(MemoryLimitError, match="divide the weights by their mean"):
        row_draws(1.0, 20, weight * 1e14, bootstrap=True)


def test_how_many_columns() -> None:
    assert [column_draws(part, 10) for part in (1.0, 0.25, 0.01, 3)] == [10, 2, 1, 3]
    with pytest.raises(InputError, match="max_features=11 must be <= n_features=10"):
        column_draws(11, 10)


@pytest.mark.parametrize(
    "change",
    [
        {"seed_words": np.zeros(3, np.uint32)},
        {"seed_words": np.zeros(4)},
        {"first": 5, "stop": 2},
        {"row_draws": 0},
        {"weight": np.ones(3)},
    ],
    ids=str,
)
def test_damaged_draws_are_refused(change: dict[str, Any]) -> None:
    fields = {
        "seed_words": np.zeros(4, np.uint32),
        "first": 0,
        "stop": 2,
        "n_rows": 4,
        "n_columns": 1,
        "row_draws": 4,
        "column_draws": 1,
    }
    Resampling(**fields)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Resampling(**{**fields, **change})
