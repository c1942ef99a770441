"""The binary engine: equal to the definitions, on all its paths, with all its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.growth.conversion import TargetScale, coded_table, tree_of
from novum.trees.growth.growing import CodedTable, Growth, GrowthRules, PlainGrowth, grow, is_plain
from novum.trees.routing import route
from novum.trees.training import CellRows
from novum.trees.tree import Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables
from tests.trees import definitions_growth as definitions
from tests.trees.definitions import TrainingTable

SLACK = 1 - 1e-10


def rows_of(table: TrainingTable) -> CellRows:
    return CellRows(table.schema, table.cells, table.targets, table.weight, table.classes)


def grown_by(kind: Any, table: TrainingTable, rules: GrowthRules, max_bins: int | None) -> Tree:
    rows = rows_of(table)
    coded, scale = coded_table(rows, max_bins)
    if scale is not None:
        rules = rules.scaled(scale.unit**-2)
    grown = kind(coded, rules).planted(rows.weight, None, None).run()
    return tree_of(grown, coded, rows.schema, rows.classes, scale)


def engine_rules(rules: definitions.GrowthRules, table: TrainingTable) -> GrowthRules:
    return GrowthRules(
        rules.criterion,
        max_depth=rules.max_depth,
        max_leaf_nodes=rules.max_leaf_nodes,
        min_split=rules.min_samples_split * SLACK,
        min_leaf=rules.min_samples_leaf * SLACK,
        min_gain=rules.min_impurity_decrease * float(table.weight.sum()) * SLACK,
        nominal=rules.nominal,
        missing=rules.missing,
    )


NO_MINIMUM = {"min_samples_split": 0.0, "min_samples_leaf": 0.0}


def limits(*, minimum: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Rules that stop growth; with a least weight of leaves, or without any."""
    free = [{}, {"max_depth": 2}, {"min_impurity_decrease": 0.05}, {"max_leaf_nodes": 3}]
    bound = [
        {"min_samples_leaf": 2.0},
        {"min_samples_split": 4.0, "min_samples_leaf": 1.5},
        {"max_leaf_nodes": 4, "min_samples_leaf": 2.0},
    ]
    return st.sampled_from(
        [*free, *bound, NO_MINIMUM] if minimum else [{**NO_MINIMUM, **rule} for rule in free]
    )


CASES = [
    ("classes", "gini", "subset"),
    ("classes", "gini", "single"),
    ("classes", "entropy", "subset"),
    ("classes", "entropy", "single"),
    ("numbers", "squared_error", "subset"),
    ("numbers", "squared_error", "single"),
]


@pytest.mark.parametrize("missing", ["fractional", "direction", "auto"])
@pytest.mark.parametrize(("target", "criterion", "nominal"), CASES)
@given(data=st.data())
def test_trees_equal_the_definitions(
    target: str, criterion: str, nominal: str, missing: str, data: st.DataObject
) -> None:
    kinds = (Kind.NUMERIC, Kind.ORDINAL)
    table = data.draw(training_tables(target=target, max_targets=2, kinds=kinds))
    rules = definitions.GrowthRules(criterion, nominal, missing, **data.draw(limits()))
    expected = definitions.grow(table, rules)
    found = grown_by(Growth, table, engine_rules(rules, table), None)
    assert_same_tree(found, expected)


@pytest.mark.parametrize(("target", "criterion", "nominal"), CASES)
@given(data=st.data())
def test_trees_with_levels_equal_the_definitions(
    target: str, criterion: str, nominal: str, data: st.DataObject
) -> None:
    """Without a least weight of leaves, under which the best head of the levels need not be best.

    Of two equally good sets of levels either may be taken; the trees are compared down to there.
    """
    table = data.draw(training_tables(target=target, max_targets=2))
    chosen = data.draw(limits(minimum=False))
    rules = definitions.GrowthRules(criterion, nominal, "fractional", **chosen)
    expected = definitions.grow(table, rules)
    found = grown_by(Growth, table, engine_rules(rules, table), None)
    if "max_leaf_nodes" in chosen and not np.array_equal(found.column, expected.column):
        # After a tie other nodes may be next; the first split is still the best.
        found, expected = (tree.cut(np.arange(tree.n_nodes) > 0) for tree in (found, expected))
    assert_same_tree(found, expected, or_equal_sets=True)


