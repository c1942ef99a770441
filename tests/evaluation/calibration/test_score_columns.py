"""Score columns: which method, which shape, logits, bad scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.cluster import KMeans
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from novum.core.errors import InputError
from novum.evaluation.calibration.methods import (
    ScoreColumns,
    as_columns,
    scores_of,
    scoring_method,
)
from tests.evaluation.calibration.calibration_tables import classes


@pytest.mark.parametrize(("K", "width"), [(2, 1), (3, 3)])
def test_scores_of_models(K: int, width: int) -> None:
    X, y = classes(K=K)
    svm, bayes = LinearSVC().fit(X, y), GaussianNB().fit(X, y)
    assert (scoring_method(svm), scoring_method(bayes)) == ("decision_function", "predict_proba")
    raw, said = scores_of(svm, X), scores_of(bayes, X)
    assert raw.values.shape == said.values.shape == (len(y), width)
    assert (raw.probabilistic, said.probabilistic) == (False, True)
    assert raw.n_classes == said.n_classes == K
    np.testing.assert_allclose(
        special.softmax(said.logits, axis=1), bayes.predict_proba(X), atol=1e-9
    )
    with pytest.raises(InputError, match="nothing to calibrate"):
        scoring_method(KMeans())


def test_two_columns_of_two_classes_are_one() -> None:
    found = as_columns(np.array([[1.0, 3.0]]), "decision_function", 2, "Model")
    assert found.values.tolist() == [[2.0]]
    assert as_columns(np.array([[0.2, 0.8]]), "predict_proba", 2, "M").values.tolist() == [[0.8]]


def test_probabilities_of_zero_have_finite_logarithms() -> None:
    logits = ScoreColumns(np.array([[0.0], [1.0]]), True).logits
    assert np.isfinite(logits).all()
    assert logits[0, 0] == logits[1, 1] == 0.0


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.array([[0.0, np.nan, 1.0]]), "at row 0"),
        (np.zeros((2, 6)), "6 columns for 3 classes"),
        (np.array([np.inf]), "1 columns for 3 classes"),
    ],
)
def test_bad_scores_are_named(found: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_columns(found, "decision_function", 3, "Model")
