"""Predictions: the definitions of scores, probabilities and ratios, and damaged models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, MissingValuesError, ModelFileError, UnseenLevelWarning
from novum.linear.logistic.regression import LogisticRegression
from tests.linear.logistic_tables import logistic_table


@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_are_those_of_the_scores(K: int) -> None:
    X, y = logistic_table(80, 3, K)
    model = LogisticRegression().fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    whole = np.column_stack([np.zeros(80), scores[:, 0]]) if K == 2 else scores
    expected = np.exp(whole) / np.exp(whole).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(expected), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    found = model.decision_function(X)
    np.testing.assert_allclose(found, scores[:, 0] if K == 2 else scores, rtol=1e-12, atol=1e-14)
    for other in (sparse.csr_array(X), pd.DataFrame(X).to_numpy(), X.tolist()):
        np.testing.assert_allclose(model.predict_proba(other), expected, rtol=1e-12)


def test_tiny_probabilities_keep_their_logarithms() -> None:
    X, y = logistic_table(50, 1)
    model = LogisticRegression().fit(X, y)
    model.coef_ = np.array([[1.0]])
    model.intercept_ = np.array([0.0])
    assert model.predict_log_proba([[1e4]])[0].tolist() == [-1e4, 0.0]


@pytest.mark.parametrize("K", [2, 3])
def test_ratios_take_the_training_priors_off(K: int) -> None:
    X, y = logistic_table(300, 2, K, seed=3)
    model = LogisticRegression().fit(X, y)
    P, prior = model.predict_proba(X), model.class_prior_
    np.testing.assert_allclose(prior, np.bincount(y) / len(y), rtol=1e-14)
    expected = np.log(P[:, 1] / P[:, 0]) - np.log(prior[1] / prior[0])
    found = model.log_likelihood_ratio(X, positive=1, negative=0)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    rest = np.log(P[:, 1] / (1 - P[:, 1])) - np.log(prior[1] / (1 - prior[1]))
    np.testing.assert_allclose(model.log_likelihood_ratio(X, positive=1), rest, atol=1e-10)
    if K == 3:
        with pytest.raises(InputError, match="which is positive: positive=2"):
            model.log_likelihood_ratio(X)
    with pytest.raises(InputError, match="7 is not one of the classes"):
        model.log_likelihood_ratio(X, positive=7)


def test_other_priors_without_training_again() -> None:
    X, y = logistic_table(400, 2)
    model = LogisticRegression().fit(X, y)
    point = WorkingPoint.binary(prior=0.9, cost_fn=1.0, cost_fp=1.0)
    moved = model.at(point).predict_proba(X)[:, 1]
    ratio = model.log_likelihood_ratio(X) + np.log(0.9 / 0.1)
    np.testing.assert_allclose(moved, 1 / (1 + np.exp(-ratio)), rtol=1e-10)


def test_levels_have_names_and_unseen_ones_count_as_the_first() -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3] * 4, "b": ["x", "y", "z", "x"] * 4})
    model = LogisticRegression().fit(frame, [0, 1, 1, 0] * 4)
    assert model.coef_names_ == ("a", "b=y", "b=z")
    new = pd.DataFrame({"a": [1.0], "b": ["never"]})
    with pytest.warns(UnseenLevelWarning, match="reference level 'x'"):
        found = model.predict_proba(new)
    np.testing.assert_array_equal(found, model.predict_proba(new.assign(b="x")))


def test_unfitted_and_missing_are_refused() -> None:
    with pytest.raises(NotFittedError):
        LogisticRegression().predict([[1.0]])
    X, y = logistic_table(20, 2)
    X[3, 1] = np.nan
    with pytest.raises(MissingValuesError, match="LogisticRegression"):
        LogisticRegression().fit(X, y)


def test_damaged_models_are_refused() -> None:
    X, y = logistic_table(50, 2, 3)
    for name, value in (
        ("coef_", np.zeros((2, 2))),
        ("coef_", np.full((3, 2), np.nan)),
        ("intercept_", np.zeros(2)),
        ("class_prior_", np.array([0.5, 0.6, 0.1])),
    ):
        model = LogisticRegression().fit(X, y)
        model._check_state()
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match=r"The model has|The class priors"):
            model._check_state()
