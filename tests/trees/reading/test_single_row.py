"""The way of one row: against the definition; changes against trying every cell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.reading.node_values import NodeValues
from novum.trees.reading.questions import column_digits
from novum.trees.reading.single_row import (
    Change,
    answer_of_row,
    branch_of,
    changes,
    outcome_of,
    visits,
)
from novum.trees.tree import Tree
from tests.trees.definitions_growth import row_shares
from tests.trees.reading.reading_trees import (
    GRID,
    answer_of,
    iris_tree,
    number_tree,
    random_trees,
    weather_tree,
)

cells = st.tuples(*(st.sampled_from([*values, math.nan]) for values in GRID))


def found_changes(tree: Tree, row: list[float]) -> list[Change]:
    return changes(tree, np.array(row, float), NodeValues.of(tree), column_digits(tree))


@given(random_trees(), cells)
def test_the_way_is_that_of_the_definition(tree: Tree, row: tuple[float, ...]) -> None:
    way = visits(tree, np.array(row))
    expected = {node: share for node, share in row_shares(tree, np.array(row)).items() if share > 0}
    assert {visit.node: visit.share for visit in way} == pytest.approx(expected, rel=1e-12)


@given(random_trees(), cells)
def test_the_answer_is_that_of_the_definition(tree: Tree, row: tuple[float, ...]) -> None:
    values = NodeValues.of(tree)
    answer = answer_of_row(tree, values, visits(tree, np.array(row)))
    np.testing.assert_allclose(answer, answer_of(tree, np.array(row)), rtol=1e-12, atol=1e-15)


@given(random_trees(missing=False), cells)
def test_changes_are_the_nearest_of_all_cells(tree: Tree, row: tuple[float, ...]) -> None:
    """For every numeric column of a complete row: by trying all cells of the grid."""
    x = np.array([0.0 if math.isnan(cell) else cell for cell in row])
    now = answer_of(tree, x).argmax()
    found = {change.column: change for change in found_changes(tree, x.tolist())}
    for column in (0, 1, 3):
        other = []
        for cell in GRID[column]:
            changed = x.copy()
            changed[column] = cell
            if answer_of(tree, changed).argmax() != now:
                other.append(abs(cell - x[column]))
        assert bool(other) == (column in found)
        if other and column != 3:
            # The grid has the whole numbers, and thresholds lie half way between them: above the
            # cell the next piece begins half before the next number, below it ends half after.
            assert found[column].distance == pytest.approx(min(other) - 0.5, abs=1e-9)


@given(random_trees(missing=False), cells)
def test_a_change_does_what_it_says(tree: Tree, row: tuple[float, ...]) -> None:
    x = np.array([0.0 if math.isnan(cell) else cell for cell in row])
    assert tree.classes is not None
    now = tree.classes[0][answer_of(tree, x).argmax()]
    for change in found_changes(tree, x.tolist()):
        assert change.prediction != now
        reached = {
            str(tree.classes[0][answer_of(tree, _with(x, change.column, cell)).argmax()])
            for cell in GRID[change.column]
        }
        assert change.prediction in reached


def _with(row: np.ndarray, column: int, cell: float) -> np.ndarray:
    changed = row.copy()
    changed[column] = cell
    return changed


def test_the_change_that_leaves_the_way_last_comes_first() -> None:
    first, second = found_changes(weather_tree(), [2, 70, 90, 0])
    assert (first.words, first.prediction, first.node) == ("humidity <= 77.5", "yes", 3)
    assert first.distance == 12.5
    assert (second.words, second.node) == ("outlook = overcast", 0)


def test_pieces_between_two_thresholds() -> None:
    (change, *_) = found_changes(iris_tree(), [5.0, 2.5, 0.0])
    assert change.words == "0.8 < petal width <= 1.75"
    assert change.prediction == "versicolor"
    assert change.distance == 0.75


def test_a_missing_cell_can_become_known() -> None:
    words = [change.words for change in found_changes(iris_tree(), [5.0, math.nan, 0.0])]
    assert words == ["petal width <= 0.8"]


def test_numbers_have_changes_to_another_mean() -> None:
    first, second = found_changes(number_tree(), [5.5, 1.2, 0.0])
    assert (first.words, first.prediction) == ("petal width > 2", 4.0)
    assert (second.words, second.prediction) == ("sepal length <= 5", 1.5)


def test_branches_of_odd_cells() -> None:
    tree = weather_tree()
    assert branch_of(tree, 0, -2.0) == -1
    assert branch_of(tree, 0, 7.0) == -1
    assert branch_of(tree, 3, math.nan) == -1
    assert branch_of(iris_tree(), 2, math.nan) == 1
    assert outcome_of(np.array([0.5, 0.5]), NodeValues.of(tree)) == 0.0
