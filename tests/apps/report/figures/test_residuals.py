"""Residuals: the middle half in words, the zero line, the trend."""

from __future__ import annotations

from novum.apps.report.figures.residuals import residuals_figure
from tests.apps.report.figures.drawn import alt, strokes, words
from tests.apps.report.sample_parts import curve, residual_curves


def test_middle_half_is_said() -> None:
    figure = residuals_figure([curve([1, 2, 3, 4, 5], [-2, -1, 0, 1, 2])], 100)
    assert "between −1 and 1" in alt(figure)


def test_trend_is_a_line_with_a_name() -> None:
    figure = residuals_figure(residual_curves(50)["residuals"], 100)
    assert "running median" in words(figure)
    assert strokes(figure, "series-2") > 0
