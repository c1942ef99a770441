"""Stumps on codes: the definitions of a best split, round after round of changing weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.stumps.stump_growing import Stump, StumpGrower, StumpRules
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees.definitions import Split, TrainingTable, best_split, gain, weighted_impurity
from tests.trees.definitions_growth import GrowthRules, grow, predict_row

UNLIMITED = {"max_depth": 1, "min_samples_leaf": 0.0, "min_samples_split": 0.0}
rules = st.builds(
    StumpRules,
    st.sampled_from(("gini", "entropy")),
    st.booleans(),
    st.sampled_from((255, None)),
)


def grower_of(table: TrainingTable, chosen: StumpRules = StumpRules()) -> StumpGrower:  # noqa: B008
    assert table.n_classes is not None
    return StumpGrower(
        table.schema, table.cells, table.targets[:, 0], table.n_classes[0], table.weight, chosen
    )


def tree_of(grower: StumpGrower, stump: Stump, table: TrainingTable) -> Tree:
    """The stump as a tree whose weights are those of the table, not scaled by a power of two."""
    assert table.classes is not None
    tree = grower.packed([stump], [1.0]).tree(0, table.classes[0])
    factor = table.weight.sum() / tree.weight[0]
    for values in (tree.value, tree.weight, tree.gain):
        values *= factor
    return tree


def question_of(tree: Tree) -> Split:
    column = int(tree.column[0])
    if tree.question[0] == Question.THRESHOLD:
        return Split(column, Question.THRESHOLD, threshold=float(tree.threshold[0]))
    branches = tree.branches(0)
    sets = tuple(tuple(np.flatnonzero(branches == b).tolist()) for b in (0, 1))
    return Split(column, Question.SUBSET, levels=sets)


# --- One stump ------------------------------------------------------------------------------------


@given(training_tables(), rules)
def test_no_question_gains_more(table: TrainingTable, chosen: StumpRules) -> None:
    grower = grower_of(table, chosen)
    tree = tree_of(grower, grower.grow(), table)
    nominal = "single" if chosen.single else "subset"
    expected = grow(table, GrowthRules(chosen.criterion, nominal, **UNLIMITED))
    assert tree.column[0] == expected.column[0]
    if expected.question[0] != Question.SUBSET:
        assert_same_tree(tree, expected)
    else:
        # Of sets that gain the same any may be chosen, so the gain is compared, by its definition.
        scale = weighted_impurity(table, table.entries(), chosen.criterion)
        found = gain(table, table.entries(), question_of(tree), chosen.criterion)
        assert tree.gain[0] == pytest.approx(found, abs=1e-9 * scale)
        assert found == pytest.approx(float(expected.gain[0]), abs=1e-9 * scale)


@given(training_tables(), rules)
def test_answers_are_the_likeliest_classes_of_the_tree(
    table: TrainingTable, chosen: StumpRules
) -> None:
    grower = grower_of(table, chosen)
    stump = grower.grow()
    stumps, tree = grower.packed([stump], [1.0]), tree_of(grower, stump, table)
    answers = next(stumps.answers(table.cells))
    wrong = 0.0
    for row, answer in enumerate(answers):
        p = np.array(predict_row(tree, table.cells[row]))
        assert answer == np.flatnonzero(p >= p.max() - 1e-9)[0]
        wrong += table.weight[row] * (answer != table.targets[row, 0])
    assert stump.error == pytest.approx(wrong / table.weight.sum(), abs=1e-12)
    assert (stump.error == 0.0) == (wrong == 0.0)


@given(training_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table: TrainingTable, random: Any) -> None:
    order = list(range(len(table.weight)))
    random.shuffle(order)
    shuffled = TrainingTable(
        table.schema,
        table.cells[order],
        table.targets[order],
        table.weight[order],
        table.classes,
    )
    one, other = grower_of(table), grower_of(shuffled)
    assert_same_tree(tree_of(one, one.grow(), table), tree_of(other, other.grow(), shuffled))


# --- Round after round ----------------------------------------------------------------------------


@given(
    training_tables(kinds=(Kind.NUMERIC, Kind.ORDINAL)), st.lists(st.floats(0.5, 3.0), max_size=4)
)
def test_later_stumps_are_best_for_the_weights_they_met(
    table: TrainingTable, factors: list[float]
) -> None:
    grower, weight = grower_of(table), table.weight.copy()
    for factor in factors:
        stump = grower.grow()
        answers = next(grower.packed([stump], [1.0]).answers(table.cells))
        weight = np.where(answers != table.targets[:, 0], weight * factor, weight)
        grower.reweigh(stump, factor)
    now = TrainingTable(table.schema, table.cells, table.targets, weight, table.classes)
    tree = tree_of(grower, grower.grow(), now)
    found = best_split(now, now.entries(), "gini")
    if tree.question[0] == Question.LEAF:
        assert found is None or len(np.unique(table.targets)) == 1
        return
    assert found is not None
    # Reweighted gains may tie up to rounding, and then the questions may differ.
    scale = weighted_impurity(now, now.entries(), "gini")
    ours = gain(now, now.entries(), question_of(tree), "gini")
    assert ours == pytest.approx(found[1], abs=1e-9 * scale)


def test_weights_of_ten_thousand_rounds_stay_numbers() -> None:
    cells = np.arange(6.0).reshape(-1, 1)
    grower = StumpGrower(Schema.of_array(1), cells, np.array([0, 1, 0, 1, 0, 1]), 2, np.ones(6))
    for _ in range(10_000):
        stump = grower.grow()
        assert 0.0 < stump.error < 0.5
        grower.reweigh(stump, 1e30)
        assert np.isfinite(grower.weight).all()
        assert (grower.weight > 0.0).all()


# --- Kinds of columns -----------------------------------------------------------------------------


def test_more_levels_than_a_byte_holds() -> None:
    rng = np.random.default_rng(0)
    schema = Schema(
        (Column("town", Kind.NOMINAL, tuple(f"t{i:03}" for i in range(400))), Column("x"))
    )
    cells = np.column_stack([np.arange(2000) % 399, rng.normal(size=2000)]).astype(float)
    target = ((cells[:, 0] % 2 == 1) ^ (rng.random(2000) < 0.1)).astype(np.int64)
    cells[:300, 0] = np.nan
    grower = StumpGrower(schema, cells, target, 2, np.ones(2000))
    stump = grower.grow()
    stumps = grower.packed([stump], [1.0])
    assert stump.column == 0
    # The best sets of levels part them where the rate of a class crosses some number.
    branches = stumps.branches(0)
    rate = np.array([target[cells[:, 0] == level].mean() for level in range(399)])
    first, second = (rate[branches[:399] == b] for b in (0, 1))
    assert first.max() <= second.min() or second.max() <= first.min()
    # No row had the last level; such rows, and those without a level, get the commonest answer.
    assert branches[399] == -1
    answers = next(stumps.answers(np.array([[399.0, 0.0], [np.nan, 0.0], [-2.0, 0.0]])))
    assert answers.tolist() == [stump.answer[2]] * 3


def test_a_column_without_a_known_cell_asks_nothing() -> None:
    cells = np.full((4, 1), np.nan)
    grower = StumpGrower(Schema.of_array(1), cells, np.array([0, 1, 1, 1]), 2, np.ones(4))
    stump = grower.grow()
    assert (stump.column, stump.answer[2], stump.error) == (-1, 1, 0.25)
    tree = grower.packed([stump], [1.0]).tree(0, np.array(["a", "b"]))
    assert (tree.n_nodes, tree.rows.tolist()) == (1, [4])


def test_one_class_asks_nothing() -> None:
    grower = StumpGrower(
        Schema.of_array(1), np.arange(3.0)[:, None], np.zeros(3, int), 1, np.ones(3)
    )
    stump = grower.grow()
    assert (stump.column, stump.error) == (-1, 0.0)


def test_many_values_are_cut_at_quantiles() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5000, 3))
    y = (x[:, 1] > 0.3).astype(np.int64)
    grower = StumpGrower(Schema.of_array(3), x, y, 2, np.ones(5000))
    stump = grower.grow()
    assert stump.column == 1
    # One of 255 bins of equal weight holds the true cut.
    assert stump.error < 1 / 255
    exact = StumpGrower(Schema.of_array(3), x, y, 2, np.ones(5000), StumpRules(max_bins=None))
    assert exact.grow().error == 0.0


def test_too_many_levels_are_refused() -> None:
    levels = tuple(range(2**16 + 1))
    schema = Schema((Column("id", Kind.NOMINAL, levels),))
    with pytest.raises(InputError, match="'id' has 65537 levels"):
        StumpGrower(schema, np.zeros((2, 1)), np.array([0, 1]), 2, np.ones(2))
