"""Curves: intervals of points where there are any, and text."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.evaluation.inspection.curve_values import axes_of, draw_band, fold_interval, text_table


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


def test_text_is_aligned() -> None:
    assert text_table(["a", "b"], [["long", "1"]]).splitlines() == ["a     b", "long  1"]


def test_bands_leave_out_points_without_interval() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    ax = axes_of(None)
    draw_band(ax, [1, 2], [fold_interval(np.array([0.5]), 1)] * 2, "tab:blue", "few")
    assert not ax.collections
    assert axes_of(ax) is ax
    plt.close(ax.figure)
