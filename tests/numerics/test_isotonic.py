"""Isotonic fits: the minimax formula, scikit-learn, every proper loss, weights, bad input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from novum.numerics import fit_isotonic, interpolate
from tests.evaluation.decisions.definitions import isotonic_by_minimax

cases = st.lists(
    st.tuples(st.integers(-4, 4), st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=15
)


@given(cases)
def test_fit_is_the_minimax_formula(rows: Any) -> None:
    x, t, w = (np.array(column, float) for column in zip(*rows, strict=True))
    knots = np.unique(x)
    weights = [w[x == knot].sum() for knot in knots]
    means = [np.average(t[x == knot], weights=w[x == knot]) for knot in knots]
    fitted = fit_isotonic(x, t, w)
    np.testing.assert_allclose(
        fitted.predict(knots), isotonic_by_minimax(means, weights), atol=1e-9
    )
    assert fitted.residual < 1e-9
    assert (np.diff(fitted.values) >= 0).all()


@given(cases)
def test_fit_is_scikit_learns_between_and_beyond_scores(rows: Any) -> None:
    x, t, w = (np.array(column, float) for column in zip(*rows, strict=True))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(x, t, w)
    asked = np.linspace(-6, 6, 61)
    np.testing.assert_allclose(
        fit_isotonic(x, t, w).predict(asked), theirs.predict(asked), atol=1e-9
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12), st.data())
def test_no_monotone_function_has_less_log_loss(rows: Any, data: Any) -> None:
    x, t = (np.array(column, float) for column in zip(*rows, strict=True))
    best = fit_isotonic(x, t).predict(x)
    levels = np.sort(data.draw(st.lists(st.floats(0.01, 0.99), min_size=6, max_size=6)))
    other = levels[x.astype(int)]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = -np.where(t == 1, np.log(best), np.log(1 - best)).sum()
    assert own <= -np.where(t == 1, np.log(other), np.log(1 - other)).sum() + 1e-9


@pytest.mark.parametrize(
    ("knots", "values"),
    [
        ([0.0, 4e-320, 1.0, 3.0], [-1.0, 2.0, 2.0, 5.0]),
        ([-1.7e308, 1.0, 1.6e308], [0.0, 0.25, 1.0]),
        ([0.0, 1e-200, 1.0], [-1.5e308, 1.7e308, 1.7e308]),
        ([0.0, 1e300, 1.5e308], [0.0, 1e-20, 3e-20]),
    ],
)
def test_between_knots_of_any_distance(knots: Any, values: Any) -> None:
    shares = np.array([0.0, 0.125, 0.5, 0.875])
    for a, b, low, high in zip(knots, knots[1:], values, values[1:], strict=False):
        x = [float(Fraction(a) + Fraction(s) * (Fraction(b) - Fraction(a))) for s in shares]
        for point in x:
            share = (Fraction(point) - Fraction(a)) / (Fraction(b) - Fraction(a))
            true = float(Fraction(low) + share * (Fraction(high) - Fraction(low)))
            assert float(interpolate(point, knots, values)) == pytest.approx(true, rel=1e-12)
    grid = np.sort(np.concatenate([np.array(knots) * s for s in np.linspace(0, 1, 41)]))
    assert (np.diff(interpolate(grid, knots, values)) >= 0).all()


def test_weight_two_is_the_case_twice_and_zero_absent() -> None:
    x, t, w = np.array([3.0, 1.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0, 5.0]), np.array([1, 2, 1, 0])
    one = fit_isotonic(x, t, w)
    two = fit_isotonic(np.repeat(x, w), np.repeat(t, w))
    np.testing.assert_allclose(one.predict([1.0, 2.0, 3.0]), two.predict([1.0, 2.0, 3.0]))


def test_one_case_and_equal_scores() -> None:
    assert fit_isotonic([2.0], [0.5]).predict([0.0, 9.0]).tolist() == [0.5, 0.5]
    assert fit_isotonic([2.0, 2.0], [0.0, 1.0]).predict([2.0]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("scores", "targets", "weight", "message"),
    [
        ([1.0, np.nan], [0, 1], None, "Row 1 has the score nan"),
        ([1.0], [0, 1], None, "columns of equal length"),
        ([1.0, 2.0], [0, 1], [1.0, -1.0], "not negative"),
        ([1.0, 2.0], [0, 1], [0.0, 0.0], "at least one is positive"),
    ],
)
def test_bad_input_is_named(scores: Any, targets: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_isotonic(scores, targets, weight)
