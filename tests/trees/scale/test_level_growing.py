"""Trees grown level by level: those of the engine in memory, for any budget and partition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.core.tables import Column, Kind, Schema
from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import GrowthRules
from novum.trees.scale import level_growing
from novum.trees.scale.chunks import Passes
from novum.trees.scale.frontier import Bootstrap
from novum.trees.scale.level_growing import LevelGrowing, grow_trees
from novum.trees.scale.level_statistics import LevelStatistics
from novum.trees.scale.pass_plan import PassBudget
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.scale.grown_tables import in_memory, mixed_rows, parted, rows_of, task_of, trees_of

# Limits are met also where sums of fractions fall short of them by rounding, as `settings` has it.
SLACK = 1 - 1e-10

LIMITS: list[dict[str, Any]] = [
    {},
    {"max_depth": 2},
    {"min_gain": 0.3},
    {"min_leaf": 1.5 * SLACK},
    {"min_split": 4.0 * SLACK},
    {"max_leaf_nodes": 4},
]


# --- Equal to the engine in memory ----------------------------------------------------------------


@settings(max_examples=150)
@given(
    table=training_tables(max_rows=30, max_targets=2),
    criterion=st.sampled_from(["gini", "entropy"]),
    nominal=st.sampled_from(["subset", "single", "auto"]),
    missing=st.sampled_from(["fractional", "direction", "auto"]),
    limits=st.sampled_from(LIMITS),
    n_parts=st.integers(1, 6),
)
def test_a_classification_tree_is_that_of_the_engine_in_memory(
    table: TrainingTable,
    criterion: str,
    nominal: str,
    missing: str,
    limits: dict[str, Any],
    n_parts: int,
) -> None:
    rows = rows_of(table)
    rules = GrowthRules(criterion, nominal=nominal, missing=missing, **limits)
    (tree,) = trees_of(task_of(rows, rules, n_parts=n_parts))
    assert_same_tree(tree, in_memory(rows, rules))


@settings(max_examples=100)
@given(
    table=training_tables(target="numbers", max_rows=30, max_targets=2),
    nominal=st.sampled_from(["subset", "single", "auto"]),
    missing=st.sampled_from(["fractional", "direction", "auto"]),
    limits=st.sampled_from(LIMITS),
    n_parts=st.integers(1, 6),
)
def test_a_regression_tree_is_that_of_the_engine_in_memory(
    table: TrainingTable, nominal: str, missing: str, limits: dict[str, Any], n_parts: int
) -> None:
    rows = rows_of(table)
    rules = GrowthRules("squared_error", nominal=nominal, missing=missing, **limits)
    (tree,) = trees_of(task_of(rows, rules, n_parts=n_parts))
    assert_same_tree(tree, in_memory(rows, rules))


@pytest.mark.parametrize(("classes", "missing"), [(0, 0.1), (2, 0.0), (3, 0.1)])
@pytest.mark.parametrize(
    ("nodes", "fetched"), [(2, 0), (12, 0), (400, 0), (2, 40), (30, 100), (2, 1000)]
)
def test_the_budget_changes_the_passes_and_not_the_tree(
    classes: int, missing: float, nodes: int, fetched: int
) -> None:
    rows = mixed_rows(1000, classes=classes, missing=missing)
    criterion = "gini" if classes else "squared_error"
    rules = GrowthRules(criterion, min_leaf=3.0 * SLACK, max_depth=9)
    task = task_of(rows, rules, n_parts=5, nodes=nodes, fetched=fetched)
    grown = grow_trees(task)
    expected = in_memory(rows, rules)
    (tree,) = trees_of(task, grown)
    assert_same_tree(tree, expected)
    # The numbers of the nodes are those of the engine in memory, too.
    np.testing.assert_array_equal(tree.first_child, expected.first_child)
    assert (grown.n_passes == 1) == (fetched == 1000)
    if nodes == 400:
        assert grown.n_passes == tree.depth + 1


def test_wide_columns_and_exact_bins() -> None:
    rng = np.random.default_rng(5)
    n = 800
    schema = Schema((Column("x"), Column("k", Kind.NOMINAL, tuple(map(str, range(300))))))
    cells = np.column_stack([rng.permutation(n) / 8, rng.integers(0, 300, n)]).astype(float)
    y = (cells[:, 0] + 20 * (cells[:, 1] % 7) + rng.normal(size=n) * 5 > 70).astype(np.int64)
    table = TrainingTable(schema, cells, y[:, np.newaxis], np.ones(n), (np.arange(2),))
    rows, rules = rows_of(table), GrowthRules("gini", min_leaf=5.0 * SLACK, nominal="subset")
    (tree,) = trees_of(task_of(rows, rules, max_bins=None))
    assert_same_tree(tree, in_memory(rows, rules, None))


def test_monotone_columns_bound_the_nodes_below() -> None:
    rows = mixed_rows(1500, classes=0, missing=0.05)
    rules = GrowthRules("squared_error", min_leaf=5.0 * SLACK, signs=(1, -1, 0, 0))
    expected = in_memory(rows, rules)
    for fetched in (0, 100):
        (tree,) = trees_of(task_of(rows, rules, n_parts=4, fetched=fetched))
        assert_same_tree(tree, expected)


# --- Passes ---------------------------------------------------------------------------------------


def test_one_level_takes_one_pass_where_the_budget_holds_it() -> None:
    rows = mixed_rows(4000, missing=0.0)
    grown = grow_trees(task_of(rows, GrowthRules("gini", max_depth=3), n_parts=2, nodes=8))
    assert grown.n_passes == 4
    assert len(grown.trees[0].integers) == 15


def test_leaves_of_rows_of_weight_one_need_no_pass_of_their_own() -> None:
    rows = mixed_rows(4000, missing=0.0)
    unit = replace(rows, weight=np.ones(rows.n_rows))
    rules = GrowthRules("gini", max_depth=3)
    task = task_of(unit, rules, n_parts=2, nodes=8)
    grown = grow_trees(task)
    assert grown.n_passes == 3
    assert_same_tree(trees_of(task, grown)[0], in_memory(unit, rules))


def test_the_heavier_sibling_is_a_difference_where_sums_are_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = []
    subtract = LevelStatistics.__sub__

    def counted(a: LevelStatistics, b: LevelStatistics) -> LevelStatistics:
        found = subtract(a, b)
        differences.append(float(found.sums.sum() - b.sums.sum()))
        return found

    monkeypatch.setattr(LevelStatistics, "__sub__", counted)
    rules = GrowthRules("gini", min_leaf=100.0 * SLACK)
    for weight, missing in ((1.0, 0.0), (2.0, 0.0), (0.1, 0.0), (1.0, 0.1)):
        rows = mixed_rows(3000, missing=missing)
        rows = replace(rows, weight=weight * rows.weight)
        grow_trees(task_of(rows, replace(rules, min_leaf=100 * weight * SLACK), nodes=20))
        if weight != 0.1 and not missing:
            assert differences
            assert min(differences) >= 0
        else:
            assert not differences
        differences.clear()


def test_parents_wait_only_within_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_growing, "WAITING_SHARE", 0.0)
    monkeypatch.setattr(LevelStatistics, "__sub__", None)
    rows = mixed_rows(2000, missing=0.0)
    rules = GrowthRules("gini", min_leaf=50.0 * SLACK)
    (tree,) = trees_of(task_of(rows, rules))
    assert_same_tree(tree, in_memory(rows, rules))


def test_a_budget_that_holds_no_node_is_refused() -> None:
    rows = mixed_rows(500)
    task = replace(task_of(rows, GrowthRules("gini")), budget=PassBudget(1000, 2000, 100))
    with pytest.raises(MemoryLimitError, match=r"A pass over the chunks.*Give a smaller max_bins"):
        grow_trees(task)


def test_chunks_that_change_are_noticed() -> None:
    rows = mixed_rows(400)
    task = task_of(rows, GrowthRules("gini"))
    more = Passes([*parted(rows, 2), rows])
    with pytest.raises(InputError, match="had 400 rows when they were first read and 800 now"):
        grow_trees(replace(task, passes=more))


# --- Several trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("fetched", [0, 60, 1200])
def test_a_bootstrap_counts_the_same_rows_for_any_budget(fetched: int) -> None:
    rows = mixed_rows(1200, missing=0.05)
    unit = replace(rows, weight=np.ones(rows.n_rows))
    bootstrap = Bootstrap(np.random.SeedSequence(3), 1.0)
    rules = GrowthRules("gini", min_leaf=5.0 * SLACK)
    trees = trees_of(task_of(unit, rules, fetched=fetched, n_trees=3, bootstrap=bootstrap))
    chunks = parted(unit, 3)
    for number, tree in enumerate(trees):
        counts = [bootstrap.counts(number, i, chunk.weight) for i, chunk in enumerate(chunks)]
        drawn = np.concatenate(counts)
        own = replace(unit, weight=drawn).rows(drawn > 0)
        # Bins are those of all rows, and here every value has its own.
        assert_same_tree(tree, in_memory(own, rules))
    assert len({tree.n_nodes for tree in trees}) > 1


def test_a_tree_that_draws_no_row_says_so() -> None:
    rows = mixed_rows(300)
    nothing = Bootstrap(np.random.SeedSequence(0), 1e-9)
    task = task_of(rows, GrowthRules("gini"), bootstrap=nothing)
    with pytest.raises(InputError, match="has drawn none of the 300 rows"):
        grow_trees(task)
    (tree,) = trees_of(replace(task, budget=PassBudget(10**6, 10, 10)))
    assert tree.rows[0] == 300


def test_columns_are_drawn_by_tree_and_node_alone() -> None:
    rows = mixed_rows(1500, missing=0.0)
    rules = GrowthRules("gini", min_leaf=10.0 * SLACK, max_features=1)
    first = grow_trees(task_of(rows, rules, n_trees=2, n_parts=4, fetched=50))
    again = grow_trees(task_of(rows, rules, n_trees=2, n_parts=4, fetched=50))
    for a, b in zip(first.trees, again.trees, strict=True):
        np.testing.assert_array_equal(a.integers, b.integers)
    columns = [set(nodes.integers[:, at.COLUMN].tolist()) - {-1} for nodes in first.trees]
    assert columns[0] == {0, 1, 2, 3}
    assert not np.array_equal(first.trees[0].integers[:9], first.trees[1].integers[:9])


@example(n_parts=1)
@given(n_parts=st.integers(1, 40))
@settings(max_examples=15)
def test_the_partition_does_not_matter_where_sums_are_exact(n_parts: int) -> None:
    rows = mixed_rows(600, missing=0.0)
    rules = GrowthRules("gini", min_leaf=4.0 * SLACK)
    task = task_of(rows, rules, n_parts=n_parts)
    other = task_of(rows, rules, n_parts=7)
    a, b = (trees_of(one)[0] for one in (task, other))
    for name in ("column", "threshold", "value", "gain", "share"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_random_cuts_lie_within_the_rows_of_the_node() -> None:
    rows = mixed_rows(1500, classes=0, missing=0.0)
    rules = GrowthRules("squared_error", min_leaf=10.0 * SLACK, random_cuts=True)
    tree, other = trees_of(task_of(rows, rules, n_trees=2))
    assert set(tree.column.tolist()) - {-1} == {0, 1, 2, 3}
    assert not np.array_equal(tree.threshold[:5], other.threshold[:5])
    assert (tree.weight[tree.question == 0] >= 10.0).all()


def test_growing_knows_what_it_may_take_as_a_difference() -> None:
    task = task_of(mixed_rows(200, missing=0.0), GrowthRules("gini"))
    ranges = grow_trees(task).ranges
    assert LevelGrowing(task, ranges).is_exact
    assert not LevelGrowing(task, replace(ranges, is_whole=False)).is_exact
    assert not LevelGrowing(task, replace(ranges, weight=2.0**52)).is_exact
