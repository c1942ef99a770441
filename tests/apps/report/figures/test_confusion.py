"""Confusion matrix: numbers where there is room, actions besides classes, empty classes."""

from __future__ import annotations

import numpy as np

from novum.apps.report.figures.confusion import confusion_figure
from tests.apps.report.figures.drawn import alt, strokes, words


def test_small_matrix_shows_its_numbers() -> None:
    figure = confusion_figure([[5, 1], [2, 1234]], ["no", "yes"], ["no", "yes"])
    assert {"5", "1", "2", "1,234", "no", "yes"} <= set(words(figure))
    assert "1,239 of 1,242 are right" in alt(figure)


def test_right_and_wrong_have_different_colors() -> None:
    right = confusion_figure([[5, 0], [0, 3]], ["a", "b"], ["a", "b"])
    assert strokes(right, "series-1") == 2
    assert strokes(right, "series-2") == 0
    wrong = confusion_figure([[5, 1], [0, 3]], ["a", "b"], ["a", "b"])
    assert strokes(wrong, "series-2") == 1


def test_large_matrix_has_shades_only_and_empty_classes_are_no_division_by_zero() -> None:
    counts = np.diag(np.arange(26.0))
    names = [chr(65 + k) for k in range(26)]
    figure = confusion_figure(counts.tolist(), names, names)
    assert set(words(figure)) == {*names, "decided", "true"}
    assert strokes(figure, "series-1") == 25


def test_actions_may_differ_from_classes() -> None:
    figure = confusion_figure([[5, 1, 0], [2, 1, 4]], ["no", "yes"], ["accept", "reject", "ask"])
    assert "right" not in alt(figure)
    assert {"accept", "reject", "ask"} <= set(words(figure))
