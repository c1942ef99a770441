"""Rows on their way: shares by hand, sums by brute force, several branches, chains of any depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.tables import Column, Kind, Schema
from novum.trees.routing import leaf_answers, leaf_shares, node_sums, route, tree_values
from novum.trees.training import UNSEEN_CELL
from novum.trees.tree import Question, Tree, single_leaf
from tests.strategies.tree_tables import training_tables
from tests.trees.definitions_growth import GrowthRules, grow, row_shares

NAN = np.nan
LEAF, THRESHOLD, MULTIWAY = Question.LEAF, Question.THRESHOLD, Question.MULTIWAY


def by_hand(missing_branch: int = -1) -> Tree:
    """c: a -> leaf 1, b -> x at node 2, c -> leaf 3 (level d has none); x <= 5: leaf 4, else 5."""
    schema = Schema((Column("c", Kind.NOMINAL, tuple("abcd")), Column("x")))

    def integers(*values: int) -> np.ndarray:
        return np.array(values, np.int32)

    return Tree(
        schema,
        (np.array(["no", "yes"]),),
        question=integers(MULTIWAY, LEAF, THRESHOLD, LEAF, LEAF, LEAF),
        column=integers(0, -1, 1, -1, -1, -1),
        threshold=np.array([NAN, NAN, 5.0, NAN, NAN, NAN]),
        first_child=integers(1, -1, 4, -1, -1, -1),
        n_children=integers(3, 0, 2, 0, 0, 0),
        parent=integers(-1, 0, 0, 0, 2, 2),
        share=np.array([1.0, 0.2, 0.5, 0.3, 0.6, 0.4]),
        missing_branch=integers(-1, -1, missing_branch, -1, -1, -1),
        level_start=integers(0, -1, -1, -1, -1, -1),
        level_branch=integers(0, 1, 2, -1),
        value=np.array([[5.0, 5.0], [2.0, 0.0], [1.0, 4.0], [2.0, 1.0], [1.0, 2.0], [0.0, 2.0]]),
        weight=np.array([10.0, 2.0, 5.0, 3.0, 3.0, 2.0]),
        rows=np.array([10, 2, 5, 3, 3, 2]),
        impurity=np.full(6, 0.5),
        gain=np.array([1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
    )


# --- Shares by hand -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "shares"),
    [
        ([0.0, NAN], {1: 1.0}),
        ([1.0, 5.0], {4: 1.0}),
        ([1.0, 5.1], {5: 1.0}),
        ([1.0, NAN], {4: 0.6, 5: 0.4}),
        ([NAN, 9.0], {1: 0.2, 5: 0.5, 3: 0.3}),
        ([NAN, NAN], {1: 0.2, 4: 0.3, 5: 0.2, 3: 0.3}),
        ([UNSEEN_CELL, 0.0], {1: 0.2, 4: 0.5, 3: 0.3}),
        # Level d was known, but no row of the node had it.
        ([3.0, 0.0], {1: 0.2, 4: 0.5, 3: 0.3}),
    ],
)
def test_shares_of_one_row(cells: list[float], shares: dict[int, float]) -> None:
    tree = by_hand()
    tree.check()
    found = leaf_shares(tree, np.array([cells]))
    assert found.shape == (1, 6)
    assert dict(zip(found.indices.tolist(), found.data, strict=True)) == pytest.approx(shares)
    assert found.has_sorted_indices
    way = route(tree, np.array([cells])).toarray()[0]
    assert way[0] == 1.0
    assert way[2] == pytest.approx(way[4] + way[5])
    assert way[[1, 3, 4, 5]].sum() == pytest.approx(1.0)


def test_a_direction_takes_missing_cells_and_not_unseen_ones() -> None:
    tree = by_hand(missing_branch=1)
    assert leaf_shares(tree, np.array([[1.0, NAN]])).indices.tolist() == [5]
    nominal = replace(tree, missing_branch=np.array([2, -1, -1, -1, -1, -1], np.int32))
    assert leaf_shares(nominal, np.array([[NAN, NAN]])).indices.tolist() == [3]
    assert leaf_shares(nominal, np.array([[UNSEEN_CELL, 0.0]])).nnz == 3


def test_values_are_class_shares_of_the_leaves() -> None:
    tree = by_hand()
    found = tree_values(tree, np.array([[0.0, 0.0], [1.0, NAN], [NAN, 9.0]]))
    third = 0.2 * np.array([1.0, 0.0]) + 0.5 * np.array([0.0, 1.0]) + 0.3 * np.array([2, 1]) / 3
    np.testing.assert_allclose(found, [[1, 0], [0.2, 0.8], third], rtol=1e-14)


def test_a_branch_without_share_is_not_visited() -> None:
    tree = replace(by_hand(), share=np.array([1.0, 0.0, 0.5, 0.5, 0.6, 0.4]))
    assert 1 not in leaf_shares(tree, np.array([[NAN, 0.0]])).indices
    assert leaf_shares(tree, np.array([[0.0, 0.0]])).indices.tolist() == [1]


def test_a_node_without_weight_says_all_classes_alike() -> None:
    tree = replace(by_hand(), value=np.zeros((6, 2)))
    assert (leaf_answers(tree) == 0.5).all()


def test_answers_of_several_targets_are_shares_of_each() -> None:
    value = np.array([[1.0, 3.0, 2.0, 2.0, 0.0]])
    tree = single_leaf(Schema.of_array(1), (np.arange(2), np.arange(3)), value[0], 4.0)
    np.testing.assert_allclose(leaf_answers(tree), [[0.25, 0.75, 0.5, 0.5, 0.0]])


# --- Brute force ----------------------------------------------------------------------------------


@pytest.mark.parametrize("nominal", ["subset", "multiway"])
@pytest.mark.parametrize("missing", ["fractional", "direction", "auto"])
@given(table=training_tables(), seed=st.integers(0, 10**6))
def test_against_the_definition(table: object, nominal: str, missing: str, seed: int) -> None:
    tree = grow(table, GrowthRules(nominal=nominal, missing=missing))  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    new = rng.integers(-2, 4, (12, tree.schema.n_columns)).astype(float)
    for j, column in enumerate(tree.schema.columns):
        if column.kind is not Kind.NUMERIC:
            new[:, j] = new[:, j] % column.n_levels
        if column.kind is Kind.NOMINAL:
            new[rng.random(12) < 0.1, j] = UNSEEN_CELL
    new[rng.random(new.shape) < 0.2] = NAN
    expected = np.zeros((12, tree.n_nodes))
    for i, row in enumerate(new):
        for node, share in row_shares(tree, row).items():
            expected[i, node] = share
    leaves = tree.question == LEAF
    found = leaf_shares(tree, new).toarray()
    np.testing.assert_allclose(found, np.where(leaves, expected, 0.0), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    ways = route(tree, new).toarray()
    for node in range(tree.n_nodes):
        below = [n for n in tree.walk(node) if leaves[n]]
        np.testing.assert_allclose(ways[:, node], found[:, below].sum(axis=1), atol=1e-12)
    stats = rng.normal(size=(12, 3))
    np.testing.assert_allclose(node_sums(tree, new, stats), ways.T @ stats, atol=1e-12)
    np.testing.assert_allclose(tree_values(tree, new), found @ leaf_answers(tree), atol=1e-12)


# --- Shapes of trees ------------------------------------------------------------------------------


def chain(depth: int) -> Tree:
    """x <= 0, else x <= 1, else x <= 2, ...: a node of every depth, shares 1/2."""
    n = 2 * depth + 1
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    nodes = np.arange(n, dtype=np.int32)
    parent = np.where(nodes % 2 == 1, nodes - 1, nodes - 2).astype(np.int32)
    parent[0] = -1
    none = np.full(n, -1, np.int32)
    return Tree(
        Schema.of_array(1),
        None,
        question=inner.astype(np.int32),
        column=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, nodes / 2, NAN),
        first_child=np.where(inner, nodes + 1, -1).astype(np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        parent=parent,
        share=np.where(nodes == 0, 1.0, 0.5),
        missing_branch=none,
        level_start=none,
        level_branch=np.empty(0, np.int32),
        value=nodes[:, None].astype(float),
        weight=np.ones(n),
        rows=np.ones(n, np.int64),
        impurity=np.zeros(n),
        gain=np.zeros(n),
    )


def test_deep_chains_need_no_recursion() -> None:
    depth = 3000
    tree = chain(depth)
    tree.check()
    assert tree.depth == depth
    cells = np.array([[-1.0], [depth + 1.0], [NAN]])
    shares = leaf_shares(tree, cells)
    assert shares[0].indices.tolist() == [1]
    assert shares[1].indices.tolist() == [2 * depth]
    # Halves of halves, until a double has no smaller number left.
    assert shares[2].sum() == pytest.approx(1.0)
    assert shares[2, 1] == 0.5
    assert route(tree, cells[1:2]).nnz == depth + 1
    np.testing.assert_allclose(tree_values(tree, cells[:2]), [[1.0], [2.0 * depth]])
    # sum of (2k + 1) / 2^(k + 1) over the leaves of the chain
    np.testing.assert_allclose(tree_values(tree, cells[2:]), [[3.0]])


def test_a_single_leaf() -> None:
    leaf = single_leaf(Schema.of_array(2), None, np.array([2.5]), 3.0)
    cells = np.array([[1.0, 2.0], [NAN, NAN]])
    assert route(leaf, cells).toarray().tolist() == [[1.0], [1.0]]
    assert tree_values(leaf, cells).tolist() == [[2.5], [2.5]]
    assert node_sums(leaf, cells, np.eye(2)).tolist() == [[1.0, 1.0]]


def test_no_rows() -> None:
    tree = by_hand()
    assert route(tree, np.empty((0, 2))).shape == (0, 6)
    assert tree_values(tree, np.empty((0, 2))).shape == (0, 2)
    assert node_sums(tree, np.empty((0, 2)), np.empty((0, 4))).tolist() == [[0.0] * 4] * 6
