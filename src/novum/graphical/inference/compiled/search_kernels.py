"""The cheapest of several elimination orders.

By fill first; by weight where that costs little against a run; then by both with chance, until the
words of work spent on orders are a share of the cells that a run will touch. Both are counts, so
the order depends on nothing but the question.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from novum.graphical.inference.compiled.orders_kernels import (
    BY_FILL,
    BY_WEIGHT,
    greedy_order,
    order_cells,
)
from novum.numerics.jit import inner_kernel

# The second order may cost so many times the share.
SECOND = 3.0
MOST_TRIES = 40


class Order(NamedTuple):
    """An elimination order and its cliques.

    Attributes
    ----------
    rows : of each variable, its neighbors when it is eliminated, as a row of bits
    steps, place : the variables in order, and the step of each
    above, degree : of each step, that of its first neighbor to go (or -1), and how many there are
    cells : of all maximal cliques
    """

    rows: Any
    steps: Any
    place: Any
    above: Any
    degree: Any
    cells: Any


@inner_kernel(allocates=True)
def best_order(graph, logs, cards, share):
    """The best order found for a graph of bits, variables of so many states.

    There are `share` words of work for each cell of a run.
    """
    n, words = graph.shape
    half = 1
    while half < n:
        half *= 2
    tournament = np.empty(2 * half)
    touched = np.empty(words, np.uint64)
    sizes = np.empty(n)
    best_rows, rows = np.empty((n, words), np.uint64), np.empty((n, words), np.uint64)
    # Rows of these are order, places, steps above and degrees.
    best, found = np.empty((4, n), np.int64), np.empty((4, n), np.int64)
    cells = np.inf
    spent = 0
    for attempt in range(MOST_TRIES):
        if attempt > 0 and spent > (SECOND if attempt == 1 else 1.0) * share * cells:
            break
        for v in range(n):
            for w in range(words):
                rows[v, w] = graph[v, w]
        seed = np.uint64(attempt if attempt > 1 else 0)
        rule = BY_FILL if attempt % 2 == 0 else BY_WEIGHT
        spent += greedy_order(rows, logs, rule, seed, tournament, touched, found[0], found[1])
        price = order_cells(rows, cards, found[0], found[1], found[2], found[3], sizes)
        if price < cells:
            cells = price
            best_rows, rows = rows, best_rows
            best, found = found, best
    return Order(best_rows, best[0], best[1], best[2], best[3], cells)
