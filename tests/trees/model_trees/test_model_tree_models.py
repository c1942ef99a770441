"""Linear models as a value: names, sums of models, parts of them, and damaged files."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.trees.model_trees.model_tree_models import LinearModel, NodeModels

SCHEMA = Schema((Column("age"), Column("color", Kind.NOMINAL, ("blue", "red"))))


def three_models() -> NodeModels:
    """A line in age and color, a constant, and a line in age; two targets."""
    return NodeModels(
        SCHEMA,
        start=np.array([0, 2, 2, 3], np.int64),
        column=np.array([0, 1, 0], np.int32),
        level=np.array([-1, 1, -1], np.int32),
        coefficient=np.array([[2.0, 0.0], [-1.0, 4.0], [0.5, 1.0]]),
        center=np.array([10.0, 0.25, 20.0]),
        base=np.array([[100.0, 1.0], [7.0, 8.0], [3.0, -3.0]]),
        error=np.array([1.0, 2.0, 3.0]),
        deviation=np.array([5.0, 2.0, 4.0]),
    )


def test_a_model_has_its_constant_at_zero() -> None:
    models = three_models()
    assert models.of(0) == LinearModel(100.0 - 20.0 + 0.25, (("age", 2.0), ("color=red", -1.0)))
    assert models.of(0, target=1).coefficients == {"age": 0.0, "color=red": 4.0}
    assert models.of(1) == LinearModel(7.0)
    assert models.of(1).is_constant
    assert models.names == ("age", "color=red", "age")


def test_a_mixture_adds_terms_of_one_column() -> None:
    found = three_models().mixed({0: 0.5, 2: 2.0})
    assert found.coefficients == {"age": 0.5 * 2.0 + 2.0 * 0.5, "color=red": -0.5}
    assert found.intercept == pytest.approx(0.5 * 80.25 + 2.0 * (3.0 - 10.0))


def test_a_constant_that_is_rounding_is_zero() -> None:
    models = replace(three_models(), base=np.full((3, 2), 0.3), coefficient=np.full((3, 2), 0.1))
    exact = replace(models, center=np.array([3.0, 0.0, 3.0 + 4e-16]))
    assert exact.of(0).intercept == 0.0
    assert exact.of(2).intercept == 0.0
    assert replace(models, center=np.array([3.0, 1e-9, 0.0])).of(0).intercept != 0.0


def test_models_are_values() -> None:
    model = three_models().of(0)
    assert pickle.loads(pickle.dumps(model)) == model
    assert hash(model) == hash(three_models().of(0))
    assert str(model) == "80.25 + 2 age - 1 color=red"
    assert model.text(2) == "80.2 + 2 age - 1 color=red"


def test_names_are_safe_to_print() -> None:
    assert "\x1b" not in str(LinearModel(0.0, (("a\x1b[2J", 1.0),)))


def test_some_nodes_can_be_chosen() -> None:
    some = three_models().chosen(np.array([2, 0]))
    assert some.start.tolist() == [0, 1, 3]
    assert some.of(0) == three_models().of(2)
    assert some.of(1, 1) == three_models().of(0, 1)
    assert some.error.tolist() == [3.0, 1.0]
    assert three_models().chosen(np.array([1])).n_terms.tolist() == [0]


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(InputError, match="have 2 targets, got target=2"):
        three_models().of(0, target=2)


@pytest.mark.parametrize(
    "damage",
    [
        {"start": np.array([0, 2, 1, 3], np.int64)},
        {"start": np.array([0, 2, 2, 9], np.int64)},
        {"start": np.array([-1, 2, 2, 3], np.int64)},
        {"column": np.array([0, 1, 2], np.int32)},
        {"column": np.array([0, -1, 0], np.int32)},
        {"level": np.array([-1, 2, -1], np.int32)},
        {"level": np.array([-2, 1, -1], np.int32)},
        {"coefficient": np.ones((3, 1))},
        {"coefficient": np.full((3, 2), np.nan)},
        {"center": np.ones(2)},
        {"base": np.full((3, 2), np.inf)},
        {"error": np.ones(2)},
    ],
)
def test_damaged_arrays_are_refused(damage: dict[str, Any]) -> None:
    three_models().check()
    with pytest.raises(InputError, match="damaged"):
        replace(three_models(), **damage).check()
