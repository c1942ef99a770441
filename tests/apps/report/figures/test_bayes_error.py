"""Bayes-error plot: both curves named, far costs cut off, the blind decision at 1."""

from __future__ import annotations

from novum.apps.job.record import Curve
from novum.apps.report.figures.bayes_error import bayes_error_figure
from tests.apps.report.figures.drawn import alt, words
from tests.apps.report.sample_parts import cost_curves


def test_curves_and_working_point_are_named() -> None:
    figure = bayes_error_figure(cost_curves()["bayes_error"], 100)
    assert {"actual", "minimum", "this run"} <= set(words(figure))
    assert "this run at −1.1, 0.69" in alt(figure)


def test_cost_far_from_calibration_does_not_flatten_the_rest() -> None:
    figure = bayes_error_figure([Curve((-4.0, 4.0), (0.5, 900.0), (), (), (), "actual")], 100)
    ticks = [text for text in words(figure) if text[0].isdigit()]
    assert max(float(text) for text in ticks) <= 4.0
