"""Trees by definition: textbook trees, scikit-learn's trees of numbers, and what must add up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from novum.core.tables import Schema
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import (
    GrowthRules,
    grow,
    importances,
    leaf_probabilities,
    predict_row,
    row_shares,
)
from tests.trees.test_definitions import weather

rules_of_classes = st.builds(
    GrowthRules,
    criterion=st.sampled_from(("gini", "entropy")),
    nominal=st.sampled_from(("subset", "single", "multiway")),
    missing=st.sampled_from(("fractional", "direction", "auto")),
    max_depth=st.sampled_from((None, 2)),
    min_samples_leaf=st.sampled_from((1.0, 2.0)),
    max_leaf_nodes=st.sampled_from((None, 2, 4)),
)


def one_column(x: Any, y: Any, weight: Any = None, classes: int = 0) -> TrainingTable:
    targets = np.array(y, int if classes else float)[:, np.newaxis]
    return TrainingTable(
        Schema.of_array(1),
        np.array(x, float)[:, np.newaxis],
        targets,
        np.ones(len(x)) if weight is None else np.array(weight, float),
        (np.arange(classes),) if classes else None,
    )


# --- By hand --------------------------------------------------------------------------------------


def test_the_tree_of_the_weather_is_the_textbooks() -> None:
    tree = grow(weather(), GrowthRules(criterion="entropy", nominal="multiway"))
    assert tree.question.tolist() == [3, 0, 3, 3, 0, 0, 0, 0]
    # outlook; overcast: yes; rainy: windy?; sunny: humidity?
    assert tree.column.tolist() == [0, -1, 3, 2, -1, -1, -1, -1]
    assert tree.value[:4].tolist() == [[5, 9], [0, 4], [2, 3], [3, 2]]
    assert tree.share[1:4].tolist() == [4 / 14, 5 / 14, 5 / 14]
    assert tree.parent.tolist() == [-1, 0, 0, 0, 2, 2, 3, 3]
    assert tree.gain[0] / 14 == pytest.approx(0.2467, abs=5e-5)


def test_a_missing_cell_goes_down_in_parts() -> None:
    table = one_column([0, 0, 0, 1, math.nan], [0, 0, 0, 1, 1], classes=2)
    tree = grow(table, GrowthRules(max_depth=1))
    assert tree.share.tolist() == [1, 0.75, 0.25]
    assert tree.value.tolist() == [[3, 2], [3, 0.75], [0, 1.25]]
    assert tree.rows.tolist() == [5, 4, 2]
    assert predict_row(tree, np.array([math.nan])) == pytest.approx([0.6, 0.4])
    assert row_shares(tree, np.array([math.nan])) == {0: 1.0, 1: 0.75, 2: 0.25}


def test_missing_cells_go_where_they_helped() -> None:
    table = one_column([0, 0, 0, 1, math.nan], [0, 0, 0, 1, 1], classes=2)
    tree = grow(table, GrowthRules(missing="direction"))
    assert tree.missing_branch.tolist() == [1, -1, -1]
    assert tree.value.tolist() == [[3, 2], [3, 0], [0, 2]]
    assert tree.share.tolist() == [1, 0.75, 0.25]


def test_columns_that_only_decide_together_are_found() -> None:
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    xor = np.array([[0], [1], [1], [0]])
    table = TrainingTable(Schema.of_array(2), cells, xor, np.ones(4), (np.arange(2),))
    tree = grow(table, GrowthRules())
    assert tree.gain[0] == 0
    assert tree.n_leaves == 4


def test_limits_stop_growth() -> None:
    table = one_column(range(8), [0, 1, 5, 6, 20, 22, 40, 44])
    assert grow(table, GrowthRules("squared_error")).n_leaves == 8
    assert grow(table, GrowthRules("squared_error", max_depth=2)).depth == 2
    heavy = grow(table, GrowthRules("squared_error", min_samples_split=5))
    assert heavy.weight[heavy.question != Question.LEAF].min() >= 5
    assert grow(table, GrowthRules("squared_error", min_samples_leaf=2)).weight.min() == 2
    # The first split saves 8 x 242.4; the next best, of the upper half, 4 x 110.25.
    saved = grow(table, GrowthRules("squared_error")).gain
    limit = (saved[0] + np.sort(saved)[-2]) / 2 / 8
    assert grow(table, GrowthRules("squared_error", min_impurity_decrease=limit)).n_leaves == 2


def test_a_multiway_split_beyond_the_limit_of_leaves_is_none() -> None:
    rules = GrowthRules(criterion="entropy", nominal="multiway", max_leaf_nodes=2)
    assert grow(weather(), rules).n_leaves == 1


def test_a_column_that_no_row_knows_asks_nothing() -> None:
    table = one_column([math.nan] * 3, [0, 1, 1], classes=2)
    tree = grow(table, GrowthRules())
    assert tree.n_nodes == 1
    assert importances(tree).tolist() == [0.0]


def test_an_unknown_level_goes_down_in_parts() -> None:
    tree = grow(weather(), GrowthRules(criterion="entropy", nominal="multiway"))
    unseen = np.array([-2.0, 0.0, 0.0, 0.0])
    expected = {1: 4 / 14, 2: 5 / 14, 3: 5 / 14}
    shares = row_shares(tree, unseen)
    assert {node: shares[node] for node in (1, 2, 3)} == expected


# --- Properties -----------------------------------------------------------------------------------


@given(training_tables(max_targets=2), rules_of_classes)
def test_weights_and_classes_add_up(table: TrainingTable, rules: GrowthRules) -> None:
    tree = grow(table, rules)
    for node in range(tree.n_nodes):
        if not tree.is_leaf(node):
            children = list(tree.children(node))
            np.testing.assert_allclose(tree.value[children].sum(axis=0), tree.value[node])
            assert tree.share[children].sum() == pytest.approx(1)
            assert (tree.parent[children] == node).all()
            assert min(children) > node
    assert rules.max_leaf_nodes is None or tree.n_leaves <= rules.max_leaf_nodes


@given(training_tables(), rules_of_classes)
def test_rows_meet_the_leaves_that_they_made(table: TrainingTable, rules: GrowthRules) -> None:
    """Routing the training rows gives back the class weights of every node."""
    tree = grow(table, rules)
    found = np.zeros_like(tree.value)
    for row, weight in table.entries():
        shares = row_shares(tree, table.cells[row])
        assert sum(s for node, s in shares.items() if tree.is_leaf(node)) == pytest.approx(1)
        for node, share in shares.items():
            found[node, table.targets[row, 0]] += weight * share
    np.testing.assert_allclose(found, tree.value, atol=1e-12)


@given(training_tables(min_rows=3, max_rows=7), rules_of_classes)
def test_weight_two_is_the_row_twice(table: TrainingTable, rules: GrowthRules) -> None:
    whole = np.ceil(table.weight)
    heavy = TrainingTable(table.schema, table.cells, table.targets, whole, table.classes)
    rows = np.repeat(np.arange(len(whole)), whole.astype(int))
    repeated = TrainingTable(
        table.schema, table.cells[rows], table.targets[rows], np.ones(len(rows)), table.classes
    )
    one, other = grow(heavy, rules), grow(repeated, rules)
    np.testing.assert_array_equal(one.column, other.column)
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_allclose(one.value, other.value, atol=1e-12)


@given(training_tables(missing=False, max_rows=8), rules_of_classes)
def test_importances_are_shares_of_what_the_splits_removed(
    table: TrainingTable, rules: GrowthRules
) -> None:
    tree = grow(table, rules)
    leaves = tree.question == Question.LEAF
    mass = tree.weight * tree.impurity
    assert tree.gain.sum() == pytest.approx(mass[0] - mass[leaves].sum(), abs=1e-9)
    assert importances(tree).sum() == pytest.approx(1 if tree.gain.sum() > 0 else 0)


@given(training_tables(max_rows=8), rules_of_classes)
def test_the_order_of_rows_does_not_matter(table: TrainingTable, rules: GrowthRules) -> None:
    back = TrainingTable(
        table.schema, table.cells[::-1], table.targets[::-1], table.weight[::-1], table.classes
    )
    assert_same_tree(grow(table, rules), grow(back, rules))


# --- scikit-learn ---------------------------------------------------------------------------------


def assert_like_scikit_learns(tree: Tree, theirs: Any) -> None:
    """The same questions and numbers, node by node."""
    pending = [(0, 0)]
    while pending:
        a, b = pending.pop()
        assert tree.weight[a] == pytest.approx(theirs.weighted_n_node_samples[b])
        assert tree.impurity[a] == pytest.approx(theirs.impurity[b], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(leaf_probabilities(tree, a), theirs.value[b].ravel(), rtol=1e-9)
        assert tree.is_leaf(a) == (theirs.children_left[b] < 0)
        if not tree.is_leaf(a):
            assert (tree.column[a], tree.threshold[a]) == (theirs.feature[b], theirs.threshold[b])
            low, high = tree.children(a)
            pending += [(low, theirs.children_left[b]), (high, theirs.children_right[b])]


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_depth": 3},
        {"min_samples_leaf": 4},
        {"min_samples_split": 9},
        {"max_leaf_nodes": 6},
        {"min_impurity_decrease": 0.05},
    ],
    ids=str,
)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_trees_of_one_column_are_scikit_learns(criterion: str, limits: dict[str, Any]) -> None:
    # One column, because scikit-learn draws among columns that tie.
    rng = np.random.default_rng(5)
    x = rng.permutation(30) / 2
    of_classes = criterion in ("gini", "entropy")
    y = rng.integers(0, 3, 30) if of_classes else np.sin(x) + rng.normal(scale=0.3, size=30)
    learner = DecisionTreeClassifier if of_classes else DecisionTreeRegressor
    theirs = learner(criterion=criterion, **limits).fit(x[:, np.newaxis], y).tree_
    table = one_column(x, y, classes=3 if of_classes else 0)
    assert_like_scikit_learns(grow(table, GrowthRules(criterion, **limits)), theirs)


def test_importances_are_scikit_learns() -> None:
    rng = np.random.default_rng(8)
    cells = rng.integers(-40, 40, (40, 3)) / 4
    y = cells[:, 0] + 2 * np.abs(cells[:, 2]) + rng.normal(size=40)
    learner = DecisionTreeRegressor(min_samples_leaf=5).fit(cells, y)
    table = TrainingTable(Schema.of_array(3), cells, y[:, np.newaxis], np.ones(40), None)
    tree = grow(table, GrowthRules("squared_error", min_samples_leaf=5))
    assert_like_scikit_learns(tree, learner.tree_)
    np.testing.assert_allclose(importances(tree), learner.feature_importances_, rtol=1e-9)
    ours = [predict_row(tree, row)[0] for row in cells]
    np.testing.assert_allclose(ours, learner.predict(cells), rtol=1e-12)
