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
        others = np.arange(13) != row
        own = None if weight is None else weight[others]
        model = clone(learner).fit(X[others], y[others], sample_weight=own)
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
