"""Gain ratio: the textbook's numbers, C4.5's rules of choice, and the definition on whole nodes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.data import load
from novum.trees.general.gain_ratio import (
    GainRatio,
    information_parts,
    split_information,
    takes_part,
)
from novum.trees.general.growing import grow_general
from novum.trees.general.rules import GeneralRules
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import (
    Split,
    TrainingTable,
    branch_entries,
    candidate_splits,
    entropy,
    gain,
    gain_ratio,
    known_entries,
    weight_of,
)

EVERYONE = np.ones(3, bool)


def stump(table: TrainingTable, rules: GeneralRules) -> Tree:
    return grow_general(
        table.cells, table.targets, table.weight, table.schema, table.classes, rules
    )


# --- The textbook ---------------------------------------------------------------------------------


def test_the_weather_is_split_on_outlook_with_the_textbooks_numbers() -> None:
    bundled = load("weather_nominal", frame="pandas")
    frame = bundled.table
    names = [name for name in frame.columns if name != bundled.target]
    columns = tuple(Column(n, Kind.NOMINAL, tuple(frame[n].astype(str).unique())) for n in names)
    cells = np.column_stack(
        [[c.levels.index(v) for v in frame[c.name].astype(str)] for c in columns]
    ).astype(float)
    labels, targets = np.unique(frame[bundled.target].astype(str), return_inverse=True)
    tree = grow_general(
        cells, targets, np.ones(14), Schema(columns), (labels,), GeneralRules(GainRatio())
    )
    assert columns[tree.column[0]].name == "outlook"
    assert tree.gain[0] / 14 == pytest.approx(0.247, abs=5e-4)
    information = split_information(tree.weight[1:4], 14.0)
    assert tree.gain[0] / 14 / information == pytest.approx(0.156, abs=5e-4)


def test_information_is_the_entropy_of_the_parts() -> None:
    weights = np.array([[5.0, 4.0, 5.0], [2.0, 0.0, 12.0]])
    found = split_information(weights, 14.0)
    np.testing.assert_allclose(found, [entropy(row) for row in weights.tolist()], rtol=1e-12)
    assert information_parts(np.array([1e-9]), 1.0).tolist() == [0.0]


# --- Rules of choice ------------------------------------------------------------------------------


def test_a_high_ratio_of_a_low_gain_is_passed_over() -> None:
    gains, information = np.array([0.5, 0.1, 0.3]), np.array([1.0, 0.05, 1.0])
    assert GainRatio().chosen_column(gains, information, EVERYONE) == 0
    free = GainRatio(at_least_average=False)
    assert free.chosen_column(gains, information, EVERYONE) == 1


def test_a_thousandth_below_the_average_still_competes() -> None:
    gains, information = np.array([0.2991, 0.3009]), np.array([0.5, 1.0])
    assert GainRatio().chosen_column(gains, information, EVERYONE[:2]) == 0
    gains = np.array([0.298, 0.302])
    assert GainRatio().chosen_column(gains, information, EVERYONE[:2]) == 1


def test_of_equal_ratios_the_first_column_is_taken() -> None:
    gains, information = np.array([0.3, 0.3 + 1e-7, 0.3]), np.ones(3)
    assert GainRatio().chosen_column(gains, information, EVERYONE) == 0


def test_columns_outside_the_average_may_win_but_not_alone() -> None:
    counted = np.array([True, False])
    gains, information = np.array([0.2, 0.9]), np.array([1.0, 1.0])
    assert GainRatio().chosen_column(gains, information, counted) == 1
    assert GainRatio().chosen_column(np.array([np.nan, 0.9]), information, counted) == -1


def test_no_gain_and_no_information_are_no_choice() -> None:
    choose = GainRatio().chosen_column
    assert choose(np.zeros(2), np.ones(2), EVERYONE[:2]) == -1
    assert choose(np.ones(2), np.zeros(2), EVERYONE[:2]) == -1
    assert choose(np.full(2, np.nan), np.ones(2), EVERYONE[:2]) == -1


def test_many_levels_are_left_out_unless_all_columns_have_many() -> None:
    assert takes_part(np.array([0, 2, 3, 5]), 10.0).tolist() == [True, True, False, False]
    assert takes_part(np.array([3, 5]), 10.0).tolist() == [True, True]


# --- The definition -------------------------------------------------------------------------------


def definition(table: TrainingTable, rule: GainRatio, least: float) -> Split | None:
    """C4.5's choice at the root, test by test."""
    entries = table.entries()
    total = weight_of(entries)
    assert table.n_classes is not None
    tests: dict[int, tuple[Split, float, float]] = {}
    for column in range(table.schema.n_columns):
        known = weight_of(known_entries(table, entries, column))
        splits = candidate_splits(table, entries, column, "multiway")
        if table.schema.columns[column].kind is Kind.NOMINAL:
            for split in splits:
                weights = [weight_of(b) for b in branch_entries(table, entries, split)]
                if sum(w >= least - 1e-6 for w in weights) >= 2:
                    found = gain(table, entries, split, "entropy") / total
                    tests[column] = split, found, gain_ratio(table, entries, split)
            continue
        needed = max(least, min(25.0, 0.1 * known / table.n_classes[0])) - 1e-6
        valid = [
            s
            for s in splits
            if min(weight_of(b) for b in branch_entries(table, entries, s)) >= needed
        ]
        best, found = None, 0.0
        for split in valid:
            each = gain(table, entries, split, "entropy") / total
            if each > found + 1e-6:
                best, found = split, each
        if best is None:
            continue
        paid = found - (math.log2(len(valid)) / total if rule.numeric_penalty else 0.0)
        if paid > 1e-6:
            ratio = gain_ratio(table, entries, best) * paid / found
            tests[column] = best, paid, ratio
    kinds = [table.schema.columns[c] for c in range(table.schema.n_columns)]
    n_levels = np.array([k.n_levels if k.kind is Kind.NOMINAL else 0 for k in kinds])
    counted = [c for c in tests if takes_part(n_levels, weight_of(entries))[c]]
    if not counted:
        return None
    floor = math.fsum(tests[c][1] for c in counted) / len(counted) - 1e-3
    chosen, ratio = None, 0.0
    for split, each, found in tests.values():
        if (each >= floor or not rule.at_least_average) and found > ratio + 1e-6:
            chosen, ratio = split, found
    return chosen


