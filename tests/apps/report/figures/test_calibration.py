"""Calibration: the largest distance in words, intervals of one curve only."""

from __future__ import annotations

from novum.apps.job.record import Curve
from novum.apps.report.figures.calibration import calibration_figure
from tests.apps.report.figures.drawn import alt, strokes, words

BINS = Curve((0.1, 0.5, 0.9), (0.1, 0.7, 0.85), (0.0, 0.6, 0.8), (0.2, 0.8, 0.9))


def test_largest_distance_is_said() -> None:
    assert "diagonal is 0.2." in alt(calibration_figure([BINS], 100))


def test_intervals_are_drawn_for_one_curve_only() -> None:
    alone = strokes(calibration_figure([BINS], 100), "series-1")
    bare = strokes(calibration_figure([Curve(BINS.x, BINS.y, (), ())], 100), "series-1")
    both = calibration_figure([BINS, Curve(BINS.x, BINS.x, BINS.low, BINS.high, (), "b")], 100)
    # Three vertical lines, drawn as one collection or as three paths.
    assert alone > bare
    assert strokes(both, "series-1") <= bare + 2
    assert "b" in words(both)
