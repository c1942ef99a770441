"""Curves: finite points only, ends kept, the hardest of many."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.record import Curve
from novum.apps.report.figures.curves import (
    area_below,
    band_words,
    hardest,
    is_drawable,
    left_out,
    marks_in_words,
    points,
)


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=60), st.integers(2, 20))
def test_points_are_finite_few_and_keep_the_ends(
    pairs: list[tuple[float, float]], most: int
) -> None:
    x, y = zip(*pairs, strict=True) if pairs else ((), ())
    found = points(Curve(x, y, (), ()), most)
    finite = [pair for pair in pairs if np.isfinite(pair).all()]
    assert len(found.x) == min(len(finite), most)
    assert set(zip(found.x, found.y, strict=True)) <= set(finite)
    if len(finite) > 1:
        assert (found.x[0], found.y[0]) == finite[0]
        assert (found.x[-1], found.y[-1]) == finite[-1]


def test_band_needs_both_limits_everywhere() -> None:
    x = (0.0, 1.0, 2.0)
    assert points(Curve(x, x, x, x), 9).low.tolist() == list(x)
    assert points(Curve(x, x, x, ()), 9).low.size == 0
    assert points(Curve(x, x, (None,) * 3, (None,) * 3), 9).low.size == 0  # type: ignore[arg-type]


def test_hardest_are_those_of_least_area_in_their_order() -> None:
    curves = [Curve((0.0, 1.0), (h, h), (), (), (), str(h)) for h in (0.9, 0.1, 0.8, 0.3, 0.2, 0.7)]
    found = hardest(curves, lambda x, y: -area_below(x, y))
    assert [curve.label for curve in found] == ["0.1", "0.8", "0.3", "0.2", "0.7"]
    assert left_out(5, 6) == " Of 6 classes the 5 hardest are drawn."
    assert left_out(6, 6) == ""


def test_area_does_not_depend_on_the_way_the_curve_runs() -> None:
    x = np.array([0.0, 0.5, 1.0])
    assert area_below(x, x) == area_below(x[::-1], x[::-1]) == 0.5


def test_words_for_those_who_cannot_see() -> None:
    x = (0.0, 1.0)
    assert marks_in_words([Curve(x, x, (), (), ((0.25, 0.5, "here"),))]) == "here at 0.25, 0.5."
    assert band_words([Curve(x, x, x, x)]).startswith(" The band")
    assert band_words([Curve(x, x, (), ())]) == band_words([Curve(x, x, x, x)] * 3) == ""


def test_one_point_or_none_is_not_drawn() -> None:
    assert not is_drawable([])
    assert not is_drawable([Curve((1.0,), (1.0,), (), ())])
    assert not is_drawable([Curve((1.0, 2.0), (float("nan"), 1.0), (), ())])
    assert is_drawable([Curve((), (), (), ()), Curve((1.0, 2.0), (1.0, 1.0), (), ())])
