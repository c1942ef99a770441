"""Plans of passes: within the budget, siblings together, every wish at its place."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.trees.scale.growing_tree import GrowingTree
from novum.trees.scale.level_statistics import LevelStatistics
from novum.trees.scale.pass_plan import (
    FACTS,
    HISTOGRAM,
    ROWS,
    OpenNode,
    PassBudget,
    Siblings,
    step_for,
)
from tests.trees.scale.grown_tables import coding_of, mixed_rows

BUDGET = PassBudget(limit=1000, node_bytes=300, row_bytes=10)


def node(want: str, rows: int = 5, number: int = 0) -> OpenNode:
    return OpenNode(GrowingTree(number, 3, 10), 0, 1, rows, want=want)


def test_a_pass_takes_units_up_to_its_limit_and_one_at_least() -> None:
    units = [Siblings([node(HISTOGRAM), node(HISTOGRAM)]), Siblings([node(ROWS, 40)])]
    units += [Siblings([node(FACTS)]), Siblings([node(HISTOGRAM)])]
    assert [BUDGET.bytes(unit) for unit in units] == [600, 400, 0, 300]
    batch, others = BUDGET.batch(units)
    assert (batch, others) == (units[:3], units[3:])
    large = [Siblings([node(ROWS, 10**6)]), Siblings([node(FACTS)])]
    assert BUDGET.batch(large) == (large[:1], large[1:])


def test_rows_are_preferred_where_they_cost_little_more_than_sums() -> None:
    assert BUDGET.prefers_rows(100)
    assert not BUDGET.prefers_rows(101)
    small = PassBudget(limit=10**6, node_bytes=10, row_bytes=10)
    assert small.prefers_rows(8)
    assert not small.prefers_rows(9)


def test_a_budget_counts_partial_sums_and_bytes_of_rows() -> None:
    coding = coding_of([mixed_rows(300)])
    one, many = (PassBudget.of(coding, n, 10**6) for n in (1, 1000))
    assert one.node_bytes == 8 * coding.n_cells * 4
    assert many.node_bytes == 8 * coding.n_cells * 13
    # Four bytes of codes, a label and the weight, twice, and the engine's lists.
    assert one.row_bytes == 2 * (4 + 8 + 12) + 40
    with pytest.raises(
        MemoryLimitError, match=r"holds one node's sums by code, needs .* allow more"
    ):
        PassBudget(limit=10, node_bytes=20, row_bytes=1).require_a_node()


def test_the_heavier_child_is_derived_if_both_want_sums_and_the_parent_waits() -> None:
    coding = coding_of([mixed_rows(30)])
    parent = LevelStatistics.empty(coding.coding.schema, (1, coding.n_cells), 1, 3, 0)
    unit = Siblings([node(HISTOGRAM), node(HISTOGRAM)], parent=parent)
    unit.derive([3.0, 4.0])
    assert unit.derived is unit.members[1]
    assert unit.asked == unit.members[:1]
    unit.parent = None
    unit.derive([3.0, 4.0])
    assert unit.derived is None
    mixed = Siblings([node(HISTOGRAM), node(ROWS)], parent=parent)
    mixed.derive([3.0, 4.0])
    assert mixed.asked == mixed.members


def test_a_step_has_a_place_for_every_wish() -> None:
    coding = coding_of([mixed_rows(30)])
    asked = [node(FACTS, number=5), node(HISTOGRAM, number=2), node(ROWS, number=9)]
    step = step_for(asked, coding, None)
    assert [front.number for front in step.fronts] == [2, 5, 9]
    assert (step.n_histograms, step.n_facts) == (1, 2)
    assert [(m.facts_at, m.histogram_at, m.rows_at) for m in asked] == [
        (0, -1, -1),
        (1, 0, -1),
        (-1, -1, 0),
    ]
    places = [(f.histogram_of[0], f.facts_of[0], f.rows_of[0]) for f in step.fronts]
    assert np.array_equal(places, [(0, 1, -1), (-1, 0, -1), (-1, -1, 0)])
