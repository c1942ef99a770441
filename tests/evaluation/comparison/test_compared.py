"""Models and data sets by name, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from novum.evaluation.comparison.experiment import named_datasets, named_models

ONE, OTHER = DummyClassifier(), DummyRegressor()
X, Y = np.zeros((4, 1)), np.array([0, 1, 0, 1])


def test_three_ways_to_name_models() -> None:
    assert named_models({"a": ONE, "b": OTHER}) == {"a": ONE, "b": OTHER}
    assert named_models([("a", ONE), ("b", OTHER)]) == {"a": ONE, "b": OTHER}
    assert list(named_models([ONE, OTHER])) == ["DummyClassifier", "DummyRegressor"]


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"a": ONE}, "at least 2 models, got only 'a'"),
        ([], "at least 2 models, got none"),
        ([("a", ONE), ("a", OTHER)], "'a' is used more than once.*mapping"),
        ([ONE, DummyClassifier()], "'DummyClassifier' is used more than once.*mapping"),
        ({1: ONE, "1": OTHER}, "'1' is used more than once"),
        (ONE, "models are a mapping"),
        ({"a": ONE, "b": DummyClassifier}, r"is the class DummyClassifier.*DummyClassifier\(\)"),
        ({"a": ONE, "b": "tree"}, "Model 'b' is no estimator"),
        ([(ONE, "a"), OTHER], r"\(name, estimator\)"),
    ],
)
def test_bad_models_are_named(models: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named_models(models)


def test_one_table_and_several() -> None:
    assert list(named_datasets(None, X, Y, None, None)) == ["data"]
    found = named_datasets({"a": (X, Y), "b": (X, Y)}, None, None, None, {"a": Y, "b": None})
    assert found["a"].sample_weight is Y
    assert found["b"].sample_weight is None
    assert list(named_datasets([("a", (X, Y))], None, None, None, None)) == ["a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None, None, None, None), "needs a table"),
        (({"a": (X, Y)}, X, None, None, None), "not both"),
        ((5, None, None, None, None), "datasets are a mapping"),
        (({}, None, None, None, None), "at least 1 data set"),
        (([("a", (X, Y)), ("a", (X, Y))], None, None, None, None), "'a' is used more than once"),
        (({"a": X}, None, None, None, None), r"'a' is a pair \(X, y\)"),
        (({"a": (X, Y)}, None, None, Y, None), "groups is a mapping"),
        (
            ({"a": (X, Y), "b": (X, Y)}, None, None, {"a": Y, "c": Y}, None),
            "names of groups and of datasets are not the same: 'b', 'c'",
        ),
    ],
)
def test_bad_datasets_are_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named_datasets(*arguments)
