"""Detection error trade-off: normal scores give a straight line; rates of 0 and 1 stay finite."""

from __future__ import annotations

import re

import numpy as np
from scipy import special

from novum.apps.report.figures.det import det_figure
from tests.apps.report.figures.drawn import words
from tests.apps.report.sample_parts import curve


def line(markup: str) -> np.ndarray:
    """Points of the only curve in the first color."""
    path = re.search(r'<path d="([^"]+)"[^>]*class="stroke-series-1"', markup)
    assert path is not None
    return np.array([float(v) for v in re.findall(r"-?[\d.]+", path[1])]).reshape(-1, 2)


def test_normal_scores_give_a_straight_line() -> None:
    false_alarms = special.ndtr(np.linspace(-2.5, 1.0, 30))
    misses = special.ndtr(-1.5 - special.ndtri(false_alarms))
    places = line(str(det_figure([curve(false_alarms, misses)], 100).drawing))
    bend = np.polynomial.Polynomial.fit(places[:, 0], places[:, 1], 1)
    # Coordinates are rounded to a hundredth of a point.
    np.testing.assert_allclose(bend(places[:, 0]), places[:, 1], atol=0.02)


def test_perfect_scores_are_drawn_at_the_edge() -> None:
    figure = det_figure([curve([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])], 100)
    assert np.isfinite(line(str(figure.drawing))).all()
    assert {"0.1 %", "50 %", "miss rate"} <= set(words(figure))
