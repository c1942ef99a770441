"""ComplementNB: scikit-learn, and its degenerate cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import ComplementNB as OtherNB

from novum.bayes import ComplementNB
from tests.bayes.naive_bayes_tables import counts


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_agreement_with_scikit_learn(norm: bool, make: Any) -> None:
    X, _ = counts()
    y = np.random.default_rng(0).integers(0, 3, len(X))
    weight = np.random.default_rng(1).random(len(y))
    ours = ComplementNB(alpha=0.7, norm=norm).fit(make(X), y, weight)
    theirs = OtherNB(alpha=0.7, norm=norm).fit(make(X), y, weight)
    for name in ("class_count_", "feature_count_", "feature_all_", "feature_log_prob_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    np.testing.assert_allclose(
        ours.predict_log_proba(make(X)), theirs.predict_log_proba(make(X)), rtol=1e-9, atol=1e-12
    )


def test_weights_by_the_definition() -> None:
    X, y = np.array([[2.0, 0, 1], [1, 1, 0], [0, 3, 1]]), np.array([0, 0, 1])
    model = ComplementNB(alpha=0.5).fit(X, y)
    for k in range(2):
        others = X[y != k].sum(axis=0) + 0.5
        np.testing.assert_allclose(model.coef_[k], -np.log(others / others.sum()), rtol=1e-14)
    assert model.intercept_.tolist() == [0.0, 0.0]


def test_a_column_that_no_other_class_has_decides_without_smoothing() -> None:
    model = ComplementNB(alpha=0.0).fit([[1, 1], [0, 2]], ["a", "b"])
    assert model.predict([[1, 5]]).tolist() == ["a"]
    assert np.isfinite(model.predict_proba([[0, 1], [1, 0]])).all()


def test_one_class_is_predicted_always() -> None:
    model = ComplementNB().fit([[1, 2], [2, 0]], ["only", "only"])
    assert model.predict([[0, 0], [5, 1]]).tolist() == ["only", "only"]
    assert model.predict_proba([[5, 1]]).tolist() == [[1.0]]


def test_a_missing_count_adds_nothing() -> None:
    X, y = counts()
    model = ComplementNB().fit(X, y)
    row = X[:1].copy()
    row[0, 2] = 0.0
    expected = model.log_likelihood(row)
    row[0, 2] = np.nan
    np.testing.assert_allclose(model.log_likelihood(row), expected, rtol=1e-14)
