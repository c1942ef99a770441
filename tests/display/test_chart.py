"""Charts: closed cases of places, what is cut off, NaN, empty charts, both views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from novum.display import Axis, Band, Bars, Chart, Cloud, Line, Rule, Words

matplotlib.use("agg")
UNIT = Axis("x", limits=(0.0, 1.0)), Axis("y", limits=(0.0, 1.0))
EVIL = "</text></svg><script>x</script>$a$\x1b"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def paths(svg: str, color: str = "stroke-series-1") -> list[np.ndarray]:
    found = [tag for tag in re.findall(r"<path [^>]*>", svg) if color in tag]
    numbers = (re.findall(r"-?[\d.]+", tag.split('d="')[1].split('"')[0]) for tag in found)
    return [np.array(values, float).reshape(-1, 2) for values in numbers]


def words(svg: str) -> list[str]:
    return [
        text.text or "" for text in ElementTree.fromstring(svg).iter() if text.tag[-4:] == "text"
    ]


def test_straight_line_is_straight_and_ends_in_the_corners() -> None:
    (line,) = paths(Chart(*UNIT, [Line([0, 0.5, 1], [0, 0.5, 1])]).as_svg())
    middle = (line[0] + line[2]) / 2
    np.testing.assert_allclose(line[1], middle, atol=0.011)
    assert line[0][0] < line[2][0]
    assert line[0][1] > line[2][1]


def test_what_leaves_the_limits_is_cut_off_at_the_frame() -> None:
    inside, cut = (
        Chart(*UNIT, [Line(x, y)]).as_svg() for x, y in (([0, 1], [0, 1]), ([-1, 2], [-1, 2]))
    )
    np.testing.assert_allclose(paths(inside)[0], paths(cut)[0], atol=0.011)
    assert paths(Chart(*UNIT, [Line([2, 3], [2, 3])]).as_svg()) == []
    # In and out again: two pieces.
    assert len(paths(Chart(*UNIT, [Line([0, 0.5, 1], [0.5, 3, 0.5])]).as_svg())) == 2


def test_values_that_are_not_finite_break_the_line() -> None:
    svg = Chart(Axis(), Axis(), [Line([0, 1, 2, 3, 4], [0, 1, np.nan, 1, 0])]).as_svg()
    assert len(paths(svg)) == 2
    assert "nan" not in svg
    band = Chart(Axis(), Axis(), [Band([0, 1, 2], [0, np.nan, 0], [1, 1, 1])]).as_svg()
    assert "nan" not in band


@pytest.mark.parametrize("values", [[], [np.nan], [1.0], [np.inf, 1.0]])
def test_charts_of_little_or_nothing_are_drawn(values: list[float]) -> None:
    marks = [Line(values, values), Cloud(values, values), Band(values, values, values)]
    svg = Chart(Axis(), Axis(), marks).as_svg()
    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg
    assert Chart(Axis(), Axis(), []).as_text() == ""


def test_bars_stand_on_zero_and_names_are_in_order() -> None:
    bars = Bars.lying([0, 1], [2.0, 1.0])
    svg = Chart(Axis("rows", limits=(0, 2)), Axis(names=["first", "second"]), [bars]).as_svg()
    first, second = (
        [float(v) for v in re.findall(r'(?: x| y|width)="([\d.]+)"', tag)]
        for tag in re.findall(r"<rect [^>]*>", svg)
    )
    assert first[2] == pytest.approx(2 * second[2], abs=0.02)
    assert first[1] < second[1]
    assert [word for word in words(svg) if word in ("first", "second")] == ["first", "second"]


def test_logarithmic_axis_has_powers_of_ten_evenly_apart() -> None:
    axis = Axis(limits=(1.0, 100.0), log=True)
    (line,) = paths(Chart(axis, Axis(), [Line([1, 10, 100], [0, 1, 2])]).as_svg())
    assert line[1][0] == pytest.approx((line[0][0] + line[2][0]) / 2, abs=0.011)
    assert {"1", "10", "100"} <= set(words(Chart(axis, Axis(), [Line([1, 9], [0, 1])]).as_svg()))


def test_names_are_no_markup_and_no_formulas() -> None:
    chart = Chart(
        Axis(EVIL, names=[EVIL], turned=True),
        Axis(EVIL),
        [Line([0, 1], [0, 1], EVIL), Words(0, 1, EVIL, ring=True), Rule(y=0.5, label=EVIL)],
        EVIL,
        EVIL,
    )
    for key in ("", "k"):
        svg = chart.as_svg(key)
        tags = {element.tag.split("}")[-1] for element in ElementTree.fromstring(svg).iter()}
        assert tags <= {"svg", "title", "desc", "g", "path", "text", "circle", "rect"}
        assert "\x1b" not in svg
    chart.plot().figure.canvas.draw()
    assert "\x1b" not in chart.as_text()


def test_palette_has_classes_and_colors() -> None:
    svg = Chart(Axis(), Axis(), [Line([0, 1], [0, 1], color=1)]).as_svg()
    assert 'class="stroke-series-2" stroke="#e69f00"' in svg
    assert 'style="' not in svg


def test_same_chart_gives_the_same_text() -> None:
    def made() -> str:
        return Chart(*UNIT, [Cloud([0.1, 0.2], [0.3, 0.4]), Words(0.5, 0.5, "a")]).as_svg()

    assert made() == made()


def test_matplotlib_has_the_same_marks() -> None:
    chart = Chart(
        Axis("rows", log=True),
        Axis("score", limits=(0.0, 1.0)),
        [
            Band([1, 10], [0.1, 0.2], [0.3, 0.4]),
            Line([1, 10], [0.2, 0.3], "mean", dots=True),
            Rule(y=0.5),
            Bars.upright([1, 2], [0.5, 0.6]),
            Cloud([1.0], [0.1]),
            Words(1.0, 0.2, "here", ring=True),
        ],
        "Title",
    )
    ax = chart.plot()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("rows", "score", "Title")
    assert ax.get_xscale() == "log"
    assert ax.get_ylim() == (0.0, 1.0)
    assert len(ax.patches) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mean"]
    assert [text.get_text() for text in ax.texts] == ["here"]
    assert chart.plot(ax) is ax
