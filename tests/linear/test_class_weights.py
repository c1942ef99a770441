"""Weights of classes: their definitions, and clear refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.linear.class_labels import class_factors

CLASSES, WEIGHTS = np.array(["a", "b", "c"]), np.array([10.0, 30.0, 60.0])


def test_a_prior_gives_every_class_its_share() -> None:
    prior = np.array([0.2, 0.3, 0.5])
    for given in (prior, dict(zip("abc", prior, strict=True))):
        effective = WEIGHTS * class_factors(CLASSES, WEIGHTS, prior=given)
        np.testing.assert_allclose(effective / effective.sum(), prior, rtol=1e-15)
        assert effective.sum() == pytest.approx(WEIGHTS.sum(), rel=1e-15)


def test_balanced_classes_weigh_the_same() -> None:
    effective = WEIGHTS * class_factors(CLASSES, WEIGHTS, "balanced")
    np.testing.assert_allclose(effective, 100 / 3, rtol=1e-15)


def test_given_weights_and_none() -> None:
    assert class_factors(CLASSES, WEIGHTS).tolist() == [1, 1, 1]
    assert class_factors(CLASSES, WEIGHTS, {"b": 2}).tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_weight": {"d": 1.0}}, "names 'd', which is none of the classes"),
        ({"class_weight": {"a": -1.0}}, "class_weight of 'a' is -1.0"),
        ({"class_weight": "balanced", "prior": [0.2, 0.3, 0.5]}, "Give one of them"),
        ({"prior": [0.5, 0.5]}, r"shape \(2,\) for the 3 classes"),
        ({"prior": [0.5, 0.4, 0.2]}, "sums to 1.1"),
        ({"prior": [0.5, 0.5, 0.0]}, "probabilities above 0"),
        ({"prior": {"a": 1.0}}, "Give the prior of each"),
    ],
)
def test_impossible_weights_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        class_factors(CLASSES, WEIGHTS, **options)
