"""What chunks cannot give is refused with advice; weights of classes are those of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.errors import InputError, NotAdditiveError
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor, GainRatio, c45
from novum.trees.scale.chunks import Passes
from novum.trees.scale.preparation import prepare
from novum.trees.settings import growth_rules
from novum.trees.training import read_classes, read_numbers

FRAME = pd.DataFrame({"x": np.arange(12.0), "k": list("abcabcabcabc")})
LABELS = np.array(list("xxxxxxxyyyzz"))
NUMBERS = np.arange(12.0) ** 2
PARTS = [slice(0, 5), slice(5, 12)]


def chunks(y: Any, weight: Any = None) -> list[tuple[Any, ...]]:
    if weight is None:
        return [(FRAME[part], y[part]) for part in PARTS]
    return [(FRAME[part], y[part], weight[part]) for part in PARTS]


def prepared(model: Any, y: Any = LABELS, weight: Any = None, classes: Any = None) -> Any:
    return prepare(model, model, Passes(chunks(y, weight)), None, classes)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (DecisionTreeRegressor(criterion="absolute_error"), NUMBERS, "Use criterion='squared_er"),
        (DecisionTreeClassifier(criterion="gain_ratio"), LABELS, "Use criterion='entropy'"),
        (DecisionTreeClassifier(criterion=GainRatio()), LABELS, "no function of sums"),
        (c45(), LABELS, "criterion='gain_ratio' is no function"),
        (DecisionTreeClassifier(missing="most_common_of_class"), LABELS, "Use missing='fraction"),
        (DecisionTreeClassifier(nominal="multiway"), LABELS, "Use nominal='subset'"),
        (
            DecisionTreeClassifier(missing="most_common", class_weight="balanced"),
            LABELS,
            "give sample weights",
        ),
    ],
)
def test_what_needs_rows_is_refused_with_advice(model: Any, y: Any, message: str) -> None:
    with pytest.raises(NotAdditiveError, match=message):
        prepared(model, y)


def test_multiway_trees_of_numbers_have_nothing_to_refuse() -> None:
    model = DecisionTreeClassifier(nominal="multiway")
    found = prepare(
        model, model, Passes([(np.arange(4.0).reshape(4, 1), list("abab"))]), None, None
    )
    assert found.n_targets == 1


@pytest.mark.parametrize("class_weight", [None, "balanced", {"x": 2.0, "z": 0.5}])
def test_class_weights_are_those_of_the_table(class_weight: Any) -> None:
    model = DecisionTreeClassifier(class_weight=class_weight)
    weight = 1.0 + np.arange(12) % 3
    found = prepared(model, weight=weight)
    rows = read_classes(DecisionTreeClassifier(), FRAME, LABELS, weight, class_weight)
    coded = [found.coding.coded(chunk) for chunk in chunks(LABELS, weight)]
    np.testing.assert_allclose(np.concatenate([part.weight for part in coded]), rows.weight)
    assert found.weight == pytest.approx(rows.weight.sum())
    totals = np.bincount(rows.targets[:, 0], rows.weight)
    np.testing.assert_allclose(found.target_rows().weight, totals)


def test_class_weights_of_several_targets() -> None:
    y = np.column_stack([LABELS, np.array(list("ababababab" + "aa"))])
    given = ["balanced", {"a": 3.0}]
    model = DecisionTreeClassifier(class_weight=given)
    found = prepared(model, y)
    rows = read_classes(DecisionTreeClassifier(), FRAME, y, None, given)
    coded = [found.coding.coded(chunk) for chunk in chunks(y)]
    np.testing.assert_allclose(np.concatenate([part.weight for part in coded]), rows.weight)
    assert found.target_rows().targets.shape == (1, 2)
    with pytest.raises(InputError, match="class_weight has 1 entries for 2 targets"):
        prepared(DecisionTreeClassifier(class_weight=["balanced"]), y)


def test_class_weights_that_leave_nothing_are_refused() -> None:
    zero = {"x": 0.0, "y": 0.0, "z": 0.0}
    with pytest.raises(InputError, match="class_weight gives every row weight 0"):
        prepared(DecisionTreeClassifier(class_weight=zero))
    with pytest.raises(InputError, match="class_weight names the class 'w'"):
        prepared(DecisionTreeClassifier(class_weight={"w": 1.0}))


def test_labels_that_may_still_come() -> None:
    found = prepared(DecisionTreeClassifier(), classes=["x", "y", "z", "w"])
    assert found.coding.classes[0].tolist() == ["w", "x", "y", "z"]
    assert found.coding.n_stats == 4


@pytest.mark.parametrize("scaled", [0.25, 1.0, 2.0])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_samples_leaf": 3, "min_samples_split": 5},
        {"min_samples_leaf": 0.1, "min_samples_split": 0.3, "min_weight_fraction_leaf": 0.2},
        {"max_features": "sqrt", "max_depth": 3, "min_impurity_decrease": 0.01},
    ],
)
def test_rules_are_those_of_the_rows(settings: dict[str, Any], scaled: float) -> None:
    model = DecisionTreeRegressor(**settings)
    weight = scaled * (1.0 + np.arange(12) % 3)
    found = prepared(model, NUMBERS, weight)
    rows = read_numbers(model, FRAME, NUMBERS, weight)
    expected = growth_rules(model, rows, "squared_error").scaled(found.coding.scale.unit**-2)
    assert found.rules(float(weight.sum()), float(weight.min())) == expected


def test_one_row_is_the_lightest_and_all() -> None:
    model = DecisionTreeRegressor()
    found = prepare(model, model, Passes([([[1.0]], [2.0], [3.0])]), None, None)
    assert found.rules(3.0, 3.0).min_split == pytest.approx(2.0)