@pytest.mark.parametrize("missing", ["direction", "auto"])
@pytest.mark.parametrize(("target", "criterion", "nominal"), CASES)
@given(data=st.data())
def test_missing_levels_go_where_they_gain_most(
    target: str, criterion: str, nominal: str, missing: str, data: st.DataObject
) -> None:
    table = data.draw(training_tables(target=target, kinds=(Kind.NOMINAL,)))
    rules = definitions.GrowthRules(criterion, nominal, missing, max_depth=1, **NO_MINIMUM)
    expected = definitions.grow(table, rules)
    found = grown_by(Growth, table, engine_rules(rules, table), None)
    assert found.gain[0] == pytest.approx(expected.gain[0], rel=1e-9, abs=1e-9)
    assert found.column[0] == expected.column[0]
    reached = np.asarray(route(found, table.cells).T @ table.weight)
    np.testing.assert_allclose(reached, found.weight, rtol=1e-9)


@pytest.mark.parametrize(
    ("target", "criterion"),
    [("classes", "gini"), ("classes", "entropy"), ("numbers", "squared_error")],
)
@given(data=st.data())
def test_the_plain_kernel_equals_the_definitions(
    target: str, criterion: str, data: st.DataObject
) -> None:
    table = data.draw(training_tables(target=target, kinds=(Kind.NUMERIC,), missing=False))
    chosen = {k: v for k, v in data.draw(limits()).items() if k != "max_leaf_nodes"}
    rules = definitions.GrowthRules(criterion, **chosen)
    found = grown_by(PlainGrowth, table, engine_rules(rules, table), 255)
    assert_same_tree(found, definitions.grow(table, rules))


# --- Larger tables: all paths of the kernels ------------------------------------------------------


