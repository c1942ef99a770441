"""IsotonicRegression: brute force, scikit-learn, order of levels, the contract, and odd input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression as OtherIsotonic

from novum.core import load, save
from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear import IsotonicRegression

rng = np.random.default_rng(0)
X = rng.permutation(np.repeat(np.arange(30.0), 2))
Y = np.sqrt(X) + rng.normal(size=60)
WEIGHT = rng.integers(0, 4, size=60).astype(float)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Check) -> None:
    check(Case(IsotonicRegression(out_of_bounds="clip"), X[:, None], Y))


def test_no_monotone_function_is_closer() -> None:
    x, y, w = np.arange(6.0), np.array([3.0, 1.0, 2.0, 5.0, 4.0, 4.0]), np.arange(1.0, 7.0)
    model = IsotonicRegression().fit(x, y, w)

    def loss(steps: Any) -> float:
        return float(w @ (y - np.cumsum(steps)) ** 2)

    bounds = [(None, None)] + [(0, None)] * 5
    best = minimize(loss, np.r_[1.0, np.ones(5)], bounds=bounds, tol=1e-14)
    np.testing.assert_allclose(model.predict(x), np.cumsum(best.x), atol=1e-5)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-9)
    assert model.certificate_.value <= best.fun + 1e-9


@pytest.mark.parametrize("bounds", [(None, None), (1.0, None), (1.5, 3.0)])
@pytest.mark.parametrize("increasing", [True, False, "auto"])
def test_the_function_is_scikit_learns(increasing: Any, bounds: Any) -> None:
    options = {"increasing": increasing, "y_min": bounds[0], "y_max": bounds[1]}
    ours = IsotonicRegression(**options).fit(X, Y, WEIGHT)
    theirs = OtherIsotonic(**options).fit(X, Y, WEIGHT)
    grid = np.linspace(-2, 32, 69)
    np.testing.assert_allclose(ours.predict(grid), theirs.predict(grid), atol=1e-12)
    np.testing.assert_allclose(ours.f_(X), theirs.predict(X), atol=1e-12)
    assert ours.increasing_ == theirs.increasing_
    assert (ours.X_min_, ours.X_max_) == (theirs.X_min_, theirs.X_max_)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(-5, 5)), min_size=1, max_size=30))
def test_predictions_rise_and_keep_the_mean(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, float).T
    predicted = IsotonicRegression().fit(x, y).predict(np.sort(x))
    assert (np.diff(predicted) >= 0).all()
    assert predicted.mean() == pytest.approx(y.mean(), abs=1e-12)


def test_of_levels_only_the_order_counts() -> None:
    sizes = pd.Categorical(["s", "l", "m", "s", "l"], ["s", "m", "l"], ordered=True)
    model = IsotonicRegression().fit(pd.DataFrame({"size": sizes}), [1.0, 5.0, 7.0, 2.0, 6.0])
    table = pd.DataFrame({"size": pd.Categorical(["s", "m", "l"], sizes.categories, ordered=True)})
    assert model.predict(table).tolist() == [1.5, 6.0, 6.0]


def test_values_that_hardly_differ_and_single_precision() -> None:
    rows, targets = [3e-310, 5e-310, 2.0, -4e-310], [2.0, 3.0, 7.0, 0.0]
    ours = IsotonicRegression().fit(rows, targets)
    np.testing.assert_allclose(ours.predict([4e-310, -0.5e-310, 1.0]), [2.5, 1.0, 5.0], rtol=1e-9)
    table = np.array([[1.0], [2.0], [4.0]], np.float32)
    ours, theirs = (
        kind(out_of_bounds="clip").fit(table, [0.0, 1.0, 5.0])
        for kind in (IsotonicRegression, OtherIsotonic)
    )
    for name in ("X_thresholds_", "y_thresholds_", "X_min_"):
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype == np.float32
    assert ours.predict(table).dtype == theirs.predict(table).dtype == np.float32
    np.testing.assert_array_equal(ours.predict(table + 1), theirs.predict(table + 1))
    assert ours.predict([[1.0]]).dtype == np.float64


def test_beyond_the_range_of_training() -> None:
    model = IsotonicRegression().fit([1.0, 2.0], [1.0, 3.0])
    assert np.isnan(model.predict([0.0, 9.0])).all()
    assert model.set_params(out_of_bounds="clip").predict([0.0, 9.0]).tolist() == [1.0, 3.0]
    with pytest.raises(InputError, match="Row 1 has the value 9, which is below or above"):
        model.set_params(out_of_bounds="raise").predict([1.5, 9.0])


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], InputError, "2d array with 1 feature"),
        ([["a"], ["b"]], InputError, "levels without order"),
        ([[1.0], [np.nan]], MissingValuesError, "x0"),
    ],
)
def test_odd_tables_are_refused(rows: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        IsotonicRegression().fit(rows, [1.0, 2.0])


def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InputError, match="y_min=3 is larger than y_max=1"):
        IsotonicRegression(y_min=3, y_max=1).fit([1.0], [1.0])


def test_files_keep_the_function_and_refuse_others(tmp_path: Path) -> None:
    model = IsotonicRegression(increasing="auto").fit(X, -Y)
    save(model, tmp_path / "a.novum")
    again = load(tmp_path / "a.novum")
    assert np.array_equal(again.predict(X), model.predict(X))
    model.y_thresholds_ = model.y_thresholds_[::-1].copy()
    with pytest.raises(ModelFileError, match="monotone"):
        model._check_state()
