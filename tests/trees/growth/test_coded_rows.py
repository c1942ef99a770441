"""Rows as the engine reads them: classes counted through, scaled numbers, weights in the bins."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.tables import Schema
from novum.trees.growth.conversion import coded_rows, coded_table, table_coding
from novum.trees.training import CellRows


def rows_of(
    x: np.ndarray, targets: np.ndarray, weight: np.ndarray, *, n_classes: tuple[int, ...] = ()
) -> CellRows:
    classes = tuple(np.arange(k) for k in n_classes) or None
    return CellRows(Schema.of_array(1), x[:, None], targets, weight, classes)


def test_classes_of_several_targets_are_counted_through() -> None:
    targets = np.array([[0, 1], [2, 0], [1, 1]])
    rows = rows_of(np.array([5.0, np.nan, 7.0]), targets, np.ones(3), n_classes=(3, 2))
    table, scale = coded_table(rows, 255)
    assert scale is None
    assert table.labels.tolist() == [[0, 4], [2, 3], [1, 4]]
    assert table.target_start.tolist() == [0, 3, 5]
    assert table.n_stats == 5
    assert table.codes.ravel().tolist() == [0, 255, 1]
    assert table.any_missing
    assert (table.low[0, :2].tolist(), table.high[0, :2].tolist()) == ([5.0, 7.0], [5.0, 7.0])
    assert table.numbers.shape == (3, 0)


def test_numbers_are_centered_and_scaled() -> None:
    y = np.array([[100.0], [104.0], [108.0]])
    table, scale = coded_table(rows_of(np.arange(3.0), y, np.ones(3)), 255)
    assert scale is not None
    assert scale.offset.tolist() == [104.0]
    np.testing.assert_allclose(scale.offset + scale.unit * table.numbers, y)
    assert table.n_stats == 2
    assert table.labels.shape == (3, 0)
    assert not table.any_missing


@pytest.mark.parametrize("amount", [1.0, 0.1, 3.0])
def test_equal_weights_are_as_good_as_none(amount: float) -> None:
    x = np.random.default_rng(0).normal(size=2000)
    one, other = (
        table_coding(rows_of(x, np.zeros((2000, 1)), np.full(2000, w)), 16) for w in (1.0, amount)
    )
    assert one.edges[0].tolist() == other.edges[0].tolist()


def test_a_given_coding_is_kept() -> None:
    """New rows in the coding of others: beyond its values they take the outer codes."""
    rows = rows_of(np.array([1.0, 2.0, 3.0]), np.zeros((3, 1)), np.ones(3))
    coding = table_coding(rows, 255)
    new = rows_of(np.array([-5.0, 2.4, 9.0]), np.ones((3, 1)), np.ones(3))
    table, _ = coded_rows(new, coding)
    assert table.coding is coding
    assert table.codes.ravel().tolist() == [0, 1, 2]
