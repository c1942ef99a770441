"""Binary members: margins of every kind of learner, constants, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from novum.bayes import GaussianNB
from novum.core.learners import (
    ConstantPredictor,
    for_members,
    log_probability,
    margin,
    member_tables,
    pair_probabilities,
    probability,
    unfitted_members,
)
from novum.core.learners.multiclass_members import LARGEST_MARGIN
from novum.core.tables import as_rows, n_rows_of
from novum.linear import Ridge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)


class NamesOnly(ClassifierMixin, BaseEstimator):
    """A classifier with nothing but predictions."""

    def fit(self, X: Any, y: Any) -> NamesOnly:  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (np.asarray(X)[:, 0] > 0).astype(int)


def test_margins_of_every_kind_of_learner() -> None:
    logistic = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(margin(logistic, X), logistic.decision_function(X))
    bayes = GaussianNB().fit(X, y)
    p = bayes.predict_proba(X)
    np.testing.assert_allclose(margin(bayes, X), np.log(p[:, 1] / p[:, 0]), rtol=1e-9)
    ridge = Ridge().fit(X, y)
    np.testing.assert_array_equal(margin(ridge, X), ridge.predict(X) - 0.5)
    names = NamesOnly().fit(X, y)
    np.testing.assert_array_equal(margin(names, X), np.where(X[:, 0] > 0, 1.0, -1.0))


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(), Ridge(), NamesOnly()])
def test_a_positive_margin_is_a_yes(model: Any) -> None:
    member = model.fit(X, y)
    answers = member.predict(X) > 0.5
    np.testing.assert_array_equal(margin(member, X) > 0, answers)


def test_log_odds_keep_what_probabilities_round_away() -> None:
    bayes = GaussianNB().fit([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    far = [[200.0], [300.0]]
    assert probability(bayes, far).tolist() == [1.0, 1.0]
    low, high = margin(bayes, far)
    assert high > low > 700


def test_sure_probabilities_have_finite_margins() -> None:
    sure = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    assert margin(sure, X[:1]).tolist() == [LARGEST_MARGIN]
    assert margin(ConstantPredictor(0), X[:1]).tolist() == [-1.0]


def test_probabilities_of_both_sides() -> None:
    bayes = GaussianNB().fit(X, y)
    p = bayes.predict_proba(X)
    np.testing.assert_array_equal(probability(bayes, X), p[:, 1])
    np.testing.assert_array_equal(pair_probabilities(bayes, X), p)
    np.testing.assert_allclose(log_probability(bayes, X), np.log(p[:, 1]), rtol=1e-12)


def test_a_member_that_met_one_label_only() -> None:
    alone = DummyClassifier().fit(X, np.zeros(60, int))
    assert probability(alone, X[:2]).tolist() == [0.0, 0.0]
    assert pair_probabilities(alone, X[:2]).tolist() == [[1.0, 0.0]] * 2
    assert margin(alone, X[:1]).tolist() == [-LARGEST_MARGIN]


@pytest.mark.parametrize("label", ["no", "yes"])
def test_constant_predictor(label: str) -> None:
    model = ConstantPredictor(label, ["no", "yes"])
    place = ["no", "yes"].index(label)
    assert clone(model).fit(X).predict(X[:2]).tolist() == [label, label]
    assert model.predict_proba(X[:1])[0].tolist() == [1.0 - place, float(place)]
    assert np.exp(model.predict_log_proba(X[:1]))[0, place] == 1.0
    assert model.decision_function(X[:1]).tolist() == [2.0 * place - 1]
    assert model.certificate_.converged


def test_seeds_are_drawn_once_and_given_ones_stay() -> None:
    forest = RandomForestClassifier(n_estimators=2)
    seeds = [m.random_state for m in unfitted_members(forest, 3, 0)]
    assert len(set(seeds)) == 3
    assert seeds == [m.random_state for m in unfitted_members(forest, 3, 0)]
    assert forest.random_state is None
    given = RandomForestClassifier(random_state=5)
    assert [m.random_state for m in unfitted_members(given, 2, 0)] == [5, 5]
    nested = unfitted_members(make_pipeline(forest), 2, 0)
    assert nested[0].steps[0][1].random_state != nested[1].steps[0][1].random_state


def test_learners_without_seeds_leave_the_global_state_alone() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    unfitted_members(GaussianNB(), 3)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_answers_are_columns_in_the_order_of_members(n_jobs: int) -> None:
    members = [Ridge().fit(X, y), GaussianNB().fit(X, y), ConstantPredictor(1)]
    found = for_members(margin, members, X, n_jobs)
    np.testing.assert_array_equal(found, np.column_stack([margin(m, X) for m in members]))
    own = for_members(margin, members[:2], member_tables([X[:3], X[3:6]]), n_jobs)
    np.testing.assert_array_equal(own[:, 1], margin(members[1], X[3:6]))


@pytest.mark.parametrize(
    "table",
    [X, X.tolist(), sparse.csr_matrix(X), pd.DataFrame(X), pa.table({"a": X[:, 0]})],
)
def test_tables_of_every_kind_have_their_rows(table: Any) -> None:
    assert n_rows_of(as_rows(table)) == 60
