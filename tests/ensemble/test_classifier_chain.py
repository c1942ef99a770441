"""ClassifierChain: scikit-learn's answers, label sets, text, methods, dependence of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as OtherChain

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.core.learners import ConstantTargetWarning
from novum.ensemble.chains import ClassifierChain
from novum.ensemble.one_vs_rest import OneVsRestClassifier

X, Y = make_multilabel_classification(120, 5, n_classes=4, random_state=1)


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(max_iter=1000)])
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize(
    "method", [pytest.param("predict", marks=pytest.mark.slow), "predict_proba"]
)
def test_agreement_with_scikit_learn(base: Any, cv: Any, method: str) -> None:
    arguments = {"cv": cv, "chain_method": method, "order": [2, 0, 3, 1]}
    ours = ClassifierChain(base, **arguments).fit(X, Y)
    theirs = OtherChain(base, **arguments).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))
    assert ours.chain_method_ == theirs.chain_method_
    for a, b in zip(ours.classes_, theirs.classes_, strict=True):
        np.testing.assert_array_equal(a, b)
    assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")
    if hasattr(theirs, "decision_function"):
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), rtol=1e-5, atol=1e-7
        )


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("decision_function", marks=pytest.mark.slow),
        ["decision_function", "predict"],
    ],
)
def test_margins_can_be_passed_along(method: Any) -> None:
    base = LogisticRegression(max_iter=1000)
    ours, theirs = (
        chain(base, chain_method=method, cv=4).fit(X, Y) for chain in (ClassifierChain, OtherChain)
    )
    assert ours.chain_method_ == theirs.chain_method_ == "decision_function"
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_of_a_list_the_first_method_there_is() -> None:
    model = ClassifierChain(GaussianNB(), chain_method=["decision_function", "predict_log_proba"])
    assert model.fit(X, Y).chain_method_ == "predict_log_proba"
    assert np.isfinite(model.predict_proba(X)).all()


def test_chains_know_that_labels_belong_together() -> None:
    """Three labels, one of them in each row; the second and third differ by chance only."""
    rng = np.random.default_rng(0)
    n = 6000
    kind = rng.integers(0, 3, n)
    y = np.eye(3, dtype=int)[kind]
    rows = np.column_stack((2.0 * (kind == 0) + rng.normal(size=n), rng.normal(size=n)))
    chain = ClassifierChain(LogisticRegression(), order=[0, 1, 2]).fit(rows, y)
    alone = OneVsRestClassifier(LogisticRegression()).fit(rows, y)
    # A member of its own never finds a label of chance one half or less; the last of the chain
    # knows that it must be there if the others are not.
    empty = [(m.predict(rows).sum(axis=1) == 0).mean() for m in (chain, alone)]
    assert empty[0] < 0.05 < 0.2 < empty[1]
    assert chain.score(rows, y) > alone.score(rows, y) + 0.1


def test_sets_and_text() -> None:
    names = np.array(["red", "round", "ripe", "raw"])
    sets = [set(names[row == 1].tolist()) for row in Y]
    model = ClassifierChain(GaussianNB()).fit(X, sets)
    whole = ClassifierChain(GaussianNB()).fit(X, Y[:, np.argsort(names)])
    expected = [frozenset(np.sort(names)[row == 1].tolist()) for row in whole.predict(X)]
    assert model.predict(X).tolist() == expected
    assert model.score(X, sets) == pytest.approx(whole.score(X, Y[:, np.argsort(names)]))
    text = np.where(Y == 1, "yes", "no")
    spoken = ClassifierChain(GaussianNB()).fit(X, text)
    plain = ClassifierChain(GaussianNB()).fit(X, Y)
    np.testing.assert_array_equal(spoken.predict(X) == "yes", plain.predict(X) == 1)
    np.testing.assert_array_equal(spoken.predict_proba(X), plain.predict_proba(X))


def test_targets_of_several_classes() -> None:
    y = np.column_stack((Y[:, 0] + Y[:, 1], Y[:, 2]))
    model = ClassifierChain(GaussianNB()).fit(X, y)
    assert [c.tolist() for c in model.classes_] == [[0, 1, 2], [0, 1]]
    tables = model.predict_proba(X)
    assert [table.shape for table in tables] == [(120, 3), (120, 2)]
    np.testing.assert_array_equal(model.predict(X)[:, 0], tables[0].argmax(axis=1))
    assert [table.shape for table in model.predict_log_proba(X)] == [(120, 3), (120, 2)]
    with pytest.raises(InputError, match="target 0 has 3 classes"):
        ClassifierChain(GaussianNB(), chain_method="predict_proba").fit(X, y)
    scored = ClassifierChain(LogisticRegression(max_iter=1000)).fit(X, y)
    with pytest.raises(InputError, match="no single margin"):
        scored.decision_function(X)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("cv", [None, 3])
def test_a_label_that_no_row_has(method: str, cv: Any) -> None:
    y = Y.copy()
    y[:, 1] = 0
    with pytest.warns(ConstantTargetWarning, match="label 0 in target 1"):
        model = ClassifierChain(GaussianNB(), chain_method=method, cv=cv).fit(X, y)
    assert (model.predict(X)[:, 1] == 0).all()
    assert (model.predict_proba(X)[:, 1] == 0).all()


def test_scikit_learn_knows_that_these_are_no_ordinary_classes() -> None:
    tags = ClassifierChain(GaussianNB()).__sklearn_tags__()
    assert tags.target_tags.multi_output
    assert not tags.target_tags.single_output
    assert tags.input_tags.allow_nan