@given(
    training_tables(min_rows=4, max_rows=30),
    st.builds(GainRatio, st.booleans(), st.booleans()),
    st.sampled_from((1.0, 2.0)),
)
def test_the_root_is_the_definitions(table: TrainingTable, rule: GainRatio, least: float) -> None:
    pure = len(set(table.targets[:, 0].tolist())) == 1
    light = weight_of(table.entries()) < 2 * least
    expected = None if pure or light else definition(table, rule, least)
    tree = stump(table, GeneralRules(rule, "multiway", min_samples_leaf=least, max_depth=1))
    if expected is None:
        assert tree.n_nodes == 1
        return
    assert tree.column[0] == expected.column
    assert tree.question[0] == expected.question
    if expected.question is Question.THRESHOLD:
        assert tree.threshold[0] == expected.threshold
    found = gain(table, table.entries(), expected, "entropy")
    assert tree.gain[0] == pytest.approx(found, rel=1e-9, abs=1e-9)


def test_a_threshold_pays_for_being_chosen_among_many() -> None:
    # The best of 7 thresholds parts 2 zeros from 2 zeros and 4 ones: it gains 1 - 6/8 H(1/3).
    x = np.arange(8.0)[:, np.newaxis]
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1])[:, np.newaxis]
    table = TrainingTable(Schema.of_array(1), x, y, np.ones(8), (np.arange(2),))
    free = stump(table, GeneralRules(GainRatio(numeric_penalty=False), max_depth=1))
    assert free.gain[0] / 8 == pytest.approx(1 - 0.75 * entropy([1.0, 2.0]))
    assert free.gain[0] / 8 < math.log2(7) / 8
    assert stump(table, GeneralRules(GainRatio(), max_depth=1)).n_nodes == 1


def test_values_closer_than_the_resolution_are_one() -> None:
    x = np.array([1.0, 1.0 + 5e-6, 2.0, 3.0])[:, np.newaxis]
    y = np.array([0, 1, 1, 1])[:, np.newaxis]
    table = TrainingTable(Schema.of_array(1), x, y, np.ones(4), (np.arange(2),))
    fine = GeneralRules(GainRatio(numeric_penalty=False), max_depth=1)
    assert stump(table, fine).threshold[0] < 1.1
    coarse = replace(fine, criterion=GainRatio(numeric_penalty=False, resolution=1e-5))
    assert stump(table, coarse).threshold[0] == 1.5 + 2.5e-6


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"numeric_penalty": 1}, "numeric_penalty is true or false, got 1"),
        ({"at_least_average": "yes"}, "at_least_average is true or false, got 'yes'"),
        ({"resolution": -1.0}, "resolution is a number of at least 0, got -1.0"),
        ({"resolution": math.inf}, "resolution is a number of at least 0"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GainRatio(**wrong)
