"""Backtracking: Armijo's condition holds for what it returns, and only descents are searched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.numerics import Floats, backtracking

positive = st.floats(1e-3, 1e3)


@given(st.lists(positive, min_size=1, max_size=4), st.floats(1e-4, 0.5), positive)
def test_the_step_keeps_its_share_of_the_promise(
    curvatures: list[float], share: float, length: float
) -> None:
    curvature = np.array(curvatures)

    def bowl(w: Floats) -> tuple[float, Floats]:
        return 0.5 * float(w @ (curvature * w)), curvature * w

    start = np.ones(curvature.size)
    value, gradient = bowl(start)
    step = backtracking(bowl, start, value, gradient, -gradient, length=length, share=share)
    assert step is not None
    assert step.value <= value - share * step.length * float(gradient @ gradient)
    # All longer trials failed: the length is the first one halved as often as trials say.
    assert step.length == length * 0.5 ** (step.trials - 1)
    if step.trials > 1:
        longer = start - 2 * step.length * gradient
        assert bowl(longer)[0] > value - share * 2 * step.length * float(gradient @ gradient)


def test_a_step_out_of_the_domain_is_halved() -> None:
    def barrier(w: Floats) -> tuple[float, Floats]:
        return float(w[0] - np.log(w[0])), 1 - 1 / w

    start = np.array([4.0])
    value, gradient = barrier(start)
    step = backtracking(barrier, start, value, gradient, np.array([-16.0]))
    assert step is not None
    # 4 - 16 a is positive only for a below 1/4.
    assert step.length == 0.125
    assert step.params[0] == 2.0


def test_where_rounding_hides_the_descent_the_gradient_decides() -> None:
    def bowl(w: Floats) -> tuple[float, Floats]:
        return 1e20 + float(w @ w), 2 * w

    start = np.array([1.0])
    step = backtracking(bowl, start, 1e20, 2 * start, -2 * start)
    assert step is not None
    # The full step mirrors the point and leaves the gradient as large as it was.
    assert (step.length, step.params[0]) == (0.5, 0.0)


def test_no_step_where_neither_value_nor_gradient_improve() -> None:
    def slope(w: Floats) -> tuple[float, Floats]:
        return 1e20 + float(w[0]), np.ones(1)

    assert backtracking(slope, np.zeros(1), 1e20, np.ones(1), -np.ones(1)) is None


def test_no_step_when_the_point_cannot_move() -> None:
    def slope(w: Floats) -> tuple[float, Floats]:
        return float(w[0]), np.ones(1)

    assert backtracking(slope, np.array([1e20]), 1e20, np.ones(1), -np.ones(1)) is None


@pytest.mark.parametrize("direction", [[1.0], [0.0], [np.nan]])
def test_a_direction_that_does_not_descend_is_refused(direction: list[float]) -> None:
    with pytest.raises(ValueError, match="does not descend"):
        backtracking(lambda w: (0.0, w), np.ones(1), 1.0, np.ones(1), np.array(direction))
