"""Candidates: textbook figures, the choice of the definitions, C4.5's rules, clear refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.reading.candidates import candidates
from tests.trees.definitions import Split, TrainingTable, best_split, gain_ratio
from tests.trees.reading.reading_trees import (
    NODE_SCHEMA,
    WEATHER,
    WEATHER_ROWS,
    NodeSample,
    node_rows,
)

CELLS, PLAY = WEATHER_ROWS[:, :4], WEATHER_ROWS[:, 4]
PLAIN_RATIO = GainRatio(numeric_penalty=False, at_least_average=False)


def of_weather(**how: Any) -> dict[str, Any]:
    how = {"criterion": "entropy", "nominal": "multiway", **how}
    return {split.words: split for split in candidates(CELLS, PLAY, None, WEATHER, **how)}


def test_figures_of_the_textbook() -> None:
    """Mitchell 1997, 3.4.1.1: gain 0.246 of the outlook and 0.048 of the wind, cut to 3 digits."""
    found = of_weather()
    outlook, windy = found["outlook: overcast | rainy | sunny"], found["windy: False | True"]
    assert math.floor(outlook.gain * 1000) == 246
    assert math.floor(windy.gain * 1000) == 48
    # 5, 4 and 5 of 14 days, Quinlan 1993, 2.2.
    assert outlook.split_information == pytest.approx(1.577, abs=5e-4)
    assert outlook.gain_ratio == pytest.approx(0.156, abs=5e-4)
    assert outlook.branch_values == ((0.0, 4.0), (2.0, 3.0), (3.0, 2.0))


@pytest.mark.parametrize("nominal", ["subset", "single", "multiway"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
@given(node=node_rows())
def test_the_first_is_the_best_of_the_definitions(
    node: NodeSample, criterion: str, nominal: str
) -> None:
    cells, targets, weight = node
    classes = None if criterion.endswith("error") else (np.arange(3),)
    table = TrainingTable(NODE_SCHEMA, cells, targets, weight, classes)
    expected = best_split(table, table.entries(), criterion, nominal=nominal)
    found = candidates(
        cells, targets, weight, NODE_SCHEMA, criterion=criterion, nominal=nominal, classes=classes
    )
    assert (expected is None) == (len(found) == 0)
    if expected is not None and expected[1] > 1e-6 * weight.sum():
        first = found[0]
        assert first.gain * weight.sum() == pytest.approx(expected[1], rel=1e-9)
        assert (first.column, first.levels) == (expected[0].column, expected[0].levels)
        assert first.threshold == expected[0].threshold or first.levels


@given(node_rows())
def test_gain_ratios_are_those_of_the_definitions(
    node: NodeSample,
) -> None:
    cells, targets, weight = node
    table = TrainingTable(NODE_SCHEMA, cells, targets, weight, (np.arange(3),))
    found = candidates(
        cells,
        targets,
        weight,
        NODE_SCHEMA,
        criterion=PLAIN_RATIO,
        nominal="multiway",
        classes=(np.arange(3),),
    )
    for split in found:
        as_defined = Split(split.column, split.question, split.threshold, split.levels)
        expected = gain_ratio(table, table.entries(), as_defined)
        assert split.gain_ratio == pytest.approx(expected, rel=1e-8, abs=1e-9)
        assert split.merit == pytest.approx(expected, rel=1e-8, abs=1e-9)


@given(node_rows(), st.sampled_from(["gini", "entropy"]))
def test_weight_two_is_the_row_twice(node: NodeSample, criterion: str) -> None:
    cells, targets, _ = node
    twice = candidates(
        np.repeat(cells, 2, axis=0), np.repeat(targets, 2), None, NODE_SCHEMA, criterion=criterion
    )
    heavy = candidates(cells, targets, np.full(len(cells), 2.0), NODE_SCHEMA, criterion=criterion)
    assert [split.words for split in twice] == [split.words for split in heavy]
    np.testing.assert_allclose([s.gain for s in twice], [s.gain for s in heavy], atol=1e-12)


def test_missing_cells_gain_nothing_and_inform_as_a_branch() -> None:
    cells = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    (split,) = candidates(cells, [0, 1, 0, 1], None, Schema.of_array(1), criterion="entropy")
    assert split.gain == pytest.approx(0.5, rel=1e-12)
    assert split.split_information == pytest.approx(1.5, rel=1e-12)
    assert split.branch_weights == (1.0, 1.0)


def test_rules_of_c45() -> None:
    """The thresholds pay log2(n) / W, and then only the outlook and the wind can compete."""
    found = of_weather(criterion=GainRatio(), min_samples_leaf=2.0)
    assert [s.words for s in found.values() if s.competes] == [
        "outlook: overcast | rainy | sunny",
        "windy: False | True",
    ]
    humidity = found["humidity <= 82.5"]
    n = sum(split.column == 2 for split in found.values())
    expected = (humidity.gain - math.log2(n) / 14) / humidity.split_information
    assert humidity.merit == pytest.approx(expected, rel=1e-12)
    assert not any(min(s.branch_weights) < 2 for s in found.values() if s.column in (1, 2))


def test_light_branches_are_no_splits() -> None:
    found = of_weather(criterion="gini", min_samples_leaf=5.0)
    assert all(min(split.branch_weights) >= 5 for split in found.values())
    assert "outlook: overcast | rainy | sunny" not in found


def test_ordinal_levels_and_ties_in_the_order_of_columns() -> None:
    schema = Schema((Column("a"), Column("size", Kind.ORDINAL, ("S", "M", "L"))))
    found = candidates([[0.0, 0.0], [1.0, 2.0]], [0, 1], None, schema)
    assert [split.words for split in found] == ["a <= 0.5", "size <= M"]


def test_thresholds_are_written_so_that_they_separate() -> None:
    low, high = 1.0, math.nextafter(1.0, 2.0)
    (split,) = candidates([[low], [high]], [0, 1], None, Schema.of_array(1))
    assert split.threshold == low
    assert split.words == "x0 <= 1"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"criterion": "luck"}, "criterion is one of gini, .* got 'luck'"),
        ({"nominal": "all"}, "nominal is one of subset, single, auto, multiway, got 'all'"),
        ({"cells": np.zeros((14, 2))}, r"The schema has 4 columns, .* \(14, 2\)"),
        ({"targets": np.zeros(3)}, "14 rows of cells, 3 targets and 14 weights"),
        ({"target": 1}, "There are 1 targets, got target=1"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], message: str) -> None:
    given = {"cells": CELLS, "targets": PLAY, "weight": None, "schema": WEATHER, **changed}
    with pytest.raises(InputError, match=message):
        candidates(**given)
