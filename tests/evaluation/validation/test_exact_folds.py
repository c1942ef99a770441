"""Folds from sums equal folds by refits, to 1e-10, for every learner that has statistics."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer

import novum.evaluation.validation.fold_runs as fold_runs
from novum.bayes import (
    BernoulliNB,
    GaussianClassifier,
    GaussianNB,
    LinearDiscriminantAnalysis,
    NaiveBayes,
)
from novum.evaluation.validation.exact_folds import groups_by_sums, has_exact_folds
from novum.evaluation.validation.fold_fits import FoldWork, plain_y
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.splits import leave_one_out, plan_splits, time_ordered
from novum.linear import LinearRegression, Ridge
from novum.trees import DecisionTreeClassifier

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 4)) + 3.0
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=60)
LABELS = np.where(np.median(NUMBERS) < NUMBERS, "yes", "no")
WEIGHT = rng.integers(0, 3, 60).astype(float)

REGRESSORS = [Ridge(alpha=3.0), LinearRegression(), Ridge(fit_intercept=False)]
CLASSIFIERS = [
    GaussianClassifier(),
    GaussianClassifier("tied"),
    GaussianClassifier(estimate="predictive"),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    NaiveBayes(),
    BernoulliNB(binarize=3.0),
]


def scoring_of(model: Any) -> dict[str, Any]:
    names = (
        ["neg_mean_squared_error", "neg_mean_absolute_error"]
        if isinstance(model, (Ridge, LinearRegression))
        else ["accuracy", "neg_log_loss"]
    )
    return {name: get_scorer(name) for name in names}


def both_ways(monkeypatch: pytest.MonkeyPatch, model: Any, cv: Any, **more: Any) -> Any:
    regression = isinstance(model, (Ridge, LinearRegression))
    y = NUMBERS if regression else LABELS
    splits = plan_splits(X, y, cv, classifier=not regression)
    scoring = more.pop("scoring", scoring_of(model))
    fast = run_folds({"m": model}, X, y, splits, scoring, **more)["m"]
    with monkeypatch.context() as patch:
        patch.setattr(fold_runs, "has_exact_folds", lambda *_: False)
        slow = run_folds({"m": model}, X, y, splits, scoring, **more)["m"]
    assert all(run.exact for run in fast)
    assert not any(run.exact for run in slow)
    return fast, slow


def check_equal(fast: Any, slow: Any) -> None:
    for one, other in zip(fast, slow, strict=True):
        assert one.scores == pytest.approx(other.scores, rel=1e-10, abs=1e-10)
        assert one.train_scores == pytest.approx(other.train_scores, rel=1e-10, abs=1e-10)
        assert (one.n_train, one.n_test) == (other.n_train, other.n_test)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
@pytest.mark.parametrize("cv", [10, "2x3", time_ordered(3)], ids=str)
def test_scores_equal_those_of_refits(monkeypatch: pytest.MonkeyPatch, model: Any, cv: Any) -> None:
    check_equal(*both_ways(monkeypatch, model, cv, train_scores=True))


@pytest.mark.parametrize("model", [Ridge(), GaussianClassifier("tied"), GaussianNB()], ids=str)
def test_weights_count_the_same_both_ways(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    check_equal(*both_ways(monkeypatch, model, 5, sample_weight=WEIGHT))


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_leaving_one_out_equals_refits(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    name = next(iter(scoring_of(model)))
    fast, slow = both_ways(
        monkeypatch, model, leave_one_out(), scoring={name: get_scorer(name)}, keep="predict"
    )
    check_equal(fast, slow)
    for one, other in zip(fast, slow, strict=True):
        if one.output.dtype.kind == "f":
            np.testing.assert_allclose(one.output, other.output, rtol=1e-10, atol=1e-10)
        else:
            assert one.output.tolist() == other.output.tolist()


def test_leaving_one_out_with_probabilities_takes_the_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The log loss of single rows needs probabilities, for which there is no formula.
    def loss(model: Any, rows: Any, y: Any) -> float:
        place = model.classes_.tolist().index(y[0])
        return float(np.log(model.predict_proba(rows)[0, place]))

    scoring = {"log": loss}
    check_equal(*both_ways(monkeypatch, GaussianNB(), leave_one_out(), scoring=scoring))


def test_kept_probabilities_equal_those_of_refits(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, slow = both_ways(monkeypatch, GaussianNB(), 5, keep="predict_proba")
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_allclose(one.output, other.output, rtol=1e-10, atol=1e-12)


def test_frames_with_nominal_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    # Declared levels: both ways then read by the same schema.
    color = pd.Categorical(np.where(X[:, 0] > 3, "red", "blue"), categories=["blue", "red"])
    frame = pd.DataFrame({"color": color, "size": X[:, 1]})
    splits = plan_splits(frame, NUMBERS, 5)
    scoring = scoring_of(Ridge())
    fast = run_folds({"m": Ridge()}, frame, NUMBERS, splits, scoring)["m"]
    with monkeypatch.context() as patch:
        patch.setattr(fold_runs, "has_exact_folds", lambda *_: False)
        slow = run_folds({"m": Ridge()}, frame, NUMBERS, splits, scoring)["m"]
    assert fast[0].exact
    check_equal(fast, slow)


def work_for(y: Any) -> FoldWork:
    return FoldWork(X, plain_y(y), plan_splits(X, y, 3), {}, {}, {})


def test_which_learners_have_exact_folds() -> None:
    work = work_for(NUMBERS)
    assert has_exact_folds(Ridge(), work)
    assert not has_exact_folds(Ridge(solver="lsqr"), work)
    assert not has_exact_folds(DecisionTreeClassifier(), work)
    other = FoldWork(X, NUMBERS, work.splits, {}, {"check_input": True}, {})
    assert not has_exact_folds(Ridge(), other)


def test_candidates_share_sums_unless_the_sums_look_at_what_differs() -> None:
    ridges = {str(alpha): Ridge(alpha=alpha) for alpha in (0.1, 1.0, 10.0)}
    mixed = {**ridges, "coded": Ridge(categorical_features=None), "line": LinearRegression()}
    assert groups_by_sums(ridges, work_for(NUMBERS)) == [["0.1", "1.0", "10.0"]]
    assert groups_by_sums(mixed, work_for(NUMBERS)) == [["0.1", "1.0", "10.0"], ["coded"], ["line"]]
    laws = {
        "full": GaussianClassifier(),
        "floor": GaussianClassifier(floor=1e-3),
        "diagonal": GaussianClassifier("diagonal"),
        "threshold 0": BernoulliNB(binarize=0.0),
        "threshold 3": BernoulliNB(binarize=3.0),
        "smoothed": BernoulliNB(binarize=3.0, alpha=2.0),
    }
    groups = groups_by_sums(laws, work_for(LABELS))
    assert ["full", "floor"] in groups
    assert ["threshold 0"] in groups
    assert ["threshold 3", "smoothed"] in groups


@pytest.mark.parametrize(
    ("models", "y"),
    [
        ([Ridge(alpha=a) for a in (0.1, 1.0, 10.0)], NUMBERS),
        ([GaussianClassifier(c) for c in ("full", "tied", "diagonal")], LABELS),
        ([BernoulliNB(binarize=b, alpha=a) for b in (0.0, 3.0) for a in (0.5, 1.0)], LABELS),
    ],
)
def test_shared_sums_give_each_learner_its_own_bits(models: list[Any], y: Any) -> None:
    named = {str(i): model for i, model in enumerate(models)}
    splits = plan_splits(X, y, "2x4")
    scoring = scoring_of(models[0])
    together = run_folds(named, X, y, splits, scoring)
    for name, model in named.items():
        alone = run_folds({"m": clone(model)}, X, y, splits, scoring)["m"]
        assert [run.scores for run in together[name]] == [run.scores for run in alone]


def test_a_learner_that_cannot_sum_these_rows_is_refitted() -> None:
    # EM for missing cells of correlated columns is no function of sums.
    holes = X.copy()
    holes[::7, 0] = np.nan
    splits = plan_splits(holes, LABELS, 3, classifier=True)
    scoring = {"accuracy": get_scorer("accuracy")}
    runs = run_folds({"m": GaussianClassifier()}, holes, LABELS, splits, scoring)["m"]
    assert not any(run.exact for run in runs)
