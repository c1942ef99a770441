"""OneVsRestClassifier: scikit-learn's answers, the definition, ties, saturated probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier as OtherOneVsRest
from sklearn.svm import SVC

from novum.bayes import GaussianNB, LinearDiscriminantAnalysis
from novum.ensemble.one_vs_rest import OneVsRestClassifier
from novum.linear import LinearRegression, Perceptron, Ridge

RNG = np.random.default_rng(2)
Y = RNG.integers(0, 4, 120)
X = RNG.normal(size=(120, 3)) + np.eye(4, 3)[Y]
LABELS = np.array(["a", "b", "c", "d"])[Y]


@pytest.mark.parametrize(
    "base", [GaussianNB(), LinearDiscriminantAnalysis(), Ridge(), LogisticRegression()]
)
@pytest.mark.parametrize("labels", [LABELS, LABELS == "a"], ids=["four", "two"])
def test_agreement_with_scikit_learn(base: Any, labels: np.ndarray) -> None:
    ours, theirs = (r(base).fit(X, labels) for r in (OneVsRestClassifier, OtherOneVsRest))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.n_classes_ == theirs.n_classes_
    assert len(ours.estimators_) == len(theirs.estimators_)
    for method in ("predict_proba", "decision_function"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(theirs, method):
            expected = getattr(theirs, method)(X)
            np.testing.assert_allclose(getattr(ours, method)(X), expected, rtol=1e-10)
    assert ours.label_binarizer_.y_type_ == theirs.label_binarizer_.y_type_
    np.testing.assert_array_equal(
        ours.label_binarizer_.transform(labels).toarray(),
        theirs.label_binarizer_.transform(labels).toarray(),
    )


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(), Ridge()])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_agreement_with_scikit_learn_on_many_labels(base: Any, make: Any) -> None:
    table, y = make_multilabel_classification(150, 6, n_classes=5, random_state=0)
    ours, theirs = (r(base).fit(table, make(y)) for r in (OneVsRestClassifier, OtherOneVsRest))
    dense = [np.asarray(sparse.csr_matrix(m.predict(table)).todense()) for m in (ours, theirs)]
    np.testing.assert_array_equal(*dense)
    assert sparse.issparse(ours.predict(table)) == sparse.issparse(make(y))
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(
            ours.predict_proba(table), theirs.predict_proba(table), rtol=1e-9, atol=1e-300
        )
    assert ours.label_binarizer_.y_type_ == "multilabel-indicator"
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def test_members_are_the_learner_on_each_question() -> None:
    model = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, LABELS)
    for k, label in enumerate("abcd"):
        alone = LinearDiscriminantAnalysis().fit(X, label == LABELS)
        np.testing.assert_array_equal(model.margins(X)[:, k], alone.decision_function(X))


def test_margins_are_always_there_and_sorted_by() -> None:
    for base in (GaussianNB(), Ridge()):
        model = OneVsRestClassifier(base).fit(X, LABELS)
        margins = model.margins(X)
        assert not hasattr(model, "decision_function")
        np.testing.assert_array_equal(model.predict(X), model.classes_[margins.argmax(axis=1)])
    assert not hasattr(model, "predict_proba")


def test_a_weak_learner_that_is_constant_ties_and_the_first_class_wins() -> None:
    model = OneVsRestClassifier(DummyClassifier(strategy="prior")).fit(X, Y)
    counts = np.bincount(Y)
    # Its margin is the share of the class alone.
    assert model.predict(X[:3]).tolist() == [counts.argmax()] * 3
    equal = OneVsRestClassifier(DummyClassifier(strategy="prior")).fit(X[:8], [3, 2, 1, 0] * 2)
    assert equal.predict(X[:2]).tolist() == [0, 0]
    np.testing.assert_allclose(equal.predict_proba(X[:1]), 0.25)


def test_members_that_all_say_never_leave_equal_probabilities() -> None:
    never = DummyClassifier(strategy="constant", constant=0)
    model = OneVsRestClassifier(never).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X[:2]), np.full((2, 4), 0.25))
    assert model.predict(X[:2]).tolist() == [0, 0]


def test_saturated_members_are_told_apart_by_their_log_odds() -> None:
    rows = np.array([[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]])
    labels = ["a", "a", "b", "b", "c", "c"]
    far = [[-4000.0], [6000.0]]
    model = OneVsRestClassifier(GaussianNB()).fit(rows, labels)
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.classes_[model.margins(far).argmax(axis=1)], model.predict(far)
    )


def test_precomputed_kernels() -> None:
    gram = X @ X.T
    ours = OneVsRestClassifier(SVC(kernel="precomputed")).fit(gram, Y)
    theirs = OtherOneVsRest(SVC(kernel="precomputed")).fit(gram, Y)
    np.testing.assert_array_equal(ours.predict(gram), theirs.predict(gram))
    assert ours.__sklearn_tags__().input_tags.pairwise


def test_messages_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    OneVsRestClassifier(GaussianNB(), n_jobs=2, verbose=10).fit(X, Y)
    assert "Done" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*passes gain no more")
def test_regressions_are_classifiers_by_one_against_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for base in (LinearRegression(), Ridge(1.0), Perceptron()):
        model = OneVsRestClassifier(base).fit(X, names)
        assert model.score(X, names) > 0.8
        assert model.predict(X).dtype == names.dtype
        # Each member is the regression on the indicator of its class.
        for member, name in zip(model.estimators_, model.classes_, strict=True):
            alone = clone(base).fit(X, (names == name).astype(int))
            np.testing.assert_allclose(np.ravel(member.coef_), np.ravel(alone.coef_), rtol=1e-9)
