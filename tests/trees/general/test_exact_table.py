"""Entries of nodes: orders stay sorted when dealt to children, and sums are the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.general.exact_table import Entries, ExactTable, NodeSums
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.rules import GeneralRules
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions import TrainingTable, node_impurity
from tests.trees.definitions_growth import node_value

criteria = {"classes": ("gini", "entropy"), "numbers": ("squared_error", "absolute_error")}


def exact(table: TrainingTable, ranked: bool = True) -> ExactTable:
    return ExactTable.of(
        table.cells, table.targets, table.weight, table.schema, table.classes, ranked
    )


def by_hand(
    entries: Entries, branch: np.ndarray, share: np.ndarray
) -> list[list[tuple[int, float]]]:
    found: list[list[tuple[int, float]]] = [[] for _ in share]
    for row, weight, where in zip(entries.rows, entries.weight, branch, strict=True):
        for b in range(len(share)):
            if where == b:
                found[b].append((int(row), float(weight)))
            elif where < 0 and share[b] > 0:
                found[b].append((int(row), float(weight * share[b])))
    return found


@given(training_tables(max_targets=2), st.data())
def test_children_get_their_rows_and_sorted_orders(
    table: TrainingTable, data: st.DataObject
) -> None:
    whole = exact(table)
    root = Entries.of(whole)
    n = len(table.weight)
    branch = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)), np.int32)
    share = np.bincount(branch[branch >= 0], minlength=3) / max((branch >= 0).sum(), 1)
    children = root.children(branch, share)
    for child, expected in zip(children, by_hand(root, branch, share), strict=True):
        pairs = zip(child.rows.tolist(), child.weight.tolist(), strict=True)
        assert sorted(pairs) == sorted(expected)
        assert child.order.shape == (len(whole.values), len(expected))
        for values, order in zip(whole.values, child.order, strict=True):
            assert sorted(order.tolist()) == list(range(len(expected)))
            along = values[child.rows[order]]
            known = along[~np.isnan(along)]
            assert (np.diff(known) >= 0).all()
            assert np.isnan(along[len(known) :]).all()


@given(st.sampled_from(("classes", "numbers")), st.data())
def test_sums_of_a_node_are_the_definitions(kind: str, data: st.DataObject) -> None:
    table = data.draw(training_tables(target=kind, max_targets=2))
    criterion = data.draw(st.sampled_from(criteria[kind]))
    rules = GeneralRules(criterion)
    whole = exact(table, ranked=criterion == "absolute_error")
    sums = NodeSums.of(whole, Entries.of(whole), rules)
    everything = table.entries()
    np.testing.assert_allclose(sums.value, node_value(table, everything, criterion), atol=1e-12)
    assert sums.impurity == pytest.approx(node_impurity(table, everything, criterion), abs=1e-9)
    assert sums.weight == pytest.approx(table.weight.sum())
    assert sums.pure == (len({tuple(row) for row in table.targets.tolist()}) == 1)
    if kind == "numbers" and criterion == "squared_error":
        # Sums are of deviations from the mean.
        np.testing.assert_allclose(sums.total[:-1], 0.0, atol=1e-9)


def test_c45_overlooks_the_dust_of_fractions() -> None:
    table = TrainingTable(
        schema=Schema.of_array(1),
        cells=np.zeros((2, 1)),
        targets=np.array([[0], [1]]),
        weight=np.array([5.0, 1e-9]),
        classes=(np.arange(2),),
    )
    whole = exact(table)
    assert NodeSums.of(whole, Entries.of(whole), GeneralRules(GainRatio())).pure
    assert not NodeSums.of(whole, Entries.of(whole), GeneralRules("entropy")).pure


def test_columns_find_their_places() -> None:
    schema = Schema(
        (
            Column("a", Kind.NOMINAL, ("x", "y")),
            Column("b"),
            Column("c", Kind.ORDINAL, ("low", "high")),
            Column("d", Kind.NOMINAL, ("p", "q", "r")),
        )
    )
    cells = np.array([[0.0, 5.0, 1.0, -2.0]])
    table = ExactTable.of(cells, np.zeros((1, 1)), np.ones(1), schema, None, False)
    assert table.ordered.tolist() == [1, 2]
    assert table.place.tolist() == [0, 0, 1, 1]
    assert table.n_levels.tolist() == [2, 0, 0, 3]
    assert table.values.tolist() == [[5.0], [1.0]]
    assert table.levels[0, 0] == 0.0
    assert np.isnan(table.levels[1, 0])
