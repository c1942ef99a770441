"""Regression trees: scikit-learn's trees, medians, several targets, and targets of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import tree as other

from novum.core.errors import InputError, UnseenLevelWarning
from novum.core.learners import Verdict
from novum.trees.forests.forest import RandomForestRegressor
from novum.trees.regressor import DecisionTreeRegressor
from tests.trees.mixed_tables import assert_nodes_of, mixed_table, numeric_table

SIX = np.arange(6.0)[:, None]
LARGE = {"min_samples_leaf": 10}


def numbers(n: int = 300, *, few: bool = False) -> tuple[Any, Any]:
    X, _ = numeric_table(n, seed=8)
    if few:
        X = np.round(X * 8) / 8
    rng = np.random.default_rng(9)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.1 * rng.normal(size=n)


def assert_same(ours: Any, theirs: Any, X: Any) -> None:
    if not assert_nodes_of(ours, theirs, least=3):
        return
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-6, atol=1e-9
    )
    pairs = set(zip(ours.apply(X).tolist(), theirs.apply(X).tolist(), strict=True))
    assert len(pairs) == theirs.get_n_leaves()


# --- scikit-learn's trees -------------------------------------------------------------------------


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        LARGE,
        {**LARGE, "max_depth": 3},
        {**LARGE, "max_leaf_nodes": 7},
        {**LARGE, "min_impurity_decrease": 0.01},
        {**LARGE, "ccp_alpha": 0.01},
        {"min_samples_leaf": 0.05, "min_samples_split": 0.2},
        {**LARGE, "criterion": "absolute_error"},
    ],
    ids=str,
)
def test_the_same_tree(parameters: dict[str, Any], few: bool) -> None:
    X, y = numbers(few=few)
    bins = {} if few else {"max_bins": None}
    ours: Any = DecisionTreeRegressor(**parameters, **bins).fit(X, y)
    theirs = other.DecisionTreeRegressor(random_state=0, **parameters).fit(X, y)
    assert ours.get_n_leaves() > 3
    assert_same(ours, theirs, X)


def test_several_targets_as_there() -> None:
    X, y = numbers(few=True)
    targets = np.column_stack([y, X[:, 3] + y**2])
    ours = DecisionTreeRegressor(**LARGE).fit(X, targets)
    theirs = other.DecisionTreeRegressor(random_state=0, **LARGE).fit(X, targets)
    assert_same(ours, theirs, X)
    assert ours.n_outputs_ == 2
    assert ours.predict(X).shape == (300, 2)
    column = DecisionTreeRegressor(**LARGE).fit(X, y[:, None])
    assert column.predict(X).shape == (300,)


@pytest.mark.parametrize("sign", [-1, 1])
def test_monotone_columns_as_there(sign: int) -> None:
    X, y = numbers(400)
    parameters: dict[str, Any] = {"monotonic_cst": [0, sign, 0, 0], "min_samples_leaf": 20}
    ours = DecisionTreeRegressor(max_bins=None, **parameters).fit(X, y)
    theirs = other.DecisionTreeRegressor(random_state=0, **parameters).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)


def test_weights_as_there() -> None:
    X, y = numbers(few=True)
    weight = np.random.default_rng(0).integers(1, 5, len(y)).astype(float)
    more: dict[str, Any] = {"max_depth": 4, "min_weight_fraction_leaf": 0.04}
    ours = DecisionTreeRegressor(**more).fit(X, y, weight)
    assert_same(ours, other.DecisionTreeRegressor(random_state=0, **more).fit(X, y, weight), X)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("nominal", ["auto", "subset", "single", "multiway"])
def test_weight_two_is_the_row_twice(criterion: str, nominal: str) -> None:
    X, label = mixed_table()
    y = (label == "yes") + X["x"].fillna(1).to_numpy() ** 2
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    model = DecisionTreeRegressor(criterion=criterion, nominal=nominal, min_samples_leaf=3)
    found = model.fit(X, y, weight).predict(X)
    np.testing.assert_allclose(found, model.fit(X.iloc[again], y[again]).predict(X), atol=1e-9)


@pytest.mark.parametrize("scale", [0.1, 1e6])
def test_the_unit_of_weights_does_not_matter(scale: float) -> None:
    X, y = numbers(few=True)
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    first, second = (DecisionTreeRegressor().fit(X, y, w) for w in (weight, weight * scale))
    np.testing.assert_array_equal(first.tree_.column, second.tree_.column)
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-9)


# --- Values ---------------------------------------------------------------------------------------


def test_means_and_medians_of_leaves() -> None:
    y = [0.0, 1.0, 5.0, 100.0, 100.0, 130.0]
    mean = DecisionTreeRegressor(max_depth=1).fit(SIX, y)
    np.testing.assert_allclose(mean.predict(SIX[[0, 5]]), [2.0, 110.0])
    median = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(SIX, y)
    assert median.predict(SIX[[0, 5]]).tolist() == [1.0, 100.0]


def test_missing_cells_average_the_leaves() -> None:
    X = pd.DataFrame({"c": ["a", "a", "a", "b"]})
    model = DecisionTreeRegressor().fit(X, [0.0, 0.0, 0.0, 8.0])
    with pytest.warns(UnseenLevelWarning, match="'c' has 1 cells"):
        found = model.predict(pd.DataFrame({"c": [None, "z", "b"]}))
    assert found.tolist() == [2.0, 2.0, 8.0]


# --- Targets of any size --------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0**-400, 1.0, 2.0**400])
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_units_of_targets_do_not_matter(factor: float, offset: float) -> None:
    X, y = numbers(few=True)
    reference = DecisionTreeRegressor(**LARGE).fit(X, y)
    found = DecisionTreeRegressor(**LARGE).fit(X, (y + offset) * factor)
    np.testing.assert_array_equal(found.tree_.column, reference.tree_.column)
    np.testing.assert_allclose(found.predict(X) / factor - offset, reference.predict(X), atol=1e-9)
    np.testing.assert_allclose(
        found.feature_importances_, reference.feature_importances_, atol=1e-9
    )
    assert np.isfinite(found.certificate_.value)
    assert found.certificate_.verdict is Verdict.LOCAL


def test_a_least_gain_follows_the_units_of_the_targets() -> None:
    X, y = numbers(few=True)
    for factor in (1e-3, 1e3):
        model = DecisionTreeRegressor(min_impurity_decrease=0.01 * factor**2).fit(X, y * factor)
        expected = DecisionTreeRegressor(min_impurity_decrease=0.01).fit(X, y)
        assert model.get_n_leaves() == expected.get_n_leaves()


def test_small_differences_on_a_large_offset() -> None:
    y = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    model = DecisionTreeRegressor(max_depth=1).fit(SIX, 1e12 + y)
    assert (model.predict(SIX) - 1e12).tolist() == y.tolist()
    assert model.tree_.gain[0] == pytest.approx(1.5)


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-200, 1e-310])
def test_squares_that_are_no_numbers_are_refused(size: float) -> None:
    y = np.array([1.0, -1.0, 0.5, 0.25, 0.75, -0.5]) * size
    with pytest.raises(InputError, match=r"y differs by about 1e.*Give y in other units"):
        DecisionTreeRegressor().fit(SIX, y)
    if size < 1e308:
        found = DecisionTreeRegressor(criterion="absolute_error").fit(SIX, y)
        np.testing.assert_allclose(found.predict(SIX), y, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, -3.0, 1e300, 1e-310])
def test_constant_targets_are_a_proved_leaf(value: float) -> None:
    model = DecisionTreeRegressor().fit(SIX, np.full(6, value))
    assert model.predict(SIX).tolist() == [value] * 6
    assert model.get_n_leaves() == 1
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.feature_importances_.tolist() == [0.0]
    assert DecisionTreeRegressor().fit(SIX[:1], [value]).predict(SIX).tolist() == [value] * 6


def test_integers_do_not_wrap() -> None:
    small = np.array([127, 127, 127, -128, -128, -128], np.int8)
    assert DecisionTreeRegressor().fit(SIX, small).predict(SIX).tolist() == small.tolist()
    large = np.array([2**63 - 1024, -(2**63)] * 3)
    found = DecisionTreeRegressor().fit(SIX, large).predict(SIX)
    np.testing.assert_allclose(found, large.astype(float), rtol=1e-15)
    unsigned = np.array([2**64 - 2048, 0] * 3, np.uint64)
    found = DecisionTreeRegressor().fit(SIX, unsigned).predict(SIX)
    np.testing.assert_allclose(found, unsigned.astype(float), rtol=1e-15, atol=1e4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["1", "2", "3", "4", "5", "6"], "predicts numbers, but y holds .*'1'.* at row 0"),
        ([1.0, np.inf] * 3, "infinity"),
        ([1.0, np.nan] * 3, "missing"),
        ([1.0, 2.0], "inconsistent|rows"),
        (np.zeros((6, 2, 2)), r"got an array of shape \(6, 2, 2\)"),
    ],
)
def test_bad_targets_are_named(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DecisionTreeRegressor().fit(SIX, y)


def test_too_many_levels() -> None:
    frame = pd.DataFrame({"id": [f"k{i}" for i in range(2**16 + 1)]})
    for criterion in ("squared_error", "absolute_error"):
        with pytest.raises(InputError, match="'id' has 65537 levels"):
            DecisionTreeRegressor(criterion=criterion).fit(frame, np.arange(2.0**16 + 1))


@pytest.mark.parametrize("offset", [0.0, 1e9, -3.0])
def test_leaves_of_equal_whole_numbers_give_them_back(offset: float) -> None:
    """Targets are centered while a tree grows, and nothing of that is left in the answers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = rng.integers(0, 3, 90) + offset
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(X, y).predict(X), y)
    forest = RandomForestRegressor(5, bootstrap=False, random_state=0)
    np.testing.assert_allclose(forest.fit(X, y).predict(X), y, rtol=1e-15)


def test_a_name_that_scikit_learn_keeps_for_the_squared_error() -> None:
    X, y = np.arange(20.0)[:, np.newaxis], np.sin(np.arange(20.0))
    other = DecisionTreeRegressor(criterion="friedman_mse", max_depth=3).fit(X, y)
    expected = DecisionTreeRegressor(max_depth=3).fit(X, y).predict(X)
    np.testing.assert_array_equal(other.predict(X), expected)
