"""Residuals of rows left out: the shortcut of ridge against refits, CV+ by its definition."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import KFold

from novum.evaluation.conformal.calibration_rows import ManyFitsWarning
from novum.evaluation.conformal.references import left_out_models
from novum.evaluation.conformal.regressor import ConformalRegressor
from novum.linear import LinearRegression, Ridge
from novum.svm import KernelRidge
from tests.evaluation.conformal.conformal_tables import MeanLine, line

LEARNERS = [
    Ridge(0.5),
    Ridge(1e-8),
    LinearRegression(),
    KernelRidge(0.1, kernel="rbf"),
    KernelRidge(2.0, kernel="poly", degree=2),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [2, 14])
def test_left_out_models_are_refits(learner: Any, weighted: bool, d: int) -> None:
    rng = np.random.default_rng(0)
    X, y = line(13, rng, d)
    new = rng.normal(size=(5, d))
    weight = rng.integers(1, 4, 13).astype(float) if weighted else None
    found = left_out_models(learner, X, y, weight)
    for row in range(13):
        # One copy of the row, if there are several.
        own = np.ones(13) if weight is None else weight.copy()
        own[row] -= 1
        rows = own > 0
        model = clone(learner).fit(X[rows], y[rows], sample_weight=own[rows])
        np.testing.assert_allclose(
            found.predictions(new)[:, row], model.predict(new), rtol=1e-6, atol=1e-6
        )
        error = abs(y[row] - model.predict(X[[row]])[0])
        assert found.scores[row] == pytest.approx(error, rel=1e-6, abs=1e-6)


def test_the_jackknife_by_shortcut_is_that_by_refits() -> None:
    rng = np.random.default_rng(1)
    X, y = line(30, rng, 2)
    quick = ConformalRegressor(Ridge(2.0), method="jackknife+").fit(X, y)
    with pytest.warns(ManyFitsWarning, match="fits Ridge 30 times"):
        slow = ConformalRegressor(TheirRidge(2.0), method="jackknife+").fit(X, y)
    for coverage in (0.5, 0.9):
        np.testing.assert_allclose(
            quick.predict_interval(X, coverage), slow.predict_interval(X, coverage), atol=1e-9
        )


@pytest.mark.parametrize(
    "learner", [Ridge(0.7), LinearRegression(), KernelRidge(0.3, kernel="rbf"), TheirRidge(0.7)]
)
@pytest.mark.filterwarnings("ignore::novum.evaluation.ManyFitsWarning")
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(learner: Any) -> None:
    rng = np.random.default_rng(5)
    X, y = line(17, rng, 2)
    weight = rng.integers(0, 4, 17)
    asked: dict[str, Any] = {"method": "jackknife+", "coverage": 0.75}
    counted = ConformalRegressor(learner, **asked).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(17), weight)
    repeated = ConformalRegressor(learner, **asked).fit(X[rows], y[rows])
    new = rng.normal(size=(6, 2))
    np.testing.assert_allclose(
        counted.predict_interval(new), repeated.predict_interval(new), rtol=1e-8, atol=1e-8
    )


def test_a_splitter_divides_the_rows_that_count() -> None:
    rng = np.random.default_rng(2)
    X, y = line(40, rng, 2)
    weight = (rng.random(40) < 0.7).astype(float)
    kept = weight > 0
    for cv in (None, 4, KFold(4), KFold(5, shuffle=True, random_state=1)):
        given = ConformalRegressor(Ridge(), cv=cv).fit(X, y, sample_weight=weight)
        fewer = ConformalRegressor(Ridge(), cv=cv).fit(X[kept], y[kept])
        np.testing.assert_allclose(given.predict_interval(X), fewer.predict_interval(X), rtol=1e-9)


def test_shortcuts_keep_frames_and_levels() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40), "color": ["red", "blue"] * 20})
    y = table["x"].to_numpy() + rng.normal(size=40)
    for method in ("jackknife+", "full"):
        model = ConformalRegressor(Ridge(), method=method).fit(table, y)
        assert np.isfinite(model.predict_interval(table)).all()


def test_cross_is_cv_plus_by_its_definition() -> None:
    rng = np.random.default_rng(0)
    X, y = line(23, rng)
    new = rng.normal(size=(4, 1))
    cv = KFold(4)
    model = ConformalRegressor(MeanLine(), cv=cv, coverage=0.8).fit(X, y)
    lows, highs = [], []
    for train, test in cv.split(X):
        fold = MeanLine().fit(X[train], y[train])
        errors = np.abs(y[test] - fold.predict(X[test]))
        lows.append(fold.predict(new)[:, None] - errors)
        highs.append(fold.predict(new)[:, None] + errors)
    low, high = np.sort(np.hstack(lows), axis=1), np.sort(np.hstack(highs), axis=1)
    expected = np.stack(
        [low[:, math.floor(0.2 * 24) - 1], high[:, math.ceil(0.8 * 24) - 1]], axis=1
    )
    np.testing.assert_array_equal(model.predict_interval(new), expected)


def test_the_shortcut_does_not_warn_of_its_cost() -> None:
    X, y = line(20, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConformalRegressor(KernelRidge(), method="jackknife+").fit(X, y)
