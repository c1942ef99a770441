"""Extremely randomized trees among their peers."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import stats
from sklearn import datasets, ensemble
from sklearn.model_selection import cross_val_score

from novum.trees.forests.forest import ExtraTreesClassifier, ExtraTreesRegressor

OURS = {"nominal", "missing", "max_thresholds", "max_bins", "categorical_features"}


@pytest.mark.parametrize("name", ["ExtraTreesClassifier", "ExtraTreesRegressor"])
def test_parameters_and_defaults_are_those_of_scikit_learn(name: str) -> None:
    ours = inspect.signature(globals()[name]).parameters
    theirs = inspect.signature(getattr(ensemble, name)).parameters
    assert set(ours) == set(theirs) | OURS
    for parameter, found in theirs.items():
        assert ours[parameter].default == found.default, parameter
        assert ours[parameter].kind == found.kind, parameter


@pytest.mark.slow
def test_quality_is_that_of_scikit_learn() -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    setting = {"n_estimators": 60, "random_state": 0}
    ours = cross_val_score(ExtraTreesClassifier(**setting), X, y, cv=5).mean()
    theirs = cross_val_score(ensemble.ExtraTreesClassifier(**setting), X, y, cv=5).mean()
    assert ours > theirs - 2 * np.sqrt(theirs * (1 - theirs) / len(y))
    X, y = datasets.load_diabetes(return_X_y=True)
    ours = cross_val_score(ExtraTreesRegressor(**setting), X, y, cv=5).mean()
    theirs = cross_val_score(ensemble.ExtraTreesRegressor(**setting), X, y, cv=5).mean()
    assert ours > theirs - 0.03


def test_cuts_are_drawn_uniformly_in_the_range() -> None:
    # Values bunch near 0, and cuts must not: with one column every root cuts somewhere in it.
    x = np.concatenate([np.linspace(0, 0.05, 150), np.linspace(0.06, 1, 95)])
    y = np.random.default_rng(0).normal(size=x.size)
    model = ExtraTreesRegressor(400, random_state=0, max_depth=1).fit(x[:, None], y)
    cuts = model.forest_.thresholds[model.forest_.tree_start[:-1]]
    # Cuts lie between values at most 0.01 apart, which moves the distribution by no more.
    assert stats.kstest(cuts, "uniform").statistic < 1.63 / np.sqrt(400) + 0.01


def test_every_tree_sees_all_rows_by_default() -> None:
    X = np.arange(30.0)[:, None]
    model = ExtraTreesRegressor(5, random_state=0).fit(X, X[:, 0])
    assert [int(tree.rows[0]) for tree in model.forest_.trees] == [30] * 5
    np.testing.assert_allclose(model.predict(X), X[:, 0])
    drawn = ExtraTreesRegressor(5, random_state=0, bootstrap=True, oob_score=False).fit(X, X[:, 0])
    assert all(int(tree.rows[0]) < 30 for tree in drawn.forest_.trees)
