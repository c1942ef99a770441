"""Successive halving: scikit-learn's schedule and choice, and its limits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV as Theirs
from sklearn.model_selection import KFold

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.ensemble import BaggingClassifier
from novum.evaluation.search.choice import OneStandardError
from novum.evaluation.search.halving import HalvingGridSearchCV, Schedule
from novum.evaluation.validation.smaller_parts import thinned
from novum.evaluation.validation.splits import plan_splits
from novum.linear import Ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
NUMBERS = X @ [1.0, 0.5, 0.0] + rng.normal(size=240)
LABELS = np.where(NUMBERS > 0, "yes", "no")
GRID = {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 1e4]}
ROUNDS = (
    "n_resources_",
    "n_candidates_",
    "n_remaining_candidates_",
    "n_iterations_",
    "n_required_iterations_",
    "n_possible_iterations_",
    "min_resources_",
    "max_resources_",
    "best_index_",
    "best_params_",
)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"factor": 2},
        {"min_resources": "smallest"},
        {"min_resources": 20, "max_resources": 100},
        {"min_resources": 100, "aggressive_elimination": True},
        {"cv": KFold(3), "factor": 2.5},
    ],
)
@pytest.mark.parametrize(
    ("model", "y", "grid"),
    [(Ridge(), NUMBERS, GRID), (GaussianNB(), LABELS, {"var_smoothing": [1e-9, 0.1, 1.0, 10.0]})],
)
def test_rounds_and_scores_are_scikit_learn_s(model: Any, y: Any, grid: Any, more: Any) -> None:
    ours = HalvingGridSearchCV(model, grid, random_state=3, **more).fit(X, y)
    reference = Theirs(model, grid, random_state=3, **more).fit(X, y)
    for name in ROUNDS:
        assert getattr(ours, name) == getattr(reference, name), name
    for key in ("iter", "n_resources", "mean_test_score", "mean_train_score"):
        np.testing.assert_allclose(ours.cv_results_[key], reference.cv_results_[key], rtol=1e-8)
    assert ours.best_score_ == pytest.approx(reference.best_score_, rel=1e-8)


def test_a_parameter_as_the_resource() -> None:
    model = BaggingClassifier(GaussianNB(), random_state=0)
    grid = {"max_samples": [0.2, 0.5, 1.0]}
    search = HalvingGridSearchCV(
        model, grid, resource="n_estimators", max_resources=6, cv=2, random_state=0
    ).fit(X, LABELS)
    assert search.n_resources_ == [2, 6]
    assert search.best_estimator_.n_estimators == 6


def test_the_simplest_of_the_last_round() -> None:
    rule = OneStandardError({"alpha": "largest"})
    search = HalvingGridSearchCV(Ridge(), GRID, random_state=0, factor=2, refit=rule)
    search.fit(X, NUMBERS)
    last = search.cv_results_["iter"].max()
    assert search.cv_results_["iter"][search.best_index_] == last
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]


@given(
    st.integers(1, 200), st.integers(1, 50), st.integers(50, 5000), st.floats(1.5, 5), st.booleans()
)
def test_resources_grow_and_stay_within_limits(
    n: int, least: int, most: int, factor: float, aggressive: bool
) -> None:
    schedule = Schedule.of(n, least, most, factor=factor, smallest=True, aggressive=aggressive)
    assert list(schedule.resources) == sorted(schedule.resources)
    assert least <= schedule.resources[0]
    assert schedule.resources[-1] <= most


def test_thinned_folds_are_parts_of_the_whole_ones() -> None:
    splits = plan_splits(X, None, 4)
    fewer = thinned(splits, 0.25, 0)
    for (train, test), (some, others) in zip(splits.folds, fewer.folds, strict=True):
        assert set(some) <= set(train)
        assert set(others) <= set(test)
        assert (len(some), len(others)) == (45, 15)
    with pytest.raises(InputError, match=r"has none left at a share of 0\.001"):
        thinned(splits, 0.001, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"resource": "gamma"}, "resource=gamma which is not supported by estimator Ridge"),
        ({"resource": "alpha", "max_resources": 9}, "alpha as the resource since it is part of"),
        ({"resource": "max_iter"}, "give the largest value"),
        ({"min_resources": 500}, "min_resources_=500 is greater than max_resources_=240"),
        ({"journal": "x"}, "give HalvingGridSearchCV an integer random_state"),
        ({"factor": 1}, "factor"),
    ],
)
def test_searches_that_cannot_be(
    change: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Journals are opened in the working directory.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        HalvingGridSearchCV(Ridge(), GRID, **change).fit(X, NUMBERS)


def test_few_rows_are_one_round_and_a_rare_class_is_drawn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 3)), np.repeat([0, 1, 2], 7)
    search = HalvingGridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}).fit(X, y)
    assert search.n_resources_ == [21]
    assert search.n_candidates_ == [2]
    X, y = rng.normal(size=(200, 3)), np.r_[np.zeros(192), np.ones(8)]
    search = HalvingGridSearchCV(
        GaussianNB(), {"var_smoothing": np.logspace(-9, 0, 9)}, error_score="raise", random_state=0
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.n_resources_[0] < 40


def test_rows_of_weight_zero_are_no_resource() -> None:
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(150, 3)), (rng.random(150) < 0.6).astype(float)
    y, kept = X[:, 0] + rng.normal(size=150), weight > 0
    grid = {"alpha": [0.1, 1.0, 10.0, 100.0]}
    given = HalvingGridSearchCV(Ridge(), grid, random_state=0).fit(X, y, sample_weight=weight)
    fewer = HalvingGridSearchCV(Ridge(), grid, random_state=0).fit(X[kept], y[kept])
    assert given.n_resources_ == fewer.n_resources_
    for name in ("mean_test_score", "low_test_score"):
        np.testing.assert_allclose(given.cv_results_[name], fewer.cv_results_[name], rtol=1e-9)
