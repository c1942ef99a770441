"""Splits by definition: hand-computed tables, and scikit-learn's splits of numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from novum.core.tables import Column, Kind, Schema
from novum.trees.tree import Question
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import (
    Split,
    TrainingTable,
    absolute_error,
    best_split,
    branch_entries,
    candidate_splits,
    entropy,
    gain,
    gain_ratio,
    gini,
    known_entries,
    middle,
    node_impurity,
    split_information,
    squared_error,
    weight_of,
    weighted_impurity,
    weighted_median,
)

WEATHER = """sunny hot high false no
sunny hot high true no
overcast hot high false yes
rainy mild high false yes
rainy cool normal false yes
rainy cool normal true no
overcast cool normal true yes
sunny mild high false no
sunny cool normal false yes
rainy mild normal false yes
sunny mild normal true yes
overcast mild high true yes
overcast hot normal false yes
rainy mild high true no"""


def weather() -> TrainingTable:
    rows = [line.split() for line in WEATHER.splitlines()]
    columns = list(zip(*rows, strict=True))
    names = ("outlook", "temperature", "humidity", "windy")
    schema = Schema(
        tuple(
            Column(name, Kind.NOMINAL, tuple(sorted(set(cells))))
            for name, cells in zip(names, columns, strict=False)
        )
    )
    codes = [
        [column.levels.index(cell) for cell in cells]
        for column, cells in zip(schema.columns, columns, strict=False)
    ]
    target = np.array([[label == "yes"] for label in columns[4]], int)
    return TrainingTable(
        schema, np.array(codes, float).T, target, np.ones(14), (np.array(["no", "yes"]),)
    )


def numbers(column: list[float], y: list[float]) -> TrainingTable:
    return TrainingTable(
        Schema.of_array(1),
        np.array(column, float)[:, np.newaxis],
        np.array(y, float)[:, np.newaxis],
        np.ones(len(y)),
        None,
    )


# --- Hand-computed --------------------------------------------------------------------------------


def test_impurities_of_the_weather_table() -> None:
    assert entropy([5, 9]) == pytest.approx(0.940286, abs=1e-6)
    assert gini([5, 9]) == pytest.approx(1 - (25 + 81) / 196, rel=1e-15)
    assert node_impurity(weather(), weather().entries(), "entropy") == entropy([5, 9])


@pytest.mark.parametrize(
    ("column", "expected"), [(0, 0.2467), (1, 0.0292), (2, 0.1518), (3, 0.0481)]
)
def test_gains_of_the_weather_table(column: int, expected: float) -> None:
    table = weather()
    (split,) = candidate_splits(table, table.entries(), column, "multiway")
    assert gain(table, table.entries(), split, "entropy") / 14 == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("column", "information", "ratio"),
    [(0, 1.577, 0.156), (1, 1.557, 0.019), (2, 1.0, 0.152), (3, 0.985, 0.049)],
)
def test_gain_ratios_of_the_weather_table(column: int, information: float, ratio: float) -> None:
    table = weather()
    (split,) = candidate_splits(table, table.entries(), column, "multiway")
    weights = [weight_of(branch) for branch in branch_entries(table, table.entries(), split)]
    assert split_information(weights) == pytest.approx(information, abs=5e-4)
    assert gain_ratio(table, table.entries(), split) == pytest.approx(ratio, abs=5e-4)


def test_gain_with_a_missing_cell_is_quinlans() -> None:
    # Quinlan 1993, chapter 3: outlook of the 6th row of his table (overcast, play) is unknown;
    # 13 known rows, info 0.961, gain 13/14 x 0.216 = 0.199, split information 1.809.
    table = weather()
    table.cells[11, 0] = np.nan
    (split,) = candidate_splits(table, table.entries(), 0, "multiway")
    assert gain(table, table.entries(), split, "entropy") / 14 == pytest.approx(0.199, abs=1e-3)
    assert split_information([5, 3, 5], 1) == pytest.approx(1.809, abs=1e-3)
    assert gain_ratio(table, table.entries(), split) == pytest.approx(0.199 / 1.809, abs=1e-3)


def test_the_best_question_about_the_weather_is_the_outlook() -> None:
    table = weather()
    found = best_split(table, table.entries(), "entropy", nominal="multiway")
    assert found is not None
    assert found[0] == Split(0, Question.MULTIWAY, levels=((0,), (1,), (2,)))


def test_spreads_of_numbers() -> None:
    assert squared_error([0, 0, 3], [1, 1, 1]) == 2
    assert squared_error([0, 3], [2, 1]) == 2
    assert absolute_error([0, 0, 3], [1, 1, 1]) == 1
    assert weighted_median([1, 2, 9], [1, 1, 1]) == 2
    assert weighted_median([1, 2, 9], [1, 1, 5]) == 9
    assert weighted_median([4, 2], [1, 1]) == 3


def test_a_pure_node_has_no_impurity() -> None:
    assert entropy([0, 7, 0]) == gini([0, 7, 0]) == 0
    assert squared_error([0.1, 0.1, 0.1], [0.3, 0.7, 1.1]) == pytest.approx(0, abs=1e-30)


# --- Candidates -----------------------------------------------------------------------------------


def levels_of(count: int, nominal: str) -> list[tuple[tuple[int, ...], ...]]:
    schema = Schema((Column("x", Kind.NOMINAL, tuple("abcd"[:count])),))
    cells = np.arange(count, dtype=float)[:, np.newaxis]
    table = TrainingTable(schema, cells, np.zeros((count, 1), int), np.ones(count), (np.arange(2),))
    return [split.levels for split in candidate_splits(table, table.entries(), 0, nominal)]


def test_subsets_hold_the_lowest_level_first_and_come_in_lexicographic_order() -> None:
    assert levels_of(3, "subset") == [((0,), (1, 2)), ((0, 1), (2,)), ((0, 2), (1,))]
    assert len(levels_of(4, "subset")) == 2**3 - 1


def test_single_levels_come_from_the_lowest() -> None:
    assert levels_of(3, "single") == [((0,), (1, 2)), ((0, 2), (1,)), ((0, 1), (2,))]
    assert levels_of(2, "single") == [((0,), (1,))]


def test_thresholds_are_midpoints_of_present_neighbors() -> None:
    table = numbers([3.0, 1.0, math.nan, 1.0, 2.0], [0, 0, 0, 0, 0])
    found = [split.threshold for split in candidate_splits(table, table.entries(), 0)]
    assert found == [1.5, 2.5]
    assert candidate_splits(table, [(1, 1.0), (2, 1.0), (3, 1.0)], 0) == []


@given(training_tables())
def test_thresholds_separate_their_neighbors(table: TrainingTable) -> None:
    for column in table.schema.numeric:
        found = [s.threshold for s in candidate_splits(table, table.entries(), int(column))]
        known = known_entries(table, table.entries(), int(column))
        present = sorted({table.cells[row, column] for row, _ in known})
        for (low, high), threshold in zip(pairwise(present), found, strict=True):
            assert low <= threshold < high


def test_neighbors_without_a_number_between_them_are_still_divided() -> None:
    low = 1.0
    high = math.nextafter(low, 2)
    assert middle(low, high) == low
    # Their distance is beyond the largest number.
    assert middle(-1.7e308, 1.7e308) == -1.7e308


def test_ties_go_to_the_lowest_column_and_threshold() -> None:
    cells = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    table = TrainingTable(
        Schema.of_array(2), cells, np.array([[0], [1], [0]]), np.ones(3), (np.arange(2),)
    )
    found = best_split(table, table.entries(), "gini")
    assert found is not None
    assert (found[0].column, found[0].threshold) == (0, 0.5)


def test_a_light_branch_is_no_split() -> None:
    table = numbers([0, 1, 2, 3], [0, 0, 0, 9])
    found = best_split(table, table.entries(), "squared_error", min_branch_weight=2)
    assert found is not None
    assert found[0].threshold == 1.5
    assert best_split(table, table.entries(), "squared_error", min_branch_weight=3) is None


def test_missing_cells_join_the_branch_where_they_help() -> None:
    table = numbers([0, 0, 1, 1, math.nan], [0, 0, 4, 4, 4])
    fractional = best_split(table, table.entries(), "squared_error")
    directed = best_split(table, table.entries(), "squared_error", missing="direction")
    assert fractional is not None
    assert directed is not None
    assert fractional[0].missing_branch == -1
    assert directed[0].missing_branch == 1
    # Over the 4 known rows the variance is 4; over all 5 it is 16 x 6 / 25.
    assert fractional[1] == pytest.approx(16)
    assert directed[1] == pytest.approx(5 * 16 * 6 / 25)


# --- Properties -----------------------------------------------------------------------------------


@given(training_tables(max_targets=2))
@pytest.mark.parametrize("nominal", ["subset", "single", "multiway"])
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_no_split_of_classes_adds_impurity(
    criterion: str, nominal: str, table: TrainingTable
) -> None:
    entries = table.entries()
    limit = weighted_impurity(table, entries, criterion)
    for column in range(table.schema.n_columns):
        for split in candidate_splits(table, entries, column, nominal):
            assert -1e-9 <= gain(table, entries, split, criterion) <= limit + 1e-9


@given(training_tables(target="numbers"))
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_weight_two_is_the_row_twice(criterion: str, table: TrainingTable) -> None:
    doubled = [(row, 2 * weight) for row, weight in table.entries()]
    twice = table.entries() + table.entries()
    assert node_impurity(table, doubled, criterion) == pytest.approx(
        node_impurity(table, twice, criterion), rel=1e-12, abs=1e-12
    )


@given(training_tables(target="numbers"))
def test_no_other_constant_is_nearer(table: TrainingTable) -> None:
    y, w = table.targets[:, 0], table.weight
    for other in y:
        assert absolute_error(y, w) <= (w * abs(y - other)).sum() / w.sum() + 1e-12
        assert squared_error(y, w) <= (w * (y - other) ** 2).sum() / w.sum() + 1e-12


# --- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_root_splits_of_numbers_are_scikit_learns(criterion: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Quarters survive scikit-learn's float32; noise in the weights leaves no ties between columns.
    cells = rng.integers(-40, 40, (40, 3)) / 4
    weight = rng.uniform(0.5, 2.0, 40)
    of_classes = criterion in ("gini", "entropy")
    drift = cells[:, 1] + rng.normal(size=40)
    target = np.digitize(drift, [-4, 4]) if of_classes else drift
    learner = DecisionTreeClassifier if of_classes else DecisionTreeRegressor
    theirs = learner(criterion=criterion, max_depth=1).fit(cells, target, weight).tree_
    classes = (np.arange(3),) if of_classes else None
    table = TrainingTable(Schema.of_array(3), cells, target[:, np.newaxis], weight, classes)
    found = best_split(table, table.entries(), criterion)
    assert found is not None
    split, saved = found
    assert (split.column, split.threshold) == (theirs.feature[0], theirs.threshold[0])
    parts = [table.entries(), *branch_entries(table, table.entries(), split)]
    ours = [node_impurity(table, part, criterion) for part in parts]
    np.testing.assert_allclose(ours, theirs.impurity, rtol=1e-10, atol=1e-14)
    removed = theirs.weighted_n_node_samples * theirs.impurity
    assert saved == pytest.approx(removed[0] - removed[1] - removed[2], rel=1e-9)
