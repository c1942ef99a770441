"""Sets of classes: scikit-learn's checks, contracts, files, nested sets, odd input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.conformal.calibration_rows import ManyFitsWarning
from novum.evaluation.conformal.class_scores import Adaptive, RegularizedAdaptive
from novum.evaluation.conformal.classifier import ConformalClassifier
from novum.evaluation.conformal.quantiles import FewCalibrationRowsWarning
from tests.evaluation.calibration.calibration_tables import classes, mixed
from tests.evaluation.conformal.conformal_tables import Shares, three_classes
from tests.evaluation.conformal.test_regressor import RESAMPLED

SCORES = [
    "lac",
    "aps",
    "raps",
    Adaptive(randomized=False),
    RegularizedAdaptive(penalty=0.5, free=1),
]


@parametrize_with_checks([ConformalClassifier(GaussianNB())], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@parametrize_with_checks(
    [ConformalClassifier(GaussianNB(), method="split", conformity_score="aps")],
    legacy=True,
    expected_failed_checks=lambda _: RESAMPLED,
)
def test_scikit_learn_checks_of_a_split(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "case",
    [
        Case(ConformalClassifier(GaussianNB(), conformity_score="raps"), *classes(K=3)),
        Case(ConformalClassifier(NaiveBayes(), method="split", by_class=True), *mixed()),
    ],
    ids=["cross", "mixed"],
)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(case: Case, check: Check) -> None:
    check(case)


def test_files_keep_sets(tmp_path: Path) -> None:
    X, y = three_classes(90, np.random.default_rng(0))
    groups = np.where(np.arange(90) % 2, "even", "odd")
    priors = {"a": 0.3, "b": 0.3, "c": 0.4}
    model = ConformalClassifier(
        GaussianNB(), conformity_score=Adaptive(), target_priors=priors, cv=3
    )
    model.fit(X, y, groups=groups)
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    expected = model.predict_set(X, groups=groups)
    np.testing.assert_array_equal(again.predict_set(X, groups=groups), expected)
    again.column_ = again.column_ + 1
    with pytest.raises(ModelFileError, match="unknown class, model or score"):
        again._check_state()


@pytest.mark.parametrize("score", SCORES, ids=str)
@pytest.mark.parametrize("method", ["split", "cross"])
def test_sets_are_nested_in_coverage(score: Any, method: str) -> None:
    X, y = three_classes(120, np.random.default_rng(0))
    model = ConformalClassifier(GaussianNB(), conformity_score=score, method=method, cv=4).fit(X, y)
    before = np.zeros((120, 3), bool)
    for coverage in np.linspace(0.05, 0.95, 19):
        members = model.predict_set(X, coverage)
        assert (members | before == members).all()
        before = members


def test_sets_of_a_split_by_their_definition() -> None:
    X, y = three_classes(70, np.random.default_rng(0))
    inner = GaussianNB().fit(X[:30], y[:30])
    model = ConformalClassifier(FrozenEstimator(inner), method="split", coverage=0.8)
    model.fit(X[30:], y[30:])
    codes = np.searchsorted(["a", "b", "c"], y[30:])
    scores = 1 - inner.predict_proba(X[30:])[np.arange(40), codes]
    threshold = np.sort(scores)[33 - 1]  # ceil(41 * 0.8)
    expected = 1 - inner.predict_proba(X) <= threshold
    np.testing.assert_array_equal(model.predict_set(X), expected)


def test_sets_of_folds_by_their_definition() -> None:
    X, y = three_classes(50, np.random.default_rng(0))
    new = three_classes(9, np.random.default_rng(1))[0]
    cv = StratifiedKFold(4)
    model = ConformalClassifier(Shares(), cv=cv, coverage=0.7).fit(X, y)
    stranger = np.zeros((9, 3))
    for train, test in cv.split(X, y):
        fold = Shares().fit(X[train], y[train])
        own = fold.predict_proba(X[test])[
            np.arange(len(test)), np.searchsorted(fold.classes_, y[test])
        ]
        for row, p in enumerate(fold.predict_proba(new)):
            stranger[row] += (1 - own[:, None] < 1 - p).sum(axis=0)
    np.testing.assert_array_equal(model.predict_set(new), stranger < 0.7 * 51)


def test_jackknife_of_classes_refits_and_says_so() -> None:
    X, y = three_classes(25, np.random.default_rng(3))
    with pytest.warns(ManyFitsWarning, match="fits Shares 25 times"):
        model = ConformalClassifier(Shares(), method="jackknife+", coverage=0.8).fit(X, y)
    assert model.predict_set(X).any(axis=1).mean() > 0.8


def test_calibration_rows_have_no_order() -> None:
    X, y = three_classes(120, np.random.default_rng(0))
    frozen = FrozenEstimator(GaussianNB().fit(X[:60], y[:60]))
    order = np.random.default_rng(1).permutation(60)
    for score in ("lac", Adaptive(randomized=False)):
        found = []
        for rows in (np.arange(60), order):
            model = ConformalClassifier(
                frozen, method="split", conformity_score=score, by_class=True
            )
            model.set_params(coverage=0.6).fit(X[60:][rows], y[60:][rows])
            found.append(model.predict_set(X))
        np.testing.assert_array_equal(*found)


def test_equal_priors_change_nothing() -> None:
    X, y = three_classes(90, np.random.default_rng(0))
    shares = {label: float(np.mean(y == label)) for label in "abc"}
    plain = ConformalClassifier(GaussianNB(), cv=3).fit(X, y).predict_set(X)
    for priors in (shares, list(shares.values())):
        model = ConformalClassifier(GaussianNB(), cv=3, target_priors=priors).fit(X, y)
        np.testing.assert_array_equal(model.predict_set(X), plain)


def test_predictions_are_the_classifiers() -> None:
    X, y = mixed()
    model = ConformalClassifier(NaiveBayes()).fit(X, y)
    inner = NaiveBayes().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), inner.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    assert model.predict_set(X).shape == (90, 2)


# --- Odd input ------------------------------------------------------------------------------------


def test_a_classifier_needs_probabilities() -> None:
    with pytest.raises(
        InputError, match=r"LinearSVC has no predict_proba.* CalibratedClassifierCV"
    ):
        ConformalClassifier(LinearSVC()).fit(*classes())


def test_a_class_of_one_row() -> None:
    X, y = classes(31, K=2)
    y = np.where(np.arange(31) == 5, "z", y)
    with pytest.raises(InputError, match="Class 'z' has 1 row, but a class needs one to learn"):
        ConformalClassifier(GaussianNB()).fit(X, y)


def test_a_class_with_few_calibration_rows_is_in_every_set() -> None:
    X, y = three_classes(60, np.random.default_rng(0))
    y = np.where(y == "c", "b", y)
    y[:3] = "c"
    model = ConformalClassifier(GaussianNB(), by_class=True, cv=3).fit(X, y)
    with pytest.warns(
        FewCalibrationRowsWarning, match="there are 3 of class 'c', so that every set"
    ):
        members = model.predict_set(X)
    assert members[:, 2].all()
    assert not members[:, :2].all()


def test_a_class_without_rows_in_some_part_has_probability_zero() -> None:
    X, y = three_classes(40, np.random.default_rng(0))
    y = np.where(y == "c", "b", y)
    y[:2] = "c"
    for seed in range(6):
        model = ConformalClassifier(GaussianNB(), method="split", random_state=seed).fit(X, y)
        assert model.predict_proba(X).shape == model.predict_set(X).shape == (40, 3)


@pytest.mark.parametrize("priors", [{"a": 1.0}, [0.5, 0.5], [0.5, 0.6, 0.2], [1.0, 0.0, 0.0]])
def test_priors_must_fit_the_classes(priors: Any) -> None:
    X, y = three_classes(40, np.random.default_rng(0))
    with pytest.raises(InputError, match="target_priors"):
        ConformalClassifier(GaussianNB(), target_priors=priors).fit(X, y)


def test_groups_of_new_rows_must_be_known() -> None:
    X, y = three_classes(60, np.random.default_rng(0))
    model = ConformalClassifier(GaussianNB(), cv=3).fit(X, y, groups=np.arange(60) % 2)
    with pytest.raises(InputError, match="group 7 has no calibration row"):
        model.predict_set(X[:1], groups=[7])


def test_folds_with_equal_shares_prove_nothing_but_by_class() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + y[:, None]
    told = {
        name: ConformalClassifier(GaussianNB(), **options).fit(X, y).certificate_
        for name, options in {
            "stratified": {},
            "blind": {"cv": KFold(10, shuffle=True, random_state=0)},
            "class": {"by_class": True},
            "split": {"method": "split"},
            "shares": {"method": "split", "target_priors": [0.2, 0.8]},
        }.items()
    }
    assert told["stratified"].value == told["shares"].value == 0
    assert "equal shares of the classes" in told["stratified"].sentence
    assert "shares of the classes in the fit are estimates" in told["shares"].sentence
    assert told["split"].value == 0.9
    assert 0.5 < told["class"].value < told["blind"].value < 0.8


def test_classes_with_fewer_rows_than_folds_are_learned() -> None:
    X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], list("aaabbb")
    model = ConformalClassifier(GaussianNB(), coverage=0.7).fit(X, y)
    assert model.predict_set(X).shape == (6, 2)
