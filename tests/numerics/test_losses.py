"""Losses: closed forms in exact arithmetic, finite differences, and Fenchel's inequality."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from novum.numerics import (
    AbsoluteLoss,
    HingeLoss,
    LogisticLoss,
    Loss,
    PerceptronLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from novum.numerics.losses import HuberLoss

REGRESSION = [SquaredLoss(), AbsoluteLoss(), HuberLoss(1.0), HuberLoss(0.3)]
MARGIN = [LogisticLoss(), HingeLoss(), SquaredHingeLoss(), PerceptronLoss()]
LOSSES = REGRESSION + MARGIN
scores = st.floats(-8, 8)
signs = st.sampled_from([-1.0, 1.0])

names = [repr(loss) for loss in LOSSES]


def kinks(loss: Loss, target: float) -> list[float]:
    """Scores at which slope or curvature jumps."""
    if isinstance(loss, AbsoluteLoss):
        return [target]
    if isinstance(loss, HuberLoss):
        return [target - loss.width, target + loss.width]
    if isinstance(loss, (HingeLoss, SquaredHingeLoss)):
        return [target]
    return [0.0] if isinstance(loss, PerceptronLoss) else []


# --- Values ---------------------------------------------------------------------------------------


def exact(loss: Loss, score: Fraction, target: Fraction) -> Fraction:
    """The formulas, case by case, in rational arithmetic."""
    residual, margin = abs(score - target), score * target
    if isinstance(loss, SquaredLoss):
        return residual**2 / 2
    if isinstance(loss, AbsoluteLoss):
        return residual
    if isinstance(loss, HuberLoss):
        width = Fraction(loss.width)
        return residual**2 / 2 if residual <= width else width * residual - width**2 / 2
    if isinstance(loss, HingeLoss):
        return max(Fraction(0), 1 - margin)
    if isinstance(loss, SquaredHingeLoss):
        return max(Fraction(0), 1 - margin) ** 2
    assert isinstance(loss, PerceptronLoss)
    return max(Fraction(0), -margin)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not isinstance(loss, LogisticLoss)])
@given(score=scores, target=signs)
def test_values_are_the_definition(loss: Loss, score: float, target: float) -> None:
    truth = float(exact(loss, Fraction(score), Fraction(target)))
    # One subtraction of numbers up to 9, squared at most: a few ulps of 81.
    assert float(loss.value(score, target)) == pytest.approx(truth, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("margin", [-800.0, -40.0, -1.5, 0.0, 0.3, 37.0, 200.0, 700.0])
def test_logistic_keeps_full_accuracy_in_both_tails(margin: float) -> None:
    with localcontext() as context:
        context.prec = 400
        grown = Decimal(margin).exp()
        value = (1 + 1 / grown).ln()
        slope = 1 / (1 + grown)
        curvature = grown / (1 + grown) ** 2
    loss = LogisticLoss()
    for target in (-1.0, 1.0):
        score = target * margin
        # exp of a rounded exponent of up to 800 loses 800 half-ulps.
        assert float(loss.value(score, target)) == pytest.approx(float(value), rel=1e-12, abs=0)
        assert float(loss.gradient(score, target)) == pytest.approx(
            -target * float(slope), rel=1e-12, abs=0
        )
        assert float(loss.curvature(score, target)) == pytest.approx(
            float(curvature), rel=1e-12, abs=0
        )


def test_logistic_never_overflows() -> None:
    loss, far = LogisticLoss(), np.array([-1e300, 1e300])
    np.testing.assert_array_equal(loss.value(far, 1.0), [1e300, 0.0])
    np.testing.assert_array_equal(loss.gradient(far, 1.0), [-1.0, 0.0])
    np.testing.assert_array_equal(loss.curvature(far, 1.0), [0.0, 0.0])


# --- Derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@given(score=scores, target=signs)
def test_gradient_and_curvature_are_derivatives(loss: Loss, score: float, target: float) -> None:
    h = 1e-5
    assume(all(abs(score - kink) > 2 * h for kink in kinks(loss, target)))
    around = np.array([score - h, score + h])
    low, high = loss.value(around, target)
    # Central differences err by h^2 times a third derivative (below 1) and rounding 81 eps / h.
    assert float(loss.gradient(score, target)) == pytest.approx((high - low) / (2 * h), abs=1e-8)
    low, high = loss.gradient(around, target)
    assert float(loss.curvature(score, target)) == pytest.approx((high - low) / (2 * h), abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@given(first=scores, second=scores, target=signs)
def test_slope_is_a_subgradient_and_as_smooth_as_said(
    loss: Loss, first: float, second: float, target: float
) -> None:
    slope = float(loss.gradient(first, target))
    tangent = float(loss.value(first, target)) + slope * (second - first)
    assert float(loss.value(second, target)) >= tangent - 1e-12
    change = abs(float(loss.gradient(second, target)) - slope)
    if np.isfinite(loss.smoothness):
        assert change <= loss.smoothness * abs(second - first) + 1e-12


def test_slopes_at_kinks_are_the_documented_ones() -> None:
    assert AbsoluteLoss().gradient(1.0, 1.0) == 0.0
    assert HingeLoss().gradient(-1.0, -1.0) == 0.0
    assert PerceptronLoss().gradient(0.0, -1.0) == 1.0


# --- Conjugates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@given(score=scores, dual=st.floats(-3, 3), target=signs)
def test_fenchel_inequality(loss: Loss, score: float, dual: float, target: float) -> None:
    both = float(loss.value(score, target)) + float(loss.conjugate(dual, target))
    assert both >= dual * score - 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@given(score=scores, target=signs)
def test_fenchel_equality_at_the_slope(loss: Loss, score: float, target: float) -> None:
    slope = float(loss.gradient(score, target))
    both = float(loss.value(score, target)) + float(loss.conjugate(slope, target))
    assert both == pytest.approx(slope * score, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=names)
@pytest.mark.parametrize("dual", [-0.8, -0.25, 0.0, 0.25])
def test_conjugate_is_the_supremum(loss: Loss, dual: float) -> None:
    grid = np.linspace(-60, 60, 240_001)
    supremum = float(np.max(dual * grid - loss.value(grid, 1.0)))
    conjugate = float(loss.conjugate(dual, 1.0))
    if np.isinf(conjugate):
        # Outside the domain the supremum grows with the grid: |dual| times its half width.
        assert supremum > 10
    else:
        # The grid misses the maximizer by at most 2.5e-4 and the curvature is at most 2.
        assert supremum == pytest.approx(conjugate, abs=1e-6)


# --- Form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=names)
def test_losses_are_values_that_broadcast(loss: Loss) -> None:
    assert isinstance(loss, Loss)
    assert loss == type(loss)(**vars(loss))
    table = np.zeros((3, 2))
    for method in (loss.value, loss.gradient, loss.curvature, loss.conjugate):
        assert method(table, np.array([-1.0, 1.0])).shape == (3, 2)
        assert method([1, 2], 1).dtype == np.float64


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf])
def test_an_impossible_width_is_refused(width: float) -> None:
    with pytest.raises(ValueError, match="finite width above 0"):
        HuberLoss(width)
