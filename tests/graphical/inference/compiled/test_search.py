"""The search among orders: never worse than its first one, and the same every time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.graphical.inference.compiled.orders_kernels import (
    BY_FILL,
    best_order,
    greedy_order,
    order_cells,
)


def random_rows(seed: int, n: int, degree: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    near = np.triu(rng.random((n, n)) < degree / n, 1)
    near |= near.T
    bits = np.zeros((n, 64 * ((n + 63) // 64)), np.uint8)
    bits[:, :n] = near
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_is_at_least_as_good_as_the_first_order(seed: int) -> None:
    n = 40
    graph, logs, cards = random_rows(seed, n, 5.0), np.ones(n), np.full(n, 2)
    rows = graph.copy()
    order, place = np.empty(n, np.int64), np.empty(n, np.int64)
    greedy_order(
        rows, logs, BY_FILL, np.uint64(0), np.empty(128), np.empty(1, np.uint64), order, place
    )
    above, degree = np.empty(n, np.int64), np.empty(n, np.int64)
    first = order_cells(rows, cards, order, place, above, degree, np.empty(n))
    found = best_order(graph, logs, cards, 0.1)
    assert found.cells <= first
    np.testing.assert_array_equal(found.steps, best_order(graph, logs, cards, 0.1).steps)


def test_nothing_to_order() -> None:
    nothing = np.empty(0, np.int64)
    assert best_order(np.zeros((0, 0), np.uint64), np.empty(0), nothing, 0.1).cells == 0.0
