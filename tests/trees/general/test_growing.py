"""Exact growth: the definition tree by tree, weights as repetitions, limits, and clear refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.growing import grow_general
from novum.trees.general.rules import GeneralRules
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow

tables_of_classes = training_tables(target="classes", max_targets=2)
tables_of_numbers = training_tables(target="numbers", max_targets=2)
missing_rules = st.sampled_from(("fractional", "direction", "auto"))
least_weights = st.sampled_from((1.0, 2.0))


def grown(table: TrainingTable, rules: GeneralRules, seed: int | None = None) -> Tree:
    rng = None if seed is None else np.random.default_rng(seed)
    return grow_general(
        table.cells, table.targets, table.weight, table.schema, table.classes, rules, rng
    )


def without_empty_leaves(tree: Tree) -> Tree:
    """The tree with levels that do not occur in a node having no branch, as in the definitions."""
    n_children, branches = tree.n_children.copy(), tree.level_branch.copy()
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if len(children) and tree.rows[children[-1]] == 0:
            n_children[node] -= 1
            start = tree.level_start[node]
            here = slice(start, start + tree.schema.columns[tree.column[node]].n_levels)
            branches[here][branches[here] == n_children[node]] = -1
    return replace(tree, n_children=n_children, level_branch=branches)


def pair_of_rules(**shared: Any) -> tuple[GrowthRules, GeneralRules]:
    return GrowthRules(**shared), GeneralRules(**shared)


# --- The definition -------------------------------------------------------------------------------


@given(
    tables_of_classes,
    st.sampled_from(("gini", "entropy")),
    st.sampled_from(("subset", "single")),
    missing_rules,
    least_weights,
    st.sampled_from((None, 2, 4)),
)
def test_trees_of_classes_are_the_definitions(
    table: TrainingTable,
    criterion: str,
    nominal: str,
    missing: str,
    least: float,
    leaves: int | None,
) -> None:
    slow, fast = pair_of_rules(
        criterion=criterion,
        nominal=nominal,
        missing=missing,
        min_samples_leaf=least,
        max_leaf_nodes=leaves,
    )
    assert_same_tree(grow(table, slow), grown(table, fast))


@given(
    tables_of_numbers,
    st.sampled_from(("squared_error", "absolute_error")),
    st.sampled_from(("subset", "single")),
    missing_rules,
    least_weights,
    st.sampled_from((None, 2, 4)),
)
def test_trees_of_numbers_are_the_definitions(
    table: TrainingTable,
    criterion: str,
    nominal: str,
    missing: str,
    least: float,
    leaves: int | None,
) -> None:
    slow, fast = pair_of_rules(
        criterion=criterion,
        nominal=nominal,
        missing=missing,
        min_samples_leaf=least,
        max_leaf_nodes=leaves,
    )
    assert_same_tree(grow(table, slow), grown(table, fast))


@given(st.data(), missing_rules, least_weights, st.sampled_from((None, 1, 2)))
def test_multiway_trees_are_the_definitions(
    data: st.DataObject, missing: str, least: float, depth: int | None
) -> None:
    criterion = data.draw(
        st.sampled_from(("gini", "entropy", "squared_error", "absolute_error")), "criterion"
    )
    of_classes = criterion in ("gini", "entropy")
    table = data.draw(tables_of_classes if of_classes else tables_of_numbers, "table")
    slow, fast = pair_of_rules(
        criterion=criterion,
        nominal="multiway",
        missing=missing,
        min_samples_leaf=least,
        max_depth=depth,
    )
    assert_same_tree(grow(table, slow), without_empty_leaves(grown(table, fast)))


# --- Weights and rows -----------------------------------------------------------------------------

every_rule = st.sampled_from(
    [
        GeneralRules("gini", "subset"),
        GeneralRules("entropy", "multiway", "direction"),
        GeneralRules(GainRatio(), "multiway", min_samples_leaf=2),
        GeneralRules(GainRatio(), "single"),
    ]
)


@given(training_tables(), every_rule)
def test_weight_two_is_the_row_twice(table: TrainingTable, rules: GeneralRules) -> None:
    doubled = replace(table, weight=2 * table.weight)
    twice = replace(
        table,
        cells=np.repeat(table.cells, 2, axis=0),
        targets=np.repeat(table.targets, 2, axis=0),
        weight=np.repeat(table.weight, 2),
    )
    heavy, many = grown(doubled, rules), grown(twice, rules)
    # Rows are counted, not weighed.
    assert_same_tree(replace(heavy, rows=2 * heavy.rows), many)


@given(training_tables(), every_rule, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(
    table: TrainingTable, rules: GeneralRules, random: Any
) -> None:
    order = list(range(len(table.weight)))
    random.shuffle(order)
    shuffled = replace(
        table, cells=table.cells[order], targets=table.targets[order], weight=table.weight[order]
    )
    assert_same_tree(grown(table, rules), grown(shuffled, rules))


@given(training_tables(target="numbers"), st.sampled_from(("squared_error", "absolute_error")))
def test_a_large_offset_of_the_target_changes_no_question(
    table: TrainingTable, criterion: str
) -> None:
    # Targets are multiples of 1/4, so that adding 2^30 is exact.
    moved = replace(table, targets=table.targets + 2.0**30)
    rules = GeneralRules(criterion, "subset")
    tree, other = grown(table, rules), grown(moved, rules)
    for name in ("question", "column", "threshold", "level_branch"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name))
    # A number near 2^30 is rounded to 2^-22.
    np.testing.assert_allclose(other.value - 2.0**30, tree.value, rtol=0, atol=2.0**-21)


# --- Levels and empty branches --------------------------------------------------------------------

COLORS = Column("color", Kind.NOMINAL, ("blue", "green", "red", "white"))


def test_levels_that_do_not_occur_share_an_empty_leaf_with_the_parents_answer() -> None:
    table = TrainingTable(
        Schema((COLORS,)),
        np.array([[0.0], [0.0], [2.0]]),
        np.array([[0], [0], [1]]),
        np.ones(3),
        (np.arange(2),),
    )
    tree = grown(table, GeneralRules("entropy"))
    assert tree.branches(0).tolist() == [0, 2, 1, 2]
    assert tree.value.tolist() == [[2, 1], [2, 0], [0, 1], [2, 1]]
    assert tree.weight.tolist() == [3, 2, 1, 0]
    assert tree.share[1:].tolist() == [2 / 3, 1 / 3, 0]
    assert tree.question[3] == Question.LEAF


def test_an_unseen_level_counts_as_missing() -> None:
    cells = np.array([[0.0], [0.0], [1.0], [1.0], [-2.0]])
    targets = np.array([[0], [0], [1], [1], [1]])
    table = TrainingTable(Schema((COLORS,)), cells, targets, np.ones(5), (np.arange(2),))
    known = replace(table, cells=np.where(cells < 0, np.nan, cells))
    rules = GeneralRules("gini", "subset")
    assert_same_tree(grown(table, rules), grown(known, rules))
    assert grown(table, rules).weight.tolist() == [5, 2.5, 2.5]


def test_many_levels_are_cut_in_the_order_of_their_means() -> None:
    # 20 levels with means 0 to 9 and 110 to 119 in no order: the best pair of sets is plain.
    means = np.random.default_rng(0).permutation(20).astype(float)
    means[means >= 10] += 100
    column = Column("code", Kind.NOMINAL, tuple(f"{k:02d}" for k in range(20)))
    cells = np.repeat(np.arange(20.0), 2)[:, np.newaxis]
    targets = np.repeat(means, 2)[:, np.newaxis]
    table = TrainingTable(Schema((column,)), cells, targets, np.ones(40), None)
    for criterion in ("squared_error", "absolute_error"):
        tree = grown(table, GeneralRules(criterion, "subset", max_depth=1))
        low = tree.branches(0) == tree.branches(0)[int(np.argmin(means))]
        assert (low == (means < 10)).all()


# --- Limits and draws -----------------------------------------------------------------------------


@given(training_tables(), st.integers(2, 5))
def test_the_limit_of_leaves_holds_with_empty_leaves_counted(
    table: TrainingTable, most: int
) -> None:
    assert grown(table, GeneralRules("entropy", "multiway", max_leaf_nodes=most)).n_leaves <= most


@given(training_tables(min_rows=6), st.floats(0, 0.5))
def test_no_split_removes_less_than_asked(table: TrainingTable, least: float) -> None:
    tree = grown(table, GeneralRules("gini", "subset", min_impurity_decrease=least))
    inner = tree.question != Question.LEAF
    assert (tree.gain[inner] / tree.weight[0] >= least - 1e-12).all()


@settings(max_examples=30)
@given(
    training_tables(min_rows=6),
    st.sampled_from(
        [
            GeneralRules("gini", "subset", splitter="random"),
            GeneralRules("entropy", "single", splitter="random", max_features=1),
            GeneralRules("gini", "multiway", "direction", max_thresholds=1),
            GeneralRules(GainRatio(), "subset", max_features=1),
        ]
    ),
    st.integers(0, 2**32 - 1),
)
def test_drawn_trees_repeat_and_grow_out(
    table: TrainingTable, rules: GeneralRules, seed: int
) -> None:
    tree = grown(table, rules, seed)
    assert_same_tree(tree, grown(table, rules, seed), rtol=0)
    children = [tree.weight[list(tree.children(node))].sum() for node in range(tree.n_nodes)]
    inner = tree.question != Question.LEAF
    np.testing.assert_allclose(np.array(children)[inner], tree.weight[inner], rtol=1e-12)


def uniform_table(n: int = 200) -> TrainingTable:
    x = np.arange(n, dtype=float)[:, np.newaxis]
    return TrainingTable(
        Schema.of_array(1), x, (x >= n / 2).astype(int), np.ones(n), (np.arange(2),)
    )


def test_random_thresholds_are_uniform_in_the_range() -> None:
    rules = GeneralRules("gini", splitter="random", max_depth=1)
    table = uniform_table()
    drawn = np.array([grown(table, rules, seed).threshold[0] for seed in range(300)])
    assert ((drawn >= 0) & (drawn < 199)).all()
    # The mean of 300 uniform draws from [0, 199] has standard error 3.3: four of them.
    assert abs(drawn.mean() - 99.5) < 4 * 199 / np.sqrt(12 * 300)


def test_every_threshold_can_be_the_one_drawn() -> None:
    rules = GeneralRules("gini", max_thresholds=1, max_depth=1)
    drawn = [grown(uniform_table(5), rules, seed).threshold[0] for seed in range(60)]
    # Four thresholds: one is missed by 60 draws with probability 4 * 0.75^60 < 2e-7.
    assert sorted(set(drawn)) == [0.5, 1.5, 2.5, 3.5]


def test_as_many_thresholds_as_there_are_find_the_best() -> None:
    tree = grown(uniform_table(), GeneralRules("gini", max_thresholds=199, max_depth=1), 0)
    assert tree.threshold[0] == 99.5


def test_constant_columns_do_not_use_up_the_drawn_ones() -> None:
    table = uniform_table()
    cells = np.hstack([np.zeros((200, 9)), table.cells])
    wide = replace(table, cells=cells, schema=Schema.of_array(10))
    for seed in range(20):
        assert grown(wide, GeneralRules("gini", max_features=1), seed).column[0] == 9


# --- Extremes -------------------------------------------------------------------------------------


def test_one_row_one_class_and_no_known_cell_give_a_leaf() -> None:
    for cells, targets in (
        ([[1.0]], [0]),
        ([[1.0], [2.0]], [1, 1]),
        ([[np.nan], [np.nan]], [0, 1]),
    ):
        y = np.array(targets)
        tree = grow_general(
            np.array(cells),
            y,
            np.ones(len(y)),
            Schema.of_array(1),
            (np.arange(2),),
            GeneralRules("gini"),
        )
        assert tree.n_nodes == 1
        assert tree.value[0].tolist() == np.bincount(y, minlength=2).tolist()


def test_thresholds_lie_between_the_largest_and_the_closest_numbers() -> None:
    for low, high in ((-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324)):
        tree = grow_general(
            np.array([[low], [high]]),
            np.array([0, 1]),
            np.ones(2),
            Schema.of_array(1),
            (np.arange(2),),
            GeneralRules("entropy"),
        )
        assert low <= tree.threshold[0] < high


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": np.array([[1.0], [np.inf]])}, "'x0' is infinite in row 1"),
        ({"weight": np.array([1.0, 0.0])}, r"row 1 is 0\.0. Leave rows of weight 0 out"),
        ({"weight": np.ones(3)}, "do not fit a schema of 1 columns"),
        ({"classes": None}, "'gini' does not fit targets that are numbers"),
        ({"classes": (np.arange(2),) * 2}, "1 targets with 2 lists"),
        ({"rules": GeneralRules("absolute_error")}, "does not fit targets that are classes"),
        ({"rules": GeneralRules("gini", max_features=1)}, "give `rng`"),
        (
            {"cells": np.empty((0, 1)), "targets": np.empty(0), "weight": np.empty(0)},
            "from no rows",
        ),
    ],
)
def test_what_cannot_be_grown_is_named(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "cells": np.array([[1.0], [2.0]]),
        "targets": np.array([0, 1]),
        "weight": np.ones(2),
        "schema": Schema.of_array(1),
        "classes": (np.arange(2),),
        "rules": GeneralRules("gini"),
    }
    with pytest.raises(InputError, match=message):
        grow_general(**{**given, **change})
