"""Items: the smallest that holds some variables, and their places."""

from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.items_kernels import (
    BAR,
    ITEM_ROWS,
    SIZE,
    Items,
    add_item,
    items_by_last_axis,
    smallest_holder,
)

CARDS = np.array([2, 3, 4])


def listed(*scopes: list[int]) -> Items:
    """Items of one clique."""
    n = len(scopes)
    items = Items(
        np.zeros(n + 1, np.int64), np.empty(9, np.int64), np.empty((ITEM_ROWS, n), np.int64),
        np.array([-1]), np.empty(1, np.int64), np.empty(3, np.int64),
    )  # fmt: skip
    for count, scope in enumerate(scopes):
        assert add_item(items, count, CARDS, np.array(scope), 0, 0) == count + 1
    return items


def test_the_smallest_item_with_all_wanted_variables_is_found() -> None:
    items = listed([0, 1, 2], [0, 2], [1])
    assert items.table[SIZE].tolist() == [24, 8, 3]
    assert items.table[BAR].tolist() == [-1, -1, -1]

    def holder(*wanted: int) -> int:
        return int(smallest_holder(items, BAR, 0, np.array(wanted)))

    assert [holder(2), holder(1), holder(0, 1), holder(0, 1, 2)] == [1, 2, 0, 0]
    # An item whose derivative is kept anyway is taken even if it is larger.
    items.table[BAR, 0] = 0
    assert [holder(2), holder(1)] == [0, 0]


def test_items_come_by_their_last_axis_and_then_by_size() -> None:
    items = listed([0, 1, 2], [1], [0, 1], [0], [1, 2])
    found, lasts = np.empty(5, np.int64), np.empty(5, np.int64)
    assert items_by_last_axis(items, 0, np.arange(3), found, lasts) == 5
    assert found.tolist() == [3, 1, 2, 4, 0]
    assert lasts.tolist() == [0, 1, 1, 2, 2]
