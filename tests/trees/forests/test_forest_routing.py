"""Rows through a forest: the same as through its trees one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.tables import check_features
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.forest_routing import (
    BLOCK,
    added_answers,
    forest_answers,
    forest_paths,
    heaviest_leaves,
    rows_as_asked,
)
from novum.trees.routing import leaf_shares, route
from novum.trees.training import cells_of
from tests.trees.forest_tables import mean_of_trees, mixed_labels, mixed_numbers, mixed_table

# New rows have a level that training did not have, on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")

# Sums over 8 trees of numbers of size one, added in other orders.
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def new_rows(n: int = 200) -> pd.DataFrame:
    """Rows with missing cells and levels that training never met."""
    table = mixed_table(n, seed=9, missing=0.15)
    table["place"] = [
        "elsewhere" if i % 7 == 0 else place
        for i, place in enumerate(table["place"].astype(object))
    ]
    return table


SETTINGS: list[dict[str, Any]] = [
    {},
    {"missing": "direction"},
    {"missing": "auto"},
    {"missing": "direction", "nominal": "subset"},
    {"nominal": "single"},
    {"max_bins": 8},
    {"max_bins": None},
    {"nominal": "multiway"},
    {"max_leaf_nodes": 12},
    {"criterion": "gain_ratio"},
    {"missing": "most_common_of_class"},
    {"ccp_alpha": 0.01},
]


def name_of(setting: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in setting.items()) or "default"


@pytest.mark.parametrize("setting", SETTINGS, ids=name_of)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_classes_are_the_mean_of_the_trees(setting: dict[str, Any], missing: float) -> None:
    table = mixed_table(250, missing=missing)
    model = RandomForestClassifier(8, random_state=0, **setting).fit(table, mixed_labels(table))
    for rows in (mixed_table(200, seed=3, missing=0.0), new_rows()):
        cells = model._cells(rows)
        found = forest_answers(model.forest_, cells)
        np.testing.assert_allclose(found, mean_of_trees(model.forest_, cells), **CLOSE)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_array_equal(model.predict_proba(rows), found)


@pytest.mark.parametrize("setting", [{}, {"max_bins": None}, {"criterion": "absolute_error"}])
def test_numbers_of_several_targets_are_the_mean_of_the_trees(setting: dict[str, Any]) -> None:
    table = mixed_table(150)
    y = np.column_stack([mixed_numbers(table), 1e6 + mixed_numbers(table, seed=1)])
    model = RandomForestRegressor(5, random_state=0, **setting).fit(table, y)
    cells = model._cells(new_rows())
    np.testing.assert_allclose(
        model.predict(new_rows()), mean_of_trees(model.forest_, cells), rtol=1e-12
    )


def test_several_targets_of_classes() -> None:
    table = mixed_table(150)
    labels = mixed_labels(table)
    y = np.column_stack([labels, np.where(labels == "a", "yes", "no")])
    model = RandomForestClassifier(5, random_state=0).fit(table, y)
    first, second = model.predict_proba(new_rows())
    whole = mean_of_trees(model.forest_, model._cells(new_rows()))
    np.testing.assert_allclose(np.hstack([first, second]), whole, **CLOSE)
    assert model.predict(new_rows()).shape == (200, 2)


def test_more_than_255_levels_go_by_thresholds() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": [f"i{k}" for k in rng.integers(0, 300, 900)], "x": rng.random(900)})
    y = (table["x"] > 0.5).to_numpy()
    model = RandomForestClassifier(4, random_state=0).fit(table, y)
    assert not model.forest_.is_coded
    np.testing.assert_allclose(
        model.predict_proba(table), mean_of_trees(model.forest_, model._cells(table)), **CLOSE
    )


@pytest.mark.parametrize("max_bins", [255, None])
def test_blocks_and_jobs_do_not_change_a_bit(max_bins: int | None) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    model = RandomForestClassifier(3, random_state=0, max_bins=max_bins)
    forest = model.fit(X, rng.integers(0, 3, 400)).forest_
    many = rows_as_asked(forest, np.resize(X, (2 * BLOCK + 77, 4)))
    whole = added_answers(forest, many)
    np.testing.assert_array_equal(added_answers(forest, many, n_jobs=3), whole)
    np.testing.assert_array_equal(
        added_answers(forest, many[BLOCK - 5 : BLOCK + 5]), whole[BLOCK - 5 : BLOCK + 5]
    )
    by_tree = sum(added_answers(forest, many[:500], first=t, last=t + 1) for t in range(3))
    np.testing.assert_allclose(by_tree, whole[:500], **CLOSE)


@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("missing", ["fractional", "direction", "auto"])
def test_leaves_and_paths_are_those_of_the_trees(max_bins: int | None, missing: str) -> None:
    table = mixed_table(150)
    model = ExtraTreesClassifier(4, random_state=0, max_bins=max_bins, missing=missing)
    model.fit(table, mixed_labels(table))
    forest, cells = model.forest_, cells_of(check_features(model, new_rows(), allow_missing=True))
    leaves = heaviest_leaves(forest, cells)
    paths, starts = model.decision_path(new_rows())
    assert (paths != forest_paths(forest, cells)).nnz == 0
    for t, tree in enumerate(forest.trees):
        shares = leaf_shares(tree, cells).toarray()
        np.testing.assert_array_equal(leaves[:, t], shares.argmax(axis=1))
        way = paths[:, starts[t] : starts[t + 1]].toarray()
        np.testing.assert_array_equal(way, route(tree, cells).toarray() > 0)
    np.testing.assert_array_equal(model.apply(new_rows()), leaves)


def test_one_row_is_as_many_rows() -> None:
    table = mixed_table(120)
    model = RandomForestClassifier(5, random_state=0).fit(table, mixed_labels(table))
    whole = model.predict_proba(new_rows())
    for i in (0, 7, 50):
        np.testing.assert_array_equal(model.predict_proba(new_rows()[i : i + 1])[0], whole[i])
