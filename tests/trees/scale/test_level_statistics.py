"""Sums of nodes: they add up, take away and scale, and equal their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.sums import Statistics
from novum.trees.scale.frontier import LevelStep
from novum.trees.scale.growing_tree import GrowingTree
from novum.trees.scale.level_statistics import CodeRanges, LevelStatistics, PassTotals
from novum.trees.scale.pass_plan import OpenNode, step_for
from tests.trees.scale.grown_tables import coding_of, mixed_rows, parted


def root_step(classes: int) -> tuple[LevelStep, list]:
    rows = mixed_rows(90, classes=classes)
    chunks = parted(rows, 3)
    coding = coding_of(chunks)
    root = OpenNode(GrowingTree(0, coding.n_stats, 10), 0, 1, rows.n_rows)
    return step_for([root], coding, None), [rows, *chunks]


def level(step: LevelStep, rows: object) -> LevelStatistics:
    found = step((0, rows))
    assert found is not None
    return found.level


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_the_sums_of_a_node_are_those_of_their_definition(classes: int) -> None:
    step, (rows, *_) = root_step(classes)
    found, coding = level(step, rows), step.coding
    codes = coding.coding.codes(rows.cells)
    codes = np.where(codes == coding.coding.missing, coding.coding.n_codes, codes)
    for j in range(codes.shape[1]):
        start, stop = coding.offsets[j : j + 2] * coding.n_stats
        block = found.histograms[0, start:stop].reshape(-1, coding.n_stats)
        for c in range(len(block)):
            chosen = codes[:, j] == c
            w = rows.weight[chosen]
            if classes:
                expected = np.bincount(rows.targets[chosen, 0], w, classes)
            else:
                assert coding.scale is not None
                numbers = coding.scale.numbers(rows.targets[chosen])[:, 0]
                expected = np.array([w.sum(), w @ numbers])
            np.testing.assert_allclose(block[c], expected, rtol=1e-12, atol=1e-12)
    assert found.count.tolist() == [90]
    if not classes:
        assert coding.scale is not None
        numbers = coding.scale.numbers(rows.targets)[:, 0]
        assert found.square[0] == pytest.approx(rows.weight @ numbers**2)
        assert (found.least[0, 0], found.largest[0, 0]) == (numbers.min(), numbers.max())


@pytest.mark.parametrize("classes", [0, 3])
def test_sums_add_up_and_take_away(classes: int) -> None:
    step, (rows, *chunks) = root_step(classes)
    whole, parts = level(step, rows), [level(step, chunk) for chunk in chunks]
    assert isinstance(whole, Statistics)
    assert whole.isclose(parts[0] + (parts[1] + parts[2]))
    assert whole.isclose((parts[0] + parts[1]) + parts[2])
    assert (whole - parts[0]).isclose(parts[1] + parts[2])
    assert (whole + whole.zero()).isclose(whole)
    assert not whole.isclose(parts[0])
    assert whole.rows == 90.0
    assert (whole - parts[0]).rows == 60.0
    doubled = level(step, replace(rows, weight=2 * rows.weight))
    assert (2.0 * whole).isclose(doubled)
    assert not whole.isclose(doubled)


def test_differences_of_whole_weights_are_exact() -> None:
    step, (rows, *chunks) = root_step(3)
    left = level(step, rows) - level(step, chunks[0])
    right = level(step, chunks[1]) + level(step, chunks[2])
    np.testing.assert_array_equal(left.histograms, right.histograms)
    np.testing.assert_array_equal(left.count, right.count)


def test_one_node_of_several() -> None:
    step, (rows, *_) = root_step(2)
    found = level(step, rows)
    alone = found.node(0, 0)
    assert alone.isclose(replace(found, rows=90.0))
    assert found.node(0, -1).histograms.shape[0] == 0


def test_sums_of_other_nodes_do_not_add_up() -> None:
    step, (rows, *_) = root_step(2)
    found = level(step, rows)
    with pytest.raises(InputError, match="different nodes or columns"):
        found + found.node(0, -1)


def test_ranges_are_joined() -> None:
    low, high = np.array([[0.0, np.inf]]), np.array([[1.0, -np.inf]])
    a = CodeRanges(low, high, 3.0, 1.0, True, True)
    b = CodeRanges(low - 1, high + 1, 2.5, 0.5, False, False)
    both = a + b
    assert both.low.tolist() == [[-1.0, np.inf]]
    assert both.high.tolist() == [[2.0, -np.inf]]
    assert (both.weight, both.lightest, both.is_whole, both.is_unit) == (5.5, 0.5, False, False)


def test_a_pass_joins_all_that_it_brings() -> None:
    step, (_, first, second, _) = root_step(2)
    step = replace(step, whole_table=True, with_ranges=True)
    a, b = step((0, first)), step((4, second))
    assert a is not None
    assert b is not None
    both: PassTotals = a + b
    assert [part.number for part in both.parts] == [0, 4]
    assert both.level.rows == 60.0
    assert both.ranges is not None
    assert both.ranges.weight == first.weight.sum() + second.weight.sum()
