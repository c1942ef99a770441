"""Weights of rows: refused in the same words wherever they are given, and counted the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    OneVsOneClassifier,
    OneVsRestClassifier,
    RegressorChain,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from novum.evaluation import (
    CalibratedClassifierCV,
    ConformalClassifier,
    ConformalRegressor,
    DummyClassifier,
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    OpenSet,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    compare,
    complexity_curve,
    confusion_matrix,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    curves,
    learning_curve,
    measure,
    measure_names,
    nested_cross_validate,
    partial_dependence,
    permutation_importance,
    roc_curve,
)

rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 2))
Y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
NUMBERS = X[:, 0] + rng.normal(size=N)
PAIRS, LABEL_PAIRS = np.column_stack([NUMBERS, X[:, 1]]), np.column_stack([Y, 1 - Y])

ours, theirs = GaussianNB(), LogisticRegression()
members = [("a", ours), ("b", theirs)]
ESTIMATORS: list[tuple[Any, Any]] = [
    (GridSearchCV(theirs, {}), Y),
    (GridSearchCV(ours, {}, error_score="raise"), Y),
    (RandomizedSearchCV(theirs, {}, n_iter=1), Y),
    (HalvingGridSearchCV(theirs, {}), Y),
    (VotingClassifier(members), Y),
    (VotingRegressor([("a", Ridge())]), NUMBERS),
    (StackingClassifier(members), Y),
    (StackingRegressor([("a", Ridge())]), NUMBERS),
    (BaggingClassifier(theirs), Y),
    (BaggingRegressor(Ridge()), NUMBERS),
    (AdaBoostClassifier(theirs), Y),
    (AdaBoostRegressor(Ridge()), NUMBERS),
    (OneVsRestClassifier(theirs), Y),
    (OneVsOneClassifier(theirs), Y),
    (MultiOutputClassifier(theirs), LABEL_PAIRS),
    (MultiOutputRegressor(Ridge()), PAIRS),
    (ClassifierChain(theirs), LABEL_PAIRS),
    (RegressorChain(Ridge()), PAIRS),
    (CalibratedClassifierCV(theirs), Y),
    (ConformalClassifier(theirs), Y),
    (ConformalRegressor(Ridge()), NUMBERS),
    (TunedThresholdClassifierCV(theirs), Y),
    (FixedThresholdClassifier(theirs), Y),
    (OpenSet(theirs), Y),
    (DummyClassifier(), Y),
]


def fitting(model: Any, y: Any) -> Callable[[Any], Any]:
    return lambda weight: model.fit(X, y, sample_weight=weight)


def folds(run: Any, model: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda weight: run(model, X, Y, params={"sample_weight": weight}, **more)


def measuring(name: str) -> Callable[[Any], Any]:
    known = measure(name)
    given = {
        "labels": Y,
        "scores": NUMBERS,
        "probabilities": np.column_stack([1 - Y, Y]) * 0.8 + 0.1,
        "numbers": NUMBERS,
    }[known.needs]
    y = {"classes": Y, "numbers": X[:, 0], "relevances": Y}[known.target]
    return lambda weight: known(y, given, sample_weight=weight)


C = {"param_name": "C", "param_range": [0.1, 1.0]}
PLACES: dict[str, Callable[[Any], Any]] = {
    **{f"{type(m).__name__} {k}": fitting(m, y) for k, (m, y) in enumerate(ESTIMATORS)},
    "cross_validate": folds(cross_validate, theirs),
    "cross_validate from sums": folds(cross_validate, ours),
    "cross_val_score": folds(cross_val_score, theirs, error_score="raise"),
    "cross_val_predict": folds(cross_val_predict, theirs),
    "nested": folds(nested_cross_validate, GridSearchCV(ours, {}), scoring="accuracy"),
    "learning_curve": folds(learning_curve, theirs, train_sizes=[20, 40]),
    "incremental": folds(
        learning_curve, SGDClassifier(), train_sizes=[20], exploit_incremental_learning=True
    ),
    "complexity_curve": folds(complexity_curve, theirs, **C),
    "compare": lambda w: compare({"a": ours, "b": theirs}, X, Y, sample_weight=w),
    "permutation": lambda w: permutation_importance(ours.fit(X, Y), X, Y, sample_weight=w),
    "dependence": lambda w: partial_dependence(ours.fit(X, Y), X, [0], sample_weight=w),
    "roc_curve": lambda w: roc_curve(Y, NUMBERS, sample_weight=w),
    "curves": lambda w: curves(Y, NUMBERS, sample_weight=w),
    "confusion_matrix": lambda w: confusion_matrix(Y, Y, sample_weight=w),
    **{name: measuring(name) for name in measure_names() if name not in ("ndcg", "pair_error")
       and not name.startswith(("detection", "minimum", "bayes"))},
    "partial_fit of classes": lambda w: OneVsRestClassifier(SGDClassifier()).partial_fit(
        X, Y, [0, 1], w
    ),
    "partial_fit of targets": lambda w: MultiOutputRegressor(SGDRegressor()).partial_fit(
        X, PAIRS, w
    ),
    "score of targets": lambda w: MultiOutputClassifier(ours).fit(X, LABEL_PAIRS).score(
        X, LABEL_PAIRS, w
    ),
}  # fmt: skip
WRONG = {
    "negative": (np.r_[np.ones(59), -1.0], "Negative values in sample_weight: -1.0 at row 59"),
    "missing": (np.r_[np.nan, np.ones(N - 1)], "No number in sample_weight: nan at row 0"),
    "infinite": (np.r_[np.inf, np.ones(N - 1)], "No number in sample_weight: inf at row 0"),
    "short": (np.ones(7), r"sample_weight has shape \(7,\), but X has 60 rows"),
    "long": (np.ones(N + 1), r"sample_weight has shape \(61,\), but X has 60 rows"),
    "table": (np.ones((N, 2)), r"sample_weight has shape \(60, 2\)"),
    "text": (["a"] * N, "sample_weight holds .*, which is no number"),
    "zero": (np.zeros(N), "All 60 weights are zero"),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_wrong_weights_are_refused_in_the_same_words(place: str) -> None:
    for weight, message in WRONG.values():
        with pytest.raises(InputError, match=message):
            PLACES[place](weight)


@pytest.mark.parametrize("model", [ours, theirs], ids=["sums", "fits"])
def test_a_weight_of_two_is_a_row_twice_in_folds(model: Any) -> None:
    weight = np.where(np.arange(N) % 3, 1, 2)
    twice = np.repeat(np.arange(N), weight)
    parts = [(np.arange(20, N), np.arange(20)), (np.arange(40), np.arange(40, N))]
    places = [[np.flatnonzero(np.isin(twice, rows)) for rows in part] for part in parts]
    weighted = cross_val_score(model, X, Y, cv=parts, params={"sample_weight": weight})
    repeated = cross_val_score(model, X[twice], Y[twice], cv=places)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


def test_the_third_argument_of_a_regressors_partial_fit_are_weights() -> None:
    learner = SGDRegressor(random_state=0)
    weight = np.where(np.arange(N) < 30, 0.5, 2.0)
    model = MultiOutputRegressor(learner).partial_fit(X, PAIRS, weight)
    alone = SGDRegressor(random_state=0).partial_fit(X, NUMBERS, weight)
    np.testing.assert_array_equal(model.predict(X)[:, 0], alone.predict(X))
    classes = [[0, 1], [0, 1]]
    both = MultiOutputClassifier(SGDClassifier()).partial_fit(X, LABEL_PAIRS, classes, weight)
    assert both.predict(X).shape == (N, 2)
