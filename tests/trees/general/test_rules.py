"""Rules of exact growth: defaults that mean no limit, and wrong values named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.general.rules import GeneralRules


def test_a_branch_needs_the_larger_of_the_two_weights() -> None:
    assert GeneralRules(min_samples_leaf=2, min_weight_leaf=3.5).least_weight == 3.5
    assert GeneralRules(min_samples_leaf=2, min_weight_leaf=0.5).least_weight == 2.0


@pytest.mark.parametrize(
    ("criterion", "bits", "classes"),
    [
        ("entropy", True, True),
        ("gini", False, True),
        ("squared_error", False, False),
        ("absolute_error", False, False),
        (GainRatio(), True, True),
    ],
)
def test_a_criterion_knows_its_targets(criterion: Any, bits: bool, classes: bool) -> None:
    rules = GeneralRules(criterion)
    assert (rules.in_bits, rules.for_classes) == (bits, classes)


def test_numbers_of_numpy_are_numbers() -> None:
    rules = GeneralRules(max_depth=np.int64(3), min_samples_leaf=np.float64(2.5))  # type: ignore[arg-type]
    assert rules.least_weight == 2.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"criterion": "log_loss"}, "criterion is one of 'entropy', .* or a GainRatio, got 'log_"),
        ({"nominal": "onehot"}, "nominal is one of 'multiway', 'subset', 'single'"),
        ({"missing": "drop"}, "missing is one of 'fractional', 'direction'"),
        ({"splitter": "worst"}, "splitter is one of 'best', 'random'"),
        ({"max_depth": 1.5}, "max_depth is None or a whole number of at least 0, got 1.5"),
        ({"max_depth": True}, "max_depth is None or a whole number"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes is None or a whole number of at least 2"),
        ({"max_features": 0}, "max_features is None or a whole number of at least 1"),
        ({"max_thresholds": 0}, "max_thresholds is None or a whole number of at least 1"),
        ({"min_samples_leaf": -1}, "min_samples_leaf is a number of at least 0, got -1"),
        ({"min_impurity_decrease": np.nan}, "min_impurity_decrease is a number of at least 0"),
        ({"min_samples_split": "2"}, "min_samples_split is a number of at least 0, got '2'"),
    ],
)
def test_wrong_rules_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        GeneralRules(**wrong)
