"""Importances: by definition from trees and shuffles, and as they should be on known tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.runtime import stream
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.importances import summarized
from novum.trees.routing import tree_values
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table

# --- Impurity -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nominal", ["auto", "multiway"])
def test_impurity_importances_are_the_mean_of_the_trees(nominal: str) -> None:
    table = mixed_table(150)
    model = RandomForestClassifier(7, random_state=0, nominal=nominal)
    model.fit(table, mixed_labels(table))
    mean = np.mean([tree.compute_feature_importances() for tree in model.forest_.trees], axis=0)
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum(), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_trees_without_a_split_count_for_nothing() -> None:
    model = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [1, 1])
    assert model.feature_importances_.tolist() == [0.0]


# --- Permutation ----------------------------------------------------------------------------------


def by_hand(model: Any, cells: np.ndarray, loss: Any, p: int) -> np.ndarray:
    """Every column of every tree shuffled among its unseen rows, by the streams of the trees."""
    root = np.random.SeedSequence([int(word) for word in model.draws_[-1].seed_words])
    found = np.zeros((len(model), p))
    for t, tree in enumerate(model.forest_.trees):
        unseen = np.setdiff1d(np.arange(len(cells)), model.estimators_samples_[t])
        rng = stream(root, "permutation", t)
        before = loss(tree_values(tree, cells[unseen]), unseen)
        for j in np.unique(tree.column[tree.column >= 0]):
            shuffled = cells[unseen].copy()
            shuffled[:, j] = shuffled[rng.permutation(unseen.size), j]
            found[t, j] = loss(tree_values(tree, shuffled), unseen) - before
    return found


@pytest.mark.parametrize("max_bins", [255, None])
def test_accuracy_lost_by_hand(max_bins: int | None) -> None:
    table = mixed_table(100)
    y = mixed_labels(table)
    model = RandomForestClassifier(6, random_state=0, max_bins=max_bins).fit(table, y)
    codes = np.searchsorted(model.classes_, y)
    expected = by_hand(
        model, model._cells(table), lambda p, rows: (p.argmax(axis=1) != codes[rows]).mean(), 5
    )
    found = model.permutation_importances(table, y)
    np.testing.assert_allclose(found.by_tree, expected, atol=1e-12)
    np.testing.assert_allclose(found.mean, expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        found.standard_error, expected.std(axis=0, ddof=1) / np.sqrt(6), atol=1e-12
    )
    assert found.names == model.schema_.names
    assert found.measure == "accuracy"


def test_r2_lost_is_squared_error_in_units_of_the_variance() -> None:
    table = mixed_table(100)
    y = mixed_numbers(table)
    model = RandomForestRegressor(6, random_state=0).fit(table, y)
    expected = by_hand(
        model, model._cells(table), lambda p, rows: ((p[:, 0] - y[rows]) ** 2).mean(), 5
    )
    squared = model.permutation_importances(table, y, measure="mean_squared_error")
    np.testing.assert_allclose(squared.by_tree, expected, rtol=1e-9, atol=1e-10)
    r2 = model.permutation_importances(table, y)
    np.testing.assert_allclose(r2.mean, squared.mean / y.var(), rtol=1e-9)
    assert (squared.measure, r2.measure) == ("mean_squared_error", "r2")


def test_what_matters_stands_out_and_noise_does_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    model = RandomForestClassifier(60, random_state=0).fit(X, y)
    found = model.permutation_importances(X, y, n_repeats=2, random_state=1)
    assert found.mean[0] > found.mean[1] > 0.03
    assert found.mean[1] > 10 * found.standard_error[1]
    # Of noise the importance is 0 in law; four standard errors are exceeded once in 16,000.
    assert (np.abs(found.mean[2:]) < 4 * found.standard_error[2:] + 0.01).all()
    assert [name for name, *_ in found.ranked()[:2]] == ["x0", "x1"]


def test_a_column_that_no_tree_asks_about_has_exactly_none() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.ones(100)])
    y = X[:, 0] > 0
    found = RandomForestClassifier(5, random_state=0).fit(X, y).permutation_importances(X, y)
    assert found.mean[1] == found.standard_error[1] == 0.0


def test_jobs_and_seeds() -> None:
    table = mixed_table(80)
    y = mixed_labels(table)
    model = RandomForestClassifier(5, random_state=0).fit(table, y)
    first = model.permutation_importances(table, y, random_state=3)
    model.set_params(n_jobs=3)
    np.testing.assert_array_equal(
        first.by_tree, model.permutation_importances(table, y, random_state=3).by_tree
    )
    assert (first.by_tree != model.permutation_importances(table, y).by_tree).any()


def test_weights_of_rows_count() -> None:
    table = mixed_table(100)
    y, weight = mixed_labels(table), 0.5 + np.arange(100) % 3
    model = RandomForestClassifier(6, random_state=0).fit(table, y, sample_weight=weight)
    codes = np.searchsorted(model.classes_, y)

    def loss(answers: np.ndarray, rows: np.ndarray) -> float:
        return float(np.average(answers.argmax(axis=1) != codes[rows], weights=weight[rows]))

    found = model.permutation_importances(table, y, sample_weight=weight)
    np.testing.assert_allclose(
        found.by_tree, by_hand(model, model._cells(table), loss, 5), atol=1e-12
    )


@pytest.mark.parametrize("change", ["rows", "order", "target", "levels"])
def test_other_rows_than_those_of_the_fit_are_refused(change: str) -> None:
    table = mixed_table(60)
    y = mixed_labels(table)
    model = RandomForestClassifier(3, random_state=0).fit(table, y)
    if change == "rows":
        table, y = table[1:], y[1:]
    elif change == "order":
        table = table[::-1]
    elif change == "target":
        y = np.where(np.arange(60) == 5, "a", y)
        y[6] = "b"
        y[7] = "c"
    else:
        table = table.assign(place="here")
    with pytest.raises(InputError, match="not the rows that the forest was fitted to"):
        model.permutation_importances(table, y)


def test_bad_arguments() -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) > 9
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="n_repeats is a whole number of at least 1, got 0"):
        forest.permutation_importances(X, y, n_repeats=0)
    with pytest.raises(InputError, match="'accuracy' for classifiers, got 'r2'"):
        forest.permutation_importances(X, y, measure="r2")
    numbers = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(InputError, match="'r2' or 'mean_squared_error'"):
        numbers.permutation_importances(X, X[:, 0], measure="accuracy")
    trees = ExtraTreesClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="bootstrap=True"):
        trees.permutation_importances(X, y)


def test_trees_that_have_seen_all_rows_say_nothing() -> None:
    by_tree = np.array([[0.2, 0.0], [np.nan, np.nan], [0.4, 0.2]])
    found = summarized(("a", "b"), "accuracy", by_tree)
    np.testing.assert_allclose(found.mean, [0.3, 0.1])
    np.testing.assert_allclose(found.standard_error, [0.1, 0.1])
    single = summarized(("a", "b"), "accuracy", by_tree[:1])
    assert np.isnan(single.standard_error).all()
