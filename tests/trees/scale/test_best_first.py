"""Best-first growth from chunks: the tree of the engine in memory, in few passes."""

from __future__ import annotations

import numpy as np
import pytest

from novum.trees.growth.growing import GrowthRules
from novum.trees.scale.level_growing import grow_trees
from tests.strategies.tree_tables import assert_same_tree
from tests.trees.scale.grown_tables import in_memory, mixed_rows, task_of, trees_of


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("leaves", [2, 3, 8, 40])
def test_the_best_splits_are_made_first(classes: int, missing: float, leaves: int) -> None:
    rows = mixed_rows(1200, classes=classes, missing=missing)
    criterion = "gini" if classes else "squared_error"
    rules = GrowthRules(criterion, max_leaf_nodes=leaves, min_leaf=2.0 * (1 - 1e-10))
    task = task_of(rows, rules, nodes=200)
    grown = grow_trees(task)
    (tree,) = trees_of(task, grown)
    assert tree.n_leaves == leaves
    tree.check()
    assert_same_tree(tree, in_memory(rows, rules))
    # One pass for each split at most, and fewer where several are looked at together.
    assert grown.n_passes <= leaves
    if leaves == 40:
        assert grown.n_passes < 20


def test_a_tree_that_runs_out_of_splits_ends() -> None:
    rows = mixed_rows(60, missing=0.0)
    rules = GrowthRules("gini", max_leaf_nodes=500, min_leaf=5.0 * (1 - 1e-10))
    (tree,) = trees_of(task_of(rows, rules))
    assert_same_tree(tree, in_memory(rows, rules))


def test_trees_advance_together() -> None:
    rows = mixed_rows(500)
    rules = GrowthRules("gini", max_leaf_nodes=6, max_features=2)
    task = task_of(rows, rules, nodes=200, n_trees=4)
    grown = grow_trees(task)
    trees = trees_of(task, grown)
    assert [tree.n_leaves for tree in trees] == [6, 6, 6, 6]
    assert grown.n_passes <= 6
    assert len({tuple(np.sort(tree.column).tolist()) for tree in trees}) > 1
