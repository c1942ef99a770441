"""Gaussianizer: the formula cell by cell, normality, ties, going back, bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from novum.core.errors import InputError
from novum.data.scaling import Gaussianizer
from novum.numerics import Floats
from tests.data.scaling.tables import small_tables


def definition(column: Floats, x: float) -> float:
    """The normal quantile of (rank + 1) / (n + 2), cells equal to x counted by half."""
    known = column[~np.isnan(column)]
    rank = (known < x).sum() + (known == x).sum() / 2
    return float(stats.norm.ppf((rank + 1) / (len(known) + 2)))


@given(small_tables())
def test_it_is_its_definition(X: Floats) -> None:
    model = Gaussianizer().fit(X)
    new = np.array([[-7.0, -7.0], [0.5, 0.5], [7.0, 7.0]])
    new[:, np.isnan(X).all(axis=0)] = np.nan
    for table in (X, new):
        found = model.transform(table)
        for j in range(X.shape[1]):
            for row in range(len(table)):
                if not np.isnan(table[row, j]):
                    expected = definition(X[:, j], table[row, j])
                    assert found[row, j] == pytest.approx(expected, abs=1e-12)


def test_the_formula_without_ties_is_that_of_the_notes() -> None:
    x = np.random.default_rng(0).permutation(9)[:, None].astype(float)
    expected = stats.norm.ppf((x + 0.5 + 1) / (9 + 2))
    np.testing.assert_allclose(Gaussianizer().fit_transform(x), expected, rtol=1e-12)


def test_any_law_becomes_normal_and_rising_functions_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(4000, 1)) ** 3
    found = Gaussianizer().fit_transform(X)
    # Quantiles are set, not drawn: the distance from the normal law is a few steps of 1/n.
    assert stats.kstest(found[:, 0], "norm").statistic < 3 / 4000
    np.testing.assert_array_equal(Gaussianizer().fit_transform(np.log(X)), found)


@given(small_tables())
def test_turning_a_column_turns_the_result(X: Floats) -> None:
    new = np.array([[-7.0, -7.0], [0.5, 0.5], [7.0, 7.0]])
    new[:, np.isnan(X).all(axis=0)] = np.nan
    model, turned = Gaussianizer().fit(X), Gaussianizer().fit(-X)
    for table in (X, new):
        np.testing.assert_allclose(
            turned.transform(-table), -model.transform(table), rtol=1e-12, atol=1e-14
        )


def test_halves_of_a_binary_column_lie_on_both_sides() -> None:
    X = np.array([[0.0]] * 50 + [[1.0]] * 50)
    low, high = np.unique(Gaussianizer().fit_transform(X))
    np.testing.assert_allclose(stats.norm.cdf([low, high]), [26 / 102, 76 / 102], rtol=1e-12)
    assert low == pytest.approx(-high, rel=1e-12)


@given(small_tables())
def test_order_is_kept(X: Floats) -> None:
    found = Gaussianizer().fit_transform(X)
    for j in range(X.shape[1]):
        known = ~np.isnan(X[:, j])
        a, b = X[known, j], found[known, j]
        assert ((a[:, None] < a) == (b[:, None] < b)).all()


def test_going_back_between_and_beyond_the_values() -> None:
    model = Gaussianizer().fit([[0.0], [10.0], [30.0]])
    z = model.transform([[0.0], [10.0], [30.0]])
    np.testing.assert_allclose(model.inverse_transform(z), [[0.0], [10.0], [30.0]], atol=1e-12)
    middle = stats.norm.ppf(2 / 5)
    assert model.inverse_transform([[middle]])[0, 0] == pytest.approx(5.0)
    assert model.inverse_transform([[-9.0], [9.0]]).ravel().tolist() == [0.0, 30.0]


def test_bounded_memory_says_how_exact_it_is() -> None:
    X = np.random.default_rng(0).normal(size=(5000, 1))
    exact = Gaussianizer().fit(X)
    assert exact.certificate_.details["rank_error"] == 0.0
    model = Gaussianizer(max_values=500).fit_stream([(part,) for part in np.array_split(X, 5)])
    assert model.statistics_.columns.values.size <= 500
    error = model.certificate_.details["rank_error"]
    assert 0 < error < 0.03
    apart = stats.norm.cdf(model.transform(X)) - stats.norm.cdf(exact.transform(X))
    assert np.abs(apart).max() <= error + 1 / 5000
    with pytest.raises(InputError, match="compressed"):
        model.forget(X[:5])
    with pytest.raises(ValueError, match="max_values"):
        Gaussianizer(max_values=3).fit(X)


def test_it_says_that_it_holds_training_values() -> None:
    assert Gaussianizer().fit([[1.0]])._holds_training_rows
