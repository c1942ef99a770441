"""Searches as estimators: scikit-learn's complete checks, our contract, model files, resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn import decomposition as theirs
from sklearn import linear_model, model_selection
from sklearn.cluster import KMeans
from sklearn.metrics import get_scorer, make_scorer
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import (
    check_classifiers_one_label_sample_weights,
    parametrize_with_checks,
)

from novum.bayes import GaussianNB
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.decomposition import PCA
from novum.evaluation import cross_validate, scorer
from novum.evaluation.search.choice import OneStandardError
from novum.evaluation.search.grid import GridSearchCV
from novum.evaluation.search.halving import HalvingGridSearchCV
from novum.evaluation.search.randomized import RandomizedSearchCV
from novum.linear import LogisticRegression, Ridge
from novum.svm import SVC
from novum.trees import DecisionTreeClassifier
from tests.evaluation.validation.counting_learner import (
    CountingClassifier,
    killed_in_the_middle,
    n_fits,
    small_table,
)

X, Y = small_table()
NUMBERS = X @ [1.0, 0.5, 0.0] + np.sin(np.arange(80))
ALPHAS = {"alpha": [0.1, 1.0]}
FLOORS = {"var_smoothing": [1e-9, 1e-3]}
SEARCHES = [
    GridSearchCV(Ridge(), ALPHAS, cv=2),
    GridSearchCV(GaussianNB(), FLOORS, cv=2),
    GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=2),
    RandomizedSearchCV(Ridge(), ALPHAS, n_iter=2, cv=2, random_state=0),
    HalvingGridSearchCV(GaussianNB(), FLOORS, random_state=0),
    RandomizedSearchCV(GaussianNB(), FLOORS, n_iter=2, cv=2, random_state=0),
    HalvingGridSearchCV(Ridge(), ALPHAS, cv=2, random_state=0),
    HalvingGridSearchCV(GaussianNB(), FLOORS, cv=2, random_state=0),
]


# Small classes of the checks' tables are said to be absent from some folds.
@pytest.mark.filterwarnings("ignore::novum.core.learners.cross_fitting.AbsentClassWarning")
@parametrize_with_checks(SEARCHES, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def cases() -> list[Any]:
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    rule = OneStandardError({"alpha": "largest"})
    made = {
        "ridge": Case(GridSearchCV(Ridge(), ALPHAS, refit=rule), X, NUMBERS),
        "frame": Case(GridSearchCV(Ridge(), ALPHAS), frame, NUMBERS),
        "tree": Case(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=3), X, Y),
        "random": Case(RandomizedSearchCV(Ridge(), ALPHAS, n_iter=2, random_state=0), X, NUMBERS),
        "halving": Case(HalvingGridSearchCV(GaussianNB(), FLOORS, random_state=0, cv=2), X, Y),
    }
    return [pytest.param(case, id=name) for name, case in made.items()]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


def test_an_interrupt_leaves_the_search_as_it_was() -> None:
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4]}, cv=2)
    check_interrupted_fit_changes_nothing(Case(search, X, Y), rows=20_000)


def test_results_are_the_same_for_any_number_of_jobs() -> None:
    grid = {"max_depth": [1, 2, 3]}
    one = GridSearchCV(DecisionTreeClassifier(), grid).fit(X, Y)
    many = GridSearchCV(DecisionTreeClassifier(), grid, n_jobs=4).fit(X, Y)
    for key, column in one.cv_results_.items():
        if "time" not in key and key != "params":
            np.testing.assert_array_equal(column, many.cv_results_[key])


def test_frames_reach_the_learner() -> None:
    table = {"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")}
    searches = [
        GridSearchCV(Ridge(), ALPHAS).fit(f(table), NUMBERS) for f in (pd.DataFrame, pl.DataFrame)
    ]
    assert searches[0].feature_names_in_.tolist() == ["a", "b"]
    assert searches[0].best_score_ == pytest.approx(searches[1].best_score_, rel=1e-12)


def test_metadata_routing_reaches_learner_splitter_and_scorer() -> None:
    from sklearn.model_selection import GridSearchCV as Theirs
    from sklearn.model_selection import GroupKFold

    weight, groups = np.arange(1.0, 81.0), np.arange(80) % 5
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
        scorer = get_scorer("r2").set_score_request(sample_weight=True)
        wanted = {"scoring": scorer, "cv": GroupKFold(5)}
        given = {"sample_weight": weight, "groups": groups}
        ours = GridSearchCV(model, ALPHAS, **wanted).fit(X, NUMBERS, **given)
        reference = Theirs(model, ALPHAS, **wanted).fit(X, NUMBERS, **given)
        score = ours.score(X, NUMBERS, sample_weight=weight)
        assert score == pytest.approx(reference.score(X, NUMBERS, sample_weight=weight), rel=1e-9)
    found = ours.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, reference.cv_results_["mean_test_score"], rtol=1e-9)


# --- Resuming -------------------------------------------------------------------------------------


def test_a_journal_serves_known_candidates_and_new_ones_are_added(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    model = CountingClassifier(str(trace))
    GridSearchCV(model, {"shrink": [0.0, 0.5]}, cv=4, journal=journal).fit(X, Y)
    assert n_fits(trace) == 9
    wide = GridSearchCV(model, {"shrink": [0.0, 0.5, 0.9]}, cv=4, journal=journal).fit(X, Y)
    # Four new folds and the refit.
    assert n_fits(trace) == 14
    fresh = GridSearchCV(CountingClassifier(), {"shrink": [0.0, 0.5, 0.9]}, cv=4).fit(X, Y)
    np.testing.assert_array_equal(
        wide.cv_results_["mean_test_score"], fresh.cv_results_["mean_test_score"]
    )
    with pytest.raises(InputError, match=r"another experiment: .*data was"):
        GridSearchCV(model, {"shrink": [0.0]}, cv=4, journal=journal).fit(X + 1, Y)


def test_halving_resumes_over_its_rounds(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    grid = {"shrink": [0.0, 0.3, 0.6, 0.9]}
    model = CountingClassifier(str(trace))

    def search() -> Any:
        halving = HalvingGridSearchCV(model, grid, cv=2, random_state=0, journal=journal)
        return halving.fit(X, Y)

    first = search()
    fits = n_fits(trace)
    again = search()
    assert n_fits(trace) == fits + 1
    assert first.best_params_ == again.best_params_


KILLED = """
from novum.evaluation.search.grid import GridSearchCV
from tests.evaluation.validation.counting_learner import CountingClassifier, small_table
X, Y = small_table()
grid = {{"shrink": [0.0, 0.5, 0.9]}}
GridSearchCV(CountingClassifier({trace!r}), grid, cv=4, journal={journal!r}).fit(X, Y)
"""


@pytest.mark.slow
def test_a_killed_search_loses_no_finished_fold(tmp_path: Path) -> None:
    trace, journal = tmp_path / "trace", tmp_path / "journal"
    code = KILLED.format(trace=str(trace), journal=str(journal))
    assert killed_in_the_middle(code, trace, journal, 6) == 6
    grid = {"shrink": [0.0, 0.5, 0.9]}
    search = GridSearchCV(CountingClassifier(str(trace)), grid, cv=4, journal=journal).fit(X, Y)
    # Twelve folds, none of them twice, and the refit.
    assert n_fits(trace) == 13
    fresh = GridSearchCV(CountingClassifier(), grid, cv=4).fit(X, Y)
    for fold in range(4):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(search.cv_results_[key], fresh.cv_results_[key])


# --- Without targets ------------------------------------------------------------------------------

WITHOUT_TARGETS = [
    (PCA(), {"n_components": [1, 2]}),
    (theirs.PCA(), {"n_components": [1, 2]}),
    (KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3]}),
    (GaussianMixture(random_state=0), {"n_components": [1, 2]}),
    (KernelDensity(), {"bandwidth": [0.1, 1.0]}),
]


@pytest.mark.parametrize(("model", "grid"), WITHOUT_TARGETS, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("make", [GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV])
def test_learners_without_targets_are_judged_by_their_own_score(
    model: Any, grid: Any, make: Any
) -> None:
    rows = np.random.default_rng(3).normal(size=(60, 3))
    more = {"n_iter": 2} if make is RandomizedSearchCV else {}
    search = make(model, grid, cv=3, **more).fit(rows)
    if make is GridSearchCV:
        other = model_selection.GridSearchCV(model, grid, cv=3).fit(rows)
        np.testing.assert_allclose(
            search.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], rtol=1e-9
        )
    assert search.score(rows) == pytest.approx(search.best_estimator_.score(rows))


def test_a_measure_of_predictions_needs_targets() -> None:
    search = GridSearchCV(KMeans(n_init=1), {"n_clusters": [2, 3]}, scoring="accuracy")
    with pytest.raises(InputError, match="accuracy compares predictions with y, but y is None"):
        search.fit(np.random.default_rng(3).normal(size=(30, 2)))


# --- Reasons --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV])
@pytest.mark.parametrize(
    "learner", [LogisticRegression(), SVC(), linear_model.LogisticRegression()]
)
def test_the_reason_why_all_fits_failed_is_the_learners_own(make: Any, learner: Any) -> None:
    more = {"n_iter": 1} if make is RandomizedSearchCV else {}
    search = make(learner, {}, cv=2, **more)
    check_classifiers_one_label_sample_weights(type(search).__name__, search)
    rows, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match="class") as caught:
        search.fit(rows, y, sample_weight=y)
    with pytest.raises(ValueError, match="class") as alone:
        learner.fit(rows[1:4:2], y[1:4:2])
    assert str(alone.value)[:25] in str(caught.value)
    assert "training rows have a sample_weight of 0" in str(caught.value)


def test_a_row_of_weight_two_counts_as_two_rows_in_standard_errors() -> None:
    weight = np.where(np.arange(80) % 4, 1, 3)
    folds = [(np.arange(30, 80), np.arange(30)), (np.arange(30), np.arange(30, 80))]
    twice = np.repeat(np.arange(80), weight)
    repeated = [(np.isin(twice, train), np.isin(twice, test)) for train, test in folds]
    grid = {"alpha": [0.1, 10.0]}
    weighted = GridSearchCV(Ridge(), grid, cv=folds).fit(X, NUMBERS, sample_weight=weight)
    plain = GridSearchCV(Ridge(), grid, cv=repeated).fit(X[twice], NUMBERS[twice])
    for name in ("mean_test_score", "standard_error_test_score", "low_test_score"):
        np.testing.assert_allclose(
            weighted.cv_results_[name], plain.cv_results_[name], rtol=1e-9, err_msg=name
        )


def test_a_scorer_without_weights_counts_rows_once_and_says_so() -> None:
    def spread(y: Any, predicted: Any) -> float:
        return float(-np.abs(y - predicted).max())

    scoring = {"worst": make_scorer(spread), "r2": "r2"}
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, scoring=scoring, refit=False)
    with pytest.warns(UserWarning, match=r"The scoring worst=.* does not support sample_weight"):
        search.fit(X, NUMBERS, sample_weight=np.ones(80))
    plain = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, scoring=scoring, refit=False)
    plain.fit(X, NUMBERS)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_worst"], plain.cv_results_["mean_test_worst"], rtol=1e-9
    )


# --- Decisions ------------------------------------------------------------------------------------


def test_what_was_chosen_decides_at_a_working_point() -> None:
    point = WorkingPoint.binary(prior=0.2, cost_fn=5.0, cost_fp=1.0, classes=tuple(np.unique(Y)))
    by_cost = scorer("bayes_risk", point=point)
    search = GridSearchCV(GaussianNB(), FLOORS, cv=2, scoring=by_cost).fit(X, Y)
    np.testing.assert_array_equal(search.class_prior_, search.best_estimator_.class_prior_)
    np.testing.assert_array_equal(
        search.at(point).decide(X), search.best_estimator_.at(point).decide(X)
    )
    # A search inside of folds that are judged by costs.
    assert cross_validate(search, X, Y, cv=2, scoring=by_cost)["test_score"].shape == (2,)
    with pytest.raises(AttributeError, match="at"):
        _ = GridSearchCV(Ridge(), ALPHAS).at
