"""Calibration curve: scikit-learn's points, bins, weights as repetition."""

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from novum.evaluation.measures.probability_scores import bins_of, calibration_points


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_points_are_scikit_learns(strategy: Any) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    frequency, probability = calibration_curve(y, p, n_bins=7, strategy=strategy)
    curve = calibration_points(bins_of(p, y, 7, strategy))
    np.testing.assert_allclose(curve.frequency, frequency, rtol=1e-12)
    np.testing.assert_allclose(curve.probability, probability, rtol=1e-12)
    assert curve.weight.sum() == 200


def test_weights_repeat_rows_in_the_points() -> None:
    p, y = np.array([0.1, 0.2, 0.8]), np.array([False, True, True])
    times = np.array([3, 1, 2])
    weighted = calibration_points(bins_of(p, y, 2), times.astype(float))
    repeated = calibration_points(bins_of(np.repeat(p, times), np.repeat(y, times), 2))
    np.testing.assert_allclose(weighted.frequency, repeated.frequency, rtol=1e-14)
    np.testing.assert_allclose(weighted.probability, repeated.probability, rtol=1e-14)


def test_every_frequency_lies_in_its_interval() -> None:
    p = np.linspace(0, 1, 50)
    curve = calibration_points(bins_of(p, p > 0.5, 5))
    for share, limits in zip(curve.frequency, curve.intervals, strict=True):
        assert limits.low <= share <= limits.high


def test_equal_probabilities_fall_into_one_bin() -> None:
    bins = bins_of(np.full(4, 0.3), np.array([True, False, False, False]), 10, "quantile")
    assert calibration_points(bins).frequency.tolist() == [0.25]


def test_gaps_are_events_minus_expected() -> None:
    bins = bins_of(np.array([0.2, 0.4, 0.9]), np.array([True, False, True]), 2)
    np.testing.assert_allclose(bins.gaps(np.array([[1.0, 2.0, 3.0]])), [[0.8 - 0.8, 0.3]])
