"""Fixed thresholds: scikit-learn's predictions and checks, contracts, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.calibration.threshold_classifier import FixedThresholdClassifier
from tests.evaluation.calibration.calibration_tables import classes, mixed


@parametrize_with_checks([FixedThresholdClassifier(GaussianNB())], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Check) -> None:
    check(Case(FixedThresholdClassifier(GaussianNB(), threshold=0.3), *classes()))


@pytest.mark.parametrize("threshold", ["auto", 0.2, -0.3, 0.9])
@pytest.mark.parametrize("label", [None, "a", "b"])
@pytest.mark.parametrize("inner", [TheirNB(), LinearSVC()], ids=repr)
def test_predictions_are_scikit_learns(threshold: Any, label: Any, inner: Any) -> None:
    X, y = classes()
    settings = {"threshold": threshold, "pos_label": label}
    ours = FixedThresholdClassifier(inner, **settings).fit(X, y)
    theirs = model_selection.FixedThresholdClassifier(inner, **settings).fit(X, y)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def test_a_score_at_the_threshold_is_accepted() -> None:
    X, y = classes()
    inner = TheirNB().fit(X, y)
    at = float(inner.predict_proba(X[:1])[0, 1])
    assert FixedThresholdClassifier(inner, threshold=at).predict(X[:1]).tolist() == ["b"]
    # A threshold that differs from the score by rounding is reached, as in curves of thresholds.
    for threshold, label in ((np.nextafter(at, 1), "b"), (at * (1 + 1e-9), "a")):
        model = FixedThresholdClassifier(inner, threshold=threshold)
        assert model.predict(X[:1]).tolist() == [label]


def test_a_fitted_classifier_needs_no_other_fit() -> None:
    X, y = classes()
    model = FixedThresholdClassifier(GaussianNB().fit(X, y), threshold=0.5)
    assert model.predict(X).tolist() == GaussianNB().fit(X, y).predict(X).tolist()
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(NotFittedError):
        FixedThresholdClassifier(GaussianNB()).predict(X)
    assert not hasattr(FixedThresholdClassifier(GaussianNB()), "classes_")


def test_methods_are_those_of_the_classifier() -> None:
    assert not hasattr(FixedThresholdClassifier(LinearSVC()), "predict_proba")
    assert hasattr(FixedThresholdClassifier(LinearSVC()), "decision_function")
    X, y = classes()
    inner = GaussianNB().fit(X, y)
    model = FixedThresholdClassifier(GaussianNB()).fit(X, y)
    for method in ("predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(getattr(model, method)(X), getattr(inner, method)(X))


def test_frames_pass_through() -> None:
    from novum.bayes import NaiveBayes

    frame, y = mixed()
    model = FixedThresholdClassifier(NaiveBayes(), threshold=0.5).fit(frame, y)
    assert model.predict(frame).tolist() == NaiveBayes().fit(frame, y).predict(frame).tolist()


def test_bad_input_is_named() -> None:
    X, y = classes()
    with pytest.raises(InputError, match="pos_label='z' is not a valid label"):
        FixedThresholdClassifier(GaussianNB(), pos_label="z").fit(X, y)
    with pytest.raises(InputError, match="Only binary classification"):
        FixedThresholdClassifier(GaussianNB()).fit(*classes(K=3))
    with pytest.raises(InputError, match="none of the following attributes: predict_proba"):
        FixedThresholdClassifier(LinearSVC(), response_method="predict_proba").fit(X, y).predict(X)
