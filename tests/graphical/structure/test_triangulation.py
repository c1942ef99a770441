"""Elimination orders: prices kept up to date, cliques by definition, known widths."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.graphical.structure.triangulation import (
    _Elimination,
    best_order,
    greedy_order,
    interaction_graph,
)

Graph = list[set[int]]


def random_graph(seed: int, n: int = 9, share: float = 0.35) -> Graph:
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < share]
    return interaction_graph(pairs, n)


def open_pairs(left: Graph, variable: int) -> int:
    pairs = itertools.combinations(left[variable], 2)
    return sum(b not in left[a] for a, b in pairs)


@given(st.integers(0, 5000), st.permutations(range(9)))
def test_prices_stay_those_of_the_graph(seed: int, order: list[int]) -> None:
    cards = np.random.default_rng(seed).integers(1, 5, 9).tolist()
    state = _Elimination(random_graph(seed), cards)
    left = set(range(9))
    for variable in order:
        for other in left:
            assert state.fill[other] == open_pairs(state.left, other)
            weight = math.log(cards[other]) + sum(math.log(cards[v]) for v in state.left[other])
            assert state.weight[other] == pytest.approx(weight, abs=1e-12)
        before = {v: (state.fill[v], state.weight[v]) for v in left - {variable}}
        touched = state.eliminate(variable)
        left.discard(variable)
        changed = {v for v in left if before[v] != (state.fill[v], state.weight[v])}
        assert changed <= touched


def cliques_by_definition(near: Graph, order: tuple[int, ...]) -> list[frozenset[int]]:
    left = [set(found) for found in near]
    found = []
    for variable in order:
        found.append(frozenset({variable, *left[variable]}))
        for a, b in itertools.permutations(left[variable], 2):
            left[a].add(b)
        for other in left[variable]:
            left[other].discard(variable)
        left[variable] = set()
    return found


@given(st.integers(0, 5000), st.sampled_from(["fill", "weight"]), st.booleans())
def test_cliques_and_sizes_are_those_of_the_order(seed: int, rule: str, random: bool) -> None:
    near = random_graph(seed)
    cards = np.random.default_rng(seed).integers(1, 5, 9).tolist()
    rng = np.random.default_rng(seed) if random else None
    late = [seed % 9, (seed + 4) % 9]
    order = greedy_order(near, cards, range(9), rule, late, rng)  # type: ignore[arg-type]
    assert sorted(order.variables) == list(range(9))
    assert set(order.variables[-2:]) == set(late)
    wanted = cliques_by_definition(near, order.variables)
    assert list(order.cliques) == wanted
    maximal = {c for c in wanted if not any(c < other for other in wanted)}
    sizes = [math.prod(cards[v] for v in c) for c in maximal]
    assert order.largest == max(math.prod(cards[v] for v in c) for c in wanted)
    assert order.cells == sum(sizes)
    assert order.width == max(map(len, wanted)) - 1


def test_known_widths() -> None:
    def width(pairs: list[tuple[int, ...]], n: int) -> int:
        return best_order(interaction_graph(pairs, n), [2] * n, range(n), restarts=2).width

    assert width([(i, i + 1) for i in range(9)], 10) == 1
    assert width([(i, (i + 1) % 10) for i in range(10)], 10) == 2
    assert width(list(itertools.combinations(range(6), 2)), 6) == 5
    assert width([], 3) == 0
    grid = [(5 * r + c, 5 * r + c + 1) for r in range(5) for c in range(4)]
    grid += [(5 * r + c, 5 * r + c + 5) for r in range(4) for c in range(5)]
    assert width(grid, 25) == 5


def test_the_best_of_all_orders_is_not_far() -> None:
    for seed in range(20):
        near = random_graph(seed, 6, 0.5)
        cards = [2, 3, 2, 4, 2, 3]
        best = min(
            max(math.prod(cards[v] for v in c) for c in cliques_by_definition(near, order))
            for order in itertools.permutations(range(6))
        )
        assert best_order(near, cards, range(6), restarts=5).largest <= 2 * best


@pytest.mark.slow
def test_hubs_and_long_chains_take_no_quadratic_time() -> None:
    # Each would take minutes if the price of a hub were computed anew for each of its leaves.
    n = 20_000
    hub = [(0, i) for i in range(1, n)]
    fan = [(0, i, i + 1) for i in range(1, n - 1)]
    chain = [(i, i + 1) for i in range(n - 1)]
    for pairs, width in ((hub, 1), (fan, 2), (chain, 1)):
        assert best_order(interaction_graph(pairs, n), [2] * n, range(n)).width == width


def test_the_same_graph_gives_the_same_order() -> None:
    near = random_graph(5)
    first = best_order(near, [2] * 9, range(9), restarts=3)
    assert best_order(near, [2] * 9, range(9), restarts=3) == first
    assert near == random_graph(5)


@pytest.mark.slow
def test_some_variables_only_and_sizes_beyond_any_memory() -> None:
    near = interaction_graph([(0, 1, 2)], 3)
    order = greedy_order(near, [2, 2, 2], [0])
    assert order.variables == (0,)
    assert order.cliques == (frozenset({0, 1, 2}),)
    full = interaction_graph([tuple(range(300))], 300)
    assert best_order(full, [1000] * 300, range(300)).largest == 2.0**200
