"""Growth by the root of the deviation: the best of all splits, missing cells, and its limits."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.numerics import Floats, Positions
from novum.trees.model_trees.model_tree_growing import DeviationRules, grow_by_deviation
from novum.trees.routing import node_sums, route
from novum.trees.training import CellRows
from novum.trees.tree import Question, Tree
from tests.strategies.tree_tables import assert_same_tree, training_tables


def rows_of(table: Any) -> CellRows:
    return CellRows(table.schema, table.cells, table.targets, table.weight, None)


def plain_rows(x: Floats, y: Floats, weight: Floats | None = None) -> CellRows:
    weight = np.ones(len(x)) if weight is None else weight
    return CellRows(Schema.of_array(x.shape[1]), x, y.reshape(len(x), -1), weight, None)


# --- The definition -------------------------------------------------------------------------------


def amount(y: Floats, weight: Floats) -> float:
    """W v^(1/4), with the variances of several targets added."""
    if not weight.size:
        return 0.0
    total = weight.sum()
    variance = float((weight @ (y - weight @ y / total) ** 2).sum() / total)
    return float(total * max(variance, 0.0) ** 0.25)


def candidate_sides(rows: CellRows, here: Positions, w: Floats, j: int, rule: str) -> Any:
    """Marks of the known rows of branch 0, for every split of a column.

    Levels are sorted by their means; there is one list of splits for each order of equal means.
    """
    x, y = rows.cells[here, j], rows.targets[here]
    values = np.unique(x)
    if rows.schema.columns[j].kind is not Kind.NOMINAL:
        return [[x <= value for value in values[:-1]]]
    if rule == "single" and len(values) > 2:
        return [[x == value for value in values]]
    means = np.array([(w[x == v] @ y[x == v]).sum() / w[x == v].sum() for v in values])
    rounding = 1e-9 * np.abs(y).max(initial=0.0)
    orders = [np.array(order, int) for order in permutations(range(len(values)))]
    return [
        [np.isin(x, values[order[: k + 1]]) for k in range(len(order) - 1)]
        for order in orders
        if (np.diff(means[order]) >= -rounding).all()
    ]


def gain_of(
    rows: CellRows, node_rows: Positions, weight: Floats, j: int, side: Any, towards: int
) -> float:
    """Gain of a division of the rows whose cell is known, missing ones on a side or left out."""
    known = ~np.isnan(rows.cells[node_rows, j])
    left = np.zeros(len(node_rows), bool)
    left[known] = side
    if towards < 0:
        left, right = left, known & ~left
    else:
        left = left | (~known if towards == 0 else False)
        right = ~left
    y, both = rows.targets[node_rows], left | right
    parts = [amount(y[s], weight[s]) for s in (both, left, right)]
    return parts[0] - parts[1] - parts[2]


# Sides that missing rows may take; -1 for both, in parts.
WAYS = {"fractional": (-1,), "direction": (0, 1), "auto": (-1, 0, 1)}


def best_gains(rows: CellRows, tree: Tree, node: int, rules: DeviationRules) -> tuple[float, float]:
    """The best gain where levels of equal means come in the worst order, and in the best one."""
    share = route(tree, rows.cells)[:, [node]].toarray()[:, 0]
    here = np.flatnonzero(share > 0)
    weight = rows.weight[here] * share[here]
    least = max(rules.min_leaf, rules.least_share * weight.sum()) * (1 - 1e-9)
    low = high = 0.0
    for j in range(rows.schema.n_columns):
        known = ~np.isnan(rows.cells[here, j])
        ways = WAYS[rules.missing if not known.all() else "fractional"]
        of_orders = []
        for sides in candidate_sides(rows, here[known], weight[known], j, rules.nominal):
            gains = [0.0]
            for side in sides:
                masses = weight[known][side].sum(), weight[known][~side].sum()
                if min(masses) >= least:
                    gains += [gain_of(rows, here, weight, j, side, towards) for towards in ways]
            of_orders.append(max(gains))
        low, high = max(low, min(of_orders)), max(high, *of_orders)
        alone = min(weight[known].sum(), weight[~known].sum())
        if rules.missing == "auto" and alone >= least:
            everything = np.ones(int(known.sum()), bool)
            apart = gain_of(rows, here, weight, j, everything, 1)
            low, high = max(low, apart), max(high, apart)
    return low, high


def own_gain(rows: CellRows, tree: Tree, node: int) -> float:
    share = route(tree, rows.cells)[:, [node]].toarray()[:, 0]
    here = np.flatnonzero(share > 0)
    j = int(tree.column[node])
    known = rows.cells[here, j][~np.isnan(rows.cells[here, j])]
    if tree.question[node] == Question.SUBSET:
        side = tree.branches(node)[known.astype(int)] == 0
    else:
        side = known <= tree.threshold[node]
    weight = rows.weight[here] * share[here]
    return gain_of(rows, here, weight, j, side, int(tree.missing_branch[node]))


@given(
    training_tables(target="numbers", max_targets=2, min_rows=4),
    st.sampled_from(["subset", "single"]),
    st.sampled_from(["fractional", "direction", "auto"]),
    st.sampled_from([0.0, 0.1, 0.3]),
)
def test_every_node_has_the_best_split(
    table: Any, nominal: str, missing: str, share: float
) -> None:
    rows = rows_of(table)
    rules = DeviationRules(1.0, nominal, missing, share)
    tree = grow_by_deviation(rows, rules, None)
    tree.check()
    # Variances below 1e-10 of the node's count as 0, whose fourth root is 0.003.
    for node in range(tree.n_nodes):
        low, high = best_gains(rows, tree, node, rules)
        unit = amount(rows.targets, rows.weight) + 1e-12
        if tree.is_leaf(node):
            big_enough = tree.weight[node] >= 2 * rules.min_leaf
            assert not big_enough or low <= 1e-5 * unit
        else:
            own = own_gain(rows, tree, node)
            assert low - 1e-5 * unit <= own <= high + 1e-5 * unit


@given(
    training_tables(target="numbers", max_targets=2, min_rows=4),
    st.sampled_from(["fractional", "direction", "auto"]),
)
def test_nodes_hold_the_sums_of_their_rows(table: Any, missing: str) -> None:
    rows = rows_of(table)
    tree = grow_by_deviation(rows, DeviationRules(1.0, missing=missing), None)
    w = rows.weight[:, np.newaxis]
    sums = node_sums(tree, rows.cells, np.hstack([w, w * rows.targets, w * rows.targets**2]))
    t = rows.targets.shape[1]
    np.testing.assert_allclose(tree.weight, sums[:, 0], rtol=1e-12)
    means = sums[:, 1 : 1 + t] / sums[:, :1]
    np.testing.assert_allclose(tree.value, means, rtol=1e-10, atol=1e-12)
    variance = (sums[:, 1 + t :] / sums[:, :1] - means**2).sum(axis=1)
    np.testing.assert_allclose(tree.impurity, variance, rtol=1e-9, atol=1e-11)
    assert (tree.gain >= 0).all()
    for node in np.flatnonzero(tree.question != Question.LEAF).tolist():
        assert tree.share[tree.children(node)].sum() == pytest.approx(1.0)


# --- What it is for -------------------------------------------------------------------------------


def test_parts_of_one_mean_and_two_deviations_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (400, 3))
    y = np.where(x[:, 1] < 0.2, x[:, 0], 5 * x[:, 2])
    tree = grow_by_deviation(plain_rows(x, y), DeviationRules(4.0))
    assert tree.column[0] == 1
    assert tree.threshold[0] == pytest.approx(0.2, abs=0.02)


def test_branches_take_a_tenth() -> None:
    x = np.arange(100.0)[:, np.newaxis]
    y = np.where(x[:, 0] < 3, 1000.0, np.sin(x[:, 0]))
    tree = grow_by_deviation(plain_rows(x, y), DeviationRules(1.0))
    for node in np.flatnonzero(tree.question != Question.LEAF):
        assert tree.weight[tree.children(node)].min() >= 0.1 * tree.weight[node] - 1e-9
    free = grow_by_deviation(plain_rows(x, y), DeviationRules(1.0, least_share=0.0))
    assert free.threshold[0] == 2.5


def test_sets_of_levels_need_rows() -> None:
    rng = np.random.default_rng(1)
    schema = Schema((Column("level", Kind.NOMINAL, tuple("abcdef")),))
    codes = rng.integers(0, 6, 240)
    y = np.array([0.0, 9, 0, 9, 0, 9])[codes] + rng.normal(size=240)
    cells = codes[:, np.newaxis].astype(float)
    sizes = {}
    for rule in ("subset", "single", "auto"):
        rows = CellRows(schema, cells, y[:, np.newaxis], np.ones(240), None)
        tree = grow_by_deviation(rows, DeviationRules(4.0, rule))
        sizes[rule] = np.bincount(tree.branches(0), minlength=2).tolist()
    # 240 rows are fewer than 50 for each of 6 levels.
    assert sizes == {"subset": [3, 3], "single": sizes["single"], "auto": sizes["single"]}
    assert min(sizes["single"]) == 1
    twice = CellRows(
        schema, np.vstack([cells] * 2), np.tile(y, 2)[:, np.newaxis], np.ones(480), None
    )
    tree = grow_by_deviation(twice, DeviationRules(4.0, "auto"))
    assert np.bincount(tree.branches(0)).tolist() == [3, 3]


@pytest.mark.parametrize("y", [np.zeros(30), np.full(30, 1e300), np.full(30, -0.1)])
def test_a_constant_target_is_a_leaf(y: Floats) -> None:
    tree = grow_by_deviation(plain_rows(np.arange(30.0)[:, np.newaxis], y), DeviationRules(4.0))
    assert tree.n_nodes == 1
    assert tree.value[0, 0] == y[0]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_weights_are_repetitions_and_rows_have_no_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, times = rng.integers(0, 9, (40, 3)).astype(float), rng.integers(1, 4, 40)
    x[rng.uniform(size=x.shape) < 0.1] = np.nan
    y = rng.normal(size=40)
    weighted = grow_by_deviation(plain_rows(x, y, times.astype(float)), DeviationRules(3.0))
    order = rng.permutation(np.repeat(np.arange(40), times))
    repeated = grow_by_deviation(plain_rows(x[order], y[order]), DeviationRules(3.0))
    repeated = Tree(**{**vars(repeated), "rows": np.zeros(repeated.n_nodes, np.int64)})
    weighted = Tree(**{**vars(weighted), "rows": np.zeros(weighted.n_nodes, np.int64)})
    assert_same_tree(weighted, repeated)


def test_bins_and_distinct_values_agree_where_values_are_few() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 50, (300, 2)).astype(float)
    rows = plain_rows(x, x[:, 0] + rng.normal(size=300))
    assert_same_tree(
        grow_by_deviation(rows, DeviationRules(4.0), None),
        grow_by_deviation(rows, DeviationRules(4.0), 255),
    )
