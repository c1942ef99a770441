"""Tuned thresholds: scikit-learn's numbers and checks, brute force at a point, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import config_context, model_selection
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB
from novum.core import WorkingPoint
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.calibration.tuned_threshold import TunedThresholdClassifierCV
from tests.evaluation.calibration.calibration_tables import classes
from tests.evaluation.decisions.definitions import normalized_cost

POINT = WorkingPoint.binary(prior=0.3, cost_fn=5, cost_fp=1, classes=("a", "b"))


@parametrize_with_checks([TunedThresholdClassifierCV(GaussianNB(), cv=3)], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "case",
    [
        Case(TunedThresholdClassifierCV(GaussianNB(), cv=2, thresholds=15), *classes()),
        Case(TunedThresholdClassifierCV(GaussianNB(), point=POINT), *classes()),
    ],
    ids=["scorer", "point"],
)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "matthews_corrcoef"])
@pytest.mark.parametrize("inner", [TheirNB(), LinearSVC()], ids=repr)
@pytest.mark.parametrize("cv", [3, pytest.param(0.4, marks=pytest.mark.slow)])
def test_thresholds_are_scikit_learns(scoring: str, inner: Any, cv: Any) -> None:
    X, y = classes(150)
    y = np.where(np.arange(150) % 3 == 0, "a", y)
    settings = {"scoring": scoring, "cv": cv, "random_state": 0, "store_cv_results": True}
    ours = TunedThresholdClassifierCV(inner, **settings).fit(X, y)
    theirs = model_selection.TunedThresholdClassifierCV(inner, **settings).fit(X, y)
    assert ours.best_threshold_ == pytest.approx(theirs.best_threshold_, rel=1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    np.testing.assert_allclose(ours.cv_results_["scores"], theirs.cv_results_["scores"])
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def test_other_positive_labels_and_scorers() -> None:
    X, y = classes(150)
    scoring = make_scorer(f1_score, pos_label="a")
    ours = TunedThresholdClassifierCV(TheirNB(), scoring=scoring).fit(X, y)
    theirs = model_selection.TunedThresholdClassifierCV(TheirNB(), scoring=scoring).fit(X, y)
    assert ours.best_threshold_ == pytest.approx(theirs.best_threshold_, rel=1e-12)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()

    def hits(model: Any, rows: Any, labels: Any) -> float:
        return float(np.mean(model.predict(rows) == labels))

    by_function = TunedThresholdClassifierCV(TheirNB(), scoring=hits).fit(X, y)
    by_name = TunedThresholdClassifierCV(TheirNB(), scoring="accuracy").fit(X, y)
    assert by_function.best_threshold_ == by_name.best_threshold_


# --- Working points -------------------------------------------------------------------------------


def test_the_point_gets_the_cheapest_threshold_of_all() -> None:
    X, y = classes(150)
    model = TunedThresholdClassifierCV(TheirNB(), point=POINT, store_cv_results=True).fit(X, y)
    scores = cross_val_predict(TheirNB(), X, y, method="predict_proba")[:, 1]
    costs = {t: normalized_cost(y == "b", scores, t, 0.3, 5, 1) for t in [-1.0, *scores]}
    assert -model.best_score_ == pytest.approx(min(costs.values()), rel=1e-12)
    assert normalized_cost(y == "b", scores, model.best_threshold_, 0.3, 5, 1) == pytest.approx(
        min(costs.values()), rel=1e-12
    )
    assert model.cv_results_["scores"].max() == pytest.approx(model.best_score_, rel=1e-12)


def test_the_last_class_of_the_point_is_positive() -> None:
    X, y = classes(150)
    turned = WorkingPoint.binary(prior=0.7, cost_fn=1, cost_fp=5, classes=("b", "a"))
    one = TunedThresholdClassifierCV(TheirNB(), point=POINT).fit(X, y)
    two = TunedThresholdClassifierCV(TheirNB(), point=turned).fit(X, y)
    assert two.best_score_ == pytest.approx(one.best_score_, rel=1e-12)
    assert one.predict(X).tolist() == two.predict(X).tolist()
    assert one.best_threshold_ == pytest.approx(1 - two.best_threshold_, rel=1e-9)


def test_costs_move_the_threshold() -> None:
    X, y = classes(300)
    dear = WorkingPoint.binary(prior=0.5, cost_fn=30, cost_fp=1, classes=("a", "b"))
    cheap = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=30, classes=("a", "b"))
    low = TunedThresholdClassifierCV(GaussianNB(), point=dear).fit(X, y)
    high = TunedThresholdClassifierCV(GaussianNB(), point=cheap).fit(X, y)
    assert low.best_threshold_ < high.best_threshold_
    assert (low.predict(X) == "b").sum() > (high.predict(X) == "b").sum()


def test_weight_two_is_the_row_twice_at_a_point() -> None:
    X, y = classes(60)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    order = np.repeat(np.arange(60), weight.astype(int))
    # Folds that keep copies of a row together.
    parts = [np.arange(60) % 3 == k for k in range(3)]
    folds = [(np.flatnonzero(~part), np.flatnonzero(part)) for part in parts]
    copied = [(np.flatnonzero(~part[order]), np.flatnonzero(part[order])) for part in parts]
    one = TunedThresholdClassifierCV(GaussianNB(), point=POINT, cv=folds)
    two = TunedThresholdClassifierCV(GaussianNB(), point=POINT, cv=copied)
    one.fit(X, y, sample_weight=weight)
    two.fit(X[order], y[order])
    assert one.best_threshold_ == pytest.approx(two.best_threshold_, rel=1e-9)
    assert one.best_score_ == pytest.approx(two.best_score_, rel=1e-9)


# --- Folds, routing, bad input --------------------------------------------------------------------


def test_a_fitted_classifier_is_taken_as_it_is() -> None:
    X, y = classes(150)
    inner = TheirNB().fit(X[:75], y[:75])
    model = TunedThresholdClassifierCV(inner, cv="prefit", refit=False).fit(X[75:], y[75:])
    assert model.estimator_ is inner
    one = TunedThresholdClassifierCV(TheirNB(), cv=0.5, refit=False, random_state=0).fit(X, y)
    assert one.estimator_.class_count_.sum() == 75


def test_groups_reach_the_splitter() -> None:
    X, y = classes(90)
    groups = np.arange(90) // 2 % 3
    with config_context(enable_metadata_routing=True):
        model = TunedThresholdClassifierCV(GaussianNB(), cv=GroupKFold(3))
        routed = model.fit(X, y, groups=groups).best_threshold_
    folds = list(GroupKFold(3).split(X, y, groups))
    assert TunedThresholdClassifierCV(GaussianNB(), cv=folds).fit(X, y).best_threshold_ == routed


def test_bad_input_is_named() -> None:
    X, y = classes()
    with pytest.raises(InputError, match="Only binary classification"):
        TunedThresholdClassifierCV(GaussianNB()).fit(*classes(K=3))
    with pytest.raises(InputError, match="one class 'a' only"):
        TunedThresholdClassifierCV(GaussianNB()).fit(X, np.full(len(y), "a"))
    with pytest.raises(InputError, match="The point is for the classes 0, 1"):
        TunedThresholdClassifierCV(
            GaussianNB(), point=WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1)
        ).fit(X, y)
    with pytest.raises(InputError, match="the point has 3"):
        TunedThresholdClassifierCV(GaussianNB(), point=WorkingPoint.uniform("abc")).fit(X, y)
    with pytest.raises(InputError, match="constant predictions"):
        TunedThresholdClassifierCV(GaussianNB()).fit(np.zeros_like(X), y)
    with pytest.raises(InputError, match="several folds, refit cannot be False"):
        TunedThresholdClassifierCV(GaussianNB(), refit=False).fit(X, y)
    with pytest.raises(InputError, match="cv='prefit', refit cannot be True"):
        TunedThresholdClassifierCV(GaussianNB(), cv="prefit").fit(X, y)
    with pytest.raises(NotFittedError, match="must be fitted"):
        TunedThresholdClassifierCV(GaussianNB(), cv="prefit", refit=False).fit(X, y)
    scoring = make_scorer(f1_score, pos_label="z")
    with pytest.raises(InputError, match="pos_label='z' is not a valid label"):
        TunedThresholdClassifierCV(GaussianNB(), scoring=scoring).fit(X, y)


class Grades(ClassifierMixin, BaseEstimator):
    """Says the only cell of a row."""

    def fit(self, X: Any, y: Any) -> Grades:
        del X
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("least", [3, 6, 7])
def test_predictions_decide_as_the_curve_does(least: int) -> None:
    # Of eleven thresholds from 0 to 1, 0.3, 0.6 and 0.7 differ from the scores by rounding.
    X = np.repeat(np.round(np.arange(11) / 10, 1), 4)[:, np.newaxis]
    y = (np.repeat(np.arange(11), 4) >= least).astype(int)
    fold = np.arange(44) % 4
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    model = TunedThresholdClassifierCV(
        Grades(), scoring="accuracy", response_method="decision_function", thresholds=11, cv=cv
    ).fit(X, y)
    assert model.best_score_ == 1.0
    assert model.score(X, y) == 1.0


def test_the_positive_class_of_a_file_is_one_of_two() -> None:
    model = TunedThresholdClassifierCV(GaussianNB(), cv=2, thresholds=5).fit(*classes())
    model._positive = 2
    with pytest.raises(ModelFileError, match="positive class"):
        model._check_state()
