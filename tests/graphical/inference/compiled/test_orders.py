"""Elimination orders on bit sets against sets of neighbors, and prices against their definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.graphical.inference.compiled.orders_kernels import (
    BY_FILL,
    BY_WEIGHT,
    best_order,
    extent,
    price,
)

seeds = st.integers(0, 10**6)


def random_graph(seed: int, most: int = 80) -> tuple[np.ndarray, list[set[int]], np.ndarray]:
    """Rows of bits, the same as sets, and numbers of states."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in itertools.combinations(range(n), 2):
        if rng.random() < 3 / n:
            near[a].add(b)
            near[b].add(a)
    rows = np.zeros((n, (n + 63) // 64), np.uint64)
    for v, others in enumerate(near):
        for other in others:
            rows[v, other >> 6] |= np.uint64(1 << (other & 63))
    return rows, near, rng.integers(2, 5, n)


def test_words_of_a_row_that_have_bits() -> None:
    rows = {(): (0, 0), (1,): (1, 2), (0, 2): (0, 3), (2, 3): (2, 4)}
    for words, found in rows.items():
        row = np.zeros(4, np.uint64)
        row[list(words)] = 5
        first, last = extent(row)
        assert first == last if not words else (first, last) == found


@given(seeds)
def test_price_is_its_definition(seed: int) -> None:
    rows, near, cards = random_graph(seed)
    logs = np.log2(cards)
    variable = seed % len(near)
    pairs = itertools.combinations(sorted(near[variable]), 2)
    fill = sum(b not in near[a] for a, b in pairs)
    weight = logs[variable] + sum(logs[v] for v in near[variable])
    assert price(rows, logs, variable, BY_FILL, 0.0)[0] == pytest.approx(fill + 1e-6 * weight)
    assert price(rows, logs, variable, BY_WEIGHT, 0.0)[0] == pytest.approx(weight + 1e-6 * fill)


@given(seeds)
def test_cliques_are_those_of_the_order(seed: int) -> None:
    graph, near, cards = random_graph(seed)
    rows, order, place, above, degree, cells = best_order(graph, np.log2(cards), cards, 0.1)
    assert sorted(order.tolist()) == list(range(len(near)))
    np.testing.assert_array_equal(place[order], np.arange(len(near)))
    left = [set(others) for others in near]
    cliques = []
    for step, v in enumerate(order.tolist()):
        others = left[v]
        for a in others:
            left[a] |= others - {a}
            left[a].discard(v)
        bits = {w for w in range(len(near)) if int(rows[v, w >> 6]) >> (w & 63) & 1}
        assert bits == others
        assert degree[step] == len(others)
        assert above[step] == min((place[a] for a in others), default=-1)
        cliques.append(others | {v})
    largest = [c for c in cliques if not any(c < other for other in cliques)]
    unique = {frozenset(c) for c in largest}
    total = sum(math.prod(int(cards[v]) for v in clique) for clique in unique)
    # Sums of whole numbers this small are exact.
    assert cells == total


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_chordal_graphs_get_no_new_edges(seed: int) -> None:
    # Each vertex is joined to a clique of earlier ones: eliminating backwards adds nothing.
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 70))
    rows = np.zeros((n, (n + 63) // 64), np.uint64)
    cliques = [{0}]
    edges = 0
    for v in range(1, n):
        base = sorted(cliques[rng.integers(len(cliques))])[: int(rng.integers(1, 4))]
        cliques.append({v, *base})
        edges += len(base)
        for other in base:
            rows[v, other >> 6] |= np.uint64(1 << (other & 63))
            rows[other, v >> 6] |= np.uint64(1 << (v & 63))
    degree = best_order(rows, np.ones(n), np.full(n, 2), 0.1).degree
    assert degree.sum() == edges
