"""ROC: the area in words, the mark, the hardest classes of many."""

from __future__ import annotations

import pytest

from novum.apps.job.record import Curve
from novum.apps.report.figures.roc import roc_figure
from tests.apps.report.figures.drawn import alt, words
from tests.apps.report.sample_parts import classification_curves


def test_area_of_a_triangle_is_said() -> None:
    figure = roc_figure([Curve((0.0, 0.2, 1.0), (0.0, 0.8, 1.0), (), ())], 100)
    # Two triangles and a trapezoid: 0.08 + 0.72.
    assert "first curve 0.8." in alt(figure)


def test_mark_is_drawn_and_said() -> None:
    figure = roc_figure(classification_curves()["roc"], 100)
    assert "working point" in words(figure)
    assert "working point at 0.12" in alt(figure)
    assert "The band" in figure.caption


@pytest.mark.parametrize("n_classes", [3, 26])
def test_many_classes_are_counted(n_classes: int) -> None:
    labels = tuple(f"class {k}" for k in range(n_classes))
    figure = roc_figure(classification_curves(labels)["roc"], 100)
    drawn = [text for text in words(figure) if text.startswith("class ")]
    assert drawn == list(labels[-5:])
    assert ("the 5 hardest are drawn" in figure.caption) == (n_classes > 5)
