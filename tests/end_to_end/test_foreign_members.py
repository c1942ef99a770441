"""Learners of learners around what others wrote: a `fit` that returns nothing, rows of text."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from novum.core.learners import Pipeline
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
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    OpenSet,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from novum.linear import Ridge
from novum.svm import LinearSVC


class Means(ClassifierMixin, BaseEstimator):
    """The nearest class mean; `fit` returns nothing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.classes_ = np.unique(y)
        rows = [np.flatnonzero(y == label) for label in self.classes_]
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.means_ = np.array([np.average(X[r], axis=0, weights=weight[r]) for r in rows])
        self.n_features_in_ = X.shape[1]

    def predict_proba(self, X: Any) -> Any:
        logs = -((X[:, np.newaxis] - self.means_) ** 2).sum(axis=2)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Level(RegressorMixin, BaseEstimator):
    """A line through the first column; `fit` returns nothing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.slope_, self.level_ = np.polyfit(X[:, 0], y, 1, w=sample_weight)
        self.n_features_in_ = X.shape[1]

    def predict(self, X: Any) -> Any:
        return self.slope_ * X[:, 0] + self.level_


rng = np.random.default_rng(0)
X = rng.normal(size=(90, 2)) + 2 * np.repeat(np.eye(3)[:, :2], 30, axis=0)
LABELS = np.repeat(["a", "b", "c"], 30)
TWO = LABELS == "a"
NUMBERS = X[:, 0] + 0.1 * rng.normal(size=90)

CLASSIFIERS = [
    (VotingClassifier([("a", Means()), ("b", Means())], voting="soft"), LABELS),
    (StackingClassifier([("a", Means()), ("b", Means())]), LABELS),
    (StackingClassifier([("a", LogisticRegression())], Means()), LABELS),
    (BaggingClassifier(Means(), 3, random_state=0), LABELS),
    (AdaBoostClassifier(Means(), n_estimators=2), LABELS),
    (CalibratedClassifierCV(Means()), LABELS),
    (CalibratedClassifierCV(Means(), ensemble=False), LABELS),
    (ConformalClassifier(Means()), LABELS),
    (FixedThresholdClassifier(Means(), threshold=0.4), TWO),
    (TunedThresholdClassifierCV(Means()), TWO),
    (OneVsRestClassifier(Means()), LABELS),
    (OneVsOneClassifier(Means()), LABELS),
    (MultiOutputClassifier(Means()), np.column_stack([LABELS, LABELS])),
    (ClassifierChain(Means(), cv=3), np.column_stack([TWO, ~TWO]).astype(int)),
    (GridSearchCV(Means(), {}), LABELS),
    (RandomizedSearchCV(Means(), {}, n_iter=1), LABELS),
    (HalvingGridSearchCV(Means(), {}), LABELS),
    (OpenSet(Means()), LABELS),
    (Pipeline([("learner", Means())]), LABELS),
]
REGRESSORS = [
    (VotingRegressor([("a", Level()), ("b", Level())]), NUMBERS),
    (StackingRegressor([("a", Level())], Level()), NUMBERS),
    (BaggingRegressor(Level(), 3, random_state=0), NUMBERS),
    (AdaBoostRegressor(Level(), n_estimators=2, random_state=0), NUMBERS),
    (MultiOutputRegressor(Level()), np.column_stack([NUMBERS, NUMBERS])),
    (RegressorChain(Level(), cv=3), np.column_stack([NUMBERS, NUMBERS])),
    (GridSearchCV(Level(), {}), NUMBERS),
]


@pytest.mark.parametrize(
    ("model", "y"), CLASSIFIERS + REGRESSORS, ids=lambda part: type(part).__name__
)
def test_a_fit_may_return_nothing(model: Any, y: Any) -> None:
    assert model.fit(X, y) is model
    assert model.score(X, y) > 0.6


def test_folds_of_a_learner_whose_fit_returns_nothing() -> None:
    assert cross_val_score(Means(), X, LABELS).mean() > 0.6
    assert cross_val_predict(Means(), X, LABELS).shape == (90,)


# --- Rows that are no cells -----------------------------------------------------------------------

WORDS = {"good": ["fine", "nice", "kind"], "bad": ["dull", "rude", "grim"]}
OPINIONS = np.array(["good", "bad"] * 20)
TEXTS = [" ".join(rng.choice([*WORDS[opinion], "day", "way"], 4)) + " day" for opinion in OPINIONS]
DICTS = [dict.fromkeys(text.split(), 1.0) for text in TEXTS]
TEXT_ROWS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "array": np.array(TEXTS),
    "objects": np.array(TEXTS, object),
    "series": pd.Series(TEXTS, index=range(100, 140)),
}


def reader(rows: Any, learner: Any = None) -> Any:
    vectorizer = DictVectorizer() if isinstance(rows[0], dict) else CountVectorizer()
    return make_pipeline(vectorizer, LogisticRegression() if learner is None else learner)


def around_readers(rows: Any) -> list[Any]:
    one = reader(rows)
    return [
        VotingClassifier([("a", one), ("b", reader(rows))], voting="soft"),
        VotingClassifier([("a", one), ("b", reader(rows))]),
        StackingClassifier([("a", one), ("b", reader(rows))]),
        CalibratedClassifierCV(reader(rows, LinearSVC())),
        CalibratedClassifierCV(one, ensemble=False, method="isotonic"),
        ConformalClassifier(one),
        TunedThresholdClassifierCV(one),
        FixedThresholdClassifier(one, threshold=0.5),
        BaggingClassifier(one, 3, random_state=0),
        OneVsRestClassifier(one),
        OneVsOneClassifier(one),
        GridSearchCV(one, {"logisticregression__C": [0.1, 1.0]}),
    ]


@pytest.mark.parametrize("model", around_readers(TEXTS), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("kind", TEXT_ROWS)
def test_texts_reach_the_pipeline_inside(model: Any, kind: str) -> None:
    rows = TEXT_ROWS[kind]
    assert model.fit(rows, OPINIONS).score(rows, OPINIONS) > 0.9
    assert model.predict(rows[:3]).shape == (3,)


@pytest.mark.parametrize("model", around_readers(DICTS), ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("make", [list, lambda rows: np.array(rows, object)])
def test_dicts_reach_the_pipeline_inside(model: Any, make: Any) -> None:
    rows = make(DICTS)
    assert model.fit(rows, OPINIONS).score(rows, OPINIONS) > 0.9


def test_weights_and_several_targets_of_texts() -> None:
    weight = np.where(OPINIONS == "good", 0.0, 1.0)
    weight[:4] = 1.0
    learner = Pipeline([("words", CountVectorizer()), ("learner", LogisticRegression())])
    model = VotingClassifier([("a", learner)]).fit(TEXTS, OPINIONS, weight)
    kept = np.flatnonzero(weight)
    same = VotingClassifier([("a", learner)]).fit([TEXTS[i] for i in kept], OPINIONS[kept])
    np.testing.assert_array_equal(model.predict(TEXTS), same.predict(TEXTS))
    both = np.column_stack([OPINIONS, OPINIONS])
    assert MultiOutputClassifier(reader(TEXTS)).fit(TEXTS, both).predict(TEXTS).shape == (40, 2)


def test_predictions_cannot_stand_beside_texts() -> None:
    model = StackingClassifier([("a", reader(TEXTS))], passthrough=True)
    with pytest.raises(ValueError, match="passthrough=False"), warnings.catch_warnings():
        model.fit(TEXTS, OPINIONS)


def test_numbers_in_one_dimension_are_still_refused() -> None:
    for model in (VotingRegressor([("a", Ridge())]), StackingRegressor([("a", Ridge())])):
        with pytest.raises(ValueError, match="Reshape your data"):
            model.fit(np.arange(9.0), np.arange(9.0))
