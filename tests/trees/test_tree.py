"""The tree as a value: sizes, walks, branches, and what cutting changes and what it leaves."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.tree import Question, Tree, single_leaf
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow, row_shares
from tests.trees.test_definitions import weather


def weather_tree(nominal: str = "multiway") -> Tree:
    """outlook -> (overcast: leaf 1, rainy: windy 2 -> 4, 5; sunny: humidity 3 -> 6, 7)"""
    return grow(weather(), GrowthRules(criterion="entropy", nominal=nominal))


@st.composite
def cut_trees(draw: st.DrawFn) -> tuple[TrainingTable, Tree, np.ndarray]:
    table = draw(training_tables())
    tree = grow(table, GrowthRules(nominal=draw(st.sampled_from(("subset", "multiway")))))
    marks = draw(st.lists(st.booleans(), min_size=tree.n_nodes, max_size=tree.n_nodes))
    return table, tree, np.array(marks)


# --- Reading --------------------------------------------------------------------------------------


def test_sizes_and_depths() -> None:
    tree = weather_tree()
    assert (tree.n_nodes, tree.n_leaves, tree.depth) == (8, 5, 2)
    assert tree.depths.tolist() == [0, 1, 1, 1, 2, 2, 2, 2]
    assert tree.is_leaf(1)
    assert not tree.is_leaf(2)


def test_children_stand_side_by_side() -> None:
    tree = weather_tree()
    assert list(tree.children(0)) == [1, 2, 3]
    assert list(tree.children(3)) == [6, 7]
    assert list(tree.children(1)) == []


def test_the_walk_is_depth_first() -> None:
    tree = weather_tree()
    assert list(tree.walk()) == [0, 1, 2, 4, 5, 3, 6, 7]
    assert list(tree.walk(2)) == [2, 4, 5]


def test_branches_of_levels() -> None:
    tree = weather_tree()
    assert tree.branches(0).tolist() == [0, 1, 2]
    assert tree.branches(2).tolist() == [0, 1]
    # {overcast} against {rainy, sunny}.
    assert weather_tree("subset").branches(0).tolist() == [0, 1, 1]


def test_a_level_that_no_row_had_has_no_branch() -> None:
    schema = Schema((Column("x", Kind.NOMINAL, ("a", "b", "c")),))
    cells = np.array([[0.0], [2.0]])
    table = TrainingTable(schema, cells, np.array([[0], [1]]), np.ones(2), (np.arange(2),))
    assert grow(table, GrowthRules()).branches(0).tolist() == [0, -1, 1]


def test_a_single_leaf_asks_nothing() -> None:
    leaf = single_leaf(Schema.of_array(2), None, np.array([1.5]), 4.0, rows=4, impurity=0.25)
    assert (leaf.n_nodes, leaf.n_leaves, leaf.depth) == (1, 1, 0)
    assert list(leaf.walk()) == [0]
    assert leaf.value.tolist() == [[1.5]]
    assert (leaf.weight[0], leaf.rows[0], leaf.impurity[0]) == (4.0, 4, 0.25)
    assert leaf.cut(np.ones(1, bool)).n_nodes == 1


# --- Cutting --------------------------------------------------------------------------------------


def test_a_cut_renumbers_what_remains() -> None:
    tree = weather_tree()
    cut = tree.cut(np.arange(8) == 2)
    assert cut.question.tolist() == [3, 0, 0, 3, 0, 0]
    assert cut.parent.tolist() == [-1, 0, 0, 0, 3, 3]
    assert cut.first_child.tolist() == [1, -1, -1, 4, -1, -1]
    assert cut.value.tolist() == tree.value[[0, 1, 2, 3, 6, 7]].tolist()
    assert cut.branches(3).tolist() == tree.branches(3).tolist()
    assert cut.gain[2] == 0
    assert cut.gain[3] == tree.gain[3]


def test_a_cut_at_the_root_leaves_a_leaf() -> None:
    tree = weather_tree()
    root = tree.cut(np.ones(8, bool))
    assert root.n_nodes == 1
    assert root.value.tolist() == [[5, 9]]
    assert (root.column[0], root.first_child[0], root.n_children[0]) == (-1, -1, 0)


def test_marks_of_another_tree_are_refused() -> None:
    with pytest.raises(InputError, match=r"One mark for each of 8 nodes, got \(3,\)"):
        weather_tree().cut(np.zeros(3, bool))


@given(training_tables())
def test_cutting_nothing_or_leaves_changes_nothing(table: TrainingTable) -> None:
    tree = grow(table, GrowthRules())
    for marks in (np.zeros(tree.n_nodes, bool), tree.question == Question.LEAF):
        assert_same_tree(tree.cut(marks), tree, rtol=0)


@given(cut_trees())
def test_a_cut_keeps_types_shapes_and_order(case: tuple[TrainingTable, Tree, np.ndarray]) -> None:
    _, tree, marks = case
    cut = tree.cut(marks)
    for field in fields(Tree):
        before, after = getattr(tree, field.name), getattr(cut, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype
            assert before.shape[1:] == after.shape[1:]
    for node in range(cut.n_nodes):
        for child in cut.children(node):
            assert child > node
            assert cut.parent[child] == node
    assert sum(len(cut.children(node)) for node in range(cut.n_nodes)) == cut.n_nodes - 1


@given(cut_trees())
def test_rows_reach_the_nodes_that_remain_as_before(
    case: tuple[TrainingTable, Tree, np.ndarray],
) -> None:
    table, tree, marks = case
    cut = tree.cut(marks)
    gone = [bool(marks[_above(tree, node)].any()) for node in range(tree.n_nodes)]
    kept = np.flatnonzero(~np.array(gone))
    for row in table.cells:
        before = row_shares(tree, row)
        after = {int(kept[node]): share for node, share in row_shares(cut, row).items()}
        assert after == {node: share for node, share in before.items() if node in kept}


def _above(tree: Tree, node: int) -> list[int]:
    """The nodes from the root down to the parent."""
    above: list[int] = []
    while tree.parent[node] >= 0:
        node = int(tree.parent[node])
        above.append(node)
    return above


@given(cut_trees(), st.data())
def test_cutting_twice_is_cutting_both(
    case: tuple[TrainingTable, Tree, np.ndarray], data: st.DataObject
) -> None:
    _, tree, marks = case
    more = np.array(data.draw(st.lists(st.booleans(), min_size=len(marks), max_size=len(marks))))
    once = tree.cut(marks)
    kept = [n for n in range(tree.n_nodes) if not marks[_above(tree, n)].any()]
    assert_same_tree(once.cut(more[kept]), tree.cut(marks | more), rtol=0)
