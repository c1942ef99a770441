"""Grid search: scikit-learn's table, choice and attributes."""

from typing import Any

import numpy as np
import pytest
import sklearn.model_selection as theirs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from novum.bayes import GaussianClassifier, GaussianNB
from novum.core.errors import InputError
from novum.evaluation.search.grid import GridSearchCV
from novum.evaluation.validation.fold_runs import UndefinedScoreWarning
from novum.linear import Ridge
from tests.evaluation.validation.counting_learner import small_table

X, Y = small_table()
NUMBERS = X @ [1.0, 0.5, 0.0] + np.sin(np.arange(80))
STEPS = Pipeline([("scale", StandardScaler()), ("logistic", LogisticRegression())])


@pytest.mark.parametrize(
    ("model", "grid", "y", "more"),
    [
        (Ridge(), {"alpha": [0.1, 1.0, 100.0]}, NUMBERS, {}),
        (Ridge(), {"alpha": [0.1, 1.0], "fit_intercept": [True, False]}, NUMBERS, {"cv": 3}),
        (GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, Y, {"scoring": "neg_log_loss"}),
        (GaussianClassifier(), {"covariance": ["full", "tied"]}, Y, {"return_train_score": True}),
        (
            STEPS,
            [{"logistic__C": [0.1, 10.0]}, {"scale": [MinMaxScaler(), "passthrough"]}],
            Y,
            {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"},
        ),
        (Ridge(), {"alpha": [0.1, 1.0]}, NUMBERS, {"refit": False}),
        (Ridge(), {"alpha": [0.1, 1.0]}, NUMBERS, {"refit": lambda results: 1}),  # noqa: ARG005
    ],
)
def test_table_and_attributes_are_scikit_learn_s(model: Any, grid: Any, y: Any, more: Any) -> None:
    ours = GridSearchCV(model, grid, **more).fit(X, y)
    reference = theirs.GridSearchCV(model, grid, **more).fit(X, y)
    assert set(reference.cv_results_) <= set(ours.cv_results_)
    for key, column in reference.cv_results_.items():
        found = ours.cv_results_[key]
        if "time" in key:
            continue
        if key.startswith(("mean", "std", "split")):
            np.testing.assert_allclose(found, column, rtol=1e-9, atol=1e-12)
        elif key.startswith("rank"):
            np.testing.assert_array_equal(found, column)
        elif key.startswith("param_"):
            np.testing.assert_array_equal(found.mask, column.mask)
            assert found.dtype == column.dtype
    for name in ("best_index_", "n_splits_", "multimetric_"):
        if hasattr(reference, name):
            assert getattr(ours, name) == getattr(reference, name)
    if hasattr(reference, "best_estimator_"):
        np.testing.assert_array_equal(ours.predict(X[:5]), reference.predict(X[:5]))
        assert ours.score(X, y) == pytest.approx(reference.score(X, y), rel=1e-9)
    else:
        assert not hasattr(ours, "predict")


def test_intervals_belong_to_the_candidates() -> None:
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e4]}).fit(X, NUMBERS)
    good, bad = search.intervals()
    assert good.estimate == pytest.approx(search.best_score_)
    assert good.estimate > bad.estimate
    assert good.low == pytest.approx(search.cv_results_["low_test_score"][0])
    with pytest.raises(InputError, match="no score 'f1'"):
        search.intervals("f1")


def test_repeated_folds_by_text() -> None:
    assert GridSearchCV(Ridge(), {"alpha": [1.0]}, cv="3x4").fit(X, NUMBERS).n_splits_ == 12


def test_a_scorer_with_several_scores() -> None:
    def both(model: Any, X: Any, y: Any) -> dict[str, float]:
        error = float(np.abs(model.predict(X) - y).mean())
        return {"close": -error, "far": error}

    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e4]}, scoring=both, refit="close")
    search.fit(X, NUMBERS)
    assert search.multimetric_
    assert search.best_params_ == {"alpha": 0.1}
    assert search.score(X, NUMBERS) == both(search.best_estimator_, X, NUMBERS)["close"]


def test_candidates_that_fail_come_last() -> None:
    search = GridSearchCV(Ridge(), {"alpha": [-1.0, 1.0]})
    with pytest.warns(Warning, match="5 fits failed out of a total of 10"):
        search.fit(X, NUMBERS)
    assert search.best_params_ == {"alpha": 1.0}
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(ValueError, match="alpha"):
        GridSearchCV(Ridge(), {"alpha": [-1.0]}, error_score="raise").fit(X, NUMBERS)


def test_scores_that_are_no_numbers_are_warned_of() -> None:
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=lambda *_: float("nan"))
    with pytest.warns(UndefinedScoreWarning, match="'score' is NaN in 5 of 5 folds"):
        search.fit(X, NUMBERS)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"param_grid": {"gamma": [1.0]}}, ValueError, "gamma"),
        ({"param_grid": {"alpha": []}}, ValueError, "alpha"),
        ({"refit": lambda _: 7}, IndexError, "refit returned 7, but the candidates are 0 to 0"),
        ({"refit": lambda _: "a"}, TypeError, "refit returned 'a'"),
        ({"scoring": ["r2", "max_error"]}, ValueError, "refit must be set to a scorer key"),
        ({"scoring": "no such"}, InputError, "no scorer 'no such'"),
        ({"cv": 1}, ValueError, "cv"),
        ({"cv": 100}, InputError, "n_splits=100 greater than the number of samples"),
    ],
)
def test_searches_that_cannot_be(change: dict[str, Any], error: Any, message: str) -> None:
    given = {"estimator": Ridge(), "param_grid": {"alpha": [1.0]}, **change}
    with pytest.raises(error, match=message):
        GridSearchCV(**given).fit(X, NUMBERS)
