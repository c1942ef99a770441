"""Calibration: scikit-learn's numbers and checks, contracts, weights, routing, files, bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn import calibration as other
from sklearn import config_context
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GroupKFold, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from novum.core import WorkingPoint, load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import AbsentClassWarning, Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.calibration.calibrated_classifier import CalibratedClassifierCV
from novum.evaluation.calibration.methods import PriorWeightedLogistic, SeparatedScoresWarning
from novum.evaluation.decisions.ratios import log_likelihood_ratios
from tests.evaluation.calibration.calibration_tables import classes, mixed


@pytest.mark.filterwarnings("ignore::novum.evaluation.calibration.methods.SeparatedScoresWarning")
@parametrize_with_checks(
    [
        CalibratedClassifierCV(GaussianNB(), cv=3),
        CalibratedClassifierCV(GaussianNB(), cv=3, ensemble=False, method="isotonic"),
        CalibratedClassifierCV(GaussianNB(), cv=2, method="temperature"),
        CalibratedClassifierCV(GaussianNB(), cv=2, method="prior-weighted logistic"),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "case",
    [
        Case(CalibratedClassifierCV(GaussianNB()), *classes()),
        Case(CalibratedClassifierCV(GaussianNB(), ensemble=False, method="isotonic"), *classes()),
        Case(
            CalibratedClassifierCV(LinearDiscriminantAnalysis(), method="temperature"),
            *classes(K=3),
        ),
        Case(CalibratedClassifierCV(GaussianNB(), method=PriorWeightedLogistic()), *classes(K=3)),
        Case(CalibratedClassifierCV(NaiveBayes(), method="prior-weighted logistic"), *mixed()),
    ],
    ids=["sigmoid", "isotonic", "temperature", "logistic", "mixed"],
)
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(case: Case, check: Check) -> None:
    check(case)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("inner", [LinearSVC(), TheirNB()], ids=repr)
def test_probabilities_are_scikit_learns(method: str, ensemble: bool, K: int, inner: Any) -> None:
    X, y = classes(K=K)
    settings = {"method": method, "ensemble": ensemble, "cv": 3}
    ours = CalibratedClassifierCV(inner, **settings).fit(X, y)
    theirs = other.CalibratedClassifierCV(inner, **settings).fit(X, y)
    # Theirs stops at a tolerance of the gradient, and searches temperatures to 1e-4 or so.
    close = 1e-3 if method == "temperature" else 1e-5
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=close)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)


def test_weights_are_scikit_learns() -> None:
    X, y = classes()
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    ours = CalibratedClassifierCV(TheirNB(), cv=3).fit(X, y, sample_weight=weight)
    theirs = other.CalibratedClassifierCV(TheirNB(), cv=3).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_frozen_classifiers_are_taken_as_they_are() -> None:
    X, y = classes(200)
    inner = TheirNB().fit(X[:80], y[:80])
    ours = CalibratedClassifierCV(FrozenEstimator(inner)).fit(X[80:], y[80:])
    theirs = other.CalibratedClassifierCV(FrozenEstimator(inner)).fit(X[80:], y[80:])
    assert len(ours.calibrated_classifiers_) == 1
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_the_same_learner_is_better_calibrated() -> None:
    """Doubled columns make naive Bayes too sure; the log loss on new rows says so."""
    X, y = classes(1200)
    X = np.hstack([X] * 6)
    plain = GaussianNB().fit(X[:600], y[:600])
    codes = (y[600:] == "b").astype(int)

    def log_loss(model: Any) -> float:
        return float(-np.log(model.predict_proba(X[600:])[np.arange(600), codes]).mean())

    for method in ("sigmoid", "temperature", "prior-weighted logistic"):
        model = CalibratedClassifierCV(GaussianNB(), method=method).fit(X[:600], y[:600])
        assert log_loss(model) < 0.75 * log_loss(plain)


# --- Prior-weighted logistic ----------------------------------------------------------------------


def test_logistic_at_the_training_shares_is_logistic_regression_of_the_scores() -> None:
    X, y = classes(150)
    y = np.where(np.arange(150) % 5 == 0, "a", y)
    share = float(np.mean(y == "b"))
    method = PriorWeightedLogistic(share)
    model = CalibratedClassifierCV(FrozenEstimator(TheirNB().fit(X, y)), method=method).fit(X, y)
    log_odds = np.diff(np.log(TheirNB().fit(X, y).predict_proba(X)), axis=1)
    line = TheirLogistic(C=np.inf, tol=1e-10).fit(log_odds, y)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], line.predict_proba(log_odds)[:, 1], atol=1e-6
    )


def test_ratios_do_not_depend_on_how_common_the_classes_were() -> None:
    X, y = classes(160)
    inner = FrozenEstimator(LinearSVC().fit(X, y))
    method = PriorWeightedLogistic(0.2)
    whole = CalibratedClassifierCV(inner, method=method).fit(X, y)
    # Three times the weight of a class changes its share, not its ratio.
    weight = np.where(y == "a", 3.0, 1.0)
    heavy = CalibratedClassifierCV(inner, method=method).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        log_likelihood_ratios(whole, X), log_likelihood_ratios(heavy, X), rtol=1e-6, atol=1e-7
    )
    assert not np.allclose(whole.predict_proba(X), heavy.predict_proba(X), atol=0.05)


def test_separated_scores_are_said_and_smoothed() -> None:
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9.5).astype(int)
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.warns(SeparatedScoresWarning, match="separate the classes"):
        model = CalibratedClassifierCV(frozen, method="prior-weighted logistic").fit(X, y)
    found = model.predict_proba(X)
    assert np.isfinite(found).all()
    assert model.predict(X).tolist() == y.tolist()
    with pytest.warns(SeparatedScoresWarning, match="inverse temperature"):
        CalibratedClassifierCV(frozen, method="temperature").fit(X, y)


@pytest.mark.parametrize("prior", [0.0, 1.5, (0.5, 0.6), (0.2, 0.3, 0.5), -1])
def test_impossible_priors_are_refused(prior: Any) -> None:
    X, y = classes()
    model = CalibratedClassifierCV(GaussianNB(), method=PriorWeightedLogistic(prior))
    with pytest.raises(InputError, match="effective prior of 2 classes"):
        model.fit(X, y)


# --- Decisions, containers, routing ---------------------------------------------------------------


def test_a_calibrated_classifier_can_be_retargeted() -> None:
    X, y = classes()
    model = CalibratedClassifierCV(GaussianNB()).fit(X, y)
    point = WorkingPoint.binary(prior=0.5, cost_fn=50, cost_fp=1, classes=("a", "b"))
    assert (model.at(point).predict(X) == "b").sum() > (model.predict(X) == "b").sum()


def test_frames_of_any_library() -> None:
    frame, y = mixed()
    reference = CalibratedClassifierCV(NaiveBayes()).fit(frame, y).predict_proba(frame)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        model = CalibratedClassifierCV(NaiveBayes()).fit(table, y)
        np.testing.assert_allclose(model.predict_proba(table), reference, rtol=1e-9)
        assert model.feature_names_in_.tolist() == ["size", "color"]


def test_groups_reach_the_splitter_and_weights_the_learner() -> None:
    X, y = classes(90)
    groups = np.arange(90) // 2 % 3
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        model = CalibratedClassifierCV(inner, cv=GroupKFold(3))
        routed = model.fit(X, y, groups=groups, sample_weight=np.ones(90)).predict_proba(X)
    folds = list(GroupKFold(3).split(X, y, groups))
    plain = CalibratedClassifierCV(GaussianNB(), cv=folds).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(routed, plain, rtol=1e-9)


def test_overlapping_folds_serve_an_ensemble_only() -> None:
    X, y = classes()
    cv = ShuffleSplit(3, random_state=0)
    assert len(CalibratedClassifierCV(GaussianNB(), cv=cv).fit(X, y).calibrated_classifiers_) == 3
    with pytest.raises(InputError, match="share no row"):
        CalibratedClassifierCV(GaussianNB(), cv=cv, ensemble=False).fit(X, y)


@pytest.mark.parametrize("ensemble", [True, False])
def test_folds_are_drawn_among_the_rows_that_count(ensemble: bool) -> None:
    X, y = classes(70, seed=4)
    weight = np.random.default_rng(5).integers(0, 3, 70).astype(float)
    model = CalibratedClassifierCV(GaussianNB(), cv=StratifiedKFold(4), ensemble=ensemble)
    whole = model.fit(X, y, sample_weight=weight).predict_proba(X)
    kept = weight > 0
    alone = model.fit(X[kept], y[kept], sample_weight=weight[kept]).predict_proba(X)
    np.testing.assert_allclose(whole, alone, rtol=1e-12)


def test_weights_that_the_learner_does_not_take() -> None:
    X, y = classes()
    with pytest.warns(UserWarning, match="KNeighborsClassifier does not appear to accept"):
        CalibratedClassifierCV(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))


# --- Bad input ------------------------------------------------------------------------------------


def test_a_class_that_a_fold_lacks() -> None:
    X, y = classes(60, K=3)
    folds = [(np.flatnonzero(y != "c"), np.arange(60)), (np.arange(60), np.arange(60))]
    with pytest.warns(AbsentClassWarning, match="without any row of class 'c'"):
        model = CalibratedClassifierCV(GaussianNB(), cv=folds).fit(X, y)
    first = model.calibrated_classifiers_[0].predict_proba(X)
    assert (first[:, 2] == 0).all()
    np.testing.assert_allclose(first.sum(axis=1), 1)


def test_bad_input_is_named() -> None:
    X, y = classes()
    with pytest.raises(InputError, match="one class 'a' only"):
        CalibratedClassifierCV(GaussianNB()).fit(X, np.full(len(y), "a"))
    with pytest.raises(InputError, match="'z' has 1\\. Use fewer folds"):
        CalibratedClassifierCV(GaussianNB(), cv=3).fit(X, np.r_[y[:-1], ["z"]])
    with pytest.raises(InputError, match="LeaveOneOut"):
        CalibratedClassifierCV(GaussianNB(), cv=LeaveOneOut()).fit(X, y)
    with pytest.raises(ValueError, match="'method' parameter"):
        CalibratedClassifierCV(GaussianNB(), method="plate").fit(X, y)
    X3, y3 = classes(K=4)
    with pytest.raises(InputError, match="6 columns for 4 classes"):
        CalibratedClassifierCV(SVC(decision_function_shape="ovo")).fit(X3, y3)


def test_files_with_maps_of_other_classes_are_refused(tmp_path: Any) -> None:
    X, y = classes(K=3)
    model = CalibratedClassifierCV(GaussianNB()).fit(X, y)
    pair = model.calibrated_classifiers_[0]
    maps = replace(pair.calibration, maps=pair.calibration.maps[:2])
    model.calibrated_classifiers_[0] = replace(pair, calibration=maps)
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="2 maps for 3 classes"):
        load(tmp_path / "model.novum")


def test_damaged_files_are_refused(tmp_path: Any) -> None:
    X, y = classes()
    model = CalibratedClassifierCV(GaussianNB()).fit(X, y)
    model.class_prior_ = np.ones(3) / 3
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(tmp_path / "model.novum")
