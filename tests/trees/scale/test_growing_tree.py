"""Nodes split one by one, closed, grafted on, and numbered as in memory."""

from __future__ import annotations

import numpy as np

from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import GrowthRules
from novum.trees.scale.growing_tree import GrowingTree, Split
from novum.trees.scale.level_growing import grow_trees
from novum.trees.tree import Question
from tests.trees.scale.grown_tables import mixed_rows, task_of

NO_LEVELS = np.empty(0, np.int8)


def threshold(column: int, code: int = 0) -> Split:
    return Split(Question.THRESHOLD, column, code, code + 1, -1, NO_LEVELS, 1.0)


def subset(column: int, branch: list[int]) -> Split:
    return Split(Question.SUBSET, column, -1, -1, 1, np.array(branch, np.int8), 2.0)


def small_tree() -> GrowingTree:
    """The root (column 0), its left child (1) and its right child (2, of levels) are split."""
    tree = GrowingTree(7, n_stats=2, n_levels=3)
    for node, split in ((0, threshold(0)), (1, threshold(1, 4)), (2, subset(2, [0, 1, -1]))):
        tree.divide(node, split, (0.25, 0.75))
    for node in range(tree.n_nodes):
        tree.set_facts(node, np.array([node, 1.0]), node + 1.0, 0.5, 10 * node)
    return tree


def test_children_are_numbered_when_their_parent_is_split() -> None:
    tree = small_tree()
    right_first = GrowingTree(7, n_stats=2, n_levels=3)
    right_first.divide(0, threshold(0), (0.25, 0.75))
    right_first.divide(2, subset(2, [0, 1, -1]), (0.25, 0.75))
    right_first.divide(1, threshold(1, 4), (0.25, 0.75))
    for found in (tree.finished(), right_first.finished()):
        assert found.integers[:, at.COLUMN].tolist() == [0, 1, 2, -1, -1, -1, -1]
        assert found.integers[:, at.CHILD].tolist() == [1, 3, 5, -1, -1, -1, -1]
        assert found.integers[:, at.PARENT].tolist() == [-1, 0, 0, 1, 1, 2, 2]
        assert found.integers[:, at.DEPTH].tolist() == [0, 1, 1, 2, 2, 2, 2]
        assert found.numbers[:, at.SHARE].tolist() == [1.0, 0.25, 0.75] + 2 * [0.25, 0.75]
        assert found.branches[found.integers[2, at.LEVEL_AT]].tolist() == [0, 1, -1]


def test_what_is_below_a_closed_node_is_gone() -> None:
    tree = small_tree()
    tree.close(1)
    found = tree.finished()
    assert found.integers[:, at.QUESTION].tolist() == [1, 0, 2, 0, 0]
    assert found.integers[:, at.PARENT].tolist() == [-1, 0, 0, 2, 2]
    assert found.integers[:, at.ROWS].tolist() == [0, 10, 20, 50, 60]
    assert found.numbers[1, at.GAIN] == 0.0
    assert found.numbers[1, at.WEIGHT] == 2.0


def test_a_subtree_takes_the_place_of_a_node() -> None:
    whole = small_tree()
    grown = small_tree()
    grown.divide(3, subset(2, [1, 0, 0]), (0.5, 0.5))
    whole.graft(1, grown.finished())
    found = whole.finished()
    # Root and its children; the six nodes below the left child; the two below the right one.
    assert found.integers[:, at.PARENT].tolist() == [-1, 0, 0, 1, 1, 3, 3, 5, 5, 4, 4, 2, 2]
    assert found.numbers[1, at.SHARE] == 0.25
    assert found.integers[1, at.COLUMN] == 0
    assert found.integers[:, at.DEPTH].tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 2, 2]
    tables = found.branches[found.integers[[2, 4, 5], at.LEVEL_AT]]
    assert tables.tolist() == [[0, 1, -1], [0, 1, -1], [1, 0, 0]]
    parents = found.integers[1:, at.PARENT]
    first = found.integers[parents, at.CHILD]
    assert set((np.arange(1, 13) - first).tolist()) == {0, 1}


def test_a_graft_below_a_closed_node_is_gone() -> None:
    tree = small_tree()
    tree.graft(3, small_tree().finished())
    tree.close(1)
    assert len(tree.finished().integers) == 5


def test_fetched_and_summed_nodes_have_one_numbering() -> None:
    rows, rules = mixed_rows(900), GrowthRules("gini", min_leaf=4.0)
    whole, parts = (
        grow_trees(task_of(rows, rules, fetched=fetched)).trees[0] for fetched in (0, 60)
    )
    for name in (at.QUESTION, at.COLUMN, at.CODE, at.CHILD, at.PARENT, at.DEPTH, at.ROWS):
        np.testing.assert_array_equal(whole.integers[:, name], parts.integers[:, name])
