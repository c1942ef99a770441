"""The step of a pass: rows reach the nodes that routing says, with their shares and draws."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth import growing_columns as at
from novum.trees.growth.growing import GrowthRules
from novum.trees.routing import route
from novum.trees.scale.frontier import Bootstrap, ChunkCoding, LevelStep, TreeFront
from novum.trees.scale.growing_tree import GrowingTree
from novum.trees.scale.level_growing import grow_trees
from novum.trees.scale.pass_plan import FACTS, OpenNode, step_for
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable
from tests.trees.scale.grown_tables import (
    as_it_is,
    coding_of,
    mixed_rows,
    parted,
    rows_of,
    task_of,
    trees_of,
)


@given(
    table=training_tables(max_rows=25), missing=st.sampled_from(["fractional", "direction", "auto"])
)
def test_rows_arrive_where_routing_sends_them(table: TrainingTable, missing: str) -> None:
    rows = rows_of(table)
    task = task_of(rows, GrowthRules("gini", missing=missing))
    grown = grow_trees(task)
    (tree,) = trees_of(task, grown)
    integers = grown.trees[0].integers
    asked = [at.QUESTION, at.COLUMN, at.CODE, at.CHILD, at.MISSING_BRANCH, at.LEVEL_AT]
    branches = grown.trees[0].branches
    if len(branches) == 0:
        branches = np.full((1, 1), -1, np.int8)
    number = np.arange(len(integers))
    front = TreeFront(
        0,
        np.ascontiguousarray(integers[:, asked].T),
        grown.trees[0].numbers[:, at.SHARE].copy(),
        branches,
        number,
        number,
        np.full(len(integers), -1, np.int64),
    )
    coding = task.coding.coding
    found = front.entries(coding.codes(rows.cells), rows.weight, coding.missing)
    reached = np.zeros((rows.n_rows, tree.n_nodes))
    np.add.at(reached, (found[0], found[1]), found[2])
    expected = route(tree, rows.cells).toarray() * rows.weight[:, np.newaxis]
    expected[:, tree.question != 0] = 0.0
    np.testing.assert_allclose(reached, expected, rtol=1e-12, atol=1e-15)


def test_a_chunk_without_rows_that_count_is_none() -> None:
    rows = mixed_rows(20)
    coding = replace(coding_of([rows]), factors=(np.zeros(3),))
    assert LevelStep(coding)((0, rows)) is None
    reader: Any = lambda _: None  # noqa: E731
    assert LevelStep(replace(coding, reader=reader))((0, rows)) is None


def test_class_weights_multiply_and_drop_rows() -> None:
    rows = mixed_rows(60)
    factors = np.array([2.0, 0.0, 0.5])
    coded = replace(coding_of([rows]), factors=(factors,)).coded(rows)
    assert coded is not None
    kept = rows.targets[:, 0] != 1
    np.testing.assert_array_equal(coded.weight, (rows.weight * factors[rows.targets[:, 0]])[kept])
    np.testing.assert_array_equal(coded.labels, rows.targets[kept])


def test_missing_cells_are_replaced_before_they_are_coded() -> None:
    rows = mixed_rows(60)
    replacements = np.array([1.0, 2.0, 3.0, 4.0])
    coding = replace(coding_of([rows]), replacements=replacements)
    coded = coding.coded(rows)
    assert coded is not None
    expected = np.where(np.isnan(rows.cells), replacements, rows.cells)
    np.testing.assert_array_equal(coded.cells, expected)
    assert not (coded.codes == coding.coding.missing).any()


def test_ranges_know_the_weights() -> None:
    rows = mixed_rows(40)
    step = LevelStep(coding_of([rows]), with_ranges=True)
    found = step((0, rows))
    assert found is not None
    assert found.ranges is not None
    assert found.ranges.weight == rows.weight.sum()
    assert (found.ranges.lightest, found.ranges.is_whole, found.ranges.is_unit) == (1, True, False)
    half = step((0, replace(rows, weight=rows.weight / 2)))
    assert half is not None
    assert half.ranges is not None
    assert not half.ranges.is_whole
    unit = step((0, replace(rows, weight=np.ones(40))))
    assert unit is not None
    assert unit.ranges is not None
    assert unit.ranges.is_unit


# --- Draws ----------------------------------------------------------------------------------------


def test_draws_depend_on_tree_and_chunk_alone() -> None:
    bootstrap, weight = Bootstrap(np.random.SeedSequence(1)), np.ones(50)
    first = bootstrap.counts(3, 4, weight)
    np.testing.assert_array_equal(first, Bootstrap(np.random.SeedSequence(1)).counts(3, 4, weight))
    for tree, chunk in ((3, 5), (4, 4)):
        assert not np.array_equal(first, bootstrap.counts(tree, chunk, weight))


def test_a_row_is_drawn_in_proportion_to_its_weight() -> None:
    weight = np.repeat([0.5, 1.0, 4.0], 40_000)
    counts = Bootstrap(np.random.SeedSequence(2), 0.5).counts(0, 0, weight)
    for w in (0.5, 1.0, 4.0):
        drawn = counts[weight == w]
        # A Poisson number has variance equal to its mean; five standard errors of 40,000 draws.
        assert drawn.mean() == pytest.approx(0.5 * w, abs=5 * np.sqrt(0.5 * w / 40_000))
        assert drawn.var() == pytest.approx(0.5 * w, rel=0.1)


def test_a_step_sums_the_rows_that_its_tree_drew() -> None:
    rows = replace(mixed_rows(80), weight=np.ones(80))
    coding = coding_of([rows])
    bootstrap = Bootstrap(np.random.SeedSequence(5))
    root = OpenNode(GrowingTree(2, coding.n_stats, 10), 0, 1, 80, want=FACTS)
    found = step_for([root], coding, bootstrap)((7, rows))
    assert found is not None
    counts = bootstrap.counts(2, 7, rows.weight)
    assert found.level.sums[0].tolist() == np.bincount(rows.targets[:, 0], counts, 3).tolist()
    assert found.level.count[0] == (counts > 0).sum()


def test_a_step_travels() -> None:
    rows = mixed_rows(30)
    step = LevelStep(coding_of(parted(rows, 2)), whole_table=True, with_ranges=True)
    again = pickle.loads(pickle.dumps(step))
    a, b = step((0, rows)), again((0, rows))
    assert a.parts[0].codes.tobytes() == b.parts[0].codes.tobytes()
    assert isinstance(again.coding, ChunkCoding)
    assert again.coding.reader is as_it_is
