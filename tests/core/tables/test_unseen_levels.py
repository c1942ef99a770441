"""One warning for each column with unseen levels, whoever predicts and however many are asked."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from novum.bayes import NaiveBayes
from novum.core.errors import UnseenLevelWarning
from novum.core.runtime import run_tasks
from novum.core.sums import exact_cross_val_predict
from novum.core.tables import UNSEEN, Column, Kind, Sample, Schema, said_once, warn_unseen
from novum.data.scaling import StandardScaler
from novum.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from novum.evaluation import CalibratedClassifierCV, cross_val_predict
from novum.graphical import BayesianNetworkClassifier
from novum.linear import LinearRegression, LogisticRegression
from novum.trees import (
    DecisionTreeClassifier,
    ModelTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"x": RNG.normal(size=90), "color": np.tile(["red", "green", "blue"], 30), "d": ["u", "v"] * 45}
)
Y = np.where((X["x"] > 0) ^ (X["color"] == "red"), "yes", "no")
NUMBERS = X["x"].to_numpy() + (X["color"] == "red")
NEW = pd.DataFrame({"x": [0.5] * 4, "color": ["red", "pink", "blue", "gray"], "d": ["u"] * 4})

CLASSIFIERS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(n_estimators=5, random_state=0),
    AdaBoostClassifier(n_estimators=5),
    BaggingClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(LogisticRegression(), n_estimators=20, random_state=0, n_jobs=2),
    VotingClassifier([("tree", DecisionTreeClassifier()), ("bayes", NaiveBayes())], voting="soft"),
    StackingClassifier(
        [("tree", DecisionTreeClassifier()), ("bayes", NaiveBayes())], passthrough=True, cv=3
    ),
    CalibratedClassifierCV(NaiveBayes(), cv=3),
    NaiveBayes(),
    BayesianNetworkClassifier(),
    LogisticRegression(),
    make_pipeline(StandardScaler(), DecisionTreeClassifier()),
]


def heard(question: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question()
    assert all(issubclass(one.category, UnseenLevelWarning) for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_classifiers_say_it_once(model: Any, method: str) -> None:
    fitted = model.fit(X, Y)
    said = heard(lambda: getattr(fitted, method)(NEW))
    assert len(said) == 1
    assert said[0].startswith("Column 'color' has ")
    assert "2 cells with a level not met in training" in said[0]
    assert heard(lambda: getattr(fitted, method)(X)) == []


def test_a_vote_says_it_once() -> None:
    members = [("tree", DecisionTreeClassifier()), ("bayes", NaiveBayes())]
    model = VotingClassifier(members).fit(X, Y)
    assert len(heard(lambda: model.predict(NEW))) == 1
    assert len(heard(lambda: model.transform(NEW))) == 1


@pytest.mark.parametrize(
    "model",
    [ModelTreeRegressor(), RandomForestRegressor(n_estimators=5, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_regressors_say_it_once(model: Any) -> None:
    fitted = model.fit(X, NUMBERS)
    assert heard(lambda: fitted.predict(NEW)) == [
        "Column 'color' has 2 cells with a level not met in training, the first at row 1."
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_say_it_once(n_jobs: int) -> None:
    rare = X.assign(color=["pink", "gray", *X["color"][2:]])
    said = heard(lambda: cross_val_predict(DecisionTreeClassifier(), rare, Y, cv=3, n_jobs=n_jobs))
    assert len(said) == 1
    # Exact folds share the schema of the whole table, which knows all levels.
    assert heard(lambda: exact_cross_val_predict(LinearRegression(), rare, NUMBERS, 3)) == []


def sample(*codes: int) -> Sample:
    schema = Schema((Column("c", Kind.NOMINAL, ("a", "b")),))
    return Sample(schema, np.empty((len(codes), 0)), np.array(codes, np.int32)[:, np.newaxis])


def test_the_rule_names_the_first_level() -> None:
    with pytest.warns(UnseenLevelWarning, match=r"1 cells .* at row 1; they count as 'a'\."):
        warn_unseen(sample(0, UNSEEN), "they count as {first}")


def test_what_is_gathered_is_the_largest() -> None:
    def ask() -> None:
        with said_once():
            run_tasks(warn_unseen, [sample(UNSEEN), sample(UNSEEN, UNSEEN), sample(0)], n_jobs=2)

    assert heard(ask) == [
        "Column 'c' has up to 2 cells with a level not met in training, in 2 of the models or "
        "folds that were asked."
    ]


def test_an_error_says_nothing_more() -> None:
    def fail() -> None:
        with said_once():
            warn_unseen(sample(UNSEEN))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert len(heard(lambda: warn_unseen(sample(UNSEEN)))) == 1
