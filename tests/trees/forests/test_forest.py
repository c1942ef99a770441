"""Random forests among their peers: parameters, quality, and tables that others must encode."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets, ensemble
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from novum.core import load as load_model
from novum.core import save
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.trees.forest_tables import baskets, gaps_by_class

OURS_BY_NAME = {"RandomForest": RandomForestClassifier, "ExtraTrees": ExtraTreesClassifier}
OURS = {"nominal", "missing", "max_thresholds", "max_bins", "categorical_features"}


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_parameters_and_defaults_are_those_of_scikit_learn(name: str) -> None:
    ours = inspect.signature(globals()[name]).parameters
    theirs = inspect.signature(getattr(ensemble, name)).parameters
    assert set(ours) == set(theirs) | OURS
    for parameter, found in theirs.items():
        assert ours[parameter].default == found.default, parameter
        assert ours[parameter].kind == found.kind, parameter


@pytest.mark.slow
@pytest.mark.parametrize("load", [datasets.load_wine, datasets.load_breast_cancer])
def test_accuracy_is_that_of_scikit_learn(load: Any) -> None:
    X, y = load(return_X_y=True)
    setting = {"n_estimators": 60, "random_state": 0}
    ours = cross_val_score(RandomForestClassifier(**setting), X, y, cv=5)
    theirs = cross_val_score(ensemble.RandomForestClassifier(**setting), X, y, cv=5)
    error = np.sqrt(theirs.mean() * (1 - theirs.mean()) / len(y))
    assert ours.mean() > theirs.mean() - 2 * error


def test_r2_is_that_of_scikit_learn() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    setting = {"n_estimators": 60, "random_state": 0, "max_features": 1 / 3}
    ours = cross_val_score(RandomForestRegressor(**setting), X, y, cv=5)
    theirs = cross_val_score(ensemble.RandomForestRegressor(**setting), X, y, cv=5)
    assert ours.mean() > theirs.mean() - 0.02


def test_the_score_out_of_bag_foretells_that_of_new_rows() -> None:
    X, y = datasets.make_classification(1500, 8, n_informative=4, flip_y=0.1, random_state=0)
    X, new, y, y_new = train_test_split(X, y, random_state=0)
    model = RandomForestClassifier(100, random_state=0, oob_score=True).fit(X, y)
    # Two binomial shares of 1125 and 375 rows: their difference has a standard error of 0.02.
    assert abs(model.oob_score_ - model.score(new, y_new)) < 0.06


def levels_with_effects(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Twelve unordered columns of 20 levels, whose effects say nothing of the levels' order."""
    rng = np.random.default_rng(seed)
    effects = np.random.default_rng(99).normal(size=(12, 20))
    codes = rng.integers(0, 20, (n, 12))
    score = sum(effects[j, codes[:, j]] for j in range(4))
    table = pd.DataFrame({f"c{j}": [f"l{k:02d}" for k in codes[:, j]] for j in range(12)})
    return table, (score + rng.logistic(scale=0.7, size=n) > 0).astype(int)


@pytest.mark.slow
def test_levels_as_they_are_beat_codes_and_indicators() -> None:
    table, y = levels_with_effects(3000, 0)
    new, y_new = levels_with_effects(3000, 1)
    setting = {"n_estimators": 40, "random_state": 0}
    ours = RandomForestClassifier(**setting).fit(table, y).score(new, y_new)
    for encoder in (OneHotEncoder(), OrdinalEncoder()):
        X = encoder.fit_transform(table)
        theirs = ensemble.RandomForestClassifier(**setting).fit(X, y)
        # The standard error of a share of 3000 rows is below 0.009.
        assert ours > theirs.score(encoder.transform(new), y_new) + 0.009


def test_missing_cells_say_less_than_known_ones_and_more_than_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    holes = X.copy()
    holes[rng.random(X.shape) < 0.3] = np.nan
    setting = {"n_estimators": 40, "random_state": 0, "min_samples_leaf": 3}
    whole = cross_val_score(RandomForestClassifier(**setting), X, y, cv=3).mean()
    some = cross_val_score(RandomForestClassifier(**setting), holes, y, cv=3).mean()
    assert 0.75 < some < whole - 0.02


# --- Cells that are missing for a reason ----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_baskets_are_learned_as_by_scikit_learn(kind: str) -> None:
    """Where all that is known is what is missing; fractions can only guess the larger class."""
    table, y = baskets()
    numbers = np.where(table.notna(), 1.0, np.nan)
    setting = {"n_estimators": 60, "random_state": 0}
    ours, theirs = OURS_BY_NAME[kind], getattr(ensemble, f"{kind}Classifier")
    found = cross_val_score(ours(**setting), table, y, cv=5).mean()
    expected = cross_val_score(theirs(**setting), numbers, y, cv=5).mean()
    error = np.sqrt(expected * (1 - expected) / len(y))
    assert found > expected - 2 * error
    assert found > 0.84
    parts = cross_val_score(ours(**setting, missing="fractional"), table, y, cv=5).mean()
    assert parts == pytest.approx((y == "low").mean(), abs=0.01)


@pytest.mark.slow
def test_gaps_that_depend_on_the_class_are_learned_as_by_scikit_learn() -> None:
    X, y = gaps_by_class()
    setting = {"n_estimators": 60, "random_state": 0}
    found = cross_val_score(RandomForestClassifier(**setting), X, y, cv=5).mean()
    theirs = cross_val_score(ensemble.RandomForestClassifier(**setting), X, y, cv=5).mean()
    parts = RandomForestClassifier(**setting, missing="fractional")
    error = np.sqrt(theirs * (1 - theirs) / len(y))
    assert found > theirs - 2 * error
    assert found > cross_val_score(parts, X, y, cv=5).mean() + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("load", [datasets.load_wine, datasets.load_breast_cancer])
def test_gaps_by_chance_cost_no_more_than_with_fractions(load: Any) -> None:
    X, y = load(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    setting = {"n_estimators": 60, "random_state": 0}
    found = cross_val_score(RandomForestClassifier(**setting), X, y, cv=5).mean()
    parts = cross_val_score(
        RandomForestClassifier(**setting, missing="fractional"), X, y, cv=5
    ).mean()
    assert found > parts - 2 * np.sqrt(parts * (1 - parts) / len(y))


@pytest.mark.parametrize("setting", [{}, {"nominal": "multiway"}, {"ccp_alpha": 0.001}])
def test_a_branch_of_missing_cells_survives_a_file(setting: dict[str, Any], tmp_path: Path) -> None:
    table, y = baskets(300)
    model = RandomForestClassifier(25, random_state=0, oob_score=True, **setting).fit(table, y)
    assert model.oob_score_ > 0.75
    save(model, tmp_path / "forest.novum")
    loaded = load_model(tmp_path / "forest.novum")
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    leaves = np.column_stack([tree.apply(table) for tree in model.estimators_])
    np.testing.assert_array_equal(model.apply(table), leaves)
    mean = np.mean([tree.predict_proba(table) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(table), mean, atol=1e-12)
