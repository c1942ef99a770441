"""The oracle itself: closed forms, and the conditions of an optimum."""

from __future__ import annotations

import math

import pytest

from tests.oracles.plain_logistic import exact_logistic


def test_one_binary_column_has_a_closed_form() -> None:
    # Odds 1:2 where x = 0 and 3:1 where x = 1.
    X = [[0.0]] * 3 + [[1.0]] * 4
    W, _ = exact_logistic(X, [0, 0, 1, 1, 1, 1, 0])
    assert float(W[0][1]) == pytest.approx(math.log(1 / 2), rel=1e-15)
    assert float(W[0][0]) == pytest.approx(math.log(3) - math.log(1 / 2), rel=1e-15)


def test_intercepts_of_three_classes_are_log_counts() -> None:
    W, value = exact_logistic([[]] * 6, [0, 1, 1, 2, 2, 2], n_classes=3)
    logs = [math.log(c) for c in (1, 2, 3)]
    mean = sum(logs) / 3
    assert [float(row[0]) for row in W] == pytest.approx([v - mean for v in logs], rel=1e-15)
    shares = [1 / 6, 2 / 6, 3 / 6]
    assert float(value) == pytest.approx(-sum(6 * p * math.log(p) for p in shares), rel=1e-15)


def test_weights_repeat_rows() -> None:
    X, y = [[0.0], [1.0], [2.0], [0.5]], [0, 1, 0, 1]
    weighted = exact_logistic(X, y, [2, 1, 1, 3], penalty=0.5)
    repeated = exact_logistic(
        [X[i] for i in (0, 0, 1, 2, 3, 3, 3)], [y[i] for i in (0, 0, 1, 2, 3, 3, 3)], penalty=0.5
    )
    assert abs(weighted[0][0][0] - repeated[0][0][0]) < 1e-25
    assert abs(weighted[1] - repeated[1]) < 1e-25
