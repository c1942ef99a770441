"""Growing: each tree as the engines of single trees grow it, for any number of jobs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.forest_draws import ForestDraws
from novum.trees.forests.forest_growing import TreeGrower
from novum.trees.forests.forest_value import Forest
from novum.trees.growth.conversion import coded_rows, table_coding, tree_of
from novum.trees.growth.growing import grow
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.settings import growth_rules
from novum.trees.training import read_classes, read_numbers
from tests.strategies.tree_tables import assert_same_tree
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

ALL = {"n_estimators": 1, "bootstrap": False, "max_features": None}


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"nominal": "subset"},
        {"missing": "direction"},
        {"missing": "fractional"},
        {"max_leaf_nodes": 9},
        {"criterion": "entropy"},
        {"monotonic_cst": {"width": 1}},
        {"max_bins": None, "nominal": "subset"},
        {"criterion": "gain_ratio", "nominal": "multiway"},
        {"min_samples_leaf": 4, "max_depth": 3},
        {"class_weight": "balanced"},
        {"ccp_alpha": 0.005},
    ],
    ids=str,
)
def test_one_tree_on_all_rows_is_a_decision_tree(setting: dict[str, Any], missing: float) -> None:
    table = mixed_table(200, missing=missing)
    y: Any = mixed_labels(table)
    if "monotonic_cst" in setting:
        y = y == "a"
    tree = DecisionTreeClassifier(**{"missing": "auto", **setting}).fit(table, y)
    forest = RandomForestClassifier(**ALL, **setting).fit(table, y)
    found = forest.forest_.tree(0)
    assert found.n_nodes == tree.tree_.n_nodes
    # A forest keeps thresholds to the edges; they part the training rows alike.
    for name in ("question", "column", "weight", "rows", "gain", "value", "share", "first_child"):
        expected = getattr(tree.tree_, name)
        np.testing.assert_allclose(
            getattr(found, name), expected, rtol=1e-10, atol=1e-10, err_msg=name
        )
    np.testing.assert_allclose(
        forest.predict_proba(table), tree.predict_proba(table), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize(
    "setting", [{}, {"criterion": "absolute_error"}, {"max_bins": None}], ids=str
)
def test_one_tree_of_numbers_is_a_decision_tree(setting: dict[str, Any]) -> None:
    table = mixed_table(150)
    y = np.column_stack([mixed_numbers(table), mixed_numbers(table, seed=5)])
    nominal = "subset"
    tree = DecisionTreeRegressor(nominal=nominal, missing="auto", **setting).fit(table, y)
    forest = RandomForestRegressor(**ALL, nominal=nominal, **setting).fit(table, y)
    np.testing.assert_allclose(forest.predict(table), tree.predict(table), rtol=1e-12)
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_, rtol=1e-9)


@pytest.mark.parametrize("missing", ["fractional", "direction", "auto"])
@pytest.mark.parametrize("numbers", [False, True])
def test_compact_nodes_are_the_tree_on_edges(missing: str, numbers: bool) -> None:
    table = mixed_table(300)
    if numbers:
        member: Any = DecisionTreeRegressor(missing=missing, nominal="auto", max_features=2)
        rows = read_numbers(member, table, mixed_numbers(table), None)
    else:
        member = DecisionTreeClassifier(missing=missing, nominal="auto", max_features=2)
        rows = read_classes(member, table, mixed_labels(table), None)
    coded, scale = coded_rows(rows, table_coding(rows, 40))
    draws = ForestDraws(np.arange(4, dtype=np.uint32), 0, 1, rows.n_rows, rows.n_rows)
    grower = TreeGrower(member, rows, draws, coded, scale)
    roots = grower.roots(range(1))
    chosen, weight = roots.rows, roots.weight
    assert weight.sum() == rows.n_rows
    assert (weight == draws.counts(range(1))[0, chosen]).all()
    rules = growth_rules(member, rows, member._criterion())
    if scale is not None:
        rules = rules.scaled(scale.unit**-2)
    grown = grow(coded, rules, weight, draws.growing_stream(0), chosen)
    expected = tree_of(grown, coded, rows.schema, rows.classes, scale, on_edges=True)
    assert_same_tree(grower(range(1)).tree(0), expected, rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("gaps", ["fractional", "auto"])
@pytest.mark.parametrize("numbers", [False, True])
def test_trees_grown_together_are_those_grown_alone(
    missing: float, gaps: str, numbers: bool
) -> None:
    table = mixed_table(60, missing=missing)
    if numbers:
        member: Any = DecisionTreeRegressor(missing=gaps, nominal="auto", max_features=2)
        rows = read_numbers(member, table, mixed_numbers(table), None)
    else:
        member = DecisionTreeClassifier(missing=gaps, nominal="auto", max_features=2)
        rows = read_classes(member, table, mixed_labels(table), None)
    coded, scale = coded_rows(rows, table_coding(rows, 40))
    # Of three rows some trees draw one class only, and stay a root.
    draws = ForestDraws(np.arange(4, dtype=np.uint32), 0, 30, rows.n_rows, 3)
    grower = TreeGrower(member, rows, draws, coded, scale)
    found = grower(range(30))
    alone = Forest.joined([grower(range(tree, tree + 1)) for tree in range(30)])
    assert numbers or (np.diff(found.tree_start) == 1).any()
    for field in fields(Forest):
        if isinstance(getattr(found, field.name), np.ndarray):
            ours, theirs = getattr(found, field.name), getattr(alone, field.name)
            assert ours.dtype == theirs.dtype, field.name
            assert ours.tobytes() == theirs.tobytes(), field.name


MODELS = [
    RandomForestClassifier(12, random_state=3, oob_score=True),
    RandomForestClassifier(6, random_state=3, max_samples=0.4, class_weight="balanced_subsample"),
    RandomForestClassifier(4, random_state=3, nominal="multiway"),
    ExtraTreesClassifier(6, random_state=3),
    ExtraTreesClassifier(6, random_state=3, max_bins=None),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_number_of_jobs_does_not_change_a_bit(model: Any) -> None:
    table = mixed_table(200)
    y = mixed_labels(table)
    found = [model.set_params(n_jobs=jobs).fit(table, y).forest_ for jobs in (1, 2, 4)]
    for other in found[1:]:
        for name in ("tree_start", "step", "value", "weight", "gain", "level_branch"):
            assert getattr(other, name).tobytes() == getattr(found[0], name).tobytes(), name


@pytest.mark.parametrize("model", [RandomForestRegressor, ExtraTreesRegressor])
def test_the_first_trees_do_not_depend_on_how_many_follow(model: Any) -> None:
    table = mixed_table(100)
    y = mixed_numbers(table)
    few = model(3, random_state=1).fit(table, y).forest_
    many = model(7, random_state=1).fit(table, y).forest_
    assert many.step[: few.n_nodes].tobytes() == few.step.tobytes()
    assert many.value[: few.n_nodes].tobytes() == few.value.tobytes()


def test_random_cuts_differ_from_tree_to_tree() -> None:
    X = np.random.default_rng(0).normal(size=(200, 1))
    model = ExtraTreesClassifier(20, random_state=0).fit(X, X[:, 0] > 0)
    roots = model.forest_.thresholds[model.forest_.tree_start[:-1]]
    assert len(np.unique(roots)) > 10
    best = RandomForestClassifier(20, random_state=0, bootstrap=False).fit(X, X[:, 0] > 0)
    assert len(np.unique(best.forest_.thresholds[best.forest_.tree_start[:-1]])) == 1


def test_a_forest_beyond_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "1MB")
    with pytest.raises(MemoryLimitError, match="A forest of 5000 such trees"):
        RandomForestRegressor(5000).fit(X, X[:, 0])


def test_equal_weights_are_none() -> None:
    member = DecisionTreeClassifier()
    X = np.random.default_rng(0).normal(size=(600, 1))
    y = X[:, 0] > 0
    one, three = (read_classes(member, X, y, np.full(600, w)) for w in (1.0, 3.0))
    np.testing.assert_array_equal(table_coding(one, 50).edges[0], table_coding(three, 50).edges[0])
