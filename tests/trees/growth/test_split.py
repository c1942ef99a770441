"""Cuts of summed codes: the formulas, all cuts by hand, bounds, limits, and weights of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR
from novum.trees.growth.search_kernels import cut_pairs, cut_sums, quality, weight_of
from tests.trees import definitions
from tests.trees import node_sums as by_hand
from tests.trees.node_sums import CRITERIA, TIE

seeds = st.integers(0, 10**6)
SIZES = {GINI: [(2,), (3,), (2, 3)], ENTROPY: [(2,), (4,), (3, 2)], SQUARED_ERROR: [(1,), (1, 1)]}
ALL = [(criterion, sizes) for criterion in CRITERIA for sizes in SIZES[criterion]]


def cut(
    table: by_hand.Floats,
    order: np.ndarray,
    criterion: int,
    sizes: tuple[int, ...],
    *,
    least: float = 0.0,
    begin: by_hand.Floats | None = None,
    closed: np.ndarray | None = None,
) -> tuple[float, int]:
    starts, n_stats = by_hand.starts_of(criterion, sizes), table.shape[1]
    begin = np.zeros(n_stats) if begin is None else begin
    whole = begin + table[order].sum(axis=0)
    found, place = cut_sums(
        np.ascontiguousarray(table).ravel(),
        order,
        len(order),
        np.zeros(len(order) + 1, bool) if closed is None else closed,
        starts,
        criterion,
        begin,
        whole,
        least,
        TIE,
        np.empty((2, n_stats)),
    )
    return found, int(place)


def cut_two(
    table: by_hand.Floats,
    order: np.ndarray,
    classes: bool,
    *,
    least: float = 0.0,
    begin: tuple[float, float] = (0.0, 0.0),
    sign: int = 0,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[float, int]:
    whole = np.array(begin) + table[order].sum(axis=0)
    found, place = cut_pairs(
        np.ascontiguousarray(table).ravel(),
        order,
        len(order),
        np.zeros(len(order) + 1, bool),
        classes,
        np.array(begin),
        whole,
        least,
        TIE,
        (sign, *bounds),
    )
    return found, int(place)


# --- Formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "sizes"), ALL)
@given(seed=seeds)
def test_quality_is_the_formula(criterion: int, sizes: tuple[int, ...], seed: int) -> None:
    table = by_hand.random_table(np.random.default_rng(seed), 3, criterion, sizes)
    starts = by_hand.starts_of(criterion, sizes)
    for sums in (*table, table.sum(axis=0), np.zeros(table.shape[1])):
        expected = by_hand.score(sums, criterion, starts)
        found = quality(sums, starts, criterion)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
        expected = by_hand.weight_of(sums, criterion, starts)
        assert weight_of(sums, starts, criterion <= ENTROPY) == pytest.approx(expected, rel=1e-14)


def test_quality_measures_impurity() -> None:
    """W i(node) is W - q for Gini and -q for entropy."""
    masses, starts = np.array([1.0, 2.5, 4.0]), np.array([0, 3])
    gini = 7.5 - quality(masses, starts, GINI)
    entropy = -quality(masses, starts, ENTROPY)
    assert gini == pytest.approx(7.5 * definitions.gini(masses.tolist()), rel=1e-14)
    assert entropy == pytest.approx(7.5 * definitions.entropy(masses.tolist()), rel=1e-14)


# --- Cuts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "sizes"), ALL)
@given(seed=seeds, least=st.sampled_from([0.0, 2.0, 8.0]), missing=st.booleans())
def test_the_best_of_all_cuts_is_found(
    criterion: int, sizes: tuple[int, ...], seed: int, least: float, missing: bool
) -> None:
    rng = np.random.default_rng(seed)
    starts = by_hand.starts_of(criterion, sizes)
    table = by_hand.random_table(rng, 7, criterion, sizes, n_rows=16)
    order = rng.permutation(by_hand.present_codes(table, criterion, starts))
    begin = by_hand.random_table(rng, 1, criterion, sizes, n_rows=4)[0] * missing
    gains = by_hand.cuts(table, order, criterion, starts, least=least, begin=begin)
    best, place = by_hand.first_best(gains)
    found = cut(table, order, criterion, sizes, least=least, begin=begin)
    assert found == (pytest.approx(best, abs=1e-9), place)
    if sizes == (2,) and criterion == GINI:
        half, place = cut_two(table, order, True, least=least, begin=tuple(begin))
        assert (2 * half if place >= 0 else half, place) == (pytest.approx(best, abs=1e-9), place)
    if sizes == (1,):
        found = cut_two(table, order, False, least=least, begin=tuple(begin))
        assert found == (pytest.approx(best, abs=1e-9), place)


@given(seed=seeds)
def test_closed_cuts_are_not_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = by_hand.random_table(rng, 6, GINI, (3,), empty=False)
    order, starts = np.arange(6), by_hand.starts_of(GINI, (3,))
    closed = np.append(rng.random(5) < 0.5, [True, True])
    gains = [
        None if shut else value
        for value, shut in zip(by_hand.cuts(table, order, GINI, starts), closed, strict=False)
    ]
    best, place = by_hand.first_best(gains)
    found = cut(table, order, GINI, (3,), closed=closed)
    assert found == (pytest.approx(best, abs=1e-9), place)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("sign", [-1, 1])
@given(seed=seeds)
def test_monotone_cuts_keep_order_and_bounds(seed: int, sign: int, classes: bool) -> None:
    rng = np.random.default_rng(seed)
    criterion = GINI if classes else SQUARED_ERROR
    table = by_hand.random_table(rng, 6, criterion, (2,) if classes else (1,), empty=False)
    order, bounds = np.arange(6), (-0.4, 0.7)
    _, place = cut_two(table, order, classes, sign=sign, bounds=bounds)
    weight = table.sum(axis=1) if classes else table[:, 0]
    allowed = []
    for i in range(5):
        left, right = (
            table[part, 1].sum() / weight[part].sum() for part in (slice(0, i + 1), slice(i + 1, 6))
        )
        inside = bounds[0] <= min(left, right) and max(left, right) <= bounds[1]
        allowed.append((right - left) * sign >= 0 and inside)
    gains = by_hand.cuts(table, order, criterion, by_hand.starts_of(criterion, (2,)))
    kept = [value if ok else None for value, ok in zip(gains, allowed, strict=True)]
    assert place == by_hand.first_best(kept)[1]


def test_one_code_has_no_cut() -> None:
    table = np.array([[1.0, 2.0]])
    assert cut(table, np.array([0]), GINI, (2,)) == (-1.0, -1)
    assert cut_two(table, np.array([0]), True) == (-1.0, -1)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12, 1e20])
def test_a_cut_that_gains_nothing_is_still_a_cut(scale: float) -> None:
    """Ties grow with the weights; the first cut must not be measured by them."""
    table = np.full((2, 3), scale)
    starts = by_hand.starts_of(GINI, (3,))
    whole = table.sum(axis=0)
    tie, closed = 1e-10 * whole.sum(), np.zeros(3, bool)
    how = (starts, GINI, np.zeros(3), whole, 0.0, tie, np.empty((2, 3)))
    found, place = cut_sums(table.ravel(), np.arange(2), 2, closed, *how)
    assert place == 0
    assert 0 <= found <= 1e-12 * whole.sum()
    pair = (table[:, :2].ravel().copy(), np.arange(2), 2, closed, True, np.zeros(2), whole[:2])
    found, place = cut_pairs(*pair, 0.0, tie, (0, -np.inf, np.inf))
    assert (found, place) == (0.0, 0.0)
