"""The kernel of the common case: its parts by hand, clean scratch, and room that runs out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Schema
from novum.trees.growth import growing_columns as at
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.column_kernels import FEW_ROWS
from novum.trees.growth.growing import CodedTable, GrowthRules, PlainGrowth
from novum.trees.growth.plain_kernels import finish_node, part_rows, spread
from tests.trees import definitions

seeds = st.integers(0, 10**6)


def node_arrays(sums: list[float], depth: int = 0) -> tuple[np.ndarray, ...]:
    integers, numbers = np.full((1, 12), -1, np.int64), np.zeros((1, 6))
    integers[0, at.DEPTH] = depth
    return integers, numbers, np.array([sums]), np.empty((1, 1), np.int8)


def rules_of(
    criterion: int, *, depth: int = 9, split: float = 0.0, leaf: float = 0.0
) -> tuple[np.ndarray, ...]:
    options = np.zeros(10, np.int64)
    options[at.CRITERION], options[at.MAX_DEPTH] = criterion, depth
    return np.zeros(2, np.int64), options, np.array([split, leaf, 0.0])


# --- Nodes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [at.GINI, at.ENTROPY])
@given(masses=st.lists(st.integers(0, 6), min_size=2, max_size=5).filter(any))
def test_weight_and_impurity_of_classes(criterion: int, masses: list[int]) -> None:
    halves = [m / 2 for m in masses]
    arrays = node_arrays(halves)
    may_split = finish_node(0, arrays, 0.0, rules_of(criterion))
    measure = definitions.gini if criterion == at.GINI else definitions.entropy
    assert arrays[1][0, at.WEIGHT] == sum(halves)
    assert arrays[1][0, at.IMPURITY] == pytest.approx(measure(halves), abs=1e-14)
    pure = sum(m > 0 for m in masses) == 1
    assert may_split != pure
    assert (arrays[1][0, at.IMPURITY] == 0.0) == pure


def test_weight_and_impurity_of_numbers() -> None:
    y, w = np.array([1.0, 4.0, -2.0]), np.array([1.0, 2.0, 0.5])
    arrays = node_arrays([w.sum(), w @ y])
    assert finish_node(0, arrays, float(w @ y**2), rules_of(at.SQUARED_ERROR))
    variance = definitions.squared_error(y.tolist(), w.tolist())
    assert arrays[1][0, at.IMPURITY] == pytest.approx(variance, rel=1e-12)
    # A negative square says that all are the same.
    assert not finish_node(0, arrays, -1.0, rules_of(at.SQUARED_ERROR))
    assert arrays[1][0, at.IMPURITY] == 0.0


@pytest.mark.parametrize(
    ("limits", "may_split"),
    [
        ({"split": 4.0}, True),
        ({"split": 4.5}, False),
        ({"leaf": 2.0}, True),
        ({"leaf": 2.1}, False),
        ({"depth": 3}, True),
        ({"depth": 2}, False),
    ],
)
def test_limits(limits: dict[str, float], may_split: bool) -> None:
    arrays = node_arrays([1.0, 3.0], depth=2)
    assert finish_node(0, arrays, 0.0, rules_of(at.GINI, **limits)) == may_split


# --- Rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [True, False])
@given(seed=seeds)
def test_rows_are_parted_and_summed(classes: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 14
    codes = rng.integers(0, 6, (n, 2)).astype(np.uint8)
    labels, y = rng.integers(0, 3, (n, 1)).astype(np.int32), rng.normal(size=(n, 1))
    rows, weight = rng.permutation(n).astype(np.int32), rng.integers(1, 5, n) / 2.0
    entries = list(zip(rows[2:12].tolist(), weight[2:12].tolist(), strict=True))
    outside = rows[[0, 1, 12, 13]].tolist()
    sums, squares = np.full((2, 3 if classes else 2), 7.0), np.full(2, 7.0)
    middle = part_rows(
        (codes, labels, y),
        (rows, weight),
        2,
        12,
        1,
        2,
        classes,
        (np.empty((2, n), np.int32), np.empty((2, n)), squares),
        sums,
    )
    found = list(zip(rows[2:12].tolist(), weight[2:12].tolist(), strict=True))
    sides = [[e for e in entries if (codes[e[0], 1] > 2) == above] for above in (False, True)]
    assert found == [*sides[1], *sides[0]]
    assert middle == 2 + len(sides[1])
    assert rows[[0, 1, 12, 13]].tolist() == outside
    for side in (0, 1):
        here = np.array([row for row, _ in sides[side]], int)
        w = np.array([amount for _, amount in sides[side]])
        if classes:
            expected = np.bincount(labels[here, 0], w, minlength=3)
        else:
            expected = np.array([w.sum(), w @ y[here, 0]])
            # Negative says that all targets of the side are the same.
            several = 1.0 if len(here) > 1 else -1.0
            assert several * squares[side] == pytest.approx(w @ y[here, 0] ** 2, abs=1e-10)
        np.testing.assert_allclose(sums[side], expected, atol=1e-10)


def test_spread_tells_equal_targets() -> None:
    y = np.array([[0.1], [0.1], [0.3], [0.1]])
    rows = np.array([2, 0, 1, 3], np.int32)
    assert spread(y, rows, 1, 4) == -1.0
    assert spread(y, rows, 0, 4) == 1.0
    assert spread(y, rows, 0, 1) == -1.0


# --- Growth ---------------------------------------------------------------------------------------


def plain_table(n: int, n_classes: int) -> CodedTable:
    rng = np.random.default_rng(n)
    cells = rng.normal(size=(n, 4))
    coding = TableCoding.of(Schema.of_array(4), cells)
    codes = coding.codes(cells)
    score = cells[:, 0] + rng.normal(size=n)
    labels, numbers = np.empty((n, 0), np.int32), np.empty((n, 0))
    if n_classes:
        ranks = np.argsort(np.argsort(score))
        labels = (ranks * n_classes // n).astype(np.int32)[:, None]
    else:
        numbers = score[:, None]
    starts = np.array([0, n_classes], np.int64)
    return CodedTable(coding, codes, labels, numbers, starts, *coding.ranges(codes, cells))


@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize("max_features", [None, 1])
@pytest.mark.parametrize("n", [50, FEW_ROWS + 1500])
@pytest.mark.parametrize(
    ("n_classes", "criterion"),
    [(2, "gini"), (2, "entropy"), (3, "gini"), (3, "entropy"), (0, "squared_error")],
)
def test_growth_leaves_clean_scratch_and_sound_nodes(
    n_classes: int, criterion: str, n: int, max_features: int | None, random_cuts: bool
) -> None:
    table = plain_table(n, n_classes)
    weight = np.random.default_rng(0).integers(1, 4, n).astype(float)
    rules = GrowthRules(criterion, max_features=max_features, random_cuts=random_cuts)
    growth = PlainGrowth(table, rules).planted(weight, np.random.default_rng(1), None)
    grown = growth.run()
    assert not growth.histograms.any()
    assert not growth.bits.any()
    assert (growth.heads == -1).all()
    assert growth.state[at.STATUS] == at.DONE
    # More nodes than there was room for at first, in the large tables.
    assert (len(grown.integers) > 256) == (n > 500)
    inner = grown.integers[:, at.QUESTION] == 1
    child = grown.integers[inner, at.CHILD]
    np.testing.assert_array_equal(grown.integers[child, at.PARENT], np.flatnonzero(inner))
    for name in (at.SHARE, at.WEIGHT):
        together = grown.numbers[child, name] + grown.numbers[child + 1, name]
        whole = 1.0 if name == at.SHARE else grown.numbers[inner, at.WEIGHT]
        np.testing.assert_allclose(together, whole, rtol=1e-12)
    rows = grown.integers[:, at.ROWS]
    np.testing.assert_array_equal(rows[child] + rows[child + 1], rows[inner])
    # Fifty distinct values have a code each, so that every leaf is pure.
    assert n > 255 or not grown.numbers[~inner, at.IMPURITY].any()
