"""Cost of thresholds: the least in words, the chosen one ringed."""

from __future__ import annotations

from novum.apps.job.record import Curve
from novum.apps.report.figures.threshold import threshold_figure
from tests.apps.report.figures.drawn import alt, words
from tests.apps.report.sample_parts import cost_curves


def test_least_cost_is_said() -> None:
    figure = threshold_figure([Curve((0.1, 0.4, 0.9), (3.0, 1.5, 2.0), (), ())], 100)
    assert "least of the first curve is 1.5 at 0.4" in alt(figure)


def test_chosen_threshold_is_drawn_and_said() -> None:
    figure = threshold_figure(cost_curves()["threshold"], 100)
    assert "chosen: 0.35" in words(figure)
    assert "chosen: 0.35 at 0.35" in alt(figure)


def test_constant_cost_has_room() -> None:
    assert threshold_figure([Curve((0.0, 1.0), (0.0, 0.0), (), ())], 100).drawing
