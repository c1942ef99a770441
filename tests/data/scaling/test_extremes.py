"""Extremes: against minimum and maximum, under additions and removals of any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.data.scaling.min_max import _GUESSED_FROM, TAIL, Extremes, Tail
from novum.numerics import Floats
from tests.data.scaling.tables import small_tables


def check(found: Extremes, X: Floats) -> None:
    known = ~np.isnan(X).all(axis=0)
    np.testing.assert_array_equal(found.smallest[known], np.nanmin(X[:, known], axis=0))
    np.testing.assert_array_equal(found.largest[known], np.nanmax(X[:, known], axis=0))
    assert np.isnan(found.smallest[~known]).all()


@given(small_tables(), small_tables())
def test_small_tables(A: Floats, B: Floats) -> None:
    both = np.concatenate([A, B])
    a, b = Extremes.of(A), Extremes.of(B)
    check(a + b, both)
    check(a + b - a, B)
    assert (a + b).isclose(Extremes.of(both))
    assert (2.0 * a).isclose(a + a)


@pytest.mark.parametrize("kind", ["normal", "ties", "sorted", "binary", "missing"])
def test_large_tables(kind: str) -> None:
    rng = np.random.default_rng(0)
    n = _GUESSED_FROM + 5000
    X = rng.normal(size=(n, 2))
    if kind == "ties":
        X = np.round(X)
    elif kind == "sorted":
        X = np.sort(X, axis=0)[::-1]
    elif kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "missing":
        X[rng.random(X.shape) < 0.995] = np.nan
    weight = rng.integers(1, 3, n).astype(float)
    found = Extremes.of(X, weight)
    check(found, X)
    np.testing.assert_allclose(found.weight, weight @ ~np.isnan(X))
    for tail in (found.low, found.high):
        assert np.diff(tail.counts.starts).max() <= TAIL
    half = Extremes.of(X[: n // 2], weight[: n // 2])
    rest = Extremes.of(X[n // 2 :], weight[n // 2 :])
    assert (half + rest).isclose(found)
    some = rng.random(n) < 0.3
    check(found - Extremes.of(X[some], weight[some]), X[~some])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30))
def test_rows_come_and_go(moves: list[tuple[int, bool]]) -> None:
    """Any number of arrivals and departures gives the extremes of those who are left."""
    rng = np.random.default_rng(0)
    pieces = [rng.normal(size=(20, 1)).round(1) for _ in range(10)]
    present, total = [0], Extremes.of(pieces[0])
    for piece, comes in moves:
        if comes:
            present.append(piece)
            total = total + Extremes.of(pieces[piece])
        elif piece in present and len(present) > 1:
            present.remove(piece)
            total = total - Extremes.of(pieces[piece])
        try:
            smallest = total.smallest
        except InputError:
            return
        rows = np.concatenate([pieces[i] for i in present])
        np.testing.assert_array_equal(smallest, rows.min(axis=0))


def test_an_end_that_is_not_known_any_more_is_not_guessed() -> None:
    X = np.arange(1000.0)[:, None]
    whole = Extremes.of(X)
    check(whole - Extremes.of(X[: TAIL - 1]), X[TAIL - 1 :])
    gone = whole - Extremes.of(X[:TAIL])
    with pytest.raises(
        InputError, match=r"end of numeric column 0 is not known.*Fit the remaining"
    ):
        _ = gone.smallest
    assert gone.largest.tolist() == [999.0]


def test_where_both_tails_meet_the_other_one_knows() -> None:
    X = np.array([[0.0]] * 90 + [[1.0]] * 90)
    left = Extremes.of(X) - Extremes.of(X[:90])
    check(left, X[90:])
    wide = np.arange(TAIL + 10.0)[:, None]
    check(Extremes.of(wide) - Extremes.of(wide[: TAIL + 5]), wide[TAIL + 5 :])


def test_rows_that_leave_with_a_shorter_reach_than_they_came() -> None:
    """Small parts know more values than one large table with ties does."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (_GUESSED_FROM + 4000, 1)).astype(float)
    total = Extremes.of(X[:0])
    for part in np.array_split(X, 40):
        total = total + Extremes.of(part)
    large = X[: _GUESSED_FROM + 1000]
    left = total - Extremes.of(large)
    check(left, X[len(large) :])
    values, weights = left.low.counts.column(0)
    for value, weight in zip(values, weights, strict=True):
        assert weight == (X[len(large) :] == value).sum()


def test_rows_that_were_never_there() -> None:
    a, b = Extremes.of(np.array([[1.0], [2.0]])), Extremes.of(np.array([[0.0]]))
    with pytest.raises(InputError, match="never added"):
        a - b
    assert not Tail.of(np.array([[1.0]])).isclose(Tail.of(np.array([[2.0]])))
