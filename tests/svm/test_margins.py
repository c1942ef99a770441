"""Margin reports: the theorem's terms by hand, and what no constant may be made of."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.svm.margins import MarginErrorBound, margin_error_bound


def test_terms_are_those_of_the_theorem() -> None:
    slack = np.array([0.0, 0.2, 1.5, 1e-9])
    found = margin_error_bound(
        slack, np.array([1.0, 2.0, 1.0, 4.0]), np.array([1.0, 9.0, 4.0, 1.0]), 0.5, 1.0, 1e-6
    )
    assert found == MarginErrorBound(3 / 8, 3.0, 0.5, 1.0, 8.0)
    # A constant coordinate of R = 3: rows of length sqrt(18), weights (0.5, 1 / 3).
    assert found.complexity == pytest.approx(18 * (0.25 + 1 / 9))
    assert found.complexity_term == pytest.approx(18 * (0.25 + 1 / 9) * log(8) ** 2 / 8)
    inside = 2.0 / 8 * (found.complexity * log(8) ** 2 + log(1 / 0.05))
    assert found.value(2.0, 0.05) == pytest.approx(3 / 8 + sqrt(inside))


def test_without_a_bias_complexity_is_radius_over_margin() -> None:
    found = MarginErrorBound(0.0, 2.0, 3.0, 0.0, 10.0)
    # The coordinate of the bias costs a factor of two even where it is not used.
    assert found.complexity == pytest.approx(2 * (2.0 * 3.0) ** 2)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0])
def test_delta_is_a_probability(delta: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        MarginErrorBound.confidence(delta)


def test_the_constant_is_the_callers() -> None:
    with pytest.raises(InputError, match="constant of the bound is above 0"):
        MarginErrorBound(0.0, 1.0, 1.0, 0.0, 2.0).value(0.0, 0.1)
