"""Classes of hyperplanes: how many, and rows of one class only."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError, ModelFileError
from novum.svm.linear.classifier import LinearSVC
from novum.svm.linear.machine import check_two_classes, hyperplanes
from tests.svm.linear_tables import three_classes


def test_one_class_is_refused_with_its_label() -> None:
    with pytest.raises(InputError, match=r"one class only: all 7 rows are of class 'no'"):
        check_two_classes(np.array(["no"]), 7, "LinearSVC")
    assert check_two_classes(np.array([1, 2]), 7, "LinearSVC").tolist() == [1, 2]


def test_scores_of_two_and_of_three_classes() -> None:
    X, y = three_classes()
    three = LinearSVC().fit(X, y)
    assert hyperplanes(three.classes_) == 3
    scores = three.decision_function(X)
    assert scores.shape == (90, 3)
    np.testing.assert_allclose(scores, X @ three.coef_.T + three.intercept_)
    assert three.predict(X).tolist() == scores.argmax(axis=1).tolist()
    two = LinearSVC().fit(X, y == 1)
    assert two.decision_function(X).shape == (90,)
    assert two.predict(X).tolist() == (two.decision_function(X) > 0).tolist()


def test_a_model_of_another_shape_is_refused() -> None:
    X, y = three_classes()
    model = LinearSVC().fit(X, y)
    model._check_state()
    model.coef_ = model.coef_[:2]
    with pytest.raises(ModelFileError, match=r"shape \(2, 2\).*\(3, 2\) is needed"):
        model._check_state()
