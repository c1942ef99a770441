"""Curves: intervals of points where there are any, and text."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.display import Axis
from novum.evaluation.inspection.curve_values import curve_chart, fold_interval


def test_interval_is_the_corrected_one() -> None:
    scores, ratio = np.array([0.6, 0.7, 0.65, 0.8]), 0.25
    reach = stats.t.ppf(0.975, 3) * scores.std(ddof=1) * np.sqrt(1 / 4 + ratio)
    found = fold_interval(scores, ratio)
    assert tuple(found) == pytest.approx((scores.mean() - reach, scores.mean() + reach))


@pytest.mark.parametrize("scores", [[0.5], [0.5, np.nan]])
def test_no_interval_without_spread(scores: list[float]) -> None:
    found = fold_interval(np.array(scores), 0.5)
    assert np.isnan(found.low)
    assert "fold" in found.method


def test_bands_leave_out_points_without_interval() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    few = [fold_interval(np.array([0.5]), 1)] * 2
    ax = curve_chart(Axis("rows"), "score", [1, 2], few, few).plot()
    assert not ax.collections
    assert len(ax.lines) == 2
    plt.close(ax.figure)
