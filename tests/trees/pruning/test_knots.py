"""Knots: a tree survives the way there and back, and rows sent down again find what they left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.growing import grow_general
from novum.trees.general.rules import GeneralRules
from novum.trees.pruning.knots import Spread, knots_of, tree_of
from novum.trees.tree import Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable

rules_of_growth = st.sampled_from(
    [
        GeneralRules("gini", "subset"),
        GeneralRules("entropy", "multiway"),
        GeneralRules("entropy", "multiway", "direction"),
        GeneralRules(GainRatio(), "multiway", min_samples_leaf=2),
    ]
)


def grown(table: TrainingTable, rules: GeneralRules) -> Tree:
    return grow_general(
        table.cells, table.targets, table.weight, table.schema, table.classes, rules
    )


def spread_over(tree: Tree, table: TrainingTable) -> Spread:
    return Spread.of(tree, table.cells, table.targets[:, 0])


def everything(table: TrainingTable) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(table.weight)), table.weight


@given(training_tables(), rules_of_growth)
def test_there_and_back_is_the_same_tree(table: TrainingTable, rules: GeneralRules) -> None:
    tree = grown(table, rules)
    assert_same_tree(tree, tree_of(knots_of(tree), tree), rtol=0)


@given(training_tables(), rules_of_growth)
def test_refilling_with_the_same_rows_changes_nothing(
    table: TrainingTable, rules: GeneralRules
) -> None:
    tree = grown(table, rules)
    root = knots_of(tree)
    spread_over(tree, table).refill(root, everything(table))
    assert_same_tree(tree, tree_of(root, tree))


@given(training_tables(), rules_of_growth)
def test_leaves_get_the_weights_they_have(table: TrainingTable, rules: GeneralRules) -> None:
    tree = grown(table, rules)
    found = spread_over(tree, table).leaf_values(knots_of(tree), everything(table))
    leaves = [n for n in range(tree.n_nodes) if tree.is_leaf(n) and tree.weight[n] > 0]
    met = sorted(value.tolist() for value in found if value.sum() > 0)
    expected = sorted(tree.value[leaf].tolist() for leaf in leaves)
    np.testing.assert_allclose(np.array(met), np.array(expected), rtol=1e-9, atol=1e-12)


COLORS = Column("color", Kind.NOMINAL, ("blue", "green", "red"))


def color_stump() -> tuple[Tree, TrainingTable]:
    """Blue is class 0, green class 1, red does not occur."""
    table = TrainingTable(
        Schema((COLORS,)),
        np.array([[0.0], [0.0], [1.0], [1.0]]),
        np.array([[0], [0], [1], [1]]),
        np.ones(4),
        (np.arange(2),),
    )
    return grown(table, GeneralRules("entropy")), table


def test_a_level_that_comes_later_gets_a_leaf_of_its_own() -> None:
    tree, _ = color_stump()
    root = knots_of(tree)
    cells = np.array([[0.0], [1.0], [2.0], [2.0]])
    later = Spread.of(tree, cells, np.array([0, 1, 1, 1]))
    later.refill(root, (np.arange(4), np.ones(4)))
    filled = tree_of(root, tree)
    assert filled.branches(0).tolist() == [0, 1, 2]
    assert filled.value.tolist() == [[1, 3], [1, 0], [0, 1], [0, 2]]
    assert filled.share[1:].tolist() == [0.25, 0.25, 0.5]
    # All of the entropy of one in four goes.
    assert filled.gain[0] == pytest.approx(4 * filled.impurity[0])


def test_rows_without_any_answer_go_down_all_sons_in_equal_parts() -> None:
    tree, _ = color_stump()
    spread = Spread.of(tree, np.full((2, 1), np.nan), np.array([0, 1]))
    parts = spread.divide(knots_of(tree), (np.arange(2), np.ones(2)))
    assert [weight.tolist() for _, weight in parts] == [[1 / 3, 1 / 3]] * 3


def test_a_leaf_forgets_its_sons_and_a_knot_takes_those_of_another() -> None:
    tree, _ = color_stump()
    root, other = knots_of(tree), knots_of(tree)
    root.become_leaf()
    assert tree_of(root, tree).n_nodes == 1
    root.become(other)
    root.gain = other.gain
    assert_same_tree(tree_of(other, tree), tree_of(root, tree))


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_root_tells_the_criterion(criterion: str) -> None:
    _, table = color_stump()
    tree = grown(table, GeneralRules(criterion))
    assert spread_over(tree, table).bits == (criterion == "entropy")
