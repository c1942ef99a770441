"""From parameters to rules: limits that scale with the weights, columns tried, monotone signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.settings import (
    general_rules,
    growth_rules,
    least_weights,
    monotone_signs,
    n_features,
)
from novum.trees.training import CellRows

SLACK = 1 - 1e-9


def rows_of(weight: Any, n_columns: int = 3, n_classes: int = 2) -> CellRows:
    w = np.asarray(weight, float)
    targets = (np.arange(len(w)) % n_classes)[:, None]
    cells = np.zeros((len(w), n_columns))
    return CellRows(Schema.of_array(n_columns), cells, targets, w, (np.arange(n_classes),))


# --- Limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "split", "leaf"),
    [
        ({}, 2.0, 1.0),
        ({"min_samples_split": 5}, 5.0, 1.0),
        ({"min_samples_leaf": 3}, 2.0, 3.0),
        ({"min_samples_split": 0.25, "min_samples_leaf": 0.1}, 5.0, 2.0),
    ],
)
def test_limits_of_unit_weights(parameters: dict[str, Any], split: float, leaf: float) -> None:
    found = least_weights(DecisionTreeClassifier(**parameters), np.ones(20))
    assert found == (pytest.approx(split, rel=1e-9), pytest.approx(leaf, rel=1e-9))
    # Just below, so that sums of many weights that fall short in the last digits still count.
    assert split * SLACK < found[0] < split
    assert leaf * SLACK < found[1] < leaf


@given(st.floats(1e-6, 1.0), st.lists(st.integers(1, 5), min_size=2, max_size=9))
def test_shares_and_defaults_scale_with_the_weights(scale: float, weight: list[int]) -> None:
    w = np.array(weight) / max(weight)
    model = DecisionTreeClassifier(min_samples_split=0.3, min_samples_leaf=0.1)
    for estimator in (model, DecisionTreeClassifier()):
        found = least_weights(estimator, w * scale)
        np.testing.assert_allclose(found, np.array(least_weights(estimator, w)) * scale, rtol=1e-9)


def test_the_lightest_row_may_be_a_leaf_and_a_heavy_one_is_not_asked_more() -> None:
    model = DecisionTreeClassifier()
    assert least_weights(model, np.array([0.01, 0.5])) == pytest.approx((0.02, 0.01))
    assert least_weights(model, np.array([7.0, 9.0])) == pytest.approx((2.0, 1.0))


def test_rules_of_the_binary_engine() -> None:
    model = DecisionTreeClassifier(
        min_weight_fraction_leaf=0.2,
        min_impurity_decrease=0.01,
        max_depth=4,
        max_features=2,
        max_leaf_nodes=9,
        max_thresholds=5,
        splitter="random",
        nominal="multiway",
        missing="direction",
    )
    rules = growth_rules(model, rows_of(np.full(10, 2.0)), "gini")
    assert rules.min_leaf == pytest.approx(4.0)
    assert rules.min_gain == pytest.approx(0.2)
    assert (rules.max_depth, rules.max_features, rules.max_leaf_nodes) == (4, 2, 9)
    assert rules.max_thresholds == 5
    assert rules.random_cuts
    assert rules.missing == "direction"
    # There are no nominal columns where this engine is asked for branches of all levels.
    assert rules.nominal == "subset"
    assert rules.scaled(4.0).min_gain == pytest.approx(0.8)


def test_rules_of_the_general_engine() -> None:
    model = DecisionTreeClassifier(
        min_weight_fraction_leaf=0.2, min_samples_leaf=2, nominal="multiway", splitter="random"
    )
    rules = general_rules(model, rows_of(np.ones(10)), GainRatio())
    assert rules.min_weight_leaf == pytest.approx(2.0)
    assert rules.min_samples_leaf == pytest.approx(2.0)
    assert (rules.nominal, rules.splitter, rules.missing) == ("multiway", "random", "fractional")
    auto = general_rules(DecisionTreeClassifier(nominal="auto"), rows_of(np.ones(4)), GainRatio())
    assert auto.nominal == "subset"
    with pytest.raises(InputError, match="monotonic_cst is for splits in two"):
        general_rules(
            DecisionTreeClassifier(monotonic_cst=[1, 0, 0]), rows_of(np.ones(4)), GainRatio()
        )


# --- Columns that are tried -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_features", "n_columns", "expected"),
    [
        (None, 9, None),
        ("sqrt", 9, 3),
        ("sqrt", 8, 2),
        ("log2", 9, 3),
        ("log2", 1, None),
        (4, 9, 4),
        (9, 9, None),
        (50, 9, None),
        (0.5, 9, 4),
        (0.01, 9, 1),
        (1.0, 9, None),
        (1, 9, 1),
        (np.int64(2), 9, 2),
    ],
)
def test_columns_of_a_node(max_features: Any, n_columns: int, expected: int | None) -> None:
    assert n_features(max_features, n_columns) == expected


# --- Monotone columns -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraints", "signs"),
    [
        (None, ()),
        ([0, 0, 0], ()),
        ([1, -1, 0], (1, -1, 0)),
        (np.array([1.0, 0.0, 0.0]), (1, 0, 0)),
        ({"x2": -1}, (0, 0, -1)),
        ({}, ()),
    ],
)
def test_signs(constraints: Any, signs: tuple[int, ...]) -> None:
    assert monotone_signs(constraints, rows_of(np.ones(4))) == signs


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([1, 0], "shape 2 but the input data X has 3 features"),
        ([2, 0, 0], r"-1, 0 or 1, but got \['0', '2'\]"),
        ([0.5, 0, 0], r"-1, 0 or 1, but got \['0.0', '0.5'\]"),
        (["up", "", ""], r"-1, 0 or 1, but got \['', 'up'\]"),
        ([np.nan, 0, 0], "-1, 0 or 1"),
        ({"age": 1}, "'age', which is no column"),
        ({"x0": 3}, "-1, 0 or 1"),
    ],
)
def test_wrong_signs(constraints: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        monotone_signs(constraints, rows_of(np.ones(4)))


def test_signs_need_an_order_two_classes_and_one_target() -> None:
    with pytest.raises(InputError, match="multiclass"):
        monotone_signs([1, 0, 0], rows_of(np.ones(6), n_classes=3))
    rows = rows_of(np.ones(4))
    several = CellRows(
        rows.schema, rows.cells, np.zeros((4, 2)), rows.weight, (np.arange(2), np.arange(2))
    )
    with pytest.raises(InputError, match="multiple outputs"):
        monotone_signs([1, 0, 0], several)
    schema = Schema((Column("color", Kind.NOMINAL, ("blue", "red")),))
    nominal = CellRows(schema, np.zeros((4, 1)), rows.targets, rows.weight, rows.classes)
    with pytest.raises(InputError, match="nominal column 'color', whose levels have none"):
        monotone_signs([1], nominal)
    numbers = CellRows(rows.schema, rows.cells, np.zeros((4, 1)), rows.weight, None)
    assert monotone_signs([-1, 0, 0], numbers) == (-1, 0, 0)


def test_signs_reach_the_engine() -> None:
    model = DecisionTreeRegressor(monotonic_cst={"x1": 1})
    rows = rows_of(np.ones(4))
    assert growth_rules(model, rows, "squared_error").signs == (0, 1, 0)
