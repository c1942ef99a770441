"""The split of one node over all columns: the best of them, the draw of columns, clean scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.growth.coding import TableCoding
from novum.trees.growth.column_kernels import FEW_ROWS, find_split, is_better
from novum.trees.growth.growing import CodedTable, Growth, GrowthRules
from novum.trees.growth.growing_columns import ENTROPY, GINI, SQUARED_ERROR
from tests.trees import node_sums as by_hand

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squared_error": SQUARED_ERROR}


def coded(
    seed: int, n: int, n_classes: int, *, holes: float = 0.0, levels: int = 0, wide: bool = False
) -> CodedTable:
    """Three numeric columns of few values, and a nominal one if asked."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 9, (n, 3)).astype(float)
    columns = [Column(f"x{j}") for j in range(3)]
    if wide:
        cells[:, 0] = rng.permutation(max(n, 300))[:n]
    if levels:
        cells = np.column_stack([cells, rng.integers(0, levels, n)])
        columns.append(Column("level", Kind.NOMINAL, tuple(f"l{i:02d}" for i in range(levels))))
    cells[rng.random(cells.shape) < holes] = np.nan
    schema = Schema(tuple(columns))
    coding = TableCoding.of(schema, cells, None, None)
    codes = coding.codes(cells)
    low, high = coding.ranges(codes, cells)
    starts = np.array([0, n_classes], np.int64)
    labels, numbers = np.empty((n, 0), np.int32), np.empty((n, 0))
    score = np.nan_to_num(cells[:, 1]) + rng.normal(size=n)
    if n_classes:
        labels = np.clip(score / 9 * n_classes, 0, n_classes - 1).astype(np.int32)[:, None]
    else:
        numbers = np.round(score * 4)[:, None] / 16
    return CodedTable(coding, codes, labels, numbers, starts, low, high)


def root_split(growth: Growth, weight: np.ndarray) -> tuple[float, list[int], np.ndarray]:
    """`find_split` of all rows, with the arrays of a tree that was grown: (gain, split, sets)."""
    table, n = growth.table, growth.n_rows
    criterion = CRITERIA[growth.rules.criterion]
    starts = table.target_start
    if table.labels.shape[1]:
        whole = np.bincount(table.labels[:, 0], weight, minlength=table.n_stats)
    else:
        whole = np.array([weight.sum(), weight @ table.numbers[:, 0]])
    amount = by_hand.weight_of(whole, criterion, starts)
    facts = np.array([1e-10 * amount, -np.inf, np.inf, amount, *whole])
    growth.work[7][:] = facts
    entries = (np.arange(n, dtype=np.int32), weight.copy())
    find_split(
        (table.codes, table.labels, table.numbers),
        entries,
        0,
        n,
        growth.columns,
        (starts, growth.options, growth.limits),
        growth.work,
        growth.search,
        growth.best,
    )
    return growth.best[0][0], growth.best[1].tolist(), growth.best[2]


def column_table(table: CodedTable, column: int, weight: np.ndarray) -> by_hand.Floats:
    """Sums by code of the rows whose cell is known."""
    known = table.codes[:, column] != table.coding.missing
    codes = table.codes[known, column].astype(int)
    sums = np.zeros((int(table.coding.n_codes[column]), table.n_stats))
    if table.labels.shape[1]:
        np.add.at(sums, (codes, table.labels[known, 0]), weight[known])
    else:
        stats = np.column_stack([np.ones(known.sum()), table.numbers[known, 0]])
        np.add.at(sums, codes, weight[known, None] * stats)
    return sums


def clean(growth: Growth) -> bool:
    """Whether sums, bitmaps and lists are as empty as at the start."""
    return (
        not growth.histograms.any()
        and not growth.bits.any()
        and bool((growth.heads == -1).all())
        and not growth.scratch[2].any()
    )


