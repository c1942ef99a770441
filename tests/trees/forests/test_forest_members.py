"""The trees of a forest as estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.regressor import DecisionTreeRegressor
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table


@pytest.mark.parametrize("setting", [{}, {"max_bins": None}, {"nominal": "multiway"}], ids=str)
def test_members_predict_what_the_forest_averages(setting: dict[str, object]) -> None:
    table = mixed_table(120)
    model = RandomForestClassifier(5, random_state=0, max_depth=4, **setting)
    model.fit(table, mixed_labels(table))
    members = model.estimators_
    assert len(members) == len(model) == 5
    assert all(type(member) is DecisionTreeClassifier for member in members)
    mean = np.mean([member.predict_proba(table) for member in members], axis=0)
    np.testing.assert_allclose(model.predict_proba(table), mean, rtol=1e-12)
    assert members[0].max_depth == 4
    assert members[0].get_depth() <= 4
    assert members[0].text().startswith("all rows")
    np.testing.assert_array_equal(members[2].apply(table), model.apply(table)[:, 2])


def test_members_of_numbers() -> None:
    table = mixed_table(120)
    model = RandomForestRegressor(4, random_state=0, max_features=2).fit(
        table, mixed_numbers(table)
    )
    mean = np.mean([member.predict(table) for member in model], axis=0)
    np.testing.assert_allclose(model.predict(table), mean, rtol=1e-12)
    member = model[-1]
    assert type(member) is DecisionTreeRegressor
    assert (member.max_features_, member.n_features_in_) == (2, 5)
    assert member.certificate_.value == pytest.approx(
        float((member.tree_.weight * member.tree_.impurity)[member.tree_.question == 0].sum() / 120)
    )
    with pytest.raises(IndexError):
        model[4]


def test_members_carry_settings_and_seeds() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = ExtraTreesClassifier(3, random_state=0, criterion="entropy").fit(X, X[:, 0] > 0)
    assert [member.splitter for member in model] == ["random"] * 3
    assert len({member.random_state for member in model}) == 3
    assert model.estimator_.criterion == "entropy"
    assert clone(model[0]).fit(X, X[:, 0] > 0).tree_.n_nodes > 1
    assert ExtraTreesRegressor(2).fit(X, X[:, 0]).estimator_.splitter == "random"


def test_samples_are_the_rows_of_the_root() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = RandomForestClassifier(3, random_state=0, max_samples=20).fit(X, X[:, 0] > 0)
    for rows, tree in zip(model.estimators_samples_, model.forest_.trees, strict=True):
        assert rows.size == tree.weight[0] == 20
        assert np.unique(rows).size == tree.rows[0]
        share = (X[rows, 0] > 0).mean()
        np.testing.assert_allclose(tree.value[0], [20 * (1 - share), 20 * share])
    whole = ExtraTreesClassifier(2).fit(X, X[:, 0] > 0)
    np.testing.assert_array_equal(whole.estimators_samples_[1], np.arange(50))


@pytest.mark.parametrize(
    "name", ["estimators_", "estimator_", "estimators_samples_", "feature_importances_"]
)
def test_nothing_before_a_fit(name: str) -> None:
    assert not hasattr(RandomForestClassifier(), name)
    with pytest.raises(NotFittedError):
        getattr(RandomForestClassifier(), name)
