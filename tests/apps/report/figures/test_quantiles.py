"""Quantiles: the line through both quartiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from novum.apps.report.figures.quantiles import _line, quantiles_figure
from tests.apps.report.sample_parts import curve


def test_line_recovers_a_normal_law() -> None:
    q = special.ndtri((np.arange(99) + 0.5) / 99)
    assert _line(q, 3 + 2 * q) == pytest.approx((2.0, 3.0))


def test_outliers_do_not_move_the_line() -> None:
    q = special.ndtri((np.arange(99) + 0.5) / 99)
    y = 2 * q
    y[-1] = 1e6
    assert _line(q, y) == pytest.approx((2.0, 0.0))


def test_equal_residuals_are_drawn() -> None:
    assert quantiles_figure([curve([0, 0, 0], [1, 1, 1])], 10).drawing
