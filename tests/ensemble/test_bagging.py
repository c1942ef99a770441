"""Bagging: means by hand, out-of-bag by brute force, missing classes, frames, nasty input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import ensemble as other
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from novum import linear, svm
from novum.bayes import GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.ensemble.bagging import BaggingClassifier, BaggingRegressor
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, mixed, numbers


def out_of_bag(model: Any, X: Any, ask: Any, n: int) -> list[list[Any]]:
    """For every row what each member says that did not draw it."""
    said: list[list[Any]] = [[] for _ in range(n)]
    drawn = zip(model, model.estimators_samples_, model.estimators_features_, strict=True)
    for member, rows, columns in drawn:
        for i in set(range(n)) - set(rows.tolist()):
            said[i].append(ask(member, X[i : i + 1][:, columns])[0])
    return said


# --- Means ----------------------------------------------------------------------------------------


# A column drawn twice makes a covariance singular, which is not the matter here.
@pytest.mark.filterwarnings("ignore::novum.bayes.gaussian_covariance.SingularCovarianceWarning")
@pytest.mark.parametrize("more", [{}, {"max_features": 2}, {"bootstrap_features": True}], ids=str)
def test_probabilities_are_the_mean_of_the_members(more: dict[str, Any]) -> None:
    X, y = classes()
    model = BaggingClassifier(LinearDiscriminantAnalysis(), 7, random_state=0, **more).fit(X, y)
    seen = [(m, X[:, c]) for m, c in zip(model, model.estimators_features_, strict=True)]
    mean = np.mean([m.predict_proba(rows) for m, rows in seen], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(mean), rtol=1e-9)
    assert model.predict(X).tolist() == model.classes_[mean.argmax(axis=1)].tolist()
    scores = np.mean([m.decision_function(rows) for m, rows in seen], axis=0)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-9)


def test_members_without_probabilities_vote() -> None:
    X, y = classes()
    model = BaggingClassifier(LinearSVC(), 6, random_state=0).fit(X, y)
    codes = np.array([m.predict(X) for m in model])
    shares = np.stack([(codes == k).mean(axis=0) for k in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares))
    assert not hasattr(BaggingClassifier(KNeighborsClassifier()), "decision_function")


def test_several_targets_are_averaged_too() -> None:
    X, y = numbers()
    Y = np.stack([y, 2 * y], axis=1)
    model = BaggingRegressor(LinearRegression(), 20, oob_score=True, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), np.mean([m.predict(X) for m in model], axis=0))
    assert model.oob_prediction_.shape == Y.shape
    np.testing.assert_allclose(model.oob_prediction_[:, 1], 2 * model.oob_prediction_[:, 0])


@pytest.mark.slow
def test_bagging_is_as_good_as_scikit_learns() -> None:
    X, y = classes(600, K=3, seed=1)
    base = DecisionTreeClassifier(random_state=0)
    more = {"n_estimators": 40, "oob_score": True}
    ours = [BaggingClassifier(base, random_state=s, **more).fit(X, y).oob_score_ for s in range(4)]
    theirs = [
        other.BaggingClassifier(base, random_state=s, **more).fit(X, y).oob_score_ for s in range(4)
    ]
    # The standard error of an accuracy near 0.7 of 600 rows is 0.019.
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.03


def test_bagging_takes_away_variance() -> None:
    X, y = numbers(200)
    single = DecisionTreeRegressor(random_state=0).fit(X[:100], y[:100])
    many = BaggingRegressor(DecisionTreeRegressor(), 40, random_state=0).fit(X[:100], y[:100])
    assert many.score(X[100:], y[100:]) > single.score(X[100:], y[100:]) + 0.05


# --- Out of bag -----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [GaussianNB(), KNeighborsClassifier(3), LinearSVC()], ids=str)
def test_out_of_bag_probabilities_by_brute_force(base: Any) -> None:
    X, y = classes(40)
    codes = np.unique(y, return_inverse=True)[1]
    more = {"random_state": 0, "oob_score": True, "max_features": 2}
    model = BaggingClassifier(base, 30, **more).fit(X, y)

    def ask(member: Any, rows: Any) -> Any:
        if hasattr(member, "predict_proba"):
            whole = np.zeros((1, 3))
            whole[:, member.classes_] = member.predict_proba(rows)
            return whole
        return np.eye(3)[member.predict(rows)]

    expected = np.array([np.mean(s, axis=0) for s in out_of_bag(model, X, ask, 40)])
    np.testing.assert_allclose(model.oob_decision_function_, expected, rtol=1e-9, atol=1e-12)
    assert model.oob_score_ == accuracy_score(codes, expected.argmax(axis=1))
    jobs = BaggingClassifier(base, 30, n_jobs=2, **more).fit(X, y)
    np.testing.assert_array_equal(jobs.oob_decision_function_, model.oob_decision_function_)


def test_out_of_bag_numbers_by_brute_force() -> None:
    X, y = numbers(40)
    model = BaggingRegressor(Ridge(), 30, random_state=0, oob_score=True).fit(X, y)
    said = out_of_bag(model, X, lambda member, rows: member.predict(rows), 40)
    expected = np.array([np.mean(s) for s in said])
    np.testing.assert_allclose(model.oob_prediction_, expected, rtol=1e-10)
    assert model.oob_score_ == pytest.approx(r2_score(y, expected))


def test_rows_that_all_members_drew_are_nan_and_count_in_no_score() -> None:
    X, y = classes(30)
    model = BaggingClassifier(GaussianNB(), 2, random_state=0, oob_score=True)
    with pytest.warns(UserWarning, match=r"of 30 rows were drawn for every member"):
        model.fit(X, y)
    seen = np.isnan(model.oob_decision_function_[:, 0])
    drawn = [set(rows.tolist()) for rows in model.estimators_samples_]
    assert np.flatnonzero(seen).tolist() == sorted(drawn[0] & drawn[1])
    named = model.classes_[model.oob_decision_function_[~seen].argmax(axis=1)]
    assert model.oob_score_ == np.mean(named == y[~seen])
    Xr, yr = numbers(30)
    with pytest.warns(UserWarning, match="Use more estimators"):
        numeric = BaggingRegressor(Ridge(), 2, random_state=0, oob_score=True).fit(Xr, yr)
    np.testing.assert_array_equal(np.isnan(numeric.oob_prediction_), seen)


def test_no_row_out_of_any_bag_gives_no_score() -> None:
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        model = BaggingClassifier(GaussianNB(), oob_score=True).fit([[1.0]], ["a"])
    assert np.isnan(model.oob_score_)
    assert np.isnan(model.oob_decision_function_).all()
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        numeric = BaggingRegressor(Ridge(), oob_score=True).fit([[1.0]], [[1.0, 2.0]])
    assert np.isnan(numeric.oob_score_)
    assert numeric.oob_prediction_.shape == (1, 2)


def test_the_out_of_bag_score_weighs_rows_and_leaves_out_those_of_weight_zero() -> None:
    X, y = classes(60)
    weight = np.random.default_rng(2).integers(0, 4, 60).astype(float)
    model = BaggingClassifier(GaussianNB(), 60, random_state=0, oob_score=True).fit(X, y, weight)
    absent = weight == 0
    assert np.isnan(model.oob_decision_function_[absent]).all()
    assert not np.isnan(model.oob_decision_function_[~absent]).any()
    named = model.classes_[model.oob_decision_function_[~absent].argmax(axis=1)]
    expected = np.average(named == y[~absent], weights=weight[~absent])
    assert model.oob_score_ == pytest.approx(expected)
    Xr, yr = numbers(60)
    numeric = BaggingRegressor(Ridge(), 60, random_state=0, oob_score=True).fit(Xr, yr, weight)
    found = r2_score(yr[~absent], numeric.oob_prediction_[~absent], sample_weight=weight[~absent])
    assert numeric.oob_score_ == pytest.approx(found)


def test_out_of_bag_needs_replacement() -> None:
    with pytest.raises(InputError, match="only available if bootstrap=True"):
        BaggingClassifier(GaussianNB(), bootstrap=False, oob_score=True).fit(*classes())


def test_growing_on_with_out_of_bag_scores_all_members() -> None:
    X, y = classes()
    more = {"oob_score": True, "random_state": 0}
    grown = BaggingClassifier(GaussianNB(), 20, warm_start=True, **more).fit(X, y)
    grown.set_params(n_estimators=30).fit(X, y)
    whole = BaggingClassifier(GaussianNB(), 30, **more).fit(X, y)
    np.testing.assert_array_equal(grown.oob_decision_function_, whole.oob_decision_function_)
    grown.set_params(n_estimators=31, oob_score=False).fit(X, y)
    assert not hasattr(grown, "oob_score_")


# --- Classes, containers, decisions ---------------------------------------------------------------


@pytest.mark.parametrize("base", [GaussianNB(), KNeighborsClassifier(1)], ids=str)
def test_a_class_that_a_member_never_drew_has_probability_zero_there(base: Any) -> None:
    X, y = classes(30)
    y = np.where(np.arange(30) == 0, "z", y)
    model = BaggingClassifier(base, 10, random_state=0).fit(X, y)
    drew = [0 in rows for rows in model.estimators_samples_]
    assert 0 < sum(drew) < 10
    assert model.predict_proba(X).shape == (30, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    # The row itself names its class in the members that drew it.
    assert model.predict_proba(X[:1])[0, 3] == pytest.approx(np.mean(drew), abs=0.02)
    log = model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(log), model.predict_proba(X), atol=1e-12)
    if hasattr(model, "decision_function"):
        assert model.decision_function(X).shape == (30, 4)


@pytest.mark.parametrize("base", [linear.LogisticRegression(), svm.SVC(), KNeighborsClassifier()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_draws_that_missed_all_classes_but_one_give_members_that_name_it(
    base: Any, n_classes: int
) -> None:
    # With two rows beside the common class about one draw in seven has none of them.
    rng = np.random.default_rng(4)
    y = np.array(["common", *"ab"[: n_classes - 1] * (4 - n_classes), *["common"] * 27])
    X = rng.normal(size=(len(y), 2)) + 3.0 * (y != "common")[:, None]
    model = BaggingClassifier(base, 40, random_state=0).fit(X, y)
    codes = [np.unique(np.searchsorted(model.classes_, y[d])) for d in model.estimators_samples_]
    alone = [m for m, met in enumerate(codes) if len(met) == 1]
    assert 0 < len(alone) < 40
    for m in alone:
        assert model.estimators_[m].predict(X).tolist() == [codes[m][0]] * len(X)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    if hasattr(base, "decision_function"):
        assert np.isfinite(model.decision_function(X)).all()


def test_frames_reach_the_members_as_frames() -> None:
    frame, y = mixed()
    more = {"random_state": 0, "oob_score": True, "n_estimators": 25}
    model = BaggingClassifier(NaiveBayes(), max_features=3, **more).fit(frame, y)
    columns = model.estimators_features_[0]
    assert model[0].feature_names_in_.tolist() == [frame.columns[c] for c in columns]
    assert model.oob_score_ > 0.5
    polar = BaggingClassifier(NaiveBayes(), max_features=3, **more).fit(pl.from_pandas(frame), y)
    np.testing.assert_allclose(
        polar.predict_proba(pl.from_pandas(frame)), model.predict_proba(frame), rtol=1e-12
    )
    twice = BaggingClassifier(NaiveBayes(), bootstrap_features=True, **more).fit(frame, y)
    assert any("(2)" in name for name in twice[0].feature_names_in_)
    assert twice.predict(frame).shape == y.shape


def test_members_that_take_no_weights_get_rows_of_frames_and_sparse_tables() -> None:
    X, y = classes()
    dense = BaggingClassifier(KNeighborsClassifier(), 5, random_state=0).fit(X, y)
    thin = BaggingClassifier(KNeighborsClassifier(), 5, random_state=0, max_features=3)
    thin.fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X))
    frame = pd.DataFrame(X, columns=list("uvw"))
    named = BaggingClassifier(KNeighborsClassifier(), 5, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(named.predict_proba(frame), dense.predict_proba(X))
    Xr, yr = numbers()
    lists = BaggingRegressor(KNeighborsRegressor(), 5, random_state=0).fit(Xr.tolist(), yr.tolist())
    assert lists.predict(Xr.tolist()).shape == yr.shape


def test_a_bagged_model_can_be_retargeted() -> None:
    X, y = classes(K=2)
    model = BaggingClassifier(GaussianNB(), random_state=0).fit(X, y)
    point = WorkingPoint.binary(prior=0.5, cost_fn=1000, cost_fp=1, classes=("a", "b"))
    assert (model.at(point).predict(X) == "b").sum() > (model.predict(X) == "b").sum()
    assert model.class_prior_.tolist() == [0.5, 0.5]


def test_the_certificate_counts_the_members() -> None:
    model = BaggingRegressor(LinearRegression(), 4, random_state=0).fit(*numbers())
    certificate = model.certificate_
    assert certificate.details["verdicts"] == ("4 proved",)
    assert certificate.value == pytest.approx(
        np.mean([member.certificate_.value for member in model])
    )
    foreign = BaggingRegressor(KNeighborsRegressor()).fit(*numbers()).certificate_
    assert foreign.verdict == "local"


# --- Nasty input ----------------------------------------------------------------------------------


def test_parameters_out_of_range_are_named() -> None:
    X, y = numbers(20)
    for more, message in (
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"max_features": 4}, "max_features=4 must be <= n_features=3"),
        ({"bootstrap": False, "max_samples": 21}, "max_samples=21 must be <= n_samples=20"),
        ({"random_state": "seven"}, "random_state"),
    ):
        with pytest.raises(ValueError, match=message):
            BaggingRegressor(Ridge(), **more).fit(X, y)


def test_a_member_that_cannot_be_fitted_is_named() -> None:
    X, y = classes(12, K=2)
    with pytest.raises(ValueError, match="max_depth") as caught:
        BaggingClassifier(DecisionTreeClassifier(max_depth=-1), random_state=0).fit(X, y)
    assert "This happened in the fit of member" in caught.value.__notes__[0]


def test_nothing_is_predicted_before_a_fit() -> None:
    for model in (BaggingClassifier(GaussianNB()), BaggingRegressor(Ridge())):
        with pytest.raises(NotFittedError):
            model.predict([[0.0]])
    with pytest.raises(NotFittedError):
        BaggingClassifier(GaussianNB()).predict_log_proba([[0.0]])
