"""BernoulliNB: scikit-learn, the definition, and enumeration of missing cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB as OtherNB

from novum.bayes import BernoulliNB
from novum.core.errors import InputError
from tests.bayes.definitions import log_category
from tests.bayes.naive_bayes_tables import counts


@pytest.mark.parametrize("alpha", [1.0, 0.2])
@pytest.mark.parametrize("threshold", [0.0, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_agreement_with_scikit_learn(alpha: float, threshold: float, make: Any) -> None:
    X, y = counts()
    weight = np.random.default_rng(0).random(len(y))
    ours = BernoulliNB(alpha=alpha, binarize=threshold).fit(make(X), y, weight)
    theirs = OtherNB(alpha=alpha, binarize=threshold).fit(make(X), y, weight)
    for name in ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(make(X)), theirs.predict_joint_log_proba(make(X)), rtol=1e-10
    )


def test_a_pseudo_count_for_each_column() -> None:
    X, y = counts()
    alpha = np.linspace(0.1, 1, 5)
    each = BernoulliNB(alpha=alpha).fit(X, y)
    for j in range(5):
        one = BernoulliNB(alpha=alpha[j]).fit(X[:, [j]], y)
        np.testing.assert_allclose(each.feature_log_prob_[:, [j]], one.feature_log_prob_)


def test_agreement_on_a_table_large_enough_for_the_kernels() -> None:
    X = sparse.random(4000, 700, 0.11, format="csr", random_state=0)
    y = np.random.default_rng(1).integers(0, 6, 4000)
    ours, theirs = BernoulliNB(binarize=0.3).fit(X, y), OtherNB(binarize=0.3).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11
    )


def test_three_heads_by_maximum_likelihood_and_add_one() -> None:
    heads, y = [[1], [1], [1]], [0, 0, 0]
    assert np.exp(BernoulliNB(alpha=0.0).fit(heads, y).feature_log_prob_).item() == 1.0
    found = np.exp(BernoulliNB().fit(heads, y).feature_log_prob_).item()
    assert found == pytest.approx(4 / 5, rel=1e-14)


def test_missing_cells_are_skipped_and_summed_over() -> None:
    X = np.array([[1.0, 0], [np.nan, 1], [1, np.nan], [0, 0], [0, 1]])
    y = [0, 0, 0, 1, 1]
    model = BernoulliNB().fit(X, y)
    cells: list[Any] = [1, None, 1]
    expected = log_category(1, cells, {0: 1.0, 1: 1.0})
    assert model.feature_log_prob_[0, 0] == pytest.approx(expected, rel=1e-14)
    holes = np.exp(model.predict_joint_log_proba([[1.0, np.nan]]))
    both = np.exp(model.predict_joint_log_proba([[1.0, 0.0], [1.0, 1.0]])).sum(axis=0)
    np.testing.assert_allclose(holes[0], both, rtol=1e-13)


def test_the_score_is_log_linear() -> None:
    X, y = counts()
    model = BernoulliNB().fit(X, y)
    np.testing.assert_allclose(
        (X > 0) @ model.coef_.T + model.intercept_, model.predict_joint_log_proba(X), rtol=1e-12
    )


def test_binary_cells_and_thresholds_are_checked() -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]
    same = BernoulliNB(binarize=None).fit(X, y)
    np.testing.assert_array_equal(same.feature_count_, BernoulliNB().fit(X, y).feature_count_)
    with pytest.raises(InputError, match=r"1 are not, such as 2\.0"):
        BernoulliNB(binarize=None).fit([[0, 2], [1, 1]], y)
    with pytest.raises(InputError, match="1 are not"):
        same.predict([[0, 3]])
    with pytest.raises(InputError, match="Cannot binarize a sparse matrix with threshold -1"):
        BernoulliNB(binarize=-1.0).fit(sparse.csr_matrix(X), y)