CASES = [
    (n, n_classes, criterion)
    for n in (350, FEW_ROWS + 100)
    for n_classes, criterion in (
        (2, "gini"),
        (2, "entropy"),
        (4, "gini"),
        (4, "entropy"),
        (0, "squared_error"),
    )
]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize(("n", "n_classes", "criterion"), CASES)
def test_the_best_column_and_cut(
    n: int, n_classes: int, criterion: str, holes: float, wide: bool
) -> None:
    """All paths: few and many rows, missing cells, wide codes, any criterion."""
    table = coded(n + n_classes, n, n_classes, holes=holes, wide=wide)
    assert table.coding.is_narrow != wide
    weight = np.random.default_rng(1).integers(1, 4, n).astype(float)
    growth = Growth(table, GrowthRules(criterion, max_depth=1)).planted(weight, None, None)
    growth.run()
    gain, split, _ = root_split(growth, weight)
    found = []
    for column in range(3):
        sums = column_table(table, column, weight)
        order = by_hand.present_codes(sums, CRITERIA[criterion], table.target_start)
        cuts = by_hand.cuts(sums, order, CRITERIA[criterion], table.target_start)
        best, place = by_hand.first_best(cuts)
        found.append((best, column, 1, int(order[place]), int(order[place + 1])))
    best = max(value[0] for value in found)
    winner = next(value for value in found if value[0] >= best - 1e-9 * n)
    assert gain == pytest.approx(winner[0], rel=1e-9)
    assert split == [*winner[1:], -1]
    assert clean(growth)


@pytest.mark.parametrize("missing", ["fractional", "direction", "auto"])
@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize("nominal", ["subset", "single", "auto"])
@pytest.mark.parametrize(
    ("n_classes", "criterion"), [(2, "gini"), (3, "entropy"), (0, "squared_error")]
)
def test_scratch_is_left_clean(
    n_classes: int, criterion: str, nominal: str, random_cuts: bool, missing: str
) -> None:
    """Whatever was asked: what one node leaves behind would be counted in the next."""
    for n, wide, max_thresholds in (
        (60, False, None),
        (FEW_ROWS + 50, False, 2),
        (330, True, None),
    ):
        table = coded(n, n, n_classes, holes=0.1, levels=12, wide=wide)
        assert table.coding.is_narrow != wide
        rules = GrowthRules(
            criterion,
            nominal=nominal,
            random_cuts=random_cuts,
            missing=missing,
            max_thresholds=max_thresholds,
            max_features=2,
        )
        growth = Growth(table, rules).planted(np.ones(n), np.random.default_rng(0), None)
        assert len(growth.run().integers) > 5
        assert clean(growth)


def test_few_rows_for_each_level_ask_for_single_levels() -> None:
    """Fewer than 50 rows for each level: one level against the rest, else sets."""
    for n, alone in ((300, True), (700, False)):
        level = np.arange(n) % 10
        label = (level < 5).astype(np.int32)
        cells = level.astype(float)[:, None]
        schema = Schema((Column("x", Kind.NOMINAL, tuple("abcdefghij")),))
        coding = TableCoding.of(schema, cells)
        codes = coding.codes(cells)
        table = CodedTable(
            coding,
            codes,
            label[:, None],
            np.empty((n, 0)),
            np.array([0, 2]),
            *coding.ranges(codes, cells),
        )
        rules = GrowthRules("gini", nominal="auto", max_depth=1)
        growth = Growth(table, rules).planted(np.ones(n), None, None)
        branch = growth.run().branches[0, :10]
        assert (min((branch == 0).sum(), (branch == 1).sum()) == 1) == alone


# --- Columns are drawn ----------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_columns_without_a_question_do_not_count(seed: int) -> None:
    """One column is asked for; drawn are columns until one differs among the rows."""
    rng = np.random.default_rng(seed)
    n, at = 12, int(rng.integers(0, 6))
    cells = np.zeros((n, 6))
    cells[:, at] = np.arange(n)
    coding = TableCoding.of(Schema.of_array(6), cells)
    codes = coding.codes(cells)
    label = (np.arange(n) > 4).astype(np.int32)[:, None]
    table = CodedTable(
        coding, codes, label, np.empty((n, 0)), np.array([0, 2]), *coding.ranges(codes, cells)
    )
    rules = GrowthRules("gini", max_features=1)
    growth = Growth(table, rules).planted(np.ones(n), np.random.default_rng(seed), None)
    nodes = growth.run().integers
    assert nodes[0, :4].tolist() == [1, at, 4, 5]
    assert sorted(growth.permutation.tolist()) == list(range(6))


@pytest.mark.parametrize(
    ("new", "old", "better"),
    [
        ((1.0, 3), (0.5, 1), True),
        ((0.5, 3), (1.0, 5), False),
        ((1.0, 3), (1.0, 5), True),
        ((1.0, 5), (1.0, 3), False),
        ((1.0 - 1e-12, 3), (1.0, 5), True),
        ((1.0 + 1e-12, 5), (1.0, 3), False),
    ],
)
def test_of_equals_the_lower_column(new: Any, old: Any, better: bool) -> None:
    assert is_better(*new, 1e-9, *old) == better
