"""What stacking shares: scikit-learn's checks, contracts, folds, weights, routing, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import CategoricalNB, GaussianNB, LinearDiscriminantAnalysis, NaiveBayes
from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.ensemble.stacking import StackingClassifier, StackingRegressor
from novum.ensemble.stacking_model import beside
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, mixed, model_files, numbers

BAYES = [("nb", GaussianNB()), ("columns", NaiveBayes())]
TWO = [("nb", GaussianNB()), ("lda", LinearDiscriminantAnalysis())]
LINES = [("ols", LinearRegression()), ("ridge", Ridge(10.0))]


# --- scikit-learn's checks and the contracts ------------------------------------------------------


@parametrize_with_checks(
    [
        StackingClassifier(BAYES, cv=3),
        StackingRegressor(LINES, cv=3, passthrough=True),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# Some checks have classes of one row, which scikit-learn's own splitter remarks on.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore::novum.core.learners.cross_fitting.AbsentClassWarning")
@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [
        StackingClassifier(
            [("mixed", NaiveBayes(categorical_features="all")), ("nb", CategoricalNB())], cv=3
        ),
        StackingRegressor(
            [
                ("ols", LinearRegression(categorical_features="all")),
                ("ridge", Ridge(categorical_features="all")),
            ],
            cv=3,
        ),
    ],
    legacy=True,
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def cases() -> list[Any]:
    frame, labels = mixed()
    through = StackingClassifier([("nb", NaiveBayes())], NaiveBayes(), passthrough=True)
    made = {
        "classifier": Case(StackingClassifier(TWO), *classes()),
        "two classes": Case(StackingClassifier(TWO, stack_method="predict_proba"), *classes(K=2)),
        "scores": Case(StackingClassifier(TWO[1:], GaussianNB(), cv=3), *classes()),
        "mixed": Case(through, frame, labels),
        "regressor": Case(StackingRegressor(LINES), *numbers()),
    }
    return [pytest.param(case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    with model_files():
        check(case)


def test_an_interrupted_fit_changes_nothing() -> None:
    check_interrupted_fit_changes_nothing(Case(StackingClassifier(TWO), *classes()), rows=60_000)


def test_a_stack_depends_on_the_order_of_rows_through_its_folds() -> None:
    assert StackingRegressor(LINES[:1]).invariances == ("shift", "column_scale", "common_scale")
    assert StackingRegressor(LINES[:1], Ridge(), passthrough=True).invariances == ("shift",)


# --- Folds ----------------------------------------------------------------------------------------


class Mean(RegressorMixin, BaseEstimator):
    """The mean of its targets, which tells which rows it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, price: Any = None) -> Mean:
        assert len(X) == len(y)
        self.price_ = price
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


