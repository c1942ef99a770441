"""Precision and recall: area in words, and labels of several classes."""

from __future__ import annotations

from novum.apps.job.record import Curve
from novum.apps.report.figures.precision_recall import precision_recall_figure
from tests.apps.report.figures.drawn import alt, words


def test_area_of_a_rectangle_is_said() -> None:
    figure = precision_recall_figure([Curve((0.0, 1.0), (0.75, 0.75), (), ())], 100)
    assert "first curve 0.75." in alt(figure)
    assert {"precision", "recall"} <= set(words(figure))


def test_several_classes_have_a_legend() -> None:
    curves = [Curve((0.0, 1.0), (1.0, y), (), (), (), f"${y}$") for y in (0.5, 0.6)]
    assert {"$0.5$", "$0.6$"} <= set(words(precision_recall_figure(curves, 100)))
