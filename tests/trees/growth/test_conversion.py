"""From grown nodes to a tree: scales of targets, thresholds between codes, branches, values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.conversion import TargetScale, edge_places, thresholds, tree_of
from novum.trees.growth.growing import CodedTable, GrownNodes, GrowthRules, grow
from novum.trees.tree import Question


def coded(
    cells: np.ndarray, schema: Schema | None = None, max_bins: int | None = 255
) -> CodedTable:
    schema = Schema.of_array(cells.shape[1]) if schema is None else schema
    coding = TableCoding.of(schema, cells, None, max_bins)
    codes = coding.codes(cells)
    n = len(cells)
    labels = (np.arange(n) % 2).astype(np.int32)[:, None]
    low, high = coding.ranges(codes, cells)
    return CodedTable(coding, codes, labels, np.empty((n, 0)), np.array([0, 2]), low, high)


def asked(*splits: tuple[int, int, int]) -> GrownNodes:
    """Nodes with a threshold on (column, code, next code), without anything else."""
    integers = np.full((len(splits), 12), -1, np.int64)
    for node, (column, code, after) in enumerate(splits):
        integers[node, [at.QUESTION, at.COLUMN, at.CODE, at.NEXT_CODE]] = [1, column, code, after]
    return GrownNodes(
        integers, np.zeros((len(splits), 6)), np.zeros((len(splits), 2)), np.empty((0, 1), np.int8)
    )


# --- Scale of targets -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-130, 1e-5, 1.0, 1e12, 1e130])
@given(y=st.lists(st.integers(-100, 100), min_size=2, max_size=10))
def test_numbers_have_size_one_and_come_back(size: float, y: list[int]) -> None:
    targets = np.array(y, float)[:, None] * size
    scale = TargetScale.of(targets, np.ones(len(y)))
    numbers = scale.numbers(targets)
    assert np.log2(scale.unit) == round(np.log2(scale.unit))
    back = scale.offset + scale.unit * numbers
    np.testing.assert_allclose(back, targets, rtol=1e-14, atol=1e-14 * np.abs(targets).max())
    if len(set(y)) > 1:
        # The offset is off the mean by up to 2^-11.
        assert 1 - 2**-10 <= np.abs(numbers).max() < 2 + 2**-10


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), min_size=2, max_size=9))
def test_the_offset_is_near_the_weighted_mean(pairs: list[tuple[int, int]]) -> None:
    y, w = np.array(pairs, float).T
    scale = TargetScale.of(y[:, None], w)
    exact = Fraction(sum(a * b for a, b in pairs), sum(b for _, b in pairs))
    assert scale.offset[0] == pytest.approx(float(exact), abs=2**-11 * scale.unit + 1e-13)
    # Whole numbers less the offset have no rounding.
    assert all(
        scale.offset[0] + scale.unit * x == a
        for a, x in zip(y, scale.numbers(y[:, None])[:, 0], strict=True)
    )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300, -1e300, 1e-310, 1.7e308])
def test_constant_targets_are_exact(value: float) -> None:
    scale = TargetScale.of(np.full((7, 2), value), np.full(7, 0.1))
    assert scale.offset.tolist() == [value, value]
    assert not scale.numbers(np.full((7, 2), value)).any()


def test_small_differences_on_a_large_offset_keep_their_digits() -> None:
    y = 1e12 + np.array([[0.0], [1.0], [2.0], [5.0]])
    numbers = TargetScale.of(y, np.ones(4)).numbers(y)
    np.testing.assert_array_equal(np.diff(numbers, axis=0), [[0.5], [0.5], [1.5]])


@pytest.mark.parametrize(
    ("y", "power"),
    [
        ([1e300, -1e300], "1e300"),
        ([1.7e308, -1.7e308], "1e308"),
        ([1e-200, 3e-200], "1e-200"),
        ([0.0, 5e-324], "1e-32"),
    ],
)
def test_squares_that_are_no_numbers(y: list[float], power: str) -> None:
    with pytest.raises(InputError, match=f"y differs by about {power}.*other units"):
        TargetScale.of(np.array(y)[:, None], np.ones(2))


# --- Thresholds -----------------------------------------------------------------------------------


def test_a_threshold_is_halfway_between_the_cells_of_two_codes() -> None:
    table = coded(np.array([[0.0, 1.0], [1.0, 1.0], [4.0, 9.0]]))
    found = thresholds(asked((0, 0, 1), (0, 1, 2), (0, 0, 2), (1, 0, 1)), table, on_edges=False)
    assert found.tolist() == [0.5, 2.5, 2.0, 5.0]


def test_missing_against_known_has_an_infinite_threshold() -> None:
    table = coded(np.array([[0.0], [1.0]]))
    assert thresholds(asked((0, 1, -1)), table, on_edges=False).tolist() == [np.inf]


def test_cells_in_a_bin_count_not_its_edges() -> None:
    """Bins {0, 1, 2} and {10, 11, 12}: halfway between 2 and 10."""
    table = coded(np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]), max_bins=2)
    assert thresholds(asked((0, 0, 1)), table, on_edges=False).tolist() == [6.0]


@given(st.lists(st.integers(0, 40), min_size=4, max_size=12, unique=True), st.data())
def test_on_edges_the_nearest_edge_is_taken(values: list[int], data: st.DataObject) -> None:
    table = coded(np.array(values, float)[:, None])
    n = len(values)
    code = data.draw(st.integers(0, n - 2))
    after = data.draw(st.integers(code + 1, n - 1))
    edges, cells = table.coding.edges[0], np.sort(np.array(values, float))
    middle = (cells[code] + cells[after]) / 2
    found = thresholds(asked((0, code, after)), table, on_edges=True)[0]
    between = edges[code:after]
    assert found in between
    assert abs(found - middle) == np.abs(between - middle).min()
    place = edge_places(
        table, np.array([0]), np.array([code]), np.array([after]), np.array([middle])
    )
    assert edges[place[0]] == found


# --- Trees ----------------------------------------------------------------------------------------


def test_branches_of_columns_with_other_numbers_of_levels() -> None:
    """Level tables lie one after the other, each as long as its column has levels."""
    schema = Schema(
        (Column("a", Kind.NOMINAL, tuple("xyz")), Column("b", Kind.NOMINAL, tuple("uv")))
    )
    cells = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [0, 1], [1, 1]], float)
    coding = TableCoding.of(schema, cells)
    codes = coding.codes(cells)
    label = np.array([[0], [0], [1], [2], [0], [0]], np.int32)
    low, high = coding.ranges(codes, cells)
    table = CodedTable(coding, codes, label, np.empty((6, 0)), np.array([0, 3]), low, high)
    tree = tree_of(grow(table, GrowthRules("gini"), np.ones(6)), table, schema, (np.arange(3),))
    tree.check()
    assert tree.question.tolist() == [2, 0, 2, 0, 0]
    assert tree.branches(0).tolist() == [0, 0, 1]
    assert tree.branches(2).tolist() == [0, 1]
    assert tree.level_start.tolist() == [0, -1, 3, -1, -1]
    assert np.isnan(tree.threshold[[0, 2]]).all()
    assert tree.threshold[[1, 3, 4]].tolist() == [-2.0] * 3
    assert tree.value.tolist() == [[4, 1, 1], [4, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("unit", [2.0**-300, 1.0, 2.0**300])
def test_gain_and_impurity_are_in_the_units_of_the_targets(unit: float) -> None:
    cells = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([[0.0], [0.0], [4.0], [4.0]]) * unit
    scale = TargetScale.of(y, np.ones(4))
    base = coded(cells)
    table = CodedTable(
        base.coding,
        base.codes,
        np.empty((4, 0), np.int32),
        scale.numbers(y),
        np.zeros(2, np.int64),
        base.low,
        base.high,
    )
    grown = grow(table, GrowthRules("squared_error"), np.ones(4))
    tree = tree_of(grown, table, Schema.of_array(1), None, scale)
    assert tree.gain.tolist() == [16 * unit**2, 0, 0]
    assert tree.impurity.tolist() == [4 * unit**2, 0, 0]
    assert tree.value.ravel().tolist() == [2 * unit, 0, 4 * unit]
    assert tree.question.tolist() == [Question.THRESHOLD, Question.LEAF, Question.LEAF]


def test_bounded_means_stay_in_their_bounds() -> None:
    """What monotone columns forbid is cut off, in classes and in numbers."""
    numbers = np.array([[1.0, 4.0, 0.0, 0.0, 0.3, 0.6]])
    integers = np.full((1, 12), -1, np.int64)
    integers[0, at.QUESTION] = 0
    no_branches = np.empty((0, 1), np.int8)
    table = coded(np.zeros((2, 1)))
    classes = GrownNodes(integers, numbers, np.array([[1.0, 3.0]]), no_branches)
    tree = tree_of(classes, table, Schema.of_array(1), (np.arange(2),))
    np.testing.assert_allclose(tree.value, [[1.6, 2.4]])
    means = GrownNodes(integers, numbers, np.array([[4.0, 0.4]]), no_branches)
    tree = tree_of(means, table, Schema.of_array(1), None, TargetScale(np.array([10.0]), 2.0))
    np.testing.assert_allclose(tree.value, [[10.6]])
