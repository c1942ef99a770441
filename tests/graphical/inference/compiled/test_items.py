"""Items: the smallest that holds some variables, and their places."""

from __future__ import annotations

import numpy as np

from novum.graphical.inference.compiled.items_kernels import BAR, FOLLOWING, SIZE, add_item
from novum.graphical.inference.compiled.programs_kernels import smallest_holder

CARDS = np.array([2, 3, 4])


def test_the_smallest_item_with_all_wanted_variables_is_found() -> None:
    starts, axes = np.zeros(4, np.int64), np.empty(6, np.int64)
    items, first = np.empty((6, 3), np.int64), np.array([-1])
    n = np.int64(0)
    for scope in ([0, 1, 2], [0, 2], [1]):
        wanted = np.array(scope)
        n = add_item(n, starts, axes, CARDS, items, first, wanted, np.int64(0), np.int64(0))
    assert items[SIZE].tolist() == [24, 8, 3]
    assert items[BAR].tolist() == [-1, -1, -1]

    def holder(*wanted: int) -> int:
        found = smallest_holder(
            first, items[FOLLOWING], starts, axes, items[SIZE], items[BAR], 0, np.array(wanted)
        )
        return int(found)

    assert [holder(2), holder(1), holder(0, 1), holder(0, 1, 2)] == [1, 2, 0, 0]
    # An item whose derivative is kept anyway is taken even if it is larger.
    items[BAR, 0] = 0
    assert [holder(2), holder(1)] == [0, 0]
