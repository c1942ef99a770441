"""Splits from sums: the best by the definition, with children that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing import GrowthRules
from novum.trees.scale.growing_tree import GrowingTree, Split
from novum.trees.scale.level_statistics import LevelStatistics
from novum.trees.scale.pass_plan import OpenNode, step_for
from novum.trees.scale.split_search import SplitSearch
from novum.trees.training import CellRows
from novum.trees.tree import Question
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.scale.grown_tables import in_memory, mixed_rows, rows_of, task_of

FREE = (-np.inf, np.inf)


def searched(rows: CellRows, rules: GrowthRules) -> tuple[SplitSearch, LevelStatistics]:
    task = task_of(rows, rules, n_parts=1)
    root = OpenNode(GrowingTree(0, task.coding.n_stats, 10), 0, 1, rows.n_rows)
    totals = task.total(replace(step_for([root], task.coding, None), with_ranges=True))
    assert totals.ranges is not None
    scaled = task.rules(totals.ranges)
    return SplitSearch(task.table(totals.ranges), scaled, task.coding.offsets), totals.level


def split_of(search: SplitSearch, level: LevelStatistics) -> Split | None:
    rng = np.random.default_rng(0)
    return search.search(level, search.impurity(level), FREE, rng)


@given(
    table=training_tables(max_rows=20, max_targets=2),
    criterion=st.sampled_from(["gini", "entropy"]),
    missing=st.sampled_from(["fractional", "direction", "auto"]),
)
def test_the_split_and_its_children_are_those_of_the_rows(
    table: TrainingTable, criterion: str, missing: str
) -> None:
    rows = rows_of(table)
    rules = GrowthRules(criterion, missing=missing, max_depth=1)
    search, level = searched(rows, rules)
    tree = in_memory(rows, rules)
    assert search.impurity(level) == pytest.approx(tree.impurity[0], abs=1e-12)
    split = split_of(search, level) if search.may_split(level.sums[0], 0) else None
    if tree.n_nodes == 1:
        assert split is None
        return
    assert split is not None
    assert (split.question, split.column) == (tree.question[0], tree.column[0])
    assert split.missing_branch == tree.missing_branch[0]
    assert split.gain == pytest.approx(tree.gain[0], abs=1e-9)
    division = search.divide(level, split)
    np.testing.assert_allclose(division.sums, tree.value[1:], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(division.shares, tree.share[1:], rtol=1e-9)
    missing = np.isnan(rows.cells[:, split.column]).any()
    assert division.is_whole == (not missing or split.missing_branch >= 0)


def test_columns_are_drawn_by_the_given_numbers() -> None:
    rows = mixed_rows(400, missing=0.0)
    search, level = searched(rows, GrowthRules("gini", max_features=1))
    impurity = search.impurity(level)
    found = set()
    for seed in range(20):
        split, again = (
            search.search(level, impurity, FREE, np.random.default_rng(seed)) for _ in range(2)
        )
        assert split is not None
        assert again is not None
        assert split.column == again.column
        found.add(split.column)
    assert found == {0, 1, 2, 3}


def test_a_split_must_gain_enough() -> None:
    rows = mixed_rows(200)
    search, level = searched(rows, GrowthRules("gini", min_gain=1e9))
    assert split_of(search, level) is None


def test_rows_that_are_alike_are_not_split() -> None:
    rows = mixed_rows(50, classes=0)
    alike = replace(rows, targets=np.full((50, 1), 3.25))
    search, level = searched(alike, GrowthRules("squared_error"))
    assert search.impurity(level) == 0.0
    labels = mixed_rows(50)
    pure = replace(labels, targets=np.full((50, 1), 2))
    search, level = searched(pure, GrowthRules("gini"))
    assert search.impurity(level) == 0.0
    assert not search.may_split(level.sums[0], 0)


def test_limits_say_what_may_be_split() -> None:
    rows = mixed_rows(50)
    sums = np.array([3.0, 2.0, 0.0])
    for rules, depth, expected in (
        (GrowthRules("gini"), 0, True),
        (GrowthRules("gini", max_depth=2), 1, True),
        (GrowthRules("gini", max_depth=2), 2, False),
        (GrowthRules("gini", min_split=5.5), 0, False),
        (GrowthRules("gini", min_leaf=2.6), 0, False),
        (GrowthRules("gini", min_leaf=2.5), 0, True),
    ):
        search, _ = searched(rows, rules)
        assert search.may_split(sums, depth) is expected


def test_bounds_of_children_part_at_the_middle_of_their_means() -> None:
    rows = mixed_rows(50, classes=0)
    search, _ = searched(rows, GrowthRules("squared_error", signs=(1, -1, 0, 0)))
    sums = np.array([[2.0, 2.0], [4.0, 12.0]])
    rising = Split(Question.THRESHOLD, 0, 0, 1, -1, np.empty(0, np.int8), 1.0)
    assert search.child_bounds(rising, sums, FREE) == ((-np.inf, 2.0), (2.0, np.inf))
    falling = replace(rising, column=1)
    assert search.child_bounds(falling, sums, FREE) == ((2.0, np.inf), (-np.inf, 2.0))
    free = replace(rising, column=2)
    assert search.child_bounds(free, sums, (0.0, 9.0)) == ((0.0, 9.0), (0.0, 9.0))
