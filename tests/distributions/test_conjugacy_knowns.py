"""Partly known likelihoods are checked values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.conjugacy_knowns import (
    KnownCovariance,
    KnownLevels,
    KnownTrials,
    KnownVariance,
)


def test_they_are_values() -> None:
    assert KnownTrials(3) == KnownTrials(3)
    assert KnownVariance(2) == KnownVariance(2.0)
    assert KnownLevels(["a", "b"]) == KnownLevels(("a", "b"))
    assert KnownCovariance(np.eye(2)) == KnownCovariance([[1.0, 0.0], [0.0, 1.0]])
    assert KnownCovariance(np.eye(2)).root.log_determinant == 0.0


def test_a_covariance_is_copied_and_frozen() -> None:
    matrix = np.eye(2)
    known = KnownCovariance(matrix)
    matrix[0, 0] = 7.0
    assert known.covariance[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        known.covariance[0, 0] = 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KnownTrials(-1), "whole number of at least 0, got -1"),
        (lambda: KnownTrials(1.5), "got 1.5"),  # type: ignore[arg-type]
        (lambda: KnownVariance(0.0), "above 0, got 0.0"),
        (lambda: KnownVariance(float("inf")), "got inf"),
        (lambda: KnownLevels(["a", "a"]), "'a' is given twice"),
        (lambda: KnownCovariance([[1.0, 2.0], [2.0, 4.0]]), "known covariance"),
        (lambda: KnownCovariance([[1.0, 2.0], [0.0, 4.0]]), "symmetric"),
    ],
)
def test_wrong_values_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
