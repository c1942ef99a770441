"""Stumps as one value: tables of votes against votes one by one, trees, and damaged files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import ModelFileError
from novum.core.tables import Column, Kind, Schema
from novum.trees.stumps.stump_growing import StumpGrower
from novum.trees.stumps.stumps import Stumps, impurity
from novum.trees.tree import Question
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import row_shares

MIXED = Schema((Column("x"), Column("color", Kind.NOMINAL, ("blue", "green", "red"))))


def grown(table: TrainingTable, count: int = 5) -> Stumps:
    """Some stumps of a table whose missed rows weigh more from round to round."""
    assert table.n_classes is not None
    target, n_classes = table.targets[:, 0], table.n_classes[0]
    grower = StumpGrower(table.schema, table.cells, target, n_classes, table.weight)
    stumps = []
    for _ in range(count):
        stumps.append(grower.grow())
        grower.reweigh(stumps[-1], 2.5)
    return grower.packed(stumps, [0.5 + t for t in range(count)])


def mixed_stumps() -> Stumps:
    """x <= 2 says class 0, else 1; red says 1, blue 0, green was never met."""
    return Stumps(
        MIXED,
        "gini",
        weight=np.array([2.0, 1.0]),
        column=np.array([0, 1], np.int32),
        threshold=np.array([2.0, np.nan]),
        level_start=np.array([-1, 0], np.int32),
        level_branch=np.array([0, -1, 1], np.int32),
        answer=np.array([[0, 1, 1], [0, 1, 0]], np.int32),
        value=np.ones((2, 3, 2)),
        share=np.full((2, 2), 0.5),
        rows=np.full((2, 3), 4),
        gain=np.ones(2),
    )


# --- Votes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "color", "votes"),
    [
        (2.0, 0.0, [3.0, 0.0]),
        (2.0000001, 2.0, [0.0, 3.0]),
        (-np.inf, 2.0, [2.0, 1.0]),
        (np.inf, 0.0, [1.0, 2.0]),
        (np.nan, 1.0, [1.0, 2.0]),
        (1.0, np.nan, [3.0, 0.0]),
        (1.0, -2.0, [3.0, 0.0]),
    ],
)
def test_votes_by_hand(x: float, color: float, votes: list[float]) -> None:
    assert mixed_stumps().votes(np.array([[x, color]])).tolist() == [votes]


@given(training_tables(), st.integers(1, 8))
def test_tables_hold_the_votes_of_all_stumps(table: TrainingTable, count: int) -> None:
    stumps = grown(table, count)
    unseen = np.full((1, table.schema.n_columns), -2.0)
    cells = np.vstack([table.cells, table.cells + 0.25, np.nan * unseen])
    expected = np.zeros((len(cells), stumps.n_classes))
    for weight, answers in zip(stumps.weight, stumps.answers(cells), strict=True):
        expected[np.arange(len(cells)), answers] += weight
    # Half integers below 100 are summed without rounding in any order.
    np.testing.assert_array_equal(stumps.votes(cells), expected)


@given(training_tables(), st.integers(1, 4))
def test_the_first_stumps_are_those_of_fewer_rounds(table: TrainingTable, count: int) -> None:
    first, fewer = grown(table).first(count), grown(table, count)
    assert len(first) == count
    np.testing.assert_array_equal(first.votes(table.cells), fewer.votes(table.cells))
    np.testing.assert_array_equal(first.threshold, fewer.threshold)


# --- Trees ----------------------------------------------------------------------------------------


@given(training_tables())
def test_a_stump_as_a_tree_answers_the_same(table: TrainingTable) -> None:
    assert table.classes is not None
    stumps = grown(table)
    for number, answers in enumerate(stumps.answers(table.cells)):
        tree = stumps.tree(number, table.classes[0])
        value = tree.value[1:] if tree.n_nodes == 3 else tree.value
        np.testing.assert_allclose(value.sum(axis=0), tree.value[0], rtol=1e-9)
        for row, answer in enumerate(answers):
            shares = row_shares(tree, table.cells[row])
            leaves = [node for node in shares if tree.is_leaf(node)]
            p = sum(shares[node] * tree.value[node] / tree.value[node].sum() for node in leaves)
            assert np.asarray(p)[answer] >= np.max(p) - 1e-9


def test_a_nominal_stump_as_a_tree() -> None:
    tree = mixed_stumps().tree(1, np.array(["no", "yes"]))
    assert tree.question.tolist() == [Question.SUBSET, Question.LEAF, Question.LEAF]
    assert tree.branches(0).tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("value", "criterion", "expected"),
    [
        ([1.0, 3.0], "gini", 0.375),
        ([2.0, 2.0], "entropy", 1.0),
        ([0.0, 2.0], "entropy", 0.0),
        ([0.0, 0.0], "gini", 0.0),
    ],
)
def test_impurity_by_hand(value: list[float], criterion: str, expected: float) -> None:
    assert impurity(np.array(value), criterion) == pytest.approx(expected, abs=1e-15)


# --- Damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": np.ones(3)}, "weight has not the shape"),
        ({"answer": np.zeros((2, 2), np.int32)}, "answer has not the shape"),
        ({"value": np.ones((2, 3, 5))}, "value has not the shape"),
        ({"weight": np.array([1.0, np.nan])}, "do not fit the model's columns"),
        ({"schema": Schema.of_array(2)}, "do not fit the model's columns"),
        ({"column": np.array([0, 2], np.int32)}, "does not have"),
        ({"column": np.array([0, -2], np.int32)}, "does not have"),
        ({"answer": np.full((2, 3), 2, np.int32)}, "class or a branch that does not exist"),
        ({"level_branch": np.array([0, 2, 1], np.int32)}, "class or a branch"),
        ({"level_start": np.array([-1, 1], np.int32)}, "no branches for column 'color'"),
        ({"level_start": np.array([0, 0], np.int32)}, "no branches for column 'x'"),
    ],
)
def test_stumps_that_do_not_fit_together_are_refused(changes: dict[str, Any], message: str) -> None:
    mixed_stumps().check(MIXED, 2)
    with pytest.raises(ModelFileError, match=message):
        replace(mixed_stumps(), **changes).check(MIXED, 2)
