"""Sequential selection: scikit-learn's choices and checks, stop rules, kinds, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import feature_selection as theirs
from sklearn.linear_model import LogisticRegression as OtherLogistic
from sklearn.linear_model import Ridge as OtherRidge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import GaussianNB, NaiveBayes
from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation.selection.sequential import (
    CorrectedGain,
    SequentialFeatureSelector,
    WithinStandardError,
)
from novum.linear import LinearRegression
from tests.evaluation.selection.selection_tables import mixed_frame, two_classes

SEARCHES: list[Any] = [
    SequentialFeatureSelector(GaussianNB(), cv=2, n_features_to_select=1),
    SequentialFeatureSelector(GaussianNB(), cv=2, direction="backward", stop=CorrectedGain()),
]


@parametrize_with_checks(SEARCHES, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("model", SEARCHES, ids=["forward", "backward"])
@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(model: Any, check: Check) -> None:
    X, y = two_classes(40, 3)
    check(Case(model, X, y))


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("numbers", {}),
        ("numbers", {"n_features_to_select": 2}),
        ("numbers", {"n_features_to_select": 0.7}),
        ("numbers", {"tol": 0.02}),
        ("classes", {"tol": 0.02}),
    ],
    ids=str,
)
def test_choices_are_scikit_learns(direction: str, more: dict[str, Any], task: str) -> None:
    X, y = two_classes(60, 5, seed=3)
    model: Any = OtherLogistic() if task == "classes" else OtherRidge()
    y = y if task == "classes" else X[:, 0] + 0.5 * X[:, 2] + y
    if direction == "backward" and "tol" in more:
        more = {"tol": -0.01}
    options = {"direction": direction, "cv": 3, **more}
    ours = SequentialFeatureSelector(model, **options).fit(X, y)
    other = theirs.SequentialFeatureSelector(model, **options).fit(X, y)
    assert ours.get_support().tolist() == other.get_support().tolist()
    assert ours.n_features_to_select_ == other.n_features_to_select_


def test_going_backward_finds_what_needs_two_columns() -> None:
    """Parity: each of two columns alone says nothing, both say all."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (160, 4)).astype(float)
    y = np.where(X[:, 1] == X[:, 2], "even", "odd")
    from sklearn.tree import DecisionTreeClassifier

    search = SequentialFeatureSelector(
        DecisionTreeClassifier(random_state=0), n_features_to_select=2, direction="backward"
    )
    assert search.fit(X, y).get_support().tolist() == [False, True, True, False]


def test_frames_with_categories_and_missing_cells() -> None:
    frame, y = mixed_frame()
    search = SequentialFeatureSelector(NaiveBayes(), n_features_to_select=2, cv=4).fit(frame, y)
    assert search.get_feature_names_out().tolist() == ["size", "color"]
    assert list(search.transform(frame).columns) == ["size", "color"]


# --- Stop rules -----------------------------------------------------------------------------------


def test_corrected_gain_keeps_what_helps() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 6))
    y = 2 * X[:, 1] + X[:, 4] + rng.normal(size=200)
    for direction in ("forward", "backward"):
        search = SequentialFeatureSelector(
            LinearRegression(), direction=direction, cv="4x5", stop=CorrectedGain(0.01)
        ).fit(X, y)
        kept = search.get_support(indices=True).tolist()
        assert {1, 4} <= set(kept)
        assert len(kept) <= 4
    forward = SequentialFeatureSelector(LinearRegression(), cv="4x5", stop=CorrectedGain())
    assert forward.fit(X, y).get_support(indices=True).tolist() == [1, 4]
    assert [step.changed for step in forward.path_] == [1, 4]


def test_one_standard_error_takes_the_smallest_set_near_the_best() -> None:
    X, y = two_classes(90, 5)
    search = SequentialFeatureSelector(GaussianNB(), stop=WithinStandardError(), cv=5).fit(X, y)
    means = np.array([step.mean for step in search.path_])
    best = search.path_[int(means.argmax())]
    spread = np.var(best.scores, ddof=1) * (1 / 5 + best.test_train_ratio)
    first = int(np.flatnonzero(means >= best.mean - np.sqrt(spread))[0])
    assert len(search.path_) == 5
    assert search.get_support(indices=True).tolist() == list(search.path_[first].columns)


def test_files_hold_the_path(tmp_path: Any) -> None:
    X, y = two_classes(40, 3)
    search = SequentialFeatureSelector(GaussianNB(), cv=2, stop=WithinStandardError()).fit(X, y)
    save(search, tmp_path / "s.novum")
    back = load(tmp_path / "s.novum")
    assert back.path_ == search.path_
    assert back.stop == WithinStandardError()


# --- Folds, routing, refusals ---------------------------------------------------------------------


def test_groups_are_routed_to_the_splitter() -> None:
    import sklearn

    X, y = two_classes(40, 3)
    groups = np.arange(40) // 4
    with sklearn.config_context(enable_metadata_routing=True):
        options = {"cv": GroupKFold(4), "n_features_to_select": 1}
        ours = SequentialFeatureSelector(OtherLogistic(), **options).fit(X, y, groups=groups)
        other = theirs.SequentialFeatureSelector(OtherLogistic(), **options)
        other.fit(X, y, groups=groups)
    assert ours.get_support().tolist() == other.get_support().tolist()
    with pytest.raises(ValueError, match="groups"):
        SequentialFeatureSelector(GaussianNB()).fit(X, y, groups=groups)


def test_any_number_of_jobs_and_the_same_path() -> None:
    X, y = two_classes(60, 4)
    paths = {
        n: SequentialFeatureSelector(GaussianNB(), n_jobs=n, cv=KFold(3)).fit(X, y).path_
        for n in (1, 2, 4)
    }
    assert paths[1] == paths[2] == paths[4]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_features_to_select": 4}, "must be < n_features: 4 of 4 columns"),
        ({"tol": -0.1}, "tol must be strictly positive when doing forward selection"),
        ({"stop": CorrectedGain(), "tol": 0.1}, "leave out tol"),
    ],
)
def test_questions_that_make_no_sense(more: dict[str, Any], message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InputError, match=message):
        SequentialFeatureSelector(GaussianNB(), **more).fit(X, y)


def test_one_column_leaves_nothing_to_choose() -> None:
    with pytest.raises(InputError, match=r"1 feature\(s\).*minimum of 2"):
        SequentialFeatureSelector(GaussianNB()).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])


def test_undefined_scores_are_refused() -> None:
    X, y = two_classes()
    with pytest.raises(InputError, match="NaN"):
        SequentialFeatureSelector(
            GaussianNB(),
            scoring=lambda model, X, y: np.nan,  # noqa: ARG005
        ).fit(X, y)


def test_all_columns_may_stay_and_none_is_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    y = rows[:, 0] + rows[:, 1]
    model = SequentialFeatureSelector(
        LinearRegression(), n_features_to_select=1.0, direction="backward"
    ).fit(rows, y)
    assert model.get_support().all()
    assert model.certificate_.value == pytest.approx(1.0)
    assert [step.columns for step in model.path_] == [(0, 1, 2)]
    for direction in ("forward", "backward"):
        none = SequentialFeatureSelector(
            LinearRegression(), n_features_to_select=0.1, direction=direction
        )
        with pytest.raises(InputError, match=r"0\.1 of 3 columns is none"):
            none.fit(rows, y)
