"""AdaBoost.R2: its formulas by hand, scikit-learn's distribution of results, its ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import ensemble as other
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor as SklearnTree
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble.adaboost_regressor import (
    AdaBoostRegressor,
    relative_losses,
    weighted_medians,
)
from novum.linear import LinearRegression
from novum.numerics import Floats


def wavy(n: int = 200, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=n)


class Told(RegressorMixin, BaseEstimator):
    """A learner whose n-th fit predicts as it was told to for the rows 0, 1, 2, ..."""

    fits = 0

    def __init__(self, predictions: Any = ()) -> None:
        self.predictions = predictions

    def fit(self, X: Any, y: Any) -> Told:
        self.rows_ = np.asarray(X)[:, 0].astype(int)
        self.targets_ = np.asarray(y)
        self.round_ = Told.fits
        Told.fits += 1
        return self

    def predict(self, X: Any) -> Floats:
        told = np.asarray(self.predictions[min(self.round_, len(self.predictions) - 1)], float)
        return told[np.asarray(X)[:, 0].astype(int)]


def told(*predictions: list[float]) -> Told:
    Told.fits = 0
    return Told(predictions)


NUMBERED = np.arange(4.0).reshape(-1, 1)


# --- The algorithm --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "losses"),
    [
        ("linear", [0.0, 0.25, 0.5, 1.0]),
        ("square", [0.0, 0.0625, 0.25, 1.0]),
        ("exponential", [1 - math.exp(-x) for x in (0.0, 0.25, 0.5, 1.0)]),
    ],
)
def test_two_rounds_by_hand(loss: str, losses: list[float]) -> None:
    y = [0.0, 0.0, 0.0, 0.0]
    base = told([0, 1, 2, 4], [0, 1, 2, 4])
    model = AdaBoostRegressor(base, n_estimators=2, loss=loss, learning_rate=0.5, random_state=0)
    model.fit(NUMBERED, y)
    share = np.full(4, 0.25)
    for error, weight in zip(model.estimator_errors_, model.estimator_weights_, strict=True):
        expected = float(share @ losses)
        assert error == pytest.approx(expected)
        beta = expected / (1 - expected)
        assert weight == pytest.approx(0.5 * math.log(1 / beta))
        share = share * beta ** (0.5 * (1 - np.array(losses)))
        share /= share.sum()


def test_rows_are_drawn_by_their_weights() -> None:
    """1000 rows, one of them with a third of all weight: drawn about 333 times, sd 15."""
    X, weight = np.arange(1000.0).reshape(-1, 1), np.ones(1000)
    weight[7] = 999 / 2
    model = AdaBoostRegressor(told([1.0] * 1000), n_estimators=1, random_state=0)
    model.fit(X, np.arange(1000.0), weight)
    rows = model.estimators_[0].rows_
    assert rows.size == 1000
    assert abs((rows == 7).sum() - 1000 / 3) < 5 * 15
    np.testing.assert_array_equal(model.estimators_[0].targets_, rows)


def test_a_row_of_weight_zero_is_absent() -> None:
    X, y = wavy(60)
    weight = np.ones(60)
    weight[:10] = 0
    one = AdaBoostRegressor(LinearRegression(), random_state=0).fit(X, y, weight)
    two = AdaBoostRegressor(LinearRegression(), random_state=0).fit(X[10:], y[10:])
    np.testing.assert_allclose(one.predict(X), two.predict(X))


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_scores_are_those_of_scikit_learn(loss: str) -> None:
    """Rows are drawn by other numbers, so scores of ten folds are compared in the mean."""
    X, y = wavy(200)
    more = {"n_estimators": 15, "loss": loss, "random_state": 0}
    base = SklearnTree(max_depth=3)
    ours = cross_val_score(AdaBoostRegressor(base, **more), X, y, cv=10)
    theirs = cross_val_score(other.AdaBoostRegressor(base, **more), X, y, cv=10)
    # Four standard errors of the difference of paired folds.
    spread = np.std(ours - theirs, ddof=1) / math.sqrt(10)
    assert abs((ours - theirs).mean()) < 4 * spread
    assert np.median(ours) > 0.6


# --- Ends -----------------------------------------------------------------------------------------


def test_a_learner_without_error_decides() -> None:
    y = [1.0, 2.0, 3.0, 4.0]
    base = told([1, 2, 3, 5], y, [9, 9, 9, 9])
    model = AdaBoostRegressor(base, random_state=0).fit(NUMBERED, y)
    assert model.estimator_errors_ == pytest.approx([0.25, 0.0])
    assert model.estimator_weights_ == pytest.approx([math.log(3), 1 + math.log(3)])
    assert model.predict(NUMBERED).tolist() == y
    assert model.certificate_.details["stopped_by"] == "zero error"


def test_a_loss_of_one_half_ends_boosting() -> None:
    y = [0.0, 0.0, 0.0, 0.0]
    base = told([0, 0, 0, 1], [1, 1, 1, 0])
    model = AdaBoostRegressor(base, random_state=0).fit(NUMBERED, y)
    assert len(model.estimators_) == 1
    assert model.certificate_.details["stopped_by"] == "loss of one half"
    # The first stays: a bad prediction is better than none.
    model = AdaBoostRegressor(told([1, 1, 1, 0]), random_state=0).fit(NUMBERED, y)
    assert model.estimator_errors_.tolist() == [0.75]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.predict(NUMBERED).tolist() == [1, 1, 1, 0]


def test_a_constant_target_is_met_exactly() -> None:
    model = AdaBoostRegressor(SklearnTree(max_depth=3)).fit(NUMBERED, np.full(4, 2.5))
    assert model.predict([[9.0]]).tolist() == [2.5]
    assert len(model.estimators_) == 1


def test_predictions_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        AdaBoostRegressor(told([np.nan] * 4)).fit(NUMBERED, [1.0, 2.0, 3.0, 4.0])


# --- Medians --------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=8),
)
def test_the_weighted_median_is_that_of_repeated_values(pairs: list[tuple[int, int]]) -> None:
    values, counts = np.array(pairs, float).T
    repeated = np.sort(np.repeat(values, counts.astype(int)))
    lower = repeated[(repeated.size - 1) // 2]
    assert weighted_medians(values[np.newaxis], counts)[0] == lower


def test_medians_of_many_rows_are_those_of_each() -> None:
    values = np.random.default_rng(0).normal(size=(5000, 5))
    weights = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
    alone = [weighted_medians(row[np.newaxis], weights)[0] for row in values]
    np.testing.assert_array_equal(weighted_medians(values, weights), alone)


def test_losses_of_a_perfect_prediction_are_zero() -> None:
    for loss in ("linear", "square", "exponential"):
        assert relative_losses([1.0, 2.0], np.array([1.0, 2.0]), loss).tolist() == [0.0, 0.0]


# --- Prediction -----------------------------------------------------------------------------------


def test_stages_end_with_the_model() -> None:
    X, y = wavy()
    model = AdaBoostRegressor(SklearnTree(max_depth=3), n_estimators=8, random_state=0).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_)
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))
    assert list(model.staged_score(X, y))[-1] == model.score(X, y)


def test_importances_are_means_of_the_trees() -> None:
    X, y = wavy()
    model = AdaBoostRegressor(SklearnTree(max_depth=3), n_estimators=5, random_state=0).fit(X, y)
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    expected = np.average(each, axis=0, weights=model.estimator_weights_)
    np.testing.assert_allclose(model.feature_importances_, expected)
    plain = AdaBoostRegressor(LinearRegression(), n_estimators=2).fit(X, y)
    assert not hasattr(plain, "feature_importances_")


# --- Contracts ------------------------------------------------------------------------------------

# Rows are drawn by their weights, so weights are repetition in distribution only.
DRAWN = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn",
}


@parametrize_with_checks(
    [
        AdaBoostRegressor(n_estimators=5),
        AdaBoostRegressor(LinearRegression(), n_estimators=5),
    ],
    expected_failed_checks=lambda _: DRAWN,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_weights_are_repetition_in_distribution() -> None:
    """Over 300 seeds every row is drawn by its share of the weight, weighted or repeated."""
    weight = np.random.default_rng(0).integers(1, 4, 20)
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20.0)
    rows = np.repeat(np.arange(20), weight)
    share = weight / weight.sum()
    for data in ((X, y, weight), (X[rows], y[rows])):
        drawn = np.concatenate(
            [
                AdaBoostRegressor(told([1.0] * 20), n_estimators=1, random_state=seed)
                .fit(*data)
                .estimators_[0]
                .rows_
                for seed in range(300)
            ]
        )
        counts = np.bincount(drawn, minlength=20)
        deviation = np.sqrt(drawn.size * share * (1 - share))
        # Forty counts: five standard deviations are crossed once in 40,000 such tests.
        assert (np.abs(counts - drawn.size * share) < 5 * deviation).all()


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    check(Case(AdaBoostRegressor(n_estimators=5, random_state=0), *wavy(60)))


def test_a_loaded_model_that_does_not_fit_together_is_refused() -> None:
    model = AdaBoostRegressor(LinearRegression(), n_estimators=4, random_state=0).fit(*wavy())
    model._check_state()
    model.estimator_weights_ = -model.estimator_weights_
    with pytest.raises(ModelFileError, match="not positive"):
        model._check_state()
    model.estimator_weights_ = np.ones(9)
    with pytest.raises(ModelFileError, match="other weights or errors"):
        model._check_state()
