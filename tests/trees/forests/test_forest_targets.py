"""Answers of forests for classes and numbers: probabilities, priors, class weights, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.trees.forest_tables import mixed_labels, mixed_table


def two_classes(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(scale=0.8, size=n) > 0.8, "yes", "no")


def test_probabilities_and_labels() -> None:
    X, y = two_classes()
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    probability = model.predict_proba(X)
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.n_classes_, model.n_outputs_) == (2, 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(probability))
    np.testing.assert_allclose(model.class_prior_, [(y == "no").mean(), (y == "yes").mean()])


def test_several_targets_keep_their_labels() -> None:
    table = mixed_table(100)
    labels = mixed_labels(table)
    y = np.column_stack([labels, np.where(labels == "a", "x", "y")])
    model = RandomForestClassifier(5, random_state=0, max_features=None).fit(table, y)
    assert [c.tolist() for c in model.classes_] == [["a", "b", "c"], ["x", "y"]]
    assert model.n_classes_ == [3, 2]
    assert not hasattr(model, "class_prior_")
    assert (model.predict(table) == y).mean() > 0.9
    assert [part.shape for part in model.predict_log_proba(table)] == [(100, 3), (100, 2)]


def test_a_working_point_moves_the_decision() -> None:
    X, y = two_classes()
    model = RandomForestClassifier(30, random_state=0, min_samples_leaf=5).fit(X, y)
    rare = model.at(WorkingPoint(("no", "yes"), [0.99, 0.01], [[0, 1], [1, 0]]))
    assert (rare.predict(X) == "yes").sum() < (model.predict(X) == "yes").sum()


# --- Class weights --------------------------------------------------------------------------------


def test_balanced_classes_weigh_the_same() -> None:
    X, y = two_classes()
    whole = ExtraTreesClassifier(3, random_state=0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(whole.class_prior_, 0.5)
    for tree in whole.forest_.trees:
        np.testing.assert_allclose(tree.value[0], 100.0)
    drawn = RandomForestClassifier(5, random_state=0, class_weight="balanced_subsample").fit(X, y)
    np.testing.assert_allclose(drawn.class_prior_, 0.5)
    for tree, rows in zip(drawn.forest_.trees, drawn.estimators_samples_, strict=True):
        np.testing.assert_allclose(tree.value[0], [100.0, 100.0])
        assert np.bincount(y[rows] == "yes").tolist() != [100, 100]


def test_class_weights_act_in_the_draw() -> None:
    X, y = two_classes(400)
    model = RandomForestClassifier(50, random_state=0, class_weight={"yes": 4.0}).fit(X, y)
    expected = 4 * (y == "yes").sum() / (4 * (y == "yes").sum() + (y == "no").sum())
    found = np.mean([(y[rows] == "yes").mean() for rows in model.estimators_samples_])
    # 20,000 draws: four standard errors are below 0.015.
    assert found == pytest.approx(expected, abs=0.015)
    assert model.class_prior_[1] == pytest.approx(expected)


def test_a_class_of_weight_zero_is_in_no_tree() -> None:
    X, y = two_classes()
    for model in (RandomForestClassifier(4, random_state=0), ExtraTreesClassifier(4)):
        found = model.set_params(class_weight={"yes": 0.0}).fit(X, y).predict_proba(X)
        assert (found[:, 0] == 1).all()
    with pytest.raises(InputError, match="every row weight 0"):
        model.set_params(class_weight={"yes": 0, "no": 0}).fit(X, y)
    with pytest.raises(InputError, match="names the class 'maybe'"):
        model.set_params(class_weight={"maybe": 1}).fit(X, y)


def test_class_weights_are_weights_of_rows() -> None:
    X, y = two_classes()
    model = ExtraTreesClassifier(4, random_state=0)
    by_class = model.set_params(class_weight={"yes": 3.0}).fit(X, y).predict_proba(X)
    weight = np.where(y == "yes", 3.0, 1.0)
    by_row = model.set_params(class_weight=None).fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(by_class, by_row)


# --- Monotone constraints -------------------------------------------------------------------------


@pytest.mark.parametrize("model", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("sign", [1, -1])
def test_probabilities_do_not_fall_along_a_monotone_column(model: Any, sign: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (sign * X[:, 0] + rng.normal(scale=1.5, size=400) > 0).astype(int)
    fitted = model(10, random_state=0, monotonic_cst=[sign, 0]).fit(X, y)
    grid = np.linspace(-3, 3, 60)
    free = model(10, random_state=0).fit(X, y)
    worst = []
    for forest in (fitted, free):
        steps = [
            sign * np.diff(forest.predict_proba(np.column_stack([grid, np.full(60, other)]))[:, 1])
            for other in (-1.0, 0.0, 1.0)
        ]
        worst.append(np.min(steps))
    assert worst[0] >= -1e-12
    assert worst[1] < -0.01


@pytest.mark.parametrize("model", [RandomForestRegressor, ExtraTreesRegressor])
def test_numbers_do_not_fall_along_a_monotone_column(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300)
    fitted = model(10, random_state=0, monotonic_cst=[1, 0]).fit(X, y)
    grid = np.column_stack([np.linspace(-3, 3, 80), np.zeros(80)])
    assert np.diff(fitted.predict(grid)).min() >= -1e-12
    assert np.diff(model(10, random_state=0).fit(X, y).predict(grid)).min() < -0.01


def test_numbers_of_any_size_and_offset() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = X[:, 0] ** 2
    plain = RandomForestRegressor(5, random_state=0).fit(X, y).predict(X)
    far = RandomForestRegressor(5, random_state=0).fit(X, 1e6 + y * 2.0**-20).predict(X)
    np.testing.assert_allclose((far - 1e6) * 2.0**20, plain, atol=2e-3)
    large = RandomForestRegressor(5, random_state=0).fit(X, y * 2.0**200).predict(X)
    np.testing.assert_allclose(large / 2.0**200, plain, rtol=1e-12)
