"""Contributions: Shapley values by enumeration, sums to predictions, interactions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from novum.linear import LogisticRegression
from novum.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    Question,
    RandomForestClassifier,
    RandomForestRegressor,
    Tree,
)
from novum.trees.routing import leaf_answers
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

TABLE = mixed_table(80)
NUMBERS, LABELS = mixed_numbers(TABLE), mixed_labels(TABLE)


def said(tree: Tree, row: Any, known: frozenset[int], other: Any, node: int = 0) -> Any:
    """What a tree says of a row of which some cells are known, by its definition."""
    if tree.question[node] == Question.LEAF:
        return leaf_answers(tree)[node]
    j = int(tree.column[node])
    children = range(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
    if j in known:
        branch = branch_of(tree, node, row[j])
    else:
        branch = -1 if other is None else branch_of(tree, node, other[j])
    if branch >= 0:
        return said(tree, row, known, other, children[branch])
    return sum(tree.share[child] * said(tree, row, known, other, child) for child in children)


def branch_of(tree: Tree, node: int, x: float) -> int:
    if np.isnan(x):
        return int(tree.missing_branch[node])
    if tree.question[node] == Question.THRESHOLD:
        return int(x > tree.threshold[node])
    return -1 if x < 0 else int(tree.level_branch[tree.level_start[node] + int(x)])


def shapley(tree: Tree, row: Any, other: Any = None) -> tuple[Any, Any]:
    """Contributions and interactions from all subsets of the columns."""
    p = len(row)
    worth = {
        frozenset(S): said(tree, row, frozenset(S), other)
        for size in range(p + 1)
        for S in combinations(range(p), size)
    }
    K = len(worth[frozenset()])
    phi, pairs = np.zeros((p, K)), np.zeros((p, p, K))
    for S, value in worth.items():
        s = len(S)
        for j in set(range(p)) - S:
            weight = factorial(s) * factorial(p - s - 1) / factorial(p)
            phi[j] += weight * (worth[S | {j}] - value)
            for i in set(range(p)) - S - {j}:
                weight = factorial(s) * factorial(p - s - 2) / (2 * factorial(p - 1))
                both = worth[S | {i, j}] - worth[S | {i}] - worth[S | {j}] + value
                pairs[i, j] += weight * both
    for j in range(p):
        pairs[j, j] = phi[j] - pairs[j].sum(axis=0)
    return phi, pairs


TREES = [
    (DecisionTreeRegressor(max_depth=6), NUMBERS),
    (DecisionTreeRegressor(max_depth=5, missing="direction"), NUMBERS),
    (DecisionTreeClassifier(max_depth=6), LABELS),
    (DecisionTreeClassifier(max_depth=4, nominal="multiway"), LABELS),
]


@pytest.mark.parametrize(("model", "y"), TREES)
@pytest.mark.parametrize("with_background", [False, True])
def test_contributions_are_shapley_values(model: Any, y: Any, with_background: bool) -> None:
    model.fit(TABLE, y)
    rows, others = TABLE[:5], TABLE[40:43] if with_background else None
    found = model.contributions(rows, others, interactions=True)
    cells = model._cells(rows)
    backgrounds = [None] if others is None else list(model._cells(others))
    K = leaf_answers(model.tree_).shape[1]
    for i, row in enumerate(cells):
        parts = [shapley(model.tree_, row, other) for other in backgrounds]
        phi = np.mean([part[0] for part in parts], axis=0)
        pairs = np.mean([part[1] for part in parts], axis=0)
        np.testing.assert_allclose(found.values[i].reshape(-1, K), phi, atol=1e-12)
        np.testing.assert_allclose(found.interactions[i].reshape(*pairs.shape), pairs, atol=1e-12)
        base = np.mean([said(model.tree_, row, frozenset(), o) for o in backgrounds], axis=0)
        np.testing.assert_allclose(found.base, base if K > 1 else base[0], atol=1e-12)


def test_columns_that_are_asked_again_and_again() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 0]
    model = DecisionTreeRegressor(max_depth=9).fit(X, y)
    found = model.contributions(X[:8])
    for i in range(8):
        phi, _ = shapley(model.tree_, X[i])
        np.testing.assert_allclose(found.values[i], phi[:, 0], atol=1e-11)


@pytest.mark.parametrize(
    ("model", "y", "predicted"),
    [
        (RandomForestRegressor(20, random_state=0), NUMBERS, "predict"),
        (RandomForestClassifier(20, random_state=0), LABELS, "predict_proba"),
        (ExtraTreesClassifier(20, random_state=0, max_bins=None), LABELS, "predict_proba"),
        (GradientBoostingRegressor(n_estimators=50), NUMBERS, "predict"),
        (GradientBoostingClassifier(n_estimators=30), LABELS, "decision_function"),
        (GradientBoostingRegressor("poisson", n_estimators=30), np.abs(NUMBERS), "_scores"),
    ],
)
@pytest.mark.parametrize("with_background", [False, True])
def test_contributions_add_up_to_predictions(
    model: Any, y: Any, predicted: str, with_background: bool
) -> None:
    model.fit(TABLE, y)
    found = model.contributions(TABLE, TABLE[:7] if with_background else None)
    expected = getattr(model, predicted)(TABLE)
    expected = expected[0] if predicted == "_scores" else expected
    np.testing.assert_allclose(found.predictions, expected, atol=1e-10)
    assert repr(found).startswith("Contributions to 80 predictions")
    assert found.importances.shape == (TABLE.shape[1],)


def test_a_background_without_rows() -> None:
    model = DecisionTreeRegressor().fit(TABLE, NUMBERS)
    with pytest.raises(InputError, match="0 sample"):
        model.contributions(TABLE, TABLE[:0])


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("with_background", [False, True])
def test_contributions_to_the_votes_of_a_committee(depth: int, with_background: bool) -> None:
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(90, 3)).round(1)
    y = 1 * (X[:, 0] + X[:, 1] * X[:, 2] > 0.3) + (X[:, 1] > 0.5)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=6).fit(X, y)
    others = X[:4] if with_background else None
    found = model.contributions(X, others, interactions=True)
    np.testing.assert_allclose(found.predictions, model._votes(X), atol=1e-12)
    np.testing.assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-12)
    expected = np.zeros((3, 3))
    for tree, weight in zip(model._all_trees(), model.estimator_weights_, strict=True):
        votes = replace(tree, value=np.eye(3)[leaf_answers(tree).argmax(axis=1)])
        backgrounds = [None] if others is None else list(others)
        parts = [shapley(votes, X[5], other)[0] for other in backgrounds]
        expected += weight * np.mean(parts, axis=0)
    np.testing.assert_allclose(found.values[5], expected, atol=1e-12)


def test_votes_that_are_no_sum_are_refused() -> None:
    X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
    model = AdaBoostClassifier(n_estimators=2).fit(X, [0, 0, 1, 1])
    with pytest.raises(InputError, match="Row 1 lacks a cell"):
        model.contributions([[1.0, 5.0], [np.nan, np.nan]])
    other = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, [0, 0, 1, 1])
    assert not hasattr(other, "contributions")