def large_table(
    n: int, n_classes: int, seed: int, *, distinct: int | None, holes: float = 0.0, levels: int = 0
) -> TrainingTable:
    """Rows enough for sums by scan, by bitmap and in near copies; levels only if asked."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(n, 4))
    if distinct is not None:
        cells = np.round(cells * distinct / 6)
    score = np.sin(cells[:, 0] * (1 if distinct is None else 6 / distinct)) + cells[:, 1] / 9
    columns = [Column(f"x{j}") for j in range(4)]
    if levels:
        cells = np.column_stack([cells, rng.integers(0, levels, n)])
        score = score + rng.normal(size=levels)[cells[:, 4].astype(int)]
        names = tuple(f"l{i:03d}" for i in range(levels))
        columns.append(Column("level", Kind.NOMINAL, names))
    cells[rng.random(cells.shape) < holes] = np.nan
    weight = rng.integers(1, 4, n).astype(float)
    if n_classes == 0:
        target = np.round(score * 8 + rng.normal(size=n)) / 8
        return TrainingTable(Schema(tuple(columns)), cells, target[:, None], weight, None)
    ranks = np.argsort(np.argsort(score + rng.normal(size=n)))
    label = (ranks * n_classes // n)[:, None]
    return TrainingTable(Schema(tuple(columns)), cells, label, weight, (np.arange(n_classes),))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("max_features", [None, 2])
def test_both_engines_grow_the_same_tree(
    n_classes: int, criterion: str, max_features: int | None
) -> None:
    table = large_table(3000, n_classes, 1, distinct=None)
    coded, _ = coded_table(rows_of(table), 255)
    rules = GrowthRules(criterion, max_features=max_features, min_leaf=3.0)
    assert is_plain(coded, rules)
    plain, general = (
        kind(coded, rules).planted(table.weight, np.random.default_rng(5), None).run()
        for kind in (PlainGrowth, Growth)
    )
    trees = [tree_of(g, coded, table.schema, table.classes) for g in (plain, general)]
    assert trees[0].n_leaves > 100
    assert_same_tree(*trees)


def test_both_engines_grow_the_same_regression_tree() -> None:
    table = large_table(3000, 0, 2, distinct=None)
    rules = GrowthRules("squared_error", min_leaf=5.0)
    assert_same_tree(grown_by(PlainGrowth, table, rules, 255), grown_by(Growth, table, rules, 255))


@pytest.mark.parametrize("n_classes", [0, 2, 4])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_wide_codes_grow_the_same_tree(n_classes: int, holes: float) -> None:
    """Two hundred distinct values fit a byte; the same table with wide codes gives the same."""
    table = large_table(1500, n_classes, 3, distinct=120, holes=holes, levels=6)
    criterion = "gini" if n_classes else "squared_error"
    rules = GrowthRules(criterion, min_leaf=2.0 * SLACK, min_split=4.0 * SLACK)
    rows = rows_of(table)
    narrow, scale = coded_table(rows, 255)
    assert narrow.coding.is_narrow
    wide = widened(narrow)
    assert not wide.coding.is_narrow
    trees = [
        tree_of(grow(coded, rules, rows.weight), coded, rows.schema, rows.classes, scale)
        for coded in (narrow, wide)
    ]
    assert trees[0].n_leaves > 100
    assert_same_tree(*trees)


def widened(table: CodedTable) -> CodedTable:
    """The same table with an unused code beyond a byte in a column."""
    from dataclasses import replace

    n_codes = table.coding.n_codes.copy()
    n_codes[0] = 5000
    coding = replace(table.coding, n_codes=n_codes)
    codes = table.codes.astype(np.int32)
    codes[table.codes == table.coding.missing] = coding.missing
    pad = ((0, 0), (0, 5000 - table.low.shape[1]))
    return replace(
        table, coding=coding, codes=codes, low=np.pad(table.low, pad), high=np.pad(table.high, pad)
    )


def test_exact_mode_equals_scikit_learn_on_many_distinct_values() -> None:
    from sklearn.tree import DecisionTreeClassifier

    table = large_table(1200, 3, 4, distinct=None)
    found = grown_by(Growth, table, GrowthRules("gini", min_leaf=1.0), None)
    other = DecisionTreeClassifier(random_state=0).fit(
        table.cells, table.targets[:, 0], table.weight
    )
    # Ties are broken in another way there, so the trees are compared by their first questions.
    assert found.column[0] == other.tree_.feature[0]
    assert found.threshold[0] == pytest.approx(other.tree_.threshold[0], rel=1e-6)
    assert abs(found.n_nodes - other.tree_.node_count) < 0.1 * found.n_nodes


def test_rows_that_go_both_ways_find_room() -> None:
    """With half of the cells missing the entries outgrow their first arena many times."""
    table = large_table(600, 2, 5, distinct=20, holes=0.5)
    tree = grown_by(Growth, table, GrowthRules("gini", min_leaf=1.0, min_split=2.0), None)
    expected = definitions.grow(
        table, definitions.GrowthRules(min_samples_split=2.0, min_samples_leaf=1.0)
    )
    assert_same_tree(tree, expected)


def test_slices_continue_where_they_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    from novum.trees.growth import growing

    table = large_table(2000, 2, 6, distinct=None, holes=0.05)
    whole = grown_by(Growth, table, GrowthRules("gini", min_leaf=1.0), 255)
    plain_table = large_table(2000, 3, 6, distinct=None)
    plain = grown_by(PlainGrowth, plain_table, GrowthRules("gini"), 255)
    monkeypatch.setattr(growing, "SLICE", 1000)
    assert_same_tree(grown_by(Growth, table, GrowthRules("gini", min_leaf=1.0), 255), whole)
    assert_same_tree(grown_by(PlainGrowth, plain_table, GrowthRules("gini"), 255), plain)


# --- Chance ---------------------------------------------------------------------------------------


def test_columns_are_drawn_alike() -> None:
    """With columns that are copies of each other, each is asked equally often."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    cells = np.column_stack([x] * 5)
    label = (x + rng.normal(size=400) > 0).astype(np.int64)[:, None]
    table = TrainingTable(Schema.of_array(5), cells, label, np.ones(400), (np.arange(2),))
    coded, _ = coded_table(rows_of(table), 255)
    rules = GrowthRules("gini", max_features=1)
    counts = np.zeros(5)
    for seed in range(40):
        grown = grow(coded, rules, table.weight, np.random.default_rng(seed))
        asked = grown.integers[grown.integers[:, 0] != 0, 1]
        counts += np.bincount(asked, minlength=5)
    share = counts / counts.sum()
    # Five standard errors of a share of 1/5 among some 4000 draws.
    assert np.abs(share - 0.2).max() < 5 * np.sqrt(0.16 / counts.sum())


