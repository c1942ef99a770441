"""Stacking: scikit-learn's answers for the same learners, by hand, missing classes, many labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as other
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as OtherLogistic
from sklearn.linear_model import Ridge as OtherRidge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from novum.bayes import (
    GaussianNB,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import AbsentClassWarning
from novum.ensemble.stacking import StackingClassifier, StackingRegressor
from novum.linear import LinearRegression, LogisticRegression, Ridge, RidgeCV
from tests.ensemble.ensemble_tables import classes, numbers

FOREIGN: list[tuple[str, Any]] = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("knn", KNeighborsClassifier(7)),
    ("svm", LinearSVC()),
]
OURS: list[tuple[str, Any]] = [
    ("nb", GaussianNB()),
    ("lda", LinearDiscriminantAnalysis()),
    ("qda", QuadraticDiscriminantAnalysis()),
]


@pytest.mark.parametrize("members", [FOREIGN, OURS], ids=["theirs", "ours"])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("more", [{}, {"passthrough": True}, {"stack_method": "predict"}], ids=str)
def test_stacks_are_scikit_learns(members: Any, K: int, more: dict[str, Any]) -> None:
    X, y = classes(120, K=K)
    new = np.random.default_rng(5).normal(size=(40, 3)) + 1
    final = OtherLogistic()
    ours = StackingClassifier(members, final, cv=4, **more).fit(X, y)
    theirs = other.StackingClassifier(members, final, cv=4, **more).fit(X, y)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-9)
    # The members' folds agree to 1e-9 or so, and the final learner stops at its tolerance.
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-5)
    np.testing.assert_allclose(
        ours.decision_function(new), theirs.decision_function(new), atol=1e-4
    )
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()
    assert ours.stack_method_ == theirs.stack_method_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("passthrough", [False, True])
def test_regressions_are_scikit_learns(passthrough: bool) -> None:
    X, y = numbers()
    members: list[tuple[str, Any]] = [
        ("ols", LinearRegression()),
        ("knn", KNeighborsRegressor()),
        ("ridge", Ridge(3.0)),
    ]
    more = {"final_estimator": OtherRidge(0.1), "passthrough": passthrough}
    ours = StackingRegressor(members, **more).fit(X, y)
    theirs = other.StackingRegressor(members, **more).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_default_final_learners() -> None:
    X, y = classes()
    model = StackingClassifier(OURS).fit(X, y)
    assert repr(model.final_estimator_) == repr(LogisticRegression())
    parts = [cross_val_predict(member, X, y, method="predict_proba") for _, member in OURS]
    codes = np.unique(y, return_inverse=True)[1]
    by_hand = LogisticRegression().fit(np.hstack(parts), codes)
    np.testing.assert_allclose(
        model.predict_proba(X), by_hand.predict_proba(model.transform(X)), atol=1e-6
    )
    Xr, yr = numbers()
    assert isinstance(
        StackingRegressor([("ols", LinearRegression())]).fit(Xr, yr).final_estimator_, RidgeCV
    )


def test_a_stack_learns_whom_to_trust() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    members = [("lda", LinearDiscriminantAnalysis()), ("knn", KNeighborsClassifier(15)),
               ("qda", QuadraticDiscriminantAnalysis())]  # fmt: skip
    model = StackingClassifier(members).fit(X[:300], y[:300])
    singles = [member.fit(X[:300], y[:300]).score(X[300:], y[300:]) for _, member in members]
    # Lines cannot tell the classes apart; the stack is near the best member, not the mean of all.
    assert model.score(X[300:], y[300:]) > np.mean(singles) + 0.05
    assert model.score(X[300:], y[300:]) > max(singles) - 0.05


def test_probabilities_at_their_ends_do_not_disturb_the_default() -> None:
    # Classes so far apart that all members say exactly 0 or 1, or 1e-200.
    X, y = classes(60)
    model = StackingClassifier([("nb", GaussianNB()), ("same", NaiveBayes())])
    assert model.fit(X + 40 * (y == "b")[:, None], y).predict_proba(X).shape == (60, 3)
    with pytest.raises(InputError, match="only one class"):
        model.fit(X, np.full(60, "only"))


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_a_class_that_a_fold_lacks() -> None:
    X, y = classes(31)
    y = np.where(np.arange(31) == 30, "z", y)
    with pytest.warns(AbsentClassWarning, match="1 of 5 folds train without any row of class 'z'"):
        model = StackingClassifier([("nb", GaussianNB())]).fit(X, y)
    assert model.predict_proba(X).shape == (31, 4)
    scores = StackingClassifier([("svm", LinearSVC())], stack_method="decision_function")
    with pytest.warns(AbsentClassWarning):
        scores.fit(X, y)
    assert np.isfinite(scores.transform(X)).all()


def test_regressors_may_help_to_classify() -> None:
    X, y = classes(120)
    model = StackingClassifier([("line", LinearRegression()), ("nb", GaussianNB())]).fit(X, y)
    assert model.stack_method_ == ["predict", "predict_proba"]
    assert model.transform(X).shape == (120, 4)
    np.testing.assert_allclose(
        model.transform(X)[:, 0],
        LinearRegression().fit(X, np.unique(y, return_inverse=True)[1]).predict(X),
    )


def test_scores_of_pairs_of_classes_pass_as_they_are() -> None:
    X, y = classes(80, K=4)
    members = [("svc", SVC(decision_function_shape="ovo"))]
    model = StackingClassifier(members, GaussianNB(), stack_method="decision_function").fit(X, y)
    assert model.transform(X).shape == (80, 6)


# --- Several labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_several_labels_as_in_scikit_learn(method: str) -> None:
    X, y = classes(120)
    Y = np.stack([y == "a", y != "b", X[:, 0] > 0], axis=1).astype(int)
    members = [("knn", KNeighborsClassifier()), ("tree", DecisionTreeClassifier(max_depth=2))]
    members[1][1].set_params(random_state=0)
    final = KNeighborsClassifier(3)
    ours = StackingClassifier(members, final, cv=KFold(3), stack_method=method).fit(X, Y)
    theirs = other.StackingClassifier(members, final, cv=KFold(3), stack_method=method).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    # scikit-learn gives the probability that a label is absent; here that it is there.
    np.testing.assert_allclose(ours.predict_proba(X), 1 - theirs.predict_proba(X))
    assert [labels.tolist() for labels in ours.classes_] == [[0, 1]] * 3


# --- Decisions, reproducibility -------------------------------------------------------------------


def test_a_stack_can_be_retargeted() -> None:
    X, y = classes(K=2)
    model = StackingClassifier(OURS).fit(X, y)
    point = WorkingPoint.binary(prior=0.5, cost_fn=1000, cost_fp=1, classes=("a", "b"))
    assert (model.at(point).predict(X) == "b").sum() > (model.predict(X) == "b").sum()


def test_jobs_and_weights_of_one_change_nothing() -> None:
    X, y = classes()
    members = [*OURS, ("tree", DecisionTreeClassifier(random_state=0))]
    one = StackingClassifier(members).fit(X, y)
    two = StackingClassifier(members, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    weighted = StackingClassifier(members).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(weighted.predict_proba(X), one.predict_proba(X), rtol=1e-8)


def test_the_certificate_is_that_of_the_final_learner() -> None:
    model = StackingRegressor([("ols", LinearRegression()), ("knn", KNeighborsRegressor())])
    certificate = model.fit(*numbers()).certificate_
    own = model.final_estimator_.certificate_
    assert (certificate.value, certificate.gap) == (own.value, own.gap)
    assert certificate.verdict == "local"
    assert certificate.details["verdicts"] == (
        "ols: proved",
        "knn: without certificate",
        "final_estimator: proved",
    )


def test_methods_are_those_of_the_final_learner() -> None:
    assert not hasattr(StackingClassifier(OURS, LinearSVC()), "predict_proba")
    assert hasattr(StackingClassifier(OURS, LinearSVC()), "decision_function")
    assert hasattr(StackingClassifier(OURS), "predict_proba")
    assert not hasattr(StackingClassifier(OURS, KNeighborsClassifier()), "decision_function")
    for model in (StackingClassifier(OURS), StackingRegressor([("r", Ridge())])):
        for method in ("predict", "transform"):
            with pytest.raises(NotFittedError):
                getattr(model, method)([[0.0]])
