"""Bayes-error curves: each point alone, the optimum of monotone calibrations, the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import (
    bayes_error_curve,
    detection_cost,
    minimum_detection_cost,
)
from novum.evaluation.decisions.ratios import optimal_log_likelihood_ratios

cases = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), max_size=20).map(
    lambda more: [(True, 1), (False, 0), *more]
)


@given(cases, st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_every_point_is_that_of_its_prior(rows: Any, log_odds: list[float]) -> None:
    y, scores = zip(*rows, strict=True)
    # Off the grid of the scores, where rounding of a threshold could decide a tie.
    points = [place + 0.0371 if abs(place - round(place)) < 1e-3 else place for place in log_odds]
    curve = bayes_error_curve(y, scores, points)
    for k, prior in enumerate(curve.effective_prior):
        point = WorkingPoint.binary(prior=prior, cost_fn=1, cost_fp=1)
        assert curve.actual[k] == pytest.approx(detection_cost(y, scores, point))
        least = minimum_detection_cost(y, scores, point).value
        assert curve.minimum[k] == pytest.approx(least, abs=1e-12)
    assert (curve.minimum <= np.minimum(curve.actual, 1) + 1e-12).all()
    assert (curve.calibration_loss >= 0).all()


@given(cases)
def test_the_best_calibration_reaches_the_minimum_everywhere(rows: Any) -> None:
    y, scores = zip(*rows, strict=True)
    curve = bayes_error_curve(y, scores)
    best = bayes_error_curve(y, optimal_log_likelihood_ratios(y, scores))
    np.testing.assert_allclose(best.actual, curve.minimum, atol=1e-9)


def test_calibrated_scores_lose_little() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    # Normals of variance 4 at -2 and 2 are their own log-likelihood ratios.
    scores = rng.normal(4.0 * y - 2, 2.0)
    curve = bayes_error_curve(y, scores, np.linspace(-2, 2, 9))
    assert curve.calibration_loss.max() < 0.02
    assert bayes_error_curve(y, scores + 3, [0.0]).calibration_loss[0] > 0.2


def test_error_rates_and_picture() -> None:
    curve = bayes_error_curve(["n", "y"], [1.0, 0.0], [0.0], classes=("n", "y"), normalized=False)
    assert (curve.actual.tolist(), curve.minimum.tolist()) == ([1.0], [0.5])
    import matplotlib.pyplot as plt

    axes = curve.plot(label="one")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "one, actual",
        "one, minimum",
    ]
    assert bayes_error_curve([0, 1], [0.0, 1.0]).plot(ax=axes) is axes
    plt.close(axes.figure)


@pytest.mark.parametrize("log_odds", [[np.inf], [], [[0.0]], [np.nan]])
def test_bad_points_are_named(log_odds: Any) -> None:
    with pytest.raises(InputError, match="log_odds are finite"):
        bayes_error_curve([0, 1], [0.0, 1.0], log_odds)
