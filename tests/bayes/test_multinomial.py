"""MultinomialNB: scikit-learn, definitions, enumeration of missing counts, nasty counts."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB as OtherNB

from novum.bayes import MultinomialNB
from novum.core.errors import InputError
from tests.bayes.definitions import log_counts, posterior
from tests.bayes.naive_bayes_tables import counts


@pytest.mark.parametrize("alpha", [1.0, 0.2, np.linspace(0.1, 1, 5)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_agreement_with_scikit_learn(alpha: Any, make: Any) -> None:
    X, y = counts()
    weight = np.random.default_rng(0).random(len(y))
    ours = MultinomialNB(alpha=alpha).fit(make(X), y, weight)
    theirs = OtherNB(alpha=alpha).fit(make(X), y, weight)
    for name in ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(make(X)), theirs.predict_joint_log_proba(make(X)), rtol=1e-10
    )
    np.testing.assert_allclose(
        ours.predict_proba(make(X)), theirs.predict_proba(make(X)), atol=1e-10
    )


def test_agreement_on_a_table_large_enough_for_the_kernels() -> None:
    rng = np.random.default_rng(1)
    X = sparse.random(4000, 700, 0.11, format="csr", random_state=0)
    X.data = np.ceil(5 * X.data)
    y = rng.integers(0, 6, 4000)
    ours, theirs = MultinomialNB().fit(X, y), OtherNB().fit(X, y)
    np.testing.assert_allclose(ours.feature_count_, theirs.feature_count_, rtol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11
    )


def test_posteriors_are_the_definition() -> None:
    X, y = counts(20, 3)
    model = MultinomialNB(alpha=0.5).fit(X, y)
    for row in X[:5]:
        logs = [
            np.log((y == k).mean()) + log_counts(row, X[y == k].tolist(), 0.5) for k in range(2)
        ]
        found = model.predict_proba([row])[0]
        np.testing.assert_allclose(found, posterior(logs), rtol=1e-11)


def test_the_score_is_log_linear() -> None:
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    np.testing.assert_allclose(
        X @ model.coef_.T + model.intercept_, model.predict_joint_log_proba(X), rtol=1e-12
    )


def test_add_one_smoothing_by_fractions() -> None:
    model = MultinomialNB().fit([[2, 1, 0], [0, 3, 0]], [0, 0])
    expected = [Fraction(n + 1, 6 + 3) for n in (2, 4, 0)]
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_[0]), [float(f) for f in expected], rtol=1e-14
    )


def test_missing_counts_of_the_fit_are_skipped() -> None:
    """Rows whose second count is missing say nothing about it, and do not make it rarer."""
    X = np.array([[2.0, 4.0], [2.0, 4.0], [2.0, np.nan], [2.0, np.nan]])
    model = MultinomialNB(alpha=0.0).fit(X, [0, 0, 0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [1 / 3, 2 / 3], rtol=1e-13)


def test_huge_counts_and_zero_smoothing() -> None:
    model = MultinomialNB(alpha=0.0).fit([[1e9, 1e9], [0, 1e9]], [0, 1])
    found = model.predict_log_proba([[1.0, 1e9], [0.0, 1e9]])
    assert found[0].tolist() == [0.0, -np.inf]
    assert np.isfinite(found[1, 1])
    assert not np.isnan(found).any()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"Negative values .* row 1, column 0 holds -1\.0"):
        MultinomialNB().fit([[1, 2], [-1, 0]], [0, 1])
    with pytest.raises(InputError, match="Number of priors"):
        MultinomialNB(class_prior=[1.0]).fit([[1, 2], [2, 1]], [0, 1])


def test_priors_learned_uniform_and_given() -> None:
    X, y = [[1, 0], [1, 0], [0, 1]], [0, 0, 1]
    assert MultinomialNB().fit(X, y).class_prior_.tolist() == [2 / 3, 1 / 3]
    assert MultinomialNB(fit_prior=False).fit(X, y).class_prior_.tolist() == [0.5, 0.5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = MultinomialNB(class_prior=[0.9, 0.1]).fit(X, y)
    np.testing.assert_allclose(given.class_log_prior_, np.log([0.9, 0.1]))
