"""Curves without a picture of their own are drawn by their name."""

from __future__ import annotations

from novum.apps.report.figures.other import other_figure
from tests.apps.report.figures.drawn import alt
from tests.apps.report.sample_parts import curve


def test_name_and_number_of_curves_are_said() -> None:
    figure = other_figure("lift_curve", [curve([0, 1], [k, k]) for k in range(8)], 10, 0)
    assert figure.title == "lift curve"
    assert figure.caption == "The first 6 of 8 curves."
    assert alt(figure).startswith("Curve of lift curve.")
