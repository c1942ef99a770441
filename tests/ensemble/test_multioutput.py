"""MultiOutputClassifier and MultiOutputRegressor: scikit-learn's answers, batches, contracts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import SGDClassifier
from sklearn.multioutput import MultiOutputClassifier as OtherClassifier
from sklearn.multioutput import MultiOutputRegressor as OtherRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB
from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, registry, save
from novum.core.learners import Case, ConstantPredictor, ConstantTargetWarning
from novum.core.learners.contracts import check_name, estimator_checks
from novum.ensemble.chains import ClassifierChain
from novum.ensemble.multioutput import MultiOutputClassifier, MultiOutputRegressor
from novum.linear import Ridge

X, LABELS = make_multilabel_classification(100, 4, n_classes=3, random_state=2)
NUMBERS = X[:, :2] @ np.array([[1.0, 0.2, 3.0], [0.5, 1.0, -1.0]])
THREE = np.column_stack((LABELS[:, 0] + LABELS[:, 1], LABELS[:, 2]))
CLASSES = (MultiOutputClassifier, MultiOutputRegressor, ConstantPredictor)


@pytest.fixture(autouse=True)
def registered_here() -> Iterator[None]:
    """Model files know these classes, whether the registry lists them already or not."""
    new = {c.__name__: c for c in CLASSES if c.__name__ not in registry.ESTIMATORS}
    with registry.registered(estimators=new):
        yield


@parametrize_with_checks([MultiOutputRegressor(Ridge())], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize(
    "case",
    [
        Case(MultiOutputRegressor(Ridge()), X, NUMBERS),
        Case(MultiOutputClassifier(GaussianNB()), X, LABELS),
    ],
    ids=["numbers", "labels"],
)
def test_contract(case: Case, check: Any) -> None:
    check(case)


def test_agreement_with_scikit_learn() -> None:
    ours, theirs = (m(Ridge()).fit(X, NUMBERS) for m in (MultiOutputRegressor, OtherRegressor))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for y in (LABELS, THREE):
        ours, theirs = (m(GaussianNB()).fit(X, y) for m in (MultiOutputClassifier, OtherClassifier))
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        for a, b in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(ours.classes_, theirs.classes_, strict=True):
            np.testing.assert_array_equal(a, b)
        assert ours.score(X, y) == theirs.score(X, y)


def test_sets_of_labels() -> None:
    sets = [set(np.flatnonzero(row).tolist()) for row in LABELS]
    found = MultiOutputClassifier(GaussianNB()).fit(X, sets).predict(X)
    plain = MultiOutputClassifier(GaussianNB()).fit(X, LABELS).predict(X)
    assert found.tolist() == [frozenset(np.flatnonzero(row).tolist()) for row in plain]


def test_batches_add_up() -> None:
    whole = MultiOutputRegressor(Ridge()).fit(X, NUMBERS)
    parts = MultiOutputRegressor(Ridge()).partial_fit(X[:60], NUMBERS[:60])
    parts.partial_fit(X[60:], NUMBERS[60:])
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-8)
    classes = [[0, 1, 2], [0, 1]]
    labels = MultiOutputClassifier(GaussianNB()).partial_fit(X[:9], THREE[:9], classes=classes)
    labels.partial_fit(X[9:], THREE[9:])
    expected = MultiOutputClassifier(GaussianNB()).fit(X, THREE)
    np.testing.assert_array_equal(labels.predict(X), expected.predict(X))
    with pytest.raises(InputError, match="y has 3 targets, but earlier rows had 2"):
        labels.partial_fit(X, np.column_stack((THREE, THREE[:, 0])))
    assert not hasattr(MultiOutputRegressor(KNeighborsRegressor()), "partial_fit")


def test_weights_and_constants() -> None:
    weight = np.arange(100) % 3.0
    times = np.repeat(np.arange(100), weight.astype(int))
    a = MultiOutputClassifier(GaussianNB()).fit(X, LABELS, weight)
    b = MultiOutputClassifier(GaussianNB()).fit(X[times], LABELS[times])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    constant = np.column_stack((LABELS[:, 0], np.ones(100, int)))
    with pytest.warns(ConstantTargetWarning, match="target 1"):
        model = MultiOutputClassifier(GaussianNB()).fit(X, constant)
    assert (model.predict(X)[:, 1] == 1).all()
    with pytest.raises(InputError, match="no learner to add rows to"):
        model.partial_fit(X, LABELS[:, :2])
    with pytest.raises(InputError, match="at least two dimensions"):
        MultiOutputRegressor(Ridge()).fit(X, NUMBERS[:, 0])


def test_files_refuse_a_model_without_members(tmp_path: Any) -> None:
    model = MultiOutputRegressor(Ridge()).fit(X, NUMBERS)
    model.estimators_ = []
    save(model, tmp_path / "none.novum")
    with pytest.raises(ModelFileError, match="no members"):
        load(tmp_path / "none.novum")


def test_further_arguments_reach_the_learners_without_routing() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2))
    y = np.column_stack([rows[:, 0] > 0, rows[:, 1] > 0]).astype(int)
    start = np.array([5.0])
    for make in (MultiOutputClassifier, ClassifierChain):
        model = make(SGDClassifier(random_state=0)).fit(rows, y, intercept_init=start)
        alone = SGDClassifier(random_state=0).fit(rows, y[:, 0], intercept_init=start)
        np.testing.assert_array_equal(model.estimators_[0].coef_, alone.coef_)
