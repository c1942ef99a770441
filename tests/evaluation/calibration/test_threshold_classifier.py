"""What threshold classifiers share: positive labels, scores, weights, routing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.calibration.threshold_classifier import (
    FixedThresholdClassifier,
    labels_at,
    positive_code,
)
from tests.evaluation.calibration.calibration_tables import classes


def test_labels_and_codes() -> None:
    labels = np.array(["no", "yes"])
    assert (positive_code(None, labels), positive_code("no", labels)) == (1, 0)
    accepted = np.array([True, False])
    assert labels_at(accepted, labels, 1).tolist() == ["yes", "no"]
    assert labels_at(accepted, labels, 0).tolist() == ["no", "yes"]
    with pytest.raises(
        InputError, match="not a valid label: it should be one of \\['no', 'yes'\\]"
    ):
        positive_code("maybe", labels)


def test_scores_of_either_class() -> None:
    X, y = classes()
    for inner in (TheirNB(), LinearSVC()):
        model = FixedThresholdClassifier(inner).fit(X, y)
        one, two = (model._scores(model.estimator_, X, code) for code in (0, 1))
        total = 1.0 if hasattr(inner, "predict_proba") else 0.0
        np.testing.assert_allclose(one + two, total, atol=1e-12)


def test_weights_reach_the_classifier_or_are_refused() -> None:
    X, y = classes()
    weight = np.where(np.arange(len(y)) < 60, 0.0, 1.0)
    one = FixedThresholdClassifier(GaussianNB()).fit(X, y, sample_weight=weight)
    two = FixedThresholdClassifier(GaussianNB()).fit(X[60:], y[60:])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-9)
    with pytest.raises(InputError, match="KNeighborsClassifier takes no sample_weight"):
        FixedThresholdClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="price"):
        FixedThresholdClassifier(GaussianNB()).fit(X, y, price=weight)
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        routed = FixedThresholdClassifier(inner).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(routed.predict_proba(X), one.predict_proba(X), rtol=1e-9)
