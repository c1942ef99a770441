"""Clouds: dots of the first curve, lines of the others, and the count of what is left out."""

from __future__ import annotations

from typing import Any

from novum.apps.report.figures.scatter import draw_scatter, of_all
from novum.apps.report.figures.style import picture
from tests.apps.report.figures.drawn import strokes, words
from tests.apps.report.sample_parts import curve


def test_first_is_dots_others_are_lines() -> None:
    curves = [curve([0, 1, 2], [0, 1, 0]), curve([0, 2], [0, 0], [-1, -1], [1, 1], (), "trend")]

    def draw(ax: Any) -> None:
        draw_scatter(ax, curves, 10)

    figure = picture(draw, key="k", title="T", alt="A", caption="C")
    assert str(figure.drawing).count("<use") >= 3
    assert strokes(figure, "series-2") >= 2
    assert "trend" in words(figure)


def test_dots_left_out_are_counted() -> None:
    curves = [curve(range(30), range(30))]
    assert of_all(curves, 10) == " 10 of 30 rows are drawn, evenly taken."
    assert of_all(curves, 30) == ""
