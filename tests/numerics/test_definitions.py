"""The oracles themselves, on numbers that can be checked by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.oracles.exact_numerics import (
    exact_moments,
    joint_counts,
    log_sum_exp,
    pivots,
    quadratic_form,
    solve,
)


def test_log_sums() -> None:
    assert log_sum_exp([math.log(2), math.log(6)]) == pytest.approx(math.log(8), rel=1e-15)
    assert log_sum_exp([-1e4, -1e4]) == pytest.approx(-1e4 + math.log(2), rel=1e-16)
    assert log_sum_exp([-math.inf]) == -math.inf
    assert log_sum_exp([5.0, 7.0], [0.0, 1.0]) == 7.0


def test_moments() -> None:
    weight, mean, scatter = exact_moments([[1, 0], [3, 1]], [1, 3])
    # Mean 10/4 and 3/4; squares 1 * 2.25 + 3 * 0.25 = 3.
    assert (weight, mean) == (4, [Fraction(5, 2), Fraction(3, 4)])
    assert scatter == [[3, Fraction(3, 2)], [Fraction(3, 2), Fraction(3, 4)]]


def test_counts() -> None:
    assert joint_counts([[0, 1], [0, -1], [1, 0]], [2, 2], [0.5, 9, 2]) == [0, Fraction(1, 2), 2, 0]


def test_linear_algebra() -> None:
    assert quadratic_form([[2, 1], [1, 3]], [1, 2]) == 18
    assert solve([[0, 2], [4, 0]], [2, 4]) == [1, 1]
    assert solve([[3, -2], [1, 1]], [5, 0]) == [1, -1]
    assert pivots([[4, 2], [2, 5]]) == [4, 4]
    assert pivots([[1, 2, 0], [2, 1, 0], [0, 0, 1]]) == [1, -3]
