"""Re-targeted classifiers: two Gaussians, whose posteriors are known under any priors."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from novum.core.decisions import DecisionMixin, RetargetedClassifier, WorkingPoint
from novum.core.errors import InputError
from novum.linear import LogisticRegression, Ridge


class TwoGaussians(DecisionMixin, ClassifierMixin, BaseEstimator):
    """Unit variance, means estimated; class labels as given."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "TwoGaussians":
        self.classes_ = np.unique(y)
        self.class_prior_ = np.array([np.mean(y == c) for c in self.classes_])
        self.mean_ = np.array([X[y == c].mean() for c in self.classes_])
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return posteriors(np.asarray(X), self.mean_, self.class_prior_)


def posteriors(X: np.ndarray, means: np.ndarray, priors: np.ndarray) -> np.ndarray:
    joint = priors * np.exp(-0.5 * (X - means) ** 2)
    return joint / joint.sum(axis=1, keepdims=True)


X = np.linspace(-4, 5, 200)[:, None]


@pytest.fixture
def model() -> TwoGaussians:
    rng = np.random.default_rng(0)
    y = np.array(["well"] * 900 + ["ill"] * 100)
    return TwoGaussians().fit(rng.normal(size=(1000, 1)) + (y == "ill")[:, None] * 2, y)


def test_posteriors_move_as_if_trained_under_the_new_priors(model: TwoGaussians) -> None:
    point = WorkingPoint(["ill", "well"], [0.6, 0.4], 1 - np.eye(2))
    expected = posteriors(X, model.mean_, np.array([0.6, 0.4]))
    moved = model.at(point)
    np.testing.assert_allclose(moved.predict_proba(X), expected, rtol=1e-10)
    np.testing.assert_allclose(moved.predict_log_proba(X), np.log(expected), rtol=1e-9, atol=1e-12)


def test_decisions_change_at_the_threshold_of_the_ratio(model: TwoGaussians) -> None:
    point = WorkingPoint.binary(prior=0.2, cost_fn=10, cost_fp=1, classes=("well", "ill"))
    ratio = stats.norm.logpdf(X[:, 0], model.mean_[0]) - stats.norm.logpdf(X[:, 0], model.mean_[1])
    expected = np.where(ratio > point.threshold, "ill", "well")
    moved = model.at(point)
    np.testing.assert_array_equal(moved.decide(X), expected)
    np.testing.assert_array_equal(moved.predict(X), expected)
    assert set(expected) == {"ill", "well"}


def test_predict_gives_classes_where_decide_gives_other_actions(model: TwoGaussians) -> None:
    cost = [[0, 20, 2], [1, 0, 2]]
    point = WorkingPoint(["ill", "well"], [0.1, 0.9], cost, 0.3, ["ill", "well", "test"])
    moved = model.at(point)
    assert set(moved.predict(X)) == {"ill", "well"}
    assert set(moved.decide(X)) == {"ill", "well", "reject"}
    chosen = [point.action_names.index(a) for a in moved.decide(X)]
    costs = moved.expected_costs(X)
    np.testing.assert_array_equal(costs[np.arange(len(X)), chosen], costs.min(axis=1))