def test_random_cuts_are_uniform_between_the_extremes() -> None:
    x = np.array([0.0, 1.0, 10.0])
    table = TrainingTable(
        Schema.of_array(1), x[:, None], np.array([[0], [1], [0]]), np.ones(3), (np.arange(2),)
    )
    coded, _ = coded_table(rows_of(table), 255)
    rules = GrowthRules("gini", random_cuts=True, max_depth=1)
    low = 0
    for seed in range(500):
        grown = grow(coded, rules, table.weight, np.random.default_rng(seed))
        low += grown.integers[0, 2] == 0
    # A cut between 0 and 1 has probability 0.1; five standard errors.
    assert abs(low / 500 - 0.1) < 5 * np.sqrt(0.09 / 500)


def test_a_random_subset_of_thresholds_has_its_size() -> None:
    """With one cut of two tried, each is taken when it is the better of those tried."""
    x = np.array([0.0, 1.0, 2.0, 3.0])
    label = np.array([[0], [0], [1], [1]])
    table = TrainingTable(Schema.of_array(1), x[:, None], label, np.ones(4), (np.arange(2),))
    coded, _ = coded_table(rows_of(table), 255)
    for n_cuts, chance in ((1, 1 / 3), (2, 2 / 3), (3, 1.0)):
        rules = GrowthRules("gini", max_thresholds=n_cuts, max_depth=1)
        found = [
            grow(coded, rules, table.weight, np.random.default_rng(seed)).integers[0, 2] == 1
            for seed in range(400)
        ]
        assert abs(np.mean(found) - chance) <= 5 * np.sqrt(chance * (1 - chance) / 400)


# --- Monotone columns -----------------------------------------------------------------------------


@given(data=st.data())
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_monotone_columns(target: str, data: st.DataObject) -> None:
    table = data.draw(
        training_tables(target=target, kinds=(Kind.NUMERIC,), missing=False, min_rows=6)
    )
    if table.classes is not None and len(table.classes[0]) != 2:
        labels = np.minimum(table.targets, 1)
        table = TrainingTable(table.schema, table.cells, labels, table.weight, (np.arange(2),))
    sign = data.draw(st.sampled_from([-1, 1]))
    n_columns = table.schema.n_columns
    signs = (sign, *[0] * (n_columns - 1))
    criterion = "gini" if table.classes else "squared_error"
    tree = grown_by(Growth, table, GrowthRules(criterion, signs=signs), None)
    from novum.trees.routing import tree_values

    grid = np.linspace(-3, 3, 13)
    for row in table.cells:
        cells = np.tile(row, (13, 1))
        cells[:, 0] = grid
        values = tree_values(tree, cells)[:, -1]
        assert (np.diff(values) * sign >= -1e-12).all()


def test_scale_of_targets_is_exact() -> None:
    y = np.array([[1e140], [-1e140], [5e139]])
    scale = TargetScale.of(y, np.ones(3))
    numbers = scale.numbers(y)
    assert np.abs(numbers).max() < 4
    np.testing.assert_allclose(scale.offset + scale.unit * numbers, y, rtol=1e-15)
