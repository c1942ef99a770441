"""Smoothing: the formula by hand, the recursion of the definition, missing cells and levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.trees.model_trees.model_tree_lines import columns_below, fitted_models
from novum.trees.model_trees.model_tree_models import path_weights, predicted, smoothed_model
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.training import CellRows
from tests.strategies.tree_tables import training_tables
from tests.trees.model_tree_definition import model_value, prediction


def grown(rows: CellRows, **parameters: Any) -> Any:
    return DecisionTreeRegressor(**parameters)._grown(rows, np.random.SeedSequence(0))


@given(
    training_tables(target="numbers", max_targets=2, min_rows=4),
    st.sampled_from([0.0, 1.5, 15.0]),
    st.sampled_from(["fractional", "direction", "auto"]),
)
def test_predictions_are_those_of_the_recursion(table: Any, k: float, missing: str) -> None:
    rows = CellRows(table.schema, table.cells, table.targets, table.weight, None)
    tree = grown(rows, min_samples_leaf=1, missing=missing)
    models = fitted_models(tree, columns_below(tree), rows)
    # New rows: cells of other rows, missing ones and levels never met.
    rng = np.random.default_rng(0)
    cells = np.column_stack([rng.permutation(x) for x in rows.cells.T])
    cells[0] = np.nan
    cells[-1, tree.schema.categorical] = -2.0
    for kind, j in zip(tree.schema.columns, range(cells.shape[1]), strict=True):
        if kind.kind.name == "ORDINAL":
            cells[cells[:, j] < 0, j] = np.nan
    found = predicted(tree, models, cells, k)
    expected = [prediction(tree, models, row, k) for row in cells]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_formula_by_hand() -> None:
    x = np.arange(30.0)[:, np.newaxis]
    y = np.where(x[:, 0] < 10, x[:, 0], 100 - 3 * x[:, 0])
    schema = DecisionTreeRegressor().fit(x, y).schema_
    rows = CellRows(schema, x, y[:, np.newaxis], np.ones(30), None)
    tree = grown(rows, max_depth=1)
    models = fitted_models(tree, np.ones((3, 1), bool), rows)
    row = np.array([4.0])
    leaf, root = model_value(models, 1, row)[0], model_value(models, 0, row)[0]
    n = tree.weight[1]
    expected = (n * leaf + 15 * root) / (n + 15)
    assert predicted(tree, models, row[np.newaxis], 15.0)[0, 0] == pytest.approx(expected)
    assert predicted(tree, models, row[np.newaxis], 0.0)[0, 0] == pytest.approx(leaf)
    line = smoothed_model(tree, models, 1, 15.0)
    assert line.intercept + 4 * line.coefficients["x0"] == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.floats(0, 100))
@settings(max_examples=20)
def test_weights_of_a_path_add_to_one(seed: int, k: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 2))
    tree = DecisionTreeRegressor().fit(x, rng.normal(size=60)).tree_
    for leaf in np.flatnonzero(tree.question == 0).tolist():
        parts = path_weights(tree, leaf, k)
        assert sum(parts.values()) == pytest.approx(1.0)
        assert min(parts.values()) >= 0
        assert len(parts) == (tree.depths[leaf] + 1 if k > 0 else 1)


def test_the_smoothed_model_is_what_predicts() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 3))
    y = np.where(x[:, 0] > 0, x[:, 1], 5 - x[:, 2])[:, np.newaxis]
    schema = DecisionTreeRegressor().fit(x, y).schema_
    rows = CellRows(schema, x, y, np.ones(120), None)
    tree = grown(rows, min_samples_leaf=10)
    models = fitted_models(tree, columns_below(tree), rows)
    found = predicted(tree, models, x, 15.0)[:, 0]
    leaf = DecisionTreeRegressor(min_samples_leaf=10).fit(x, y).apply(x)
    for row in range(0, 120, 7):
        line = smoothed_model(tree, models, int(leaf[row]), 15.0)
        terms = {f"x{j}": value for j, value in enumerate(x[row])}
        value = line.intercept + sum(b * terms[name] for name, b in line.terms)
        assert value == pytest.approx(found[row], rel=1e-10, abs=1e-10)
