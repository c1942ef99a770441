"""The search at one node: the definition's best split, ties, drawn columns and thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.general.exact_table import Entries, ExactTable, NodeSums
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.rules import GeneralRules
from novum.trees.general.splits import Split, SplitSearch
from novum.trees.tree import Question
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable, best_split


def found(table: TrainingTable, rules: GeneralRules, seed: int = 0) -> Split | None:
    ranked = rules.criterion == "absolute_error"
    whole = ExactTable.of(
        table.cells, table.targets, table.weight, table.schema, table.classes, ranked
    )
    root = Entries.of(whole)
    search = SplitSearch(whole, rules, np.random.default_rng(seed))
    return search.best(root, NodeSums.of(whole, root, rules))


@given(
    st.sampled_from(("gini", "entropy", "squared_error", "absolute_error")),
    st.sampled_from(("subset", "single", "multiway")),
    st.sampled_from(("fractional", "direction", "auto")),
    st.sampled_from((0.0, 1.0, 2.5)),
    st.data(),
)
def test_the_split_is_the_definitions(
    criterion: str, nominal: str, missing: str, least: float, data: st.DataObject
) -> None:
    kind = "classes" if criterion in ("gini", "entropy") else "numbers"
    table = data.draw(training_tables(target=kind, max_targets=2))
    expected = best_split(
        table,
        table.entries(),
        criterion,
        nominal=nominal,
        missing=missing,
        min_branch_weight=least,
    )
    split = found(table, GeneralRules(criterion, nominal, missing, min_samples_leaf=least))
    if expected is None:
        assert split is None
        return
    assert split is not None
    question, gain = expected
    assert split.column == question.column
    assert split.question == question.question
    assert split.missing_branch == question.missing_branch
    assert split.gain == pytest.approx(gain, abs=1e-9)
    np.testing.assert_equal(split.threshold, question.threshold)
    for branch, levels in enumerate(question.levels):
        assert split.level_branch is not None
        assert (split.level_branch[list(levels)] == branch).all()


def two_equal_columns() -> TrainingTable:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    return TrainingTable(
        Schema.of_array(3),
        np.column_stack([np.zeros(4), x, x]),
        np.array([[0], [0], [1], [1]]),
        np.ones(4),
        (np.arange(2),),
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy", GainRatio()])
def test_of_equal_columns_the_first_is_taken(criterion: str | GainRatio) -> None:
    split = found(two_equal_columns(), GeneralRules(criterion))
    assert split is not None
    assert (split.column, split.threshold) == (1, 1.5)


def test_drawn_columns_are_all_drawn() -> None:
    rules = GeneralRules("gini", max_features=1)
    columns = {s.column for seed in range(40) if (s := found(two_equal_columns(), rules, seed))}
    # The constant column is passed over; each other one is missed with probability 2^-40 or so.
    assert columns == {1, 2}


def test_constant_columns_have_no_split() -> None:
    table = two_equal_columns()
    constant = TrainingTable(
        table.schema, np.zeros((4, 3)), table.targets, table.weight, table.classes
    )
    for rules in (GeneralRules("gini"), GeneralRules("gini", max_features=2)):
        assert found(constant, rules) is None


def test_ordinal_columns_are_asked_by_threshold() -> None:
    column = Column("size", Kind.ORDINAL, ("small", "medium", "large"))
    table = TrainingTable(
        Schema((column,)),
        np.array([[0.0], [1.0], [2.0]]),
        np.array([[0], [0], [1]]),
        np.ones(3),
        (np.arange(2),),
    )
    split = found(table, GeneralRules("gini", "multiway"))
    assert split is not None
    assert (split.question, split.threshold) == (Question.THRESHOLD, 1.5)


def test_missing_cells_join_the_branch_of_their_kind() -> None:
    # Missing cells are of class 1, like those above 1.5.
    x = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]])
    y = np.array([[0], [0], [1], [1], [1], [1]])
    table = TrainingTable(Schema.of_array(1), x, y, np.ones(6), (np.arange(2),))
    split = found(table, GeneralRules("entropy", missing="direction"))
    assert split is not None
    assert (split.threshold, split.missing_branch) == (1.5, 1)
    below = TrainingTable(
        Schema.of_array(1), x, np.where(np.isnan(x), 0, y), np.ones(6), (np.arange(2),)
    )
    split = found(below, GeneralRules("entropy", missing="direction"))
    assert split is not None
    assert split.missing_branch == 0
    split = found(table, GeneralRules("entropy", missing="fractional"))
    assert split is not None
    assert split.missing_branch == -1
    assert split.gain == pytest.approx(4.0)
