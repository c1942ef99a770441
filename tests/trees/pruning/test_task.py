"""What pruning rules are given: rows held out, folds, the user's rows, and errors by definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.pruning.task import (
    PruningRule,
    PruningTask,
    fold_numbers,
    held_out_rows,
    node_errors,
    read_validation_part,
    sums_below,
)
from novum.trees.routing import node_sums
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.definitions_growth import GrowthRules, grow, row_shares


def task_of(table: TrainingTable) -> PruningTask:
    return PruningTask(table.cells, table.targets, table.weight, table.n_classes)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- The task -------------------------------------------------------------------------------------


def test_statistics_of_classes_and_of_numbers() -> None:
    cells, weight = np.zeros((2, 1)), np.array([1.0, 3.0])
    of_classes = PruningTask(cells, np.array([[1, 0], [-1, 2]]), weight, (2, 3))
    assert of_classes.stats.tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 0, 3]]
    of_numbers = PruningTask(cells, np.array([[2.0, 1.0], [3.0, 0.0]]), weight, None)
    assert of_numbers.stats.tolist() == [[1, 2, 1, 4, 1], [3, 9, 0, 27, 0]]


@given(training_tables(max_targets=2))
def test_statistics_sum_to_the_values_of_the_nodes(table: TrainingTable) -> None:
    tree = grow(table, GrowthRules())
    sums = node_sums(tree, table.cells, task_of(table).stats)
    np.testing.assert_allclose(sums, tree.value, atol=1e-12)


@pytest.mark.parametrize(
    ("targets", "weight", "n_classes"),
    [
        (np.zeros((2, 1)), np.ones(3), None),
        (np.zeros(3), np.ones(3), None),
        (np.zeros((3, 2)), np.ones(3), (2,)),
        (np.zeros((3, 1)), np.ones(2), (2,)),
    ],
)
def test_rows_that_do_not_fit_together_are_named(
    targets: np.ndarray, weight: np.ndarray, n_classes: tuple[int, ...] | None
) -> None:
    with pytest.raises(InputError, match="3 rows of cells need targets of shape"):
        PruningTask(np.zeros((3, 1)), targets, weight, n_classes)


def test_a_rule_holds_nothing_out_unless_it_says_so() -> None:
    class Nothing(PruningRule):
        pass

    assert Nothing().held_out_fraction == 0.0
    assert Nothing().validation_part is None


# --- Which rows -----------------------------------------------------------------------------------


@given(st.lists(st.integers(2, 30), min_size=1, max_size=4), st.floats(0.25, 0.9))
def test_classes_are_held_out_alike(sizes: list[int], fraction: float) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)[:, np.newaxis]
    assume(fraction * len(codes) >= 2)
    growing, held = held_out_rows(codes, (len(sizes),), fraction, generator())
    np.testing.assert_array_equal(np.sort(np.concatenate([growing, held])), np.arange(len(codes)))
    counts = np.bincount(codes[held, 0], minlength=len(sizes))
    for count, size in zip(counts, sizes, strict=True):
        assert count < size
        assert abs(count - min(fraction * size, size - 1)) <= 1


def test_a_class_of_one_row_is_grown_from() -> None:
    codes = np.array([0] * 9 + [1])[:, np.newaxis]
    for seed in range(5):
        growing, held = held_out_rows(codes, (2,), 0.5, generator(seed))
        assert 9 in growing
        assert held.size == 5 or held.size == 4


def test_combinations_of_classes_are_held_out_alike() -> None:
    codes = np.array([[a, b] for a in range(2) for b in range(2)] * 10)
    _, held = held_out_rows(codes, (2, 2), 0.3, generator())
    assert np.unique(codes[held], axis=0, return_counts=True)[1].tolist() == [3, 3, 3, 3]


def test_the_rows_are_a_function_of_the_generator() -> None:
    codes = np.arange(40)[:, np.newaxis] % 3
    first, again = (held_out_rows(codes, (3,), 0.25, generator(4))[1] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    other = held_out_rows(codes, (3,), 0.25, generator(5))[1]
    assert first.tolist() != other.tolist()


def test_too_few_rows_to_hold_out_say_what_to_do() -> None:
    with pytest.raises(InputError, match=r"0\.3 of 1 rows holds out no row.*Give more rows"):
        held_out_rows(np.zeros((1, 1)), None, 0.3, generator())


@given(st.integers(2, 6), st.lists(st.integers(0, 2), min_size=6, max_size=30))
def test_folds_are_equally_large_in_every_class(n_folds: int, codes: list[int]) -> None:
    targets = np.array(codes)[:, np.newaxis]
    folds = fold_numbers(targets, (3,), n_folds, generator())
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for code in range(3):
        assert np.ptp(np.bincount(folds[targets[:, 0] == code], minlength=n_folds)) <= 1


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(InputError, match="10 folds need at least 10 rows, got 3"):
        fold_numbers(np.zeros((3, 1)), None, 10, generator())


# --- The user's rows ------------------------------------------------------------------------------


class Learner(BaseEstimator):
    """Stands for a tree that is being fitted."""


def mixed_schema() -> Schema:
    return Schema((Column("color", Kind.NOMINAL, ("blue", "red")), Column("age")))


def test_given_rows_are_read_like_training_rows() -> None:
    rows = pd.DataFrame({"color": ["red", "green", None], "age": [1.0, 2.0, np.nan]})
    classes = (np.array(["no", "yes"]),)
    learner = Learner()
    part = read_validation_part(learner, mixed_schema(), classes, (rows, ["yes", "no", "maybe"]))
    np.testing.assert_array_equal(part.cells, [[1, 1], [-2, 2], [np.nan, np.nan]])
    assert part.targets.tolist() == [[1], [0], [-1]]
    assert part.n_classes == (2,)
    assert part.weight.tolist() == [1, 1, 1]
    assert vars(learner) == {}


def test_given_rows_of_weight_zero_are_absent() -> None:
    part = read_validation_part(
        Learner(), Schema.of_array(1), None, ([[1.0], [2.0], [3.0]], [4.0, 5.0, 6.0], [1, 0, 2])
    )
    assert part.cells.tolist() == [[1.0], [3.0]]
    assert part.targets.tolist() == [[4.0], [6.0]]
    assert part.weight.tolist() == [1, 2]


def test_several_targets_of_given_rows() -> None:
    classes = (np.array([0, 1]), np.array(["a", "b"], object))
    y = np.array([[1, "b"], [0, "c"]], object)
    part = read_validation_part(Learner(), Schema.of_array(1), classes, ([[1.0], [2.0]], y))
    assert part.targets.tolist() == [[1, 1], [0, -1]]


def test_given_rows_that_do_not_fit_are_refused() -> None:
    classes = (np.array([0, 1]),)
    with pytest.raises(InputError, match="X has 2 rows, but y has 1"):
        read_validation_part(Learner(), Schema.of_array(1), classes, ([[1.0], [2.0]], [0]))
    with pytest.raises(ValueError, match="2 features"):
        read_validation_part(Learner(), Schema.of_array(1), classes, ([[1.0, 2.0]], [0]))
    with pytest.raises(InputError, match="2 target columns, but the training rows have 1"):
        read_validation_part(Learner(), Schema.of_array(1), classes, ([[1.0]], [[0, 1]]))


# --- Errors ---------------------------------------------------------------------------------------


@given(training_tables(max_targets=2), st.data())
def test_errors_of_classes_are_the_definition(table: TrainingTable, data: st.DataObject) -> None:
    tree = grow(table, GrowthRules(max_depth=2))
    chosen = np.array(data.draw(st.lists(st.integers(0, len(table.cells) - 1), min_size=1)))
    part = task_of(table).rows(chosen)
    expected = np.zeros(tree.n_nodes)
    assert table.n_classes is not None
    edges = np.cumsum((0, *table.n_classes))
    for row, truth, weight in zip(part.cells, part.targets, part.weight, strict=True):
        for node, share in row_shares(tree, row).items():
            blocks = [tree.value[node, a:b] for a, b in pairwise(edges)]
            wrong = [int(np.argmax(b) != t) for b, t in zip(blocks, truth, strict=True)]
            expected[node] += share * weight * np.mean(wrong)
    np.testing.assert_allclose(node_errors(tree, part), expected, atol=1e-12)


@given(training_tables(target="numbers", max_targets=2))
@pytest.mark.parametrize("power", [1, 2])
def test_errors_of_numbers_are_the_definition(power: int, table: TrainingTable) -> None:
    tree = grow(table, GrowthRules("squared_error", max_depth=2))
    expected = np.zeros(tree.n_nodes)
    for row, truth, weight in zip(table.cells, table.targets, table.weight, strict=True):
        for node, share in row_shares(tree, row).items():
            expected[node] += share * weight * np.mean((truth - tree.value[node]) ** 2) ** power
    np.testing.assert_allclose(node_errors(tree, task_of(table), power=power), expected, rtol=1e-9)
    np.testing.assert_allclose(
        sums_below(tree, expected)[0], expected[tree.question == 0].sum(), rtol=1e-12
    )


def test_errors_keep_their_digits_beside_a_large_offset() -> None:
    y = np.array([[1e9], [1e9 + 2], [1e9 + 4]])
    table = TrainingTable(Schema.of_array(1), np.zeros((3, 1)), y, np.ones(3), None)
    tree = grow(table, GrowthRules("squared_error"))
    assert node_errors(tree, task_of(table)).tolist() == [8.0]
