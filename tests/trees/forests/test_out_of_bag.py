"""Out-of-bag predictions, against a loop over rows and trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, r2_score

from novum.core.errors import InputError
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.forest_draws import draws_of, in_given_order
from novum.trees.routing import tree_values
from tests.trees.forest_tables import mixed_labels, mixed_numbers, mixed_table


def by_hand(model: Any, cells: np.ndarray) -> np.ndarray:
    """For every row the mean of the trees whose sample it is not in."""
    answers = np.array([tree_values(tree, cells) for tree in model.forest_.trees])
    found = np.full(answers.shape[1:], np.nan)
    for i in range(len(cells)):
        unseen = [t for t, rows in enumerate(model.estimators_samples_) if i not in rows]
        if unseen:
            found[i] = answers[unseen, i].mean(axis=0)
    return found


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"max_bins": None},
        {"max_samples": 0.3},
        {"missing": "direction"},
        {"nominal": "multiway"},
    ],
    ids=str,
)
def test_classes_by_hand(setting: dict[str, Any]) -> None:
    table = mixed_table(120)
    y = mixed_labels(table)
    model = RandomForestClassifier(30, random_state=0, oob_score=True, **setting).fit(table, y)
    expected = by_hand(model, model._cells(table))
    np.testing.assert_allclose(model.oob_decision_function_, expected, rtol=1e-10, atol=1e-12)
    named = model.classes_[expected.argmax(axis=1)]
    assert model.oob_score_ == pytest.approx((named == y).mean())
    assert 0.5 < model.oob_score_ < model.score(table, y)


def test_numbers_by_hand() -> None:
    table = mixed_table(120)
    y = np.column_stack([mixed_numbers(table), mixed_numbers(table, seed=3)])
    model = RandomForestRegressor(40, random_state=0, oob_score=True).fit(table, y)
    expected = by_hand(model, model._cells(table))
    np.testing.assert_allclose(model.oob_prediction_, expected, rtol=1e-10, atol=1e-12)
    assert model.oob_score_ == pytest.approx(r2_score(y, expected))
    single = RandomForestRegressor(40, random_state=0, oob_score=True).fit(table, y[:, 0])
    assert single.oob_prediction_.shape == (120,)


def test_replaced_cells_do_not_tell_the_class() -> None:
    # The class decides which cells are missing and by what they are replaced in training; an
    # unseen row is filled as at prediction, where the class is not known.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = y[:, None] * 10.0 + rng.normal(size=(200, 1))
    X[rng.random(200) < 0.9] = np.nan
    model = RandomForestClassifier(
        50, random_state=0, oob_score=True, missing="most_common_of_class"
    ).fit(X, y)
    np.testing.assert_allclose(
        model.oob_decision_function_, by_hand(model, model._cells(X)), rtol=1e-10, atol=1e-12
    )
    assert model.oob_score_ < 0.8


def test_weights_count_in_the_score_and_zero_weights_have_no_prediction() -> None:
    table = mixed_table(100)
    y = mixed_labels(table)
    weight = np.arange(100) % 4.0
    model = RandomForestClassifier(40, random_state=0, oob_score=True)
    model.fit(table, y, sample_weight=weight)
    assert np.isnan(model.oob_decision_function_[weight == 0]).all()
    assert not np.isnan(model.oob_decision_function_[weight > 0]).any()
    assert all((weight[rows] > 0).all() for rows in model.estimators_samples_)
    named = model.classes_[model.oob_decision_function_[weight > 0].argmax(axis=1)]
    hits = named == y[weight > 0]
    assert model.oob_score_ == pytest.approx(np.average(hits, weights=weight[weight > 0]))
    np.testing.assert_allclose(
        model.oob_decision_function_[weight > 0], by_hand(model, model._cells(table))[weight > 0]
    )


def test_a_score_of_ones_own() -> None:
    table = mixed_table(100)
    y = mixed_labels(table) == "a"
    model = RandomForestClassifier(30, random_state=0, oob_score=f1_score).fit(table, y)
    named = model.oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == pytest.approx(f1_score(y, named == 1))


def test_several_targets_have_an_axis_of_their_own() -> None:
    table = mixed_table(80)
    labels = mixed_labels(table)
    y = np.column_stack([labels == "a", labels == "b"])
    model = RandomForestClassifier(30, random_state=0, oob_score=True).fit(table, y)
    assert model.oob_decision_function_.shape == (80, 2, 2)
    named = model.oob_decision_function_.argmax(axis=1).astype(bool)
    assert model.oob_score_ == pytest.approx((named == y).all(axis=1).mean())


def test_rows_that_all_trees_have_seen_are_counted() -> None:
    table = mixed_table(60)
    with pytest.warns(UserWarning, match=r"\d+ of 60 rows were drawn for every tree"):
        model = RandomForestClassifier(2, random_state=0, oob_score=True).fit(
            table, mixed_labels(table)
        )
    seen = np.isnan(model.oob_decision_function_).any(axis=1)
    assert 0 < seen.sum() < 60
    assert np.isfinite(model.oob_score_)


def test_nothing_is_out_of_bag_without_bootstrap() -> None:
    with pytest.raises(InputError, match="only available if bootstrap=True"):
        ExtraTreesClassifier(2, oob_score=True).fit([[0.0], [1.0]], [0, 1])


def test_trees_of_different_tables_have_no_common_bag() -> None:
    X = np.arange(20.0)[:, None]
    model = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, X[:, 0] > 9)
    model.set_params(n_estimators=5, oob_score=True)
    with pytest.raises(InputError, match="another number of rows"):
        model.fit(X[2:], X[2:, 0] > 9)


def test_draws_belong_to_trees() -> None:
    X = np.arange(20.0)[:, None]
    model = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, X[:, 0] > 9)
    model.set_params(n_estimators=5).fit(X, X[:, 0] > 9)
    assert [draws_of(model.draws_, t).first for t in range(5)] == [0, 0, 0, 3, 3]


def test_given_order() -> None:
    found = in_given_order(np.array([[1.0], [2.0]]), np.array([1, 3]), 4)
    np.testing.assert_array_equal(found.ravel(), [np.nan, 1.0, np.nan, 2.0])
    assert in_given_order(found, None, 4) is found
