"""Observed against predicted: dots, and how many of all."""

from __future__ import annotations

from novum.apps.report.figures.observed import observed_figure
from tests.apps.report.figures.drawn import words
from tests.apps.report.sample_parts import curve, residual_curves


def test_every_row_is_a_dot() -> None:
    figure = observed_figure(residual_curves(50)["predicted"], 800)
    assert str(figure.drawing).count("<use") >= 50
    assert "rows are drawn" not in figure.caption
    assert {"predicted", "observed"} <= set(words(figure))


def test_dots_beyond_the_limit_are_counted() -> None:
    figure = observed_figure(residual_curves(500)["predicted"], 100)
    assert "100 of 500 rows are drawn" in figure.caption


def test_predictions_apart_from_observations_have_no_line_of_equality() -> None:
    figure = observed_figure([curve([0, 1], [100, 101])], 10)
    assert "stroke-dasharray" not in str(figure.drawing)
