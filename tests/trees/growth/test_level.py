"""Divisions of levels: against all sets of levels, in any order of the levels, at any weight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR
from novum.trees.growth.search_kernels import (
    MOST_LISTED,
    divide_pairs,
    divide_sums,
    mark_head,
    sort_by_key,
)
from tests.trees import node_sums as by_hand
from tests.trees.node_sums import TIE

seeds = st.integers(0, 10**6)


def divided(
    table: by_hand.Floats,
    criterion: int,
    sizes: tuple[int, ...],
    *,
    single: bool = False,
    least: float = 0.0,
    floor: float = -1.0,
    begin: by_hand.Floats | None = None,
    closed: np.ndarray | None = None,
    tie: float = TIE,
    as_pairs: bool = False,
) -> tuple[float, int, np.ndarray]:
    """(gain, branch of the head, branch of each level)."""
    n_codes, n_stats = table.shape
    starts = by_hand.starts_of(criterion, sizes)
    levels = by_hand.present_codes(table, criterion, starts)
    begin = np.zeros(n_stats) if begin is None else begin
    whole = begin + table[levels].sum(axis=0)
    closed = np.zeros(n_codes + 1, bool) if closed is None else closed
    branch, key = np.full(n_codes, 7, np.int8), np.full(n_codes, np.nan)
    order = np.full(n_codes, -1)
    scratch = np.zeros((6, n_stats))
    search = (levels, order, closed, key, branch, scratch)
    shared = (begin, whole, least, tie, floor, search)
    sums = table.ravel().copy()
    if as_pairs:
        classes = criterion == GINI
        found = divide_pairs(sums, len(levels), single, classes, *shared)
    else:
        found = divide_sums(sums, len(levels), single, starts, criterion, *shared)
        assert not scratch[2:].any()
    assert sums.tolist() == table.ravel().tolist()
    return found[0], int(found[1]), branch


def set_of(branch: np.ndarray) -> frozenset[int]:
    return frozenset(np.flatnonzero(branch == 0).tolist())


# --- Order and marks ------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, -1.0, np.inf]), max_size=40), seeds)
def test_sorting_by_key_then_code(keys: list[float], seed: int) -> None:
    codes = np.random.default_rng(seed).permutation(len(keys))
    sort_by_key(codes, np.array(keys), len(keys))
    assert codes.tolist() == sorted(range(len(keys)), key=lambda code: (keys[code], code))


@pytest.mark.parametrize("kind", ["random", "falling", "equal", "rising"])
def test_sorting_many_levels(kind: str) -> None:
    """65,536 levels, the most there are: the search must not be quadratic in them."""
    n = 2**16
    rng = np.random.default_rng(0)
    key = {"random": rng.random(n), "falling": -np.arange(n, dtype=float), "equal": np.ones(n)}.get(
        kind, np.arange(n, dtype=float)
    )
    order = np.arange(n)
    sort_by_key(order, key, n)
    np.testing.assert_array_equal(order, np.argsort(key, kind="stable"))


@given(st.permutations(range(2, 7)), st.integers(0, 3))
def test_the_set_with_the_lowest_level_is_branch_0(order: list[int], place: int) -> None:
    branch = np.full(9, 7, np.int8)
    mark_head(np.array([*order, 0]), 5, place, branch)
    head = set(order[: place + 1])
    low = head if min(order) in head else set(order) - head
    expected = [-1 if code not in order else int(code not in low) for code in range(9)]
    assert branch.tolist() == expected


# --- Divisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    ("criterion", "sizes"),
    [(GINI, (2,)), (GINI, (3,)), (ENTROPY, (2,)), (ENTROPY, (2, 3)), (SQUARED_ERROR, (1, 1))],
)
@given(seed=seeds)
def test_few_levels_are_tried_in_all_ways(
    criterion: int, sizes: tuple[int, ...], single: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = by_hand.random_table(rng, MOST_LISTED, criterion, sizes, n_rows=14)
    starts = by_hand.starts_of(criterion, sizes)
    levels = by_hand.present_codes(table, criterion, starts)
    ways = by_hand.divisions(table, levels, criterion, starts, single=single)
    gain, head, branch = divided(table, criterion, sizes, single=single)
    if len(levels) < 2:
        assert (gain, head) == (-1.0, -1)
        return
    assert gain == pytest.approx(max(ways.values()), abs=1e-9)
    assert ways[set_of(branch)] == pytest.approx(gain, abs=1e-9)
    assert head in (0, 1)
    assert (branch >= 0).tolist() == [code in levels for code in range(MOST_LISTED)]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("criterion", "sizes"), [(GINI, (2,)), (SQUARED_ERROR, (1,))])
@given(seed=seeds)
def test_one_order_of_the_levels_has_the_best_set(
    criterion: int, sizes: tuple[int, ...], single: bool, seed: int
) -> None:
    """Two classes or one number: a head of the levels by rate is the best of all sets."""
    rng = np.random.default_rng(seed)
    table = by_hand.random_table(rng, 8, criterion, sizes, n_rows=20)
    starts = by_hand.starts_of(criterion, sizes)
    levels = by_hand.present_codes(table, criterion, starts)
    ways = by_hand.divisions(table, levels, criterion, starts, single=single)
    gain, _, branch = divided(table, criterion, sizes, single=single, as_pairs=True)
    assert gain == pytest.approx(max(ways.values()), abs=1e-9)
    assert ways[set_of(branch)] == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize(("criterion", "sizes"), [(GINI, (3,)), (ENTROPY, (4,))])
@given(seed=seeds)
def test_many_levels_are_cut_in_the_orders_of_all_classes(
    criterion: int, sizes: tuple[int, ...], seed: int
) -> None:
    table = by_hand.random_table(
        np.random.default_rng(seed), 11, criterion, sizes, n_rows=40, empty=False
    )
    starts = by_hand.starts_of(criterion, sizes)
    gain, _, branch = divided(table, criterion, sizes)
    whole, best = table.sum(axis=0), -1.0
    for k in range(table.shape[1]):
        order = np.argsort(table[:, k] / table.sum(axis=1), kind="stable")
        best = max(best, by_hand.first_best(by_hand.cuts(table, order, criterion, starts))[0])
    assert gain == pytest.approx(best, abs=1e-9)
    own = by_hand.gain(table[branch == 0].sum(axis=0), whole, criterion, starts)
    assert own == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("as_pairs", [True, False])
@given(seed=seeds)
def test_missing_rows_go_with_the_head(as_pairs: bool, seed: int) -> None:
    """The gain is that of the set of the head with the missing rows, in whichever branch it is."""
    rng = np.random.default_rng(seed)
    table = by_hand.random_table(rng, 5, GINI, (2,), empty=False)
    begin = by_hand.random_table(rng, 1, GINI, (2,), n_rows=5)[0]
    starts = by_hand.starts_of(GINI, (2,))
    gain, head, branch = divided(table, GINI, (2,), begin=begin, as_pairs=as_pairs)
    side = begin + table[branch == head].sum(axis=0)
    expected = by_hand.gain(side, begin + table.sum(axis=0), GINI, starts)
    assert gain == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("as_pairs", [True, False])
@pytest.mark.parametrize("single", [True, False])
def test_a_floor_must_be_beaten(single: bool, as_pairs: bool) -> None:
    table = np.array([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
    more = {"single": single, "as_pairs": as_pairs}
    best, head, _ = divided(table, GINI, (2,), **more)
    assert head >= 0
    assert divided(table, GINI, (2,), floor=best - 1e-3, **more)[0] == best
    assert divided(table, GINI, (2,), floor=best, **more)[:2] == (best, -1)


@pytest.mark.parametrize("as_pairs", [True, False])
def test_a_least_weight_and_closed_levels(as_pairs: bool) -> None:
    table = np.array([[1.0, 0.0], [0.0, 5.0], [2.0, 2.0]])
    more = {"single": True, "as_pairs": as_pairs}
    assert set_of(divided(table, GINI, (2,), least=4.5, **more)[2]) == {0, 2}
    assert divided(table, GINI, (2,), least=5.5, **more)[1] == -1
    closed = np.array([False, True, False, False])
    assert set_of(divided(table, GINI, (2,), closed=closed, **more)[2]) == {0}


@pytest.mark.parametrize("as_pairs", [True, False])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e20])
def test_divisions_without_gain_count_at_any_weight(
    scale: float, single: bool, as_pairs: bool
) -> None:
    table = np.full((2, 2), scale)
    gain, head, branch = divided(
        table, GINI, (2,), single=single, tie=1e-10 * scale, as_pairs=as_pairs
    )
    assert head >= 0
    assert 0 <= gain <= 1e-12 * scale
    assert branch.tolist() == [0, 1]
