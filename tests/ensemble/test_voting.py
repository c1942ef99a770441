"""Voting: scikit-learn's answers for the same members, ties, weights, contracts, nasty input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import ensemble as other
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import (
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from novum.core import WorkingPoint, load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.ensemble.voting import VotingClassifier, VotingRegressor
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, mixed, model_files, numbers

BAYES = [("nb", GaussianNB()), ("columns", NaiveBayes())]
THREE = [
    ("nb", GaussianNB()),
    ("lda", LinearDiscriminantAnalysis()),
    ("qda", QuadraticDiscriminantAnalysis()),
]
LINES = [("ols", LinearRegression()), ("ridge", Ridge(10.0))]


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks(
    [VotingClassifier(BAYES), VotingClassifier(BAYES, voting="soft"), VotingRegressor(LINES)],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [
        VotingClassifier(
            [("mixed", NaiveBayes(categorical_features="all")), ("nb", CategoricalNB())],
            voting="soft",
        ),
        VotingRegressor(
            [
                ("ols", LinearRegression(categorical_features="all")),
                ("ridge", Ridge(categorical_features="all")),
            ]
        ),
    ],
    legacy=True,
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def cases() -> list[Any]:
    X, y = classes()
    codes = np.unique(y, return_inverse=True)[1]
    frame, labels = mixed()
    made = {
        "hard": Case(VotingClassifier(THREE), X, codes),
        "soft": Case(VotingClassifier(THREE, voting="soft", weights=[3, 2, 1]), X, y),
        "mixed": Case(VotingClassifier([("nb", NaiveBayes())], voting="soft"), frame, labels),
        "mean": Case(VotingRegressor(LINES), *numbers()),
    }
    return [pytest.param(case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    with model_files():
        check(case)


def test_an_interrupted_fit_changes_nothing() -> None:
    case = Case(VotingClassifier(THREE, voting="soft"), *classes())
    check_interrupted_fit_changes_nothing(case, rows=60_000)


# --- scikit-learn's answers -----------------------------------------------------------------------

FOREIGN = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("knn", KNeighborsClassifier(3)),
    ("logistic", LogisticRegression()),
]


@pytest.mark.parametrize("members", [FOREIGN, THREE], ids=["theirs", "ours"])
@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 0.5]])
def test_votes_are_scikit_learns(members: Any, voting: str, weights: Any) -> None:
    X, y = classes()
    new = np.random.default_rng(5).normal(size=(80, 3)) + 1
    ours = VotingClassifier(members, voting=voting, weights=weights).fit(X, y)
    theirs = other.VotingClassifier(members, voting=voting, weights=weights).fit(X, y)
    assert ours.predict(new).tolist() == theirs.predict(new).tolist()
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-12)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.le_.transform(["b"]).tolist() == theirs.le_.transform(["b"]).tolist()
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=1e-12)
        ours.set_params(flatten_transform=False)
        assert ours.transform(new).shape == (3, 80, 3)
        with pytest.raises(InputError, match="not supported when"):
            ours.get_feature_names_out()


def test_means_are_scikit_learns() -> None:
    X, y = numbers()
    members = [*LINES, ("knn", KNeighborsRegressor())]
    for weights in (None, [1, 2, 3]):
        ours = VotingRegressor(members, weights=weights).fit(X, y)
        theirs = other.VotingRegressor(members, weights=weights).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-12)
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_output_frames_have_the_members_as_columns() -> None:
    X, y = numbers()
    found = VotingRegressor(LINES).set_output(transform="pandas").fit_transform(X, y)
    assert found.columns.tolist() == ["votingregressor_ols", "votingregressor_ridge"]
    weighted = VotingRegressor(LINES).fit_transform(X, y, sample_weight=np.arange(len(y)))
    assert not np.allclose(weighted, found)


# --- Ties, votes, classes -------------------------------------------------------------------------


class Constant(ClassifierMixin, BaseEstimator):
    """Says one class, and perhaps knows no other."""

    def __init__(self, code: int, knows_all: bool = True) -> None:
        self.code = code
        self.knows_all = knows_all

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Constant:  # noqa: ARG002
        self.classes_ = np.unique(y) if self.knows_all else np.array([self.code])
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.code)

    def predict_proba(self, X: Any) -> Any:
        return (self.classes_ == self.code)[None].repeat(len(X), axis=0).astype(float)


def constants(*codes: int, **more: Any) -> VotingClassifier:
    members = [(f"m{i}", Constant(code)) for i, code in enumerate(codes)]
    X, y = classes(6)
    return VotingClassifier(members, **more).fit(X, y)


@pytest.mark.parametrize(
    ("codes", "weights", "label"),
    [
        ((2, 1), None, "b"),
        ((2, 1, 0), None, "a"),
        ((2, 2, 1), None, "c"),
        ((2, 1, 1), [3, 1, 1], "c"),
        ((2, 1, 1), [2, 1, 1], "b"),
        ((2, 2, 1), [0.1, 0.2, 0.3], "b"),
        ((0, 2), [0, 1], "c"),
    ],
)
def test_ties_go_to_the_lowest_label(codes: Any, weights: Any, label: str) -> None:
    assert constants(*codes, weights=weights).predict([[0.0] * 3]).tolist() == [label]


def test_a_class_that_a_member_does_not_know_gets_nothing_from_it() -> None:
    X, y = classes(6)
    members = [("narrow", Constant(2, knows_all=False)), ("wide", Constant(1))]
    model = VotingClassifier(members, voting="soft", weights=[3, 1]).fit(X, y)
    assert model.predict_proba(X[:1]).tolist() == [[0.0, 0.25, 0.75]]


def test_votes_of_dropped_members_do_not_count() -> None:
    X, y = classes(6)
    members = [("a", Constant(0)), ("b", Constant(1)), ("c", Constant(2))]
    model = VotingClassifier(members, weights=[5, 1, 2]).set_params(a="drop").fit(X, y)
    assert model.predict(X[:1]).tolist() == ["c"]
    with pytest.raises(InputError, match="All weights are zero"):
        VotingClassifier(members, weights=[1, 0, 0]).set_params(a="drop").fit(X, y)


def test_soft_voting_needs_probabilities() -> None:
    X, y = classes()
    model = VotingClassifier([("svm", LinearSVC()), ("nb", GaussianNB())], voting="soft")
    with pytest.raises(InputError, match=r"'svm' \(LinearSVC\) has no predict_proba"):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    hard = model.set_params(voting="hard").fit(X, y)
    assert not hasattr(hard, "predict_proba")
    assert hard.score(X, y) > 0.5


# --- Weights, frames, decisions, files ------------------------------------------------------------


def test_weights_of_rows_reach_members_of_others() -> None:
    X, y = classes()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    members = [("tree", tree), ("nb", GaussianNB())]
    weighted = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    repeated = VotingClassifier(members, voting="soft").fit(X[again], y[again])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)


def test_frames_reach_the_members_as_frames() -> None:
    frame, y = mixed()
    model = VotingClassifier([("a", NaiveBayes()), ("b", NaiveBayes())], voting="soft")
    expected = NaiveBayes().fit(frame, y).predict_proba(frame)
    for table in (frame, pl.from_pandas(frame)):
        found = model.fit(table, y)
        np.testing.assert_allclose(found.predict_proba(table), expected, rtol=1e-12)
        assert found.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"age": "year"}))
    with pytest.raises(ValueError, match="2 features, but VotingRegressor is expecting 3"):
        VotingRegressor(LINES).fit(*numbers()).predict([[1.0, 2.0]])


def test_a_soft_vote_can_be_retargeted() -> None:
    X, y = classes(K=2)
    model = VotingClassifier(THREE, voting="soft").fit(X, y)
    same = WorkingPoint(("a", "b"), model.class_prior_, cost=1 - np.eye(2))
    assert model.at(same).predict(X).tolist() == model.predict(X).tolist()
    careful = model.at(WorkingPoint.binary(prior=0.5, cost_fn=1000, cost_fp=1, classes=("a", "b")))
    assert (careful.predict(X) == "b").sum() > (model.predict(X) == "b").sum()
    with pytest.raises(InputError, match="no predict_proba"):
        VotingClassifier(THREE).fit(X, y).at(same)


def test_the_certificate_names_the_members() -> None:
    model = VotingClassifier([("nb", GaussianNB()), ("knn", KNeighborsClassifier())])
    certificate = model.fit(*classes()).certificate_
    assert certificate.verdict == "local"
    assert certificate.details["verdicts"] == ("nb: proved", "knn: without certificate")


def test_strangers_inside_a_model_are_refused_by_name(tmp_path: Any) -> None:
    model = VotingClassifier(FOREIGN).fit(*classes())
    with model_files(), pytest.raises(ModelFileError, match="DecisionTreeClassifier"):
        save(model, tmp_path / "vote.novum")


def test_damaged_files_are_refused(tmp_path: Any) -> None:
    model = VotingClassifier(THREE, voting="soft", weights=[1, 2, 3]).fit(*classes())
    changes: list[tuple[str, Any]] = [
        ("_votes", np.ones(2)),
        ("estimators_", model.estimators_[:2]),
        ("class_prior_", np.ones(5)),
        ("_slots", [["nb", True]]),
    ]
    with model_files():
        for name, value in changes:
            damaged = VotingClassifier(THREE, voting="soft").fit(*classes())
            setattr(damaged, name, value)
            save(damaged, tmp_path / "vote.novum")
            with pytest.raises(ModelFileError, match="not in order"):
                load(tmp_path / "vote.novum")


def test_nothing_is_predicted_before_a_fit() -> None:
    for model in (VotingClassifier(THREE), VotingRegressor(LINES)):
        with pytest.raises(NotFittedError):
            model.predict([[0.0]])
        with pytest.raises(NotFittedError):
            model.transform([[0.0]])
        assert not hasattr(model, "n_features_in_")


def test_labels_of_any_type() -> None:
    X, _ = classes(12)
    for labels in ([True, False] * 6, [3, 7, 3] * 4, pd.Series(["x", "y"] * 6, dtype="string")):
        model = VotingClassifier(BAYES).fit(X, labels)
        assert set(model.predict(X).tolist()) <= set(np.asarray(labels).tolist())
    with pytest.raises(ValueError, match="Unknown label type"):
        VotingClassifier(BAYES).fit(X, np.linspace(0, 1, 12))
