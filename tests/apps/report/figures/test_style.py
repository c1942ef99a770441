"""The style: palette as classes, text as text, the same bytes whatever the user's settings."""

from __future__ import annotations

from typing import Any

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.report.figures.style import INK, PAINTS, SERIES, picture, tick_texts


def draw(ax: Any) -> None:
    for color in PAINTS:
        ax.plot([0, 1], [0, 1], color=color)
    ax.text(0.5, 0.5, "50 $ & <b> 身長", color=INK)
    ax.set_xlabel("a$b$")


def made() -> str:
    return str(picture(draw, key="k", title="T", alt="A", caption="C").drawing)


def test_palette_becomes_classes_and_no_color_is_left() -> None:
    markup = made()
    for name in PAINTS.values():
        assert f"stroke-{name}" in markup
    for color in (*SERIES, "style=", "font-family", "DejaVu"):
        assert color not in markup


def test_names_are_no_formulas_and_unknown_letters_no_warnings() -> None:
    markup = made()
    assert "50 $ &amp; &lt;b&gt; 身長" in markup
    assert "a$b$" in markup


def test_users_settings_change_nothing() -> None:
    before = made()
    with matplotlib.rc_context(
        {"font.size": 30.0, "axes.facecolor": "red", "lines.linewidth": 9.0}
    ):
        assert made() == before
    assert matplotlib.rcParams["svg.fonttype"] == matplotlib.rcParamsDefault["svg.fonttype"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([-0.5, 0.0, 0.5], ["−0.5", "0.0", "0.5"]),
        ([0.25, 0.5], ["0.25", "0.50"]),
        ([1e6, 2e6], ["1,000,000", "2,000,000"]),
        ([], []),
        ([0.1 + 0.2], ["0.3"]),
    ],
)
def test_ticks_have_equal_decimals(values: list[float], shown: list[str]) -> None:
    assert tick_texts(values) == shown


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=8, unique=True))
def test_different_ticks_look_different(places: list[int]) -> None:
    values = [place / 1000 for place in places]
    assert len(set(tick_texts(values))) == len(values)
