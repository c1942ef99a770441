"""The forest as a value: trees go in and come out unchanged, joined and in files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.trees.forests.forest_value import Forest, edge_numbers, padded_edges
from novum.trees.growth.coding import TableCoding
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow


@st.composite
def grown(draw: st.DrawFn) -> tuple[TrainingTable, GrowthRules]:
    target = draw(st.sampled_from(("classes", "numbers")))
    criterion = "gini" if target == "classes" else "squared_error"
    table = draw(training_tables(target=target, max_targets=2))
    nominal = draw(st.sampled_from(("subset", "multiway")))
    missing = draw(st.sampled_from(("fractional", "direction", "auto")))
    return table, GrowthRules(criterion=criterion, nominal=nominal, missing=missing)


@given(grown())
def test_a_tree_comes_out_as_it_went_in(case: tuple[TrainingTable, GrowthRules]) -> None:
    tree = grow(*case)
    found = Forest.of_tree(tree).tree(0)
    found.check()
    assert_same_tree(found, tree, rtol=1e-14)
    np.testing.assert_array_equal(found.parent, tree.parent)


@given(grown(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_joined_trees_come_out_one_by_one(
    case: tuple[TrainingTable, GrowthRules], depths: list[int]
) -> None:
    whole = grow(*case)
    trees = [whole.cut(whole.depths >= depth) for depth in depths]
    forest = Forest.joined([Forest.of_tree(tree) for tree in trees])
    assert forest.n_trees == len(depths)
    assert forest.largest_tree == max(tree.n_nodes for tree in trees)
    for found, tree in zip(forest.trees, trees, strict=True):
        found.check()
        assert_same_tree(found, tree, rtol=1e-14)


@given(grown())
def test_joining_is_associative(case: tuple[TrainingTable, GrowthRules]) -> None:
    one = Forest.of_tree(grow(*case))
    left = Forest.joined([Forest.joined([one, one]), one])
    right = Forest.joined([one, Forest.joined([one, one])])
    for name in ("tree_start", "step", "level_start", "level_branch", "share", "value"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


@given(training_tables(missing=False))
def test_thresholds_on_edges_are_kept_as_bytes(table: TrainingTable) -> None:
    tree = grow(table, GrowthRules(nominal="subset"))
    coding = TableCoding.of(table.schema, table.cells)
    places = edge_numbers(tree, coding)
    # The neighbors of a node need not be neighbors in the table: the next edge above is taken.
    asked = tree.question == 1
    tree.threshold[asked] = padded_edges(coding)[tree.column[asked], places[asked]]
    forest = Forest.of_tree(tree, coding)
    assert forest.threshold.size == 0
    np.testing.assert_array_equal(forest.thresholds[asked], tree.threshold[asked])
    assert_same_tree(forest.tree(0), tree, rtol=1e-14)


def test_copies_and_pickles_leave_out_what_can_be_computed() -> None:
    table = np.array([[0.0], [1.0], [2.0]])
    from novum.core.tables import Schema

    rows = TrainingTable(
        Schema.of_array(1), table, np.array([[0], [1], [0]]), np.ones(3), (np.arange(2),)
    )
    forest = Forest.of_tree(grow(rows, GrowthRules()))
    assert len(forest.trees) == 1
    for other in (pickle.loads(pickle.dumps(forest)), copy.deepcopy(forest)):
        assert "trees" not in vars(other)
        assert_same_tree(other.tree(0), forest.tree(0), rtol=0)


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from novum.core.tables import Schema

    rows = TrainingTable(
        Schema.of_array(1),
        np.array([[0.0], [1.0]]),
        np.array([[0], [1]]),
        np.ones(2),
        (np.arange(2),),
    )
    forest = Forest.of_tree(grow(rows, GrowthRules()))
    monkeypatch.setattr(Forest, "n_nodes", 2**31)
    with pytest.raises(InputError, match=r"more than 2\^31. Grow fewer trees"):
        Forest.joined([forest, forest])
