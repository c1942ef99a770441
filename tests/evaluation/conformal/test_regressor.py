"""Intervals: scikit-learn's checks, contracts, files, learners of all kinds, odd input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check, ConstantTargetWarning
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble import AbsoluteLoss, GradientBoostingRegressor, QuantileLoss
from novum.evaluation import GridSearchCV
from novum.evaluation.conformal.quantiles import FewCalibrationRowsWarning
from novum.evaluation.conformal.regressor import ConformalRegressor, with_quantile
from novum.linear import LinearRegression, Ridge
from novum.svm import KernelRidge
from novum.trees import DecisionTreeRegressor
from tests.evaluation.conformal.conformal_tables import MeanLine, line

METHODS = ["split", "cross", "jackknife+", "full", "quantile"]
PAIR = (Ridge(), Ridge(2.0))
RESAMPLED = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the split depends on the number of rows"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        ConformalRegressor(Ridge(), cv=3),
        ConformalRegressor(Ridge(), method="jackknife+"),
        ConformalRegressor(Ridge(), method="full"),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@parametrize_with_checks(
    [
        ConformalRegressor(Ridge(), method="split"),
        ConformalRegressor(Ridge(), method="quantile", quantiles=PAIR),
    ],
    legacy=True,
    expected_failed_checks=lambda _: RESAMPLED,
)
def test_scikit_learn_checks_of_a_split(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def table(n: int = 60) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    colors = np.where(rng.random(n) < 0.5, "red", "blue").astype(object)
    return pd.DataFrame({"x": x, "color": colors}), 2 * x + rng.normal(size=n)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(method: str, check: Check) -> None:
    check(Case(ConformalRegressor(Ridge(), method=method, quantiles=PAIR), *table()))


@pytest.mark.parametrize("method", METHODS)
def test_files_keep_intervals(method: str, tmp_path: Path) -> None:
    X, y = table()
    groups = np.arange(60) % 2
    model = ConformalRegressor(Ridge(), method=method, quantiles=PAIR, coverage=0.7)
    model.fit(X, y, groups=groups)
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    expected = model.predict_interval(X, groups=groups)
    np.testing.assert_array_equal(again.predict_interval(X, groups=groups), expected)
    again.calibration_weight_ = again.calibration_weight_[1:]
    with pytest.raises(ModelFileError, match="do not agree"):
        again._check_state()


@pytest.mark.parametrize("method", METHODS)
def test_intervals_grow_with_coverage(method: str) -> None:
    X, y = table()
    model = ConformalRegressor(KernelRidge(), method=method, quantiles=PAIR).fit(X[["x"]], y)
    narrow, wide = (model.predict_interval(X[["x"]], coverage) for coverage in (0.5, 0.9))
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    np.testing.assert_array_equal(model.predict_interval(X[["x"]]), wide)


def test_calibration_rows_have_no_order() -> None:
    X, y = line(80, np.random.default_rng(0))
    frozen = FrozenEstimator(MeanLine().fit(X[:40], y[:40]))
    order = np.random.default_rng(1).permutation(40)
    groups = np.arange(40) % 2
    found = []
    for rows in (np.arange(40), order):
        model = ConformalRegressor(frozen, method="split")
        model.fit(X[40:][rows], y[40:][rows], groups=groups[rows])
        found.append(model.predict_interval(X[:40], groups=groups))
    np.testing.assert_array_equal(*found)
    one = ConformalRegressor(Ridge(), method="jackknife+").fit(X, y).predict_interval(X)
    mixed = np.random.default_rng(2).permutation(80)
    other = ConformalRegressor(Ridge(), method="jackknife+").fit(X[mixed], y[mixed])
    np.testing.assert_allclose(other.predict_interval(X), one, rtol=1e-9)


def test_predictions_are_the_learners() -> None:
    X, y = table()
    for method in ("cross", "jackknife+", "full"):
        model = ConformalRegressor(Ridge(), method=method).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), Ridge().fit(X, y).predict(X))


def test_pipelines_searches_trees_and_missing_cells() -> None:
    X, y = table()
    numbers = X[["x"]].to_numpy()
    holes = numbers.copy()
    holes[::7] = np.nan
    cases = [
        (make_pipeline(StandardScaler(), Ridge()), numbers),
        (GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3), X),
        (DecisionTreeRegressor(min_samples_leaf=5), X),
        (DecisionTreeRegressor(min_samples_leaf=5), pl.from_pandas(X)),
        (HistGradientBoostingRegressor(max_iter=3), holes),
    ]
    for learner, rows in cases:
        limits = ConformalRegressor(learner, cv=3).fit(rows, y).predict_interval(rows)
        assert limits.shape == (60, 2)
        assert ((limits[:, 0] <= y) & (y <= limits[:, 1])).mean() > 0.7


def test_parameters_of_the_learner_are_reached() -> None:
    model = ConformalRegressor(Ridge(3.0))
    assert model.get_params()["learner__alpha"] == 3.0
    assert clone(model).set_params(learner__alpha=5.0).learner.alpha == 5.0


def test_a_weight_is_so_many_rows() -> None:
    X, y = table()
    frozen = FrozenEstimator(Ridge().fit(X[:30], y[:30]))
    X, y = X[30:], y[30:]
    weight = np.arange(30) % 3
    repeated = np.repeat(np.arange(30), weight)
    one = ConformalRegressor(frozen, method="split").fit(X, y, sample_weight=weight)
    other = ConformalRegressor(frozen, method="split").fit(X.iloc[repeated], y[repeated])
    np.testing.assert_array_equal(one.predict_interval(X), other.predict_interval(X))


# --- Quantiles ------------------------------------------------------------------------------------


def test_learners_of_quantiles() -> None:
    boosting = with_quantile(GradientBoostingRegressor(AbsoluteLoss(), learning_rate=0.3), 0.2)
    assert boosting.loss == QuantileLoss(0.2)
    assert boosting.learning_rate == 0.3
    theirs = with_quantile(HistGradientBoostingRegressor(), 0.2)
    assert (theirs.loss, theirs.quantile) == ("quantile", 0.2)
    inside = with_quantile(make_pipeline(StandardScaler(), QuantileRegressor()), 0.2)
    assert inside[-1].quantile == 0.2
    assert with_quantile(Ridge(), 0.2).loss == QuantileLoss(0.2)


def test_widths_follow_the_spread() -> None:
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-1, 1, size=(400, 1)), axis=0)
    y = np.where(X[:, 0] > 0, 5.0, 1.0) * rng.normal(size=400)
    learner = GradientBoostingRegressor(QuantileLoss(), n_estimators=20)
    model = ConformalRegressor(learner, method="quantile").fit(X, y)
    widths = np.diff(model.predict_interval(X), axis=1)[:, 0]
    assert widths[200:].mean() > 3 * widths[:200].mean()


@pytest.mark.filterwarnings("ignore::novum.core.ConstantTargetWarning")
def test_an_empty_interval_is_its_middle() -> None:
    X, y = line(60, np.random.default_rng(0))
    far = (FrozenEstimator(_Constant(-90).fit(X, y)), FrozenEstimator(_Constant(100).fit(X, y)))
    model = ConformalRegressor(Ridge(), method="quantile", quantiles=far).fit(X, y * 0.0 + y[0])
    low, high = model.predict_interval(X[:1], coverage=0.1)[0]
    assert low <= high


class _Constant(MeanLine):
    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


# --- Odd input ------------------------------------------------------------------------------------


def test_coverage_must_be_a_share() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="'coverage' parameter of ConformalRegressor must be"):
        ConformalRegressor(Ridge(), coverage=90).fit(X, y)
    model = ConformalRegressor(Ridge()).fit(X, y)
    with pytest.raises(InputError, match=r"coverage lies between 0 and 1, such as 0\.9, got 1\.0"):
        model.predict_interval(X, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_few_rows_give_infinite_intervals_and_a_sentence(method: str) -> None:
    X, y = line(8, np.random.default_rng(0))
    model = ConformalRegressor(Ridge(), method=method, quantiles=PAIR).fit(X, y)
    n = 2 if method in ("split", "quantile") else 8
    with pytest.warns(FewCalibrationRowsWarning, match=f"at least 9 .* there are {n}, so that"):
        limits = model.predict_interval(X)
    assert (limits == [-np.inf, np.inf]).all()


def test_one_calibration_row() -> None:
    X, y = line(2, np.random.default_rng(0))
    model = ConformalRegressor(Ridge(), method="split").fit(X, y)
    with pytest.warns(
        FewCalibrationRowsWarning, match="there are 1, so that every interval is inf"
    ):
        model.predict_interval(X)
    assert np.isfinite(model.predict_interval(X, 0.5)).all()
    with pytest.raises(InputError, match="n_samples = 1"):
        ConformalRegressor(Ridge()).fit(X[:1], y[:1])


def test_groups_must_be_known() -> None:
    X, y = table()
    groups = np.where(np.arange(60) % 2, "a", "b")
    model = ConformalRegressor(Ridge()).fit(X, y, groups=groups)
    with pytest.raises(
        InputError, match="group 'c' has no calibration row; calibrated are 'a', 'b'"
    ):
        model.predict_interval(X[:1], groups=["c"])
    with pytest.raises(InputError, match="needs the group of every new row"):
        model.predict_interval(X)
    with pytest.raises(InputError, match=r"groups has the shape \(2,\), but there are 60 rows"):
        model.predict_interval(X, groups=["a", "b"])
    with pytest.raises(InputError, match="but not to fit"):
        ConformalRegressor(Ridge()).fit(X, y).predict_interval(X, groups=groups)


def test_targets_must_be_there_and_vary() -> None:
    X, y = table()
    with pytest.raises(InputError, match="requires y"):
        ConformalRegressor(Ridge()).fit(X, None)
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ConformalRegressor(Ridge()).fit(X, y)
    with pytest.warns(ConstantTargetWarning, match="All targets are 3, so that every interval"):
        model = ConformalRegressor(LinearRegression()).fit(X, np.full(60, 3.0))
    np.testing.assert_allclose(model.predict_interval(X), 3.0)


def test_learners_that_cannot() -> None:
    X, y = line(30, np.random.default_rng(0))
    with pytest.raises(InputError, match="MeanLine takes no sample_weight"):
        ConformalRegressor(MeanLine()).fit(X, y, sample_weight=np.ones(30) * 2)
    frozen = FrozenEstimator(MeanLine().fit(X, y))
    with pytest.raises(InputError, match="Use method='split'"):
        ConformalRegressor(frozen).fit(X, y)
    with pytest.raises(InputError, match="quantiles is a pair of regressors"):
        ConformalRegressor(Ridge(), method="quantile", quantiles=(Ridge(),)).fit(X, y)


def test_certificates_say_what_is_proved_and_no_more() -> None:
    X, y = line(60, np.random.default_rng(0))
    proved = {}
    for method in METHODS:
        model = ConformalRegressor(Ridge(), method=method, quantiles=PAIR, coverage=0.85).fit(X, y)
        proved[method] = model.certificate_.value
        assert f"at least {proved[method]:.4g} is proved" in model.certificate_.sentence
        assert model.certificate_.sentence in repr(model.certificate_)
    assert proved["split"] == proved["quantile"] == proved["full"] == 0.85
    assert proved["jackknife+"] == pytest.approx(0.7)
    assert 0.6 < proved["cross"] < 0.7
    groups = np.repeat([0, 1], [50, 10])
    by_group = ConformalRegressor(Ridge(), coverage=0.85).fit(X, y, groups=groups)
    assert by_group.certificate_.value < proved["cross"]
    nothing = ConformalRegressor(Ridge(), coverage=0.5, method="jackknife+").fit(X, y)
    assert nothing.certificate_.details["own_verdict"] == "local"
    assert "no coverage is proved" in nothing.certificate_.sentence
