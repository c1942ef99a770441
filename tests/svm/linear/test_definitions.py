"""The definitions themselves, by hand and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.linear_svm_definitions import (
    dual_coordinate_descent,
    hinge_objective,
    kernel_pegasos,
    lasso_objective,
    multiclass_objective,
    pegasos,
    tube_objective,
)

Z = np.array([[1.0, 0.0], [0.0, 2.0]])
SIDE, WEIGHT = np.array([1.0, -1.0]), np.array([1.0, 3.0])
U = np.array([0.5, 0.25])


def test_objectives_by_hand() -> None:
    # Margins are 0.5 and -0.5, losses 0.5 and 1.5, the penalty 0.15625.
    assert hinge_objective(Z, SIDE, WEIGHT, U) == 0.15625 + 0.5 + 4.5
    assert hinge_objective(Z, SIDE, WEIGHT, U, squared=True) == 0.15625 + 0.25 + 6.75
    assert lasso_objective(Z, SIDE, WEIGHT, U) == 0.75 + 0.25 + 6.75
    # Residuals are 1.5 and -0.5.
    y = np.array([2.0, 0.0])
    assert tube_objective(Z, y, WEIGHT, U, 0.25) == 0.15625 + 1.25 + 0.75
    assert tube_objective(Z, y, WEIGHT, U, 0.25, squared=True) == 0.15625 + 1.5625 + 0.1875
    W = np.array([[0.5, 0.0], [0.0, 1.0]])
    # Scores are (0.5, 0) and (0, 2), both rows of class 0: losses 0.5 and 3.
    assert multiclass_objective(Z, [0, 0], WEIGHT, W) == 0.625 + 0.5 + 9.0


def test_one_row_is_solved_by_hand() -> None:
    # max a - a^2 |z|^2 / 2 with |z|^2 = 4 is at a = 1/4, u = 1/2.
    z, one = np.array([[2.0]]), np.ones(1)
    assert dual_coordinate_descent(z, one, one).tolist() == [0.5]
    # With the square, a = 1 / (4 + 1 / 2).
    found = dual_coordinate_descent(z, one, one, squared=True)
    assert found[0] == pytest.approx(2 / 4.5)


def test_pegasos_and_its_dual_take_the_same_steps() -> None:
    rng = np.random.default_rng(0)
    X, side = rng.standard_normal((12, 3)), np.where(rng.random(12) < 0.5, 1.0, -1.0)
    draws = rng.integers(0, 12, 200).tolist()
    w = pegasos(X, side, 0.1, draws)
    a = kernel_pegasos(X @ X.T, side, 0.1, draws)
    np.testing.assert_allclose(a @ X, w, atol=1e-12)
