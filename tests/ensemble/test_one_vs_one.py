"""OneVsOneClassifier: scikit-learn's answers, votes and ties, coupled probabilities."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier as OtherOneVsOne
from sklearn.svm import SVC

from novum.bayes import GaussianNB, LinearDiscriminantAnalysis
from novum.core.errors import InputError
from novum.ensemble.one_vs_one import OneVsOneClassifier
from novum.ensemble.one_vs_rest import OneVsRestClassifier
from novum.linear import Ridge
from novum.numerics import couple_least_squares, couple_likelihood

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 4, 160)
X = RNG.normal(size=(160, 3)) + np.eye(4, 3)[Y]
LABELS = np.array(["a", "b", "c", "d"])[Y]


@pytest.mark.parametrize("base", [LinearDiscriminantAnalysis(), LogisticRegression()])
@pytest.mark.parametrize("labels", [LABELS, LABELS == "a"], ids=["four", "two"])
def test_agreement_with_scikit_learn(base: Any, labels: np.ndarray) -> None:
    ours, theirs = (r(base).fit(X, labels) for r in (OneVsOneClassifier, OtherOneVsOne))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-12
    )
    assert len(ours.estimators_) == len(theirs.estimators_)
    assert ours.n_classes_ == theirs.n_classes_
    assert ours.pairwise_indices_ is None


def test_two_classes_agree_for_learners_of_probabilities() -> None:
    ours, theirs = (r(GaussianNB()).fit(X, Y > 1) for r in (OneVsOneClassifier, OtherOneVsOne))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    alone = GaussianNB().fit(X, Y > 1)
    # Equal but for the rounding of dividing each pair by its sum.
    np.testing.assert_allclose(ours.predict_proba(X), alone.predict_proba(X), rtol=1e-14)


@pytest.mark.parametrize("base", [GaussianNB(), LinearDiscriminantAnalysis(), Ridge()])
def test_margins_and_votes_are_the_definition(base: Any) -> None:
    model = OneVsOneClassifier(base).fit(X, LABELS)
    margins = model.pairwise_margins(X)
    votes = np.zeros((160, 4))
    for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        rows = (i == Y) | (j == Y)
        alone = base.__class__().fit(X[rows], (Y[rows] == j).astype(int))
        yes = alone.predict(X) > 0.5
        np.testing.assert_array_equal(margins[:, k] > 0, yes)
        votes[:, j] += yes
        votes[:, i] += ~yes
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores.round(), votes)
    clear = np.sort(votes, axis=1)[:, -1] > np.sort(votes, axis=1)[:, -2]
    best = model.classes_[votes.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X)[clear], best[clear])


class CycleClassifier(ClassifierMixin, BaseEstimator):
    """Pairs of numbers: the margin is a column that the pair's rows name."""

    def fit(self, X: Any, y: Any) -> CycleClassifier:
        self.classes_ = np.unique(y)
        self.column_ = int(np.asarray(X)[:, 3:].sum(axis=0).argmin())
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(X)[:, self.column_]

    def predict(self, X: Any) -> np.ndarray:
        return (self.decision_function(X) > 0).astype(int)


def test_ties_of_votes_are_broken_by_margins_then_by_order() -> None:
    # Classes 0, 1, 2 have 1 in column 3 + k, so a pair is known by the column it lacks:
    # (0, 1) reads column 2, (0, 2) column 1, (1, 2) column 0.
    table = np.hstack((np.zeros((3, 3)), np.eye(3)))
    model = OneVsOneClassifier(CycleClassifier()).fit(table, [0, 1, 2])
    # 0 beats 1 by 1, 2 beats 0 by 1, 1 beats 2 by 1 or by 5.
    even = [[-1.0, 1.0, -1.0, 0, 0, 0]]
    odd = [[-5.0, 1.0, -1.0, 0, 0, 0]]
    assert model.pairwise_margins(even).tolist() == [[-1.0, 1.0, -1.0]]
    assert model.predict(even).tolist() == [0]
    assert model.predict(odd).tolist() == [1]
    theirs = OtherOneVsOne(CycleClassifier()).fit(table, [0, 1, 2])
    assert theirs.predict(even).tolist() == [0]
    assert theirs.predict(odd).tolist() == [1]


