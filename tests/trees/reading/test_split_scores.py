"""Scores of splits from sums: against the definitions, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from novum.core.tables import Column, Kind, Schema
from novum.trees.reading.split_scores import NodeRows, column_splits, level_groups
from tests.trees import definitions
from tests.trees.definitions import TrainingTable, candidate_splits
from tests.trees.reading.reading_trees import NODE_SCHEMA, NodeSample, node_rows


@pytest.mark.parametrize("nominal", ["subset", "single", "multiway"])
@pytest.mark.parametrize("measure", ["gini", "entropy", "squared_error", "absolute_error"])
@given(node=node_rows())
def test_splits_and_gains_are_those_of_the_definitions(
    node: NodeSample, measure: str, nominal: str
) -> None:
    cells, targets, weight = node
    numbers = measure.endswith("error")
    classes = None if numbers else (np.arange(3),)
    table = TrainingTable(NODE_SCHEMA, cells, targets, weight, classes)
    rows = NodeRows(cells, targets, weight, None if numbers else (3,), measure)
    for column, kind in enumerate(NODE_SCHEMA.columns):
        expected = candidate_splits(table, table.entries(), column, nominal)
        found = column_splits(rows, column, kind, nominal)
        assert (found is None) == (not expected)
        if found is None:
            continue
        if column == 0:
            assert found.thresholds.tolist() == [split.threshold for split in expected]
        else:
            assert list(found.groups) == [split.levels for split in expected]
        gains = [definitions.gain(table, table.entries(), split, measure) for split in expected]
        np.testing.assert_allclose(found.gains * rows.total, gains, rtol=1e-9, atol=1e-9)
        for split, weights in zip(expected, found.weights, strict=True):
            branches = definitions.branch_entries(table, table.entries(), split)
            np.testing.assert_allclose(weights, [definitions.weight_of(b) for b in branches])


def test_several_targets_are_averaged() -> None:
    cells = np.array([[0.0], [1.0], [2.0], [3.0]])
    targets = np.array([[0, 1], [0, 0], [1, 1], [1, 0]], float)
    schema = Schema.of_array(1)
    rows = NodeRows(cells, targets, np.ones(4), (2, 2), "gini")
    found = column_splits(rows, 0, schema.columns[0], "subset")
    assert found is not None
    # The first target is separated in the middle, the second not at all.
    np.testing.assert_allclose(found.gains[1], 0.5 * 0.5, rtol=1e-12)


def test_squares_keep_their_digits_far_from_zero() -> None:
    cells = np.array([[0.0], [1.0], [2.0], [3.0]])
    targets = np.array([[0.0], [0.0], [1.0], [1.0]])
    gains = []
    for shift in (0.0, 1e9):
        rows = NodeRows(cells, targets + shift, np.ones(4), None, "squared_error")
        found = column_splits(rows, 0, Column("x"), "subset")
        assert found is not None
        gains.append(found.gains)
    np.testing.assert_allclose(gains[1], gains[0], rtol=1e-12)


def test_many_levels_of_two_classes_are_cut_in_the_order_of_their_means() -> None:
    """Breiman's theorem: the best of 13 cuts is the best of all 8191 pairs of sets."""
    rng = np.random.default_rng(3)
    levels = np.repeat(np.arange(14), 6).astype(float)
    targets = (rng.random(84) < 0.5).astype(float)[:, None]
    rows = NodeRows(levels[:, None], targets, np.ones(84), (2,), "gini")
    column = Column("c", Kind.NOMINAL, tuple(f"l{i:02}" for i in range(14)))
    found = column_splits(rows, 0, column, "subset")
    assert found is not None
    assert len(found) == 13
    assert found.unlisted == 2**13 - 1 - 13
    ones = np.array([targets[levels == k].sum() for k in range(14)])
    best = 0.0
    for code in range(1, 2**13):
        inside = np.array([(code >> k) & 1 for k in range(14)], bool)
        w, n = 6.0 * inside.sum(), ones[inside].sum()
        v, m = 84 - w, ones.sum() - n
        after = 2 * (n - n * n / w) + 2 * (m - m * m / v)
        whole = 2 * (ones.sum() - ones.sum() ** 2 / 84)
        best = max(best, (whole - after) / 84)
    assert found.gains.max() == pytest.approx(best, rel=1e-9)


def test_many_levels_of_three_classes_are_set_apart_one_by_one() -> None:
    table = np.tile(np.eye(3), (4, 1))
    rows = NodeRows(np.zeros((12, 1)), np.zeros((12, 1)), np.ones(12), (3,), "gini")
    groups, unlisted = level_groups(np.arange(12), table, rows, "subset")
    assert len(groups) == 12
    assert unlisted == 2**11 - 1 - 12
    assert groups[0] == ((0,), tuple(range(1, 12)))


@pytest.mark.parametrize(("n", "expected"), [(149, 3), (150, 3), (199, 4), (200, 7)])
def test_sets_of_levels_need_fifty_rows_for_each_level(n: int, expected: int) -> None:
    """Three levels have three pairs of sets in either way; four have four, or seven."""
    levels = np.arange(3 if n < 160 else 4)
    table = np.ones((len(levels), 3))
    rows = NodeRows(np.zeros((n, 1)), np.zeros((n, 1)), np.ones(n), (3,), "gini")
    assert len(level_groups(levels, table, rows, "auto")[0]) == expected


def test_values_closer_than_the_resolution_are_not_parted() -> None:
    rows = NodeRows(
        np.array([[0.0], [1e-6], [1.0]]), np.array([[0.0], [1], [1]]), np.ones(3), (2,), "gini"
    )
    found = column_splits(rows, 0, Column("x"), "subset", resolution=1e-5)
    assert found is not None
    assert found.between.tolist() == [[1e-6, 1.0]]
