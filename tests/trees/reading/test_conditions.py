"""Conditions: against membership of single cells, and paths against the way of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind
from novum.trees.reading.conditions import (
    Condition,
    Interval,
    LevelSet,
    branch_condition,
    can_be_met,
    holds_for,
    known,
    path_box,
    path_to,
    reachable_leaves,
    whole_code,
)
from novum.trees.tree import Tree
from tests.trees.definitions_growth import row_shares
from tests.trees.reading.reading_trees import (
    RANDOM_SCHEMA,
    among,
    below,
    build,
    grid_rows,
    iris_tree,
    leaf,
    random_trees,
    weather_tree,
)

ends = st.sampled_from([-math.inf, 0.0, 1.0, 2.0, 3.0, math.inf])
intervals = st.builds(Interval, ends, ends, st.booleans())
level_sets = st.builds(
    lambda codes, missing: LevelSet(tuple(sorted(codes)), 4, missing),
    st.sets(st.integers(0, 3)),
    st.booleans(),
)
pairs = st.one_of(st.tuples(intervals, intervals), st.tuples(level_sets, level_sets))
CELLS = np.array([-1e300, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1e300, np.nan])


@given(pairs)
def test_intersection_and_union_are_those_of_the_cells(pair: tuple[Condition, Condition]) -> None:
    one, other = pair
    np.testing.assert_array_equal((one & other).holds(CELLS), one.holds(CELLS) & other.holds(CELLS))
    both = one.united(other)
    # An interval without values may lie anywhere; rules never have one.
    if both is not None and one.has_values and other.has_values:
        np.testing.assert_array_equal(both.holds(CELLS), one.holds(CELLS) | other.holds(CELLS))


@given(intervals)
def test_distance_is_zero_exactly_inside(interval: Interval) -> None:
    for x in CELLS[:-1]:
        inside = interval.low <= x <= interval.high
        assert (interval.distance(float(x)) == 0) == inside


def test_intervals_that_do_not_touch_make_no_interval() -> None:
    assert Interval(high=1.0).united(Interval(low=2.0)) is None
    assert Interval(high=1.0).united(Interval(low=1.0, missing=True)) == Interval(missing=True)


@pytest.mark.parametrize(
    ("threshold", "code"),
    [(-0.5, -math.inf), (0.0, 0.0), (0.5, 0.0), (1.9, 1.0), (2.0, math.inf), (9e300, math.inf)],
)
def test_thresholds_of_ordinals_are_whole_codes(threshold: float, code: float) -> None:
    assert whole_code(Column("size", Kind.ORDINAL, ("S", "M", "L")), threshold) == code


def test_a_branch_knows_its_levels_and_whether_it_takes_missing_cells() -> None:
    tree = build(RANDOM_SCHEMA, [["x", "y"]], among(2, [0, -1, 1, 1], leaf(1, 0), leaf(0, 1)))
    assert branch_condition(tree, 0, 1) == LevelSet((2, 3), 4)
    assert branch_condition(iris_tree(), 2, 1) == Interval(low=1.75, missing=True)
    assert known(Interval(low=1.75, missing=True)) == Interval(low=1.75)


def test_a_path_has_one_condition_for_each_column() -> None:
    tree = iris_tree()
    box = path_box(tree, 5)
    assert box == {1: Interval(0.8, 1.75), 2: Interval(high=1.0)}
    assert path_to(tree, 5) == [0, 2, 3, 5]


@given(random_trees())
def test_boxes_hold_exactly_the_rows_that_arrive_whole(tree: Tree) -> None:
    rows = grid_rows()[::7]
    met = {
        leaf: holds_for(path_box(tree, leaf), rows) for leaf in tree.walk() if tree.is_leaf(leaf)
    }
    for i, row in enumerate(rows):
        arrives = [node for node, share in row_shares(tree, row).items() if share == 1]
        assert [leaf for leaf in met if met[leaf][i]] == [n for n in arrives if tree.is_leaf(n)]


@given(random_trees(), st.integers(0, 4))
def test_no_row_of_a_box_leaves_the_reachable_leaves(tree: Tree, column: int) -> None:
    free = {j: c for j, c in path_box(tree, tree.n_nodes - 1).items() if j != column}
    reach = set(reachable_leaves(tree, free))
    rows = grid_rows()[::11]
    for row in rows[holds_for(free, rows)]:
        assert {n for n, share in row_shares(tree, row).items() if tree.is_leaf(n)} <= reach


def test_a_missing_cell_reaches_every_branch() -> None:
    nothing = LevelSet((), 3, missing=True)
    assert can_be_met(nothing)
    assert reachable_leaves(weather_tree(), {0: nothing}) == [1, 4, 5, 6, 7]
    directed = build(
        RANDOM_SCHEMA, [["x", "y"]], below(0, 1.0, leaf(1, 0), leaf(0, 1), missing_branch=1)
    )
    assert reachable_leaves(directed, {0: Interval(math.inf, -math.inf, missing=True)}) == [2]
