"""Pruning of model trees: estimates by hand, the recursion of the definition, the price."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Schema
from novum.trees.model_trees.model_tree import ModelPruning
from novum.trees.model_trees.model_tree_lines import columns_below, fitted_models
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.training import CellRows
from novum.trees.tree import Tree


def tree_with_models(seed: int, n: int = 80, noise: float = 1.0) -> tuple[Tree, NodeModels]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(x[:, 0] > 0, 3 * x[:, 1], 2 - x[:, 2]) + noise * rng.normal(size=n)
    rows = CellRows(Schema.of_array(3), x, y[:, np.newaxis], rng.uniform(0.5, 2, n), None)
    tree = DecisionTreeRegressor(min_samples_leaf=4)._grown(rows, np.random.SeedSequence(0))
    return tree, fitted_models(tree, columns_below(tree), rows)


@pytest.mark.parametrize(
    ("price", "expected"), [(1.0, 2 * 13 / 7), (2.0, 2 * 16 / 4), (0.0, 2.0), (4.0, math.inf)]
)
def test_the_estimate_by_hand(price: float, expected: float) -> None:
    assert ModelPruning(price).estimate(2.0, 10.0, 3) == expected


def best_below(tree: Tree, models: NodeModels, node: int) -> tuple[float, float, set[int]]:
    """Squared error, parameters and leaves of the pruned subtree, by recursion."""
    n = float(tree.weight[node])
    own = float(models.error[node]) ** 2 * n, float(models.n_terms[node]) + 1
    if tree.is_leaf(node):
        return *own, {node}
    parts = [best_below(tree, models, child) for child in tree.children(node)]
    squares, count = sum(p[0] for p in parts), sum(p[1] for p in parts) + 1

    def charged(squares: float, v: float) -> float:
        return math.inf if n <= v else math.sqrt(squares / n) * (n + v) / (n - v)

    if charged(*own) <= charged(squares, count):
        return *own, {node}
    return squares, count, set().union(*(p[2] for p in parts))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 1.0, 5.0]))
@settings(max_examples=30)
def test_leaves_are_those_of_the_recursion(seed: int, noise: float) -> None:
    tree, models = tree_with_models(seed, noise=noise)
    cut = tree.cut(ModelPruning().leaves(tree, models))
    expected = best_below(tree, models, 0)[2]
    assert cut.n_leaves == len(expected)
    weights = sorted(tree.weight[list(expected)].tolist())
    assert sorted(cut.weight[cut.question == 0].tolist()) == weights


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_a_dearer_parameter_never_leaves_more_leaves_on_average_noise(seed: int) -> None:
    tree, models = tree_with_models(seed)
    sizes = [
        tree.cut(ModelPruning(price).leaves(tree, models)).n_leaves for price in (0.0, 1.0, 1e9)
    ]
    assert sizes[0] >= sizes[1] >= sizes[2]
    assert sizes[2] == 1


def test_equal_errors_prune() -> None:
    # Both children and the root are exact to rounding: one line is left.
    x = np.arange(60.0)[:, np.newaxis]
    rows = CellRows(Schema.of_array(1), x, 3 * x - 1, np.ones(60), None)
    tree = DecisionTreeRegressor(min_samples_leaf=4)._grown(rows, np.random.SeedSequence(0))
    models = fitted_models(tree, columns_below(tree), rows)
    assert tree.n_leaves > 5
    for price in (0.0, 1.0):
        assert ModelPruning(price).leaves(tree, models)[0]


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf])
def test_impossible_prices_are_refused(price: Any) -> None:
    with pytest.raises(InputError, match="number of at least 0"):
        ModelPruning(price)
