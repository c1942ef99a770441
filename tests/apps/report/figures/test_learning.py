"""Learning curve: both ends in words, the metric at the axis."""

from __future__ import annotations

from novum.apps.job.record import Curve
from novum.apps.report.figures.learning import learning_figure
from tests.apps.report.figures.drawn import alt, words


def test_ends_are_said() -> None:
    curve = Curve((10.0, 100.0), (0.5, 0.75), (0.4, 0.7), (0.6, 0.8), ((50.0, 0.6, "half"),))
    figure = learning_figure(curve, "roc_auc", 100)
    assert alt(figure) == "The roc auc goes from 0.5 with 10 rows to 0.75 with 100."
    assert {"training rows", "roc auc", "half"} <= set(words(figure))


def test_flat_curve_without_band_is_drawn() -> None:
    assert learning_figure(Curve((1.0, 2.0), (1.0, 1.0), (), ()), "accuracy", 10).drawing
