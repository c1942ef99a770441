"""Losses as maxima: their values by definition, their slopes, and the parts of the gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.svm.linear.losses import RowLosses, hinge_losses, soft, tube_losses

residuals = st.lists(st.floats(-5, 5), min_size=1, max_size=5).map(np.array)


def every_loss(n: int) -> list[RowLosses]:
    side, weight = np.where(np.arange(n) % 2 == 0, 1.0, -1.0), np.linspace(0.5, 2, n)
    return [
        *(hinge_losses(side, weight, squared=squared) for squared in (False, True)),
        *(tube_losses(side, weight, e, squared=s) for e in (0.0, 0.7) for s in (False, True)),
    ]


@given(residuals)
def test_values_are_the_definitions(residual: np.ndarray) -> None:
    n = len(residual)
    hinge, squared, *tubes = every_loss(n)
    for losses, power in ((hinge, 1), (squared, 2)):
        score = losses.target - residual
        expected = np.maximum(0, 1 - losses.target * score) ** power
        np.testing.assert_allclose(losses.values(residual), expected, atol=1e-12)
    for losses, (epsilon, power) in zip(
        tubes, [(0.0, 1), (0.0, 2), (0.7, 1), (0.7, 2)], strict=True
    ):
        expected = np.maximum(0, np.abs(residual) - epsilon) ** power
        np.testing.assert_allclose(losses.values(residual), expected, atol=1e-12)


@given(residuals, st.floats(0, 1))
def test_a_loss_is_the_maximum_of_its_terms(residual: np.ndarray, where: float) -> None:
    for losses in every_loss(len(residual)):
        low, high = np.maximum(losses.lower, -9), np.minimum(losses.upper, 9)
        b = low + where * (high - low)
        assert (losses.values(residual) - losses.terms(residual, b) >= -1e-12).all()
        assert (losses.slack(residual, b) >= 0).all()


@given(residuals)
def test_the_slope_attains_the_maximum_of_squared_losses(residual: np.ndarray) -> None:
    for losses in every_loss(len(residual)):
        if losses.smoothing:
            b = losses.coefficients(residual, losses.smoothing)
            np.testing.assert_allclose(losses.terms(residual, b), losses.values(residual))
            assert losses.violation(residual, b) < 1e-12


def test_smoothing_around_a_center_stays_near_it() -> None:
    losses = hinge_losses(np.ones(3), np.ones(3), squared=False)
    center = np.array([0.0, 0.5, 1.0])
    # b moves from its center by r / m, and no further than its bounds.
    np.testing.assert_allclose(
        losses.coefficients(np.array([-1.0, 0.2, 4.0]), 2.0, center), [0.0, 0.6, 1.0]
    )


@pytest.mark.parametrize(
    ("b", "residual", "expected"),
    [
        (0.0, 0.5, 0.5),  # could rise
        (0.0, -0.5, 0.0),  # held at zero
        (0.5, 0.2, 0.2),  # free
        (0.5, -0.3, 0.3),
        (1.0, 2.0, 0.0),  # held at its bound
        (1.0, -0.4, 0.4),
    ],
)
def test_violation_of_one_row_of_a_hinge(b: float, residual: float, expected: float) -> None:
    losses = hinge_losses(np.ones(1), np.ones(1), squared=False)
    assert losses.violation(np.array([residual]), np.array([b])) == pytest.approx(expected)


def test_violation_inside_and_at_the_zone() -> None:
    losses = tube_losses(np.zeros(1), np.ones(1), 1.0, squared=False)
    for b, residual, expected in ((0.0, 0.9, 0.0), (0.0, -1.5, 0.5), (-0.5, -1.2, 0.2)):
        assert losses.violation(np.array([residual]), np.array([b])) == pytest.approx(expected)


def test_rows_keep_their_losses() -> None:
    for losses in every_loss(6):
        part = losses.rows(slice(None, None, 2), 2.0)
        residual = np.linspace(-2, 2, 6)
        np.testing.assert_allclose(part.values(residual[::2]), losses.values(residual)[::2])
        np.testing.assert_allclose(part.weight, 2 * losses.weight[::2])


@given(residuals, st.floats(0, 3))
def test_soft_moves_towards_zero_and_stops_there(x: np.ndarray, zone: float) -> None:
    np.testing.assert_allclose(soft(x, zone), np.sign(x) * np.maximum(np.abs(x) - zone, 0))
