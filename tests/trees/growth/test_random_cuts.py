"""Random cuts in the plain case: the trees of the general engine, from the same random numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Schema
from novum.trees.growth.conversion import TargetScale, coded_rows, table_coding, tree_of
from novum.trees.growth.growing import CodedTable, Growth, GrowthRules, PlainGrowth, is_plain
from novum.trees.training import CellRows
from tests.strategies.tree_tables import assert_same_tree

LABELS = tuple("abcd")


@st.composite
def tables(draw: st.DrawFn) -> tuple[CellRows, CodedTable, TargetScale | None, GrowthRules]:
    """A numeric table of up to 2,000 rows with one target, and rules of random cuts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, p = draw(st.sampled_from((2, 7, 60, 450, 2000))), draw(st.integers(1, 4))
    X = rng.normal(size=(n, p))
    if draw(st.booleans()):
        X = np.round(X)
    # Weights in sixteenths: their sums are exact in any order.
    weight = rng.integers(4, 48, n) / 16
    criterion = draw(st.sampled_from(("gini", "entropy", "squared_error")))
    if criterion == "squared_error":
        rows = CellRows(Schema.of_array(p), X, rng.integers(-9, 9, (n, 1)) / 4, weight, None)
    else:
        k = draw(st.integers(2, 4))
        classes = (np.array(LABELS[:k]),)
        rows = CellRows(Schema.of_array(p), X, rng.integers(0, k, (n, 1)), weight, classes)
    table, scale = coded_rows(rows, table_coding(rows, draw(st.sampled_from((4, 255)))))
    rules = GrowthRules(
        criterion,
        max_features=draw(st.integers(1, p)),
        max_depth=draw(st.sampled_from((None, 3))),
        min_leaf=draw(st.sampled_from((0.0, 4.0))),
        random_cuts=True,
    )
    return rows, table, scale, rules


@given(tables(), st.integers(0, 100))
def test_the_same_trees_as_the_general_engine(
    case: tuple[CellRows, CodedTable, TargetScale | None, GrowthRules], seed: int
) -> None:
    rows, table, scale, rules = case
    assert is_plain(table, rules)
    trees = []
    for kind in (PlainGrowth, Growth):
        rng = np.random.default_rng(seed)
        grown = kind(table, rules).planted(rows.weight, rng, None).run()
        trees.append(tree_of(grown, table, rows.schema, rows.classes, scale))
    assert_same_tree(*trees)


def test_the_plain_case_is_narrow() -> None:
    rows = CellRows(Schema.of_array(1), np.zeros((3, 1)), np.zeros((3, 1)), np.ones(3), None)
    table, _ = coded_rows(rows, table_coding(rows, 255))
    rules = GrowthRules("squared_error", random_cuts=True)
    assert is_plain(table, rules)
    for change in ({"max_thresholds": 2}, {"signs": (1,)}, {"max_leaf_nodes": 4}):
        assert not is_plain(table, replace(rules, **change))  # type: ignore[arg-type]
    holes = replace(rows, cells=np.array([[np.nan], [1.0], [2.0]]))
    table, _ = coded_rows(holes, table_coding(holes, 255))
    assert not is_plain(table, rules)


@pytest.mark.parametrize("n", [50, 5000])
def test_codes_that_no_row_has_are_passed_over(n: int) -> None:
    # A coding made for other rows, as when trees are added to a forest.
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, 1)) < 0.5, rng.random((n, 1)), 9 + rng.random((n, 1)))
    rows = CellRows(Schema.of_array(1), X, X**2, np.ones(n), None)
    wide = replace(rows, cells=np.linspace(0, 10, n)[:, None])
    table, scale = coded_rows(rows, table_coding(wide, 255))
    rules = GrowthRules("squared_error", random_cuts=True)
    found = [
        tree_of(
            kind(table, rules).planted(rows.weight, np.random.default_rng(1), None).run(),
            table,
            rows.schema,
            None,
            scale,
        )
        for kind in (PlainGrowth, Growth)
    ]
    assert_same_tree(*found)