def test_the_training_priors_change_nothing(model: TwoGaussians) -> None:
    same = model.at(WorkingPoint(model.classes_, model.class_prior_, 1 - np.eye(2)))
    np.testing.assert_allclose(same.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_the_model_stays_and_points_do_not_pile_up(model: TwoGaussians) -> None:
    before = model.predict_proba(X)
    first = WorkingPoint.uniform(["ill", "well"])
    second = WorkingPoint(["ill", "well"], [0.9, 0.1], 1 - np.eye(2))
    np.testing.assert_array_equal(
        model.at(first).at(second).predict_proba(X), model.at(second).predict_proba(X)
    )
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_labels_of_the_model_are_kept_by_predict() -> None:
    y = np.array([7] * 5 + [3] * 5)
    model = TwoGaussians().fit(np.arange(10.0)[:, None], y)
    predicted = model.at(WorkingPoint.uniform([7, 3])).predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert set(predicted) == {3, 7}


def test_score_is_the_accuracy_at_the_point(model: TwoGaussians) -> None:
    moved = model.at(WorkingPoint.uniform(["ill", "well"]))
    y = np.where(X[:, 0] > 0.9, "ill", "well")
    weight = np.linspace(0, 1, len(X))
    hits = moved.predict(X) == y
    assert moved.score(X, y) == hits.mean()
    assert moved.score(X, y, weight) == pytest.approx(hits @ weight / weight.sum())


def test_it_is_a_classifier_with_the_models_attributes(model: TwoGaussians) -> None:
    moved = model.at(WorkingPoint.uniform(["ill", "well"]))
    assert is_classifier(moved)
    assert moved.mean_ is model.mean_
    assert moved.classes_ is model.classes_
    for copied in (pickle.loads(pickle.dumps(moved)), copy.deepcopy(moved)):
        np.testing.assert_array_equal(copied.predict(X), moved.predict(X))


@pytest.mark.parametrize("name", ["decision_function", "_private", "_private_"])
def test_methods_of_the_model_do_not_answer_for_the_point(model: TwoGaussians, name: str) -> None:
    with pytest.raises(AttributeError, match="ask its `model`"):
        getattr(model.at(WorkingPoint.uniform(["ill", "well"])), name)


def test_a_point_for_other_classes_is_refused(model: TwoGaussians) -> None:
    with pytest.raises(InputError, match=r"for the classes 0, 1, the model for 'ill', 'well'"):
        model.at(WorkingPoint.uniform([0, 1]))


@pytest.mark.parametrize("broken", [Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), object()])
def test_what_has_no_posteriors_is_refused(broken: Any) -> None:
    with pytest.raises(
        InputError, match=r"has no .*class_prior_; a working point needs a classifier"
    ):
        RetargetedClassifier(broken, WorkingPoint.uniform([0, 1]))


def test_what_is_not_fitted_says_so() -> None:
    moved = RetargetedClassifier(TwoGaussians(), WorkingPoint.uniform([0, 1]))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        moved.predict([[0.0]])


# --- As an estimator of scikit-learn --------------------------------------------------------------


def logistic() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(120, 3))
    y = np.where(table[:, 0] + rng.normal(size=120) > 0.5, "ill", "well")
    point = WorkingPoint.binary(prior=0.3, cost_fn=9.0, cost_fp=1.0, classes=("well", "ill"))
    return LogisticRegression().at(point), table, y


def test_clones_are_fitted_as_the_model_was() -> None:
    moved, table, y = logistic()
    again = clone(moved)
    assert again.model is not moved.model
    assert again.point == moved.point
    found = again.fit(table, y)
    assert found is again
    np.testing.assert_array_equal(
        found.predict_proba(table),
        LogisticRegression().fit(table, y).at(moved.point).predict_proba(table),
    )
    weight = np.repeat([1.0, 2.0], 60)
    assert not np.array_equal(clone(moved).fit(table, y, weight).coef_, found.coef_)


def test_fitting_again_leaves_the_model_of_others_alone() -> None:
    moved, table, y = logistic()
    model = LogisticRegression().fit(table, y)
    coef = model.coef_.copy()
    model.at(moved.point).fit(table[:60], y[:60])
    np.testing.assert_array_equal(model.coef_, coef)


def test_searches_folds_and_permutations_take_it() -> None:
    moved, table, y = logistic()
    search = GridSearchCV(moved, {"model__C": [0.01, 1.0]}, cv=3).fit(table, y)
    assert set(search.best_params_) == {"model__C"}
    assert isinstance(search.best_estimator_, RetargetedClassifier)
    by_hand = []
    for train, test in StratifiedKFold(3).split(table, y):
        fitted = LogisticRegression().fit(table[train], y[train]).at(moved.point)
        by_hand.append(fitted.score(table[test], y[test]))
    np.testing.assert_allclose(cross_val_score(moved, table, y, cv=3), by_hand)
    found = permutation_importance(clone(moved).fit(table, y), table, y, n_repeats=3)
    assert found.importances_mean.argmax() == 0


def test_parameters_reach_the_model_and_others_are_refused() -> None:
    moved, _, _ = logistic()
    assert moved.get_params()["model__C"] == 1.0
    assert set(moved.get_params(deep=False)) == {"model", "point"}
    assert moved.set_params(model__C=5.0).model.C == 5.0
    with pytest.raises(InputError, match="no parameter 'C'"):
        moved.set_params(C=1.0)