class Keeper(RegressorMixin, BaseEstimator):
    """Keeps the table it is given."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Keeper:
        self.given_ = (np.array(X), np.array(y), sample_weight)
        return self

    def predict(self, X: Any, offset: float = 0.0) -> Any:
        return np.asarray(X)[:, 0] + offset


def test_the_final_learner_sees_predictions_for_rows_left_out() -> None:
    X, y = numbers(12)
    model = StackingRegressor([("mean", Mean())], Keeper(), cv=KFold(3)).fit(X, y)
    expected = [np.delete(y, range(4 * k, 4 * k + 4)).mean() for k in range(3)]
    np.testing.assert_allclose(model.final_estimator_.given_[0][:, 0], np.repeat(expected, 4))
    # The member that is asked later has seen all rows.
    np.testing.assert_allclose(model.transform(X), y.mean())


def test_all_members_are_cross_fitted_on_the_same_folds() -> None:
    X, y = numbers(12)
    members = [("a", Mean()), ("b", Mean())]
    model = StackingRegressor(members, Keeper(), cv=KFold(4, shuffle=True)).fit(X, y)
    table = model.final_estimator_.given_[0]
    np.testing.assert_array_equal(table[:, 0], table[:, 1])


def test_folds_given_by_rows_name_the_rows_given() -> None:
    X, y = numbers(9)
    weight = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 2.0, 1.0])
    group = np.arange(9) // 3
    folds = list(GroupKFold(3).split(X, y, group))
    model = StackingRegressor([("mean", Mean())], Keeper(), cv=folds).fit(X, y, weight)
    kept = weight > 0
    expected = [
        np.average(y[kept & (group != g)], weights=weight[kept & (group != g)]) for g in group[kept]
    ]
    table, target, given = model.final_estimator_.given_
    np.testing.assert_allclose(table[:, 0], expected)
    np.testing.assert_array_equal(target, y[kept])
    np.testing.assert_array_equal(given, weight[kept])


def test_weight_zero_is_the_row_absent() -> None:
    X, y = classes(60)
    weight = np.random.default_rng(0).integers(0, 2, 60).astype(float)
    kept = weight > 0
    found = StackingClassifier(TWO).fit(X, y, weight).predict_proba(X)
    expected = StackingClassifier(TWO).fit(X[kept], y[kept]).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_fitted_members_are_taken_as_they_are() -> None:
    X, y = classes()
    nb, lda = GaussianNB().fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    model = StackingClassifier([("nb", nb), ("lda", lda)], cv="prefit").fit(X, y)
    assert model.estimators_ == [nb, lda]
    np.testing.assert_allclose(
        model.transform(X), np.hstack([nb.predict_proba(X), lda.predict_proba(X)]), atol=2e-8
    )
    assert model.score(X, y) > 0.5
    by_label = StackingClassifier([("nb", nb)], cv="prefit", stack_method="predict").fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    assert set(by_label.transform(X)[:, 0].tolist()) == set(codes.tolist())
    with pytest.raises(NotFittedError):
        StackingClassifier([("nb", GaussianNB())], cv="prefit").fit(X, y)
    with pytest.raises(InputError, match="knows the class 'c'"):
        model.fit(X[y != "c"], y[y != "c"])


# --- What is refused ------------------------------------------------------------------------------


def test_what_does_not_fit_together_is_named() -> None:
    X, y = classes()
    with pytest.raises(InputError, match="'final_estimator' parameter should be a classifier"):
        StackingClassifier(TWO, Ridge()).fit(X, y)
    with pytest.raises(InputError, match="'final_estimator' parameter should be a regressor"):
        StackingRegressor(LINES, GaussianNB()).fit(*numbers())
    no_scores = StackingClassifier(
        [("nb", KNeighborsClassifier())], stack_method="decision_function"
    )
    with pytest.raises(InputError, match="nb does not implement the method decision_function"):
        no_scores.fit(X, y)
    weight = np.ones(len(y))
    with pytest.raises(InputError, match="final learner KNeighborsClassifier takes no sample"):
        StackingClassifier(TWO, KNeighborsClassifier()).fit(X, y, weight)
    with pytest.raises(InputError, match="'knn' takes no sample_weight"):
        StackingClassifier([("knn", KNeighborsClassifier())]).fit(X, y, weight)


def test_errors_say_whose_cross_fitting_it_was() -> None:
    class Picky(Mean):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Picky:
            if len(y) < 10:
                raise ValueError("too few rows")
            super().fit(X, y, sample_weight)
            return self

    X, y = numbers(10)
    with pytest.raises(ValueError, match="too few rows") as caught:
        StackingRegressor([("picky", Picky())], cv=2).fit(X, y)
    assert caught.value.__notes__[-1] == "This happened in the cross-fitting of member 'picky'."


# --- Metadata, output, files ----------------------------------------------------------------------


def test_routing_sends_metadata_to_members_folds_and_the_final_learner() -> None:
    X, y = numbers(12)
    price, weight = np.arange(12), np.arange(1.0, 13.0)
    with config_context(enable_metadata_routing=True):
        member = Mean().set_fit_request(price=True, sample_weight=False)
        final = Keeper().set_fit_request(sample_weight=True).set_predict_request(offset=True)
        model = StackingRegressor([("mean", member)], final, cv=3)
        model.fit(X, y, price=price, sample_weight=weight)
        np.testing.assert_array_equal(model.estimators_[0].price_, price)
        np.testing.assert_array_equal(model.final_estimator_.given_[2], weight)
        shifted = model.predict(X, offset=5.0)
        np.testing.assert_allclose(shifted, y.mean() + 5)
        with pytest.raises(UnsetMetadataPassedError):
            StackingRegressor([("mean", member)], Keeper()).fit(X, y, sample_weight=weight)
        by_default = StackingRegressor([("mean", member)]).fit(X, y, sample_weight=weight)
        assert np.isfinite(by_default.predict(X)).all()
        nb = GaussianNB().set_fit_request(sample_weight=True)
        assert StackingClassifier([("nb", nb)]).fit(*classes(), sample_weight=np.ones(90))


def test_arguments_of_predict_reach_the_final_learner() -> None:
    X, y = numbers(12)
    model = StackingRegressor([("mean", Mean())], Keeper()).fit(X, y)
    np.testing.assert_allclose(model.predict(X, offset=1.0), model.predict(X) + 1)


def test_output_frames_are_named() -> None:
    X, y = classes(K=2)
    model = StackingClassifier(TWO, passthrough=True).set_output(transform="pandas").fit(X, y)
    columns = ["stackingclassifier_nb", "stackingclassifier_lda", "x0", "x1", "x2"]
    assert model.transform(X).columns.tolist() == columns
    frame, labels = mixed()
    members = [("nb", NaiveBayes()), ("again", NaiveBayes())]
    mixed_model = StackingClassifier(members, NaiveBayes(), passthrough=True).fit(frame, labels)
    assert mixed_model.transform(frame).columns.tolist() == [
        "stackingclassifier_nb",
        "stackingclassifier_again",
        *frame.columns,
    ]
    assert mixed_model.score(frame, labels) > 0.5


def test_the_picture_shows_the_final_learner() -> None:
    assert "LogisticRegression" in StackingClassifier(TWO)._repr_html_()


def test_damaged_and_strange_models_are_refused(tmp_path: Any) -> None:
    path = tmp_path / "stack.novum"
    with model_files():
        for name, value in (
            ("stack_method_", ["predict_proba"]),
            ("stack_method_", ["__class__", "predict"]),
            ("_widths", [1]),
            ("class_prior_", np.ones(9)),
        ):
            damaged = StackingClassifier(TWO).fit(*classes())
            setattr(damaged, name, value)
            save(damaged, path)
            with pytest.raises(ModelFileError, match="not in order"):
                load(path)
        with pytest.raises(ModelFileError, match="KNeighborsRegressor"):
            save(StackingRegressor([("knn", KNeighborsRegressor())]).fit(*numbers()), path)
        with pytest.raises(ModelFileError, match="number of folds instead"):
            save(StackingRegressor(LINES, cv=KFold(3)).fit(*numbers()), path)


def test_predictions_beside_a_table() -> None:
    said, names = np.array([[0.1], [0.9]]), np.array(["m"], object)
    assert beside(said, names, np.array([[1.0], [2.0]])).tolist() == [[0.1, 1.0], [0.9, 2.0]]
    thin = beside(said, names, sparse.csr_array([[1.0], [0.0]]))
    assert sparse.issparse(thin)
    assert thin.toarray().tolist() == [[0.1, 1.0], [0.9, 0.0]]
    number = beside(said, names, pd.DataFrame({"a": [1, 2]}))
    assert isinstance(number, np.ndarray)
    frame = mixed(2)[0]
    for table in (frame, pl.from_pandas(frame)):
        found = beside(said, names, table)
        assert type(found) is type(table)
        assert list(found.columns) == ["m", *frame.columns]
    with pytest.raises(InputError, match="X has a column 'm', the name of a member's"):
        beside(said, names, frame.rename(columns={"age": "m"}))