def test_a_weak_learner_that_is_constant() -> None:
    # Every pair votes for its first class: the first class has all its votes.
    model = OneVsOneClassifier(DummyClassifier(strategy="uniform", random_state=0))
    found = model.fit(X, Y)
    assert found.predict(X[:3]).tolist() == [0, 0, 0]
    np.testing.assert_allclose(found.predict_proba(X[:2]), 0.25, rtol=1e-12)


@pytest.mark.parametrize("coupling", ["least_squares", "likelihood"])
def test_probabilities_are_coupled(coupling: str) -> None:
    model = OneVsOneClassifier(GaussianNB(), coupling=coupling).fit(X, LABELS)
    pairs = []
    for i, j in itertools.combinations(range(4), 2):
        rows = (i == Y) | (j == Y)
        pairs.append(GaussianNB().fit(X[rows], Y[rows] == j).predict_proba(X)[:, 1])
    counts = np.bincount(Y)
    weight = [counts[i] + counts[j] for i, j in itertools.combinations(range(4), 2)]
    expected = (
        couple_least_squares(np.column_stack(pairs))
        if coupling == "least_squares"
        else couple_likelihood(np.column_stack(pairs), weight)
    ).probabilities
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    certificate = model.couple(X)
    assert certificate.residual.max() < 1e-12
    assert certificate.objective.shape == (160,)


@pytest.mark.parametrize("coupling", ["least_squares", "likelihood"])
def test_consistent_pairs_give_the_posterior_back(coupling: str) -> None:
    """Gaussian classes with known laws: the pair of a posterior is the posterior of the pair."""
    rng = np.random.default_rng(0)
    n = 30_000
    y = rng.integers(0, 3, n)
    rows = rng.normal(size=(n, 2)) + 1.5 * np.eye(3, 2)[y]
    model = OneVsOneClassifier(GaussianNB(), coupling=coupling).fit(rows, y)
    whole = GaussianNB().fit(rows, y)
    # Naive Bayes estimates each class by itself, so the pairs of its posterior are its pairs.
    np.testing.assert_allclose(
        model.predict_proba(rows[:500]), whole.predict_proba(rows[:500]), atol=1e-8
    )


def test_learners_without_probabilities_have_none() -> None:
    model = OneVsOneClassifier(Ridge()).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "couple")
    assert model.score(X, Y) > 0.4


def test_precomputed_kernels() -> None:
    gram = X @ X.T
    ours = OneVsOneClassifier(SVC(kernel="precomputed")).fit(gram, Y)
    theirs = OtherOneVsOne(SVC(kernel="precomputed")).fit(gram, Y)
    np.testing.assert_allclose(ours.decision_function(gram), theirs.decision_function(gram))
    for a, b in zip(ours.pairwise_indices_, theirs.pairwise_indices_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_pairs_that_met_no_row_are_named() -> None:
    model = OneVsOneClassifier(GaussianNB())
    model.partial_fit(X[Y < 2], LABELS[Y < 2], classes=list("abcd"))
    with pytest.raises(NotFittedError, match=r"rows were seen of \['a', 'b'\]"):
        model.predict(X)
    model.partial_fit(X[Y >= 2], LABELS[Y >= 2])
    whole = OneVsOneClassifier(GaussianNB()).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


def test_labels_of_their_own_are_not_coupled() -> None:
    model = OneVsOneClassifier(GaussianNB()).fit(X, np.eye(4, dtype=int)[Y])
    with pytest.raises(InputError, match="no pairs to couple"):
        model.couple(X)
    assert not hasattr(model, "decision_function")
    scored = OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, np.eye(4, dtype=int)[Y])
    np.testing.assert_array_equal(scored.decision_function(X), scored.pairwise_margins(X))


def test_unknown_couplings_are_refused() -> None:
    with pytest.raises(ValueError, match="coupling"):
        OneVsOneClassifier(GaussianNB(), coupling="votes").fit(X, Y)


def test_columns_of_a_precomputed_kernel_are_those_given() -> None:
    model = OneVsOneClassifier(SVC(kernel="precomputed")).fit(X @ X.T, Y)
    assert model.n_features_in_ == len(X)
    assert OneVsRestClassifier(SVC(kernel="precomputed")).fit(X @ X.T, Y).n_features_in_ == len(X)
