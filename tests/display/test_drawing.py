"""Drawings: words for those who cannot see them, hover texts, matplotlib's view."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import matplotlib
import matplotlib.pyplot as plt
import pytest

from novum.display import Box, Dots, Drawing, Group, Label, Path, text_width

matplotlib.use("agg")
SVG = "{http://www.w3.org/2000/svg}"
SHEET = Drawing(
    100,
    50,
    [
        Group(
            [Box(0, 0, 40, 20, "ink", 0.05, frame=1, radius=4), Label(20, 12, "$a$ < b", "middle")]
        ),
        Path([(20, 20), (80, 40)], bends=True),
        Path([(0, 0), (10, 0), (5, 5)], fill=0),
        Dots([1, 2], [3, 4], 2.0, hollow=True),
        Group([Label(1, 1, "x", bold=True, hover="more")], hover="two\nlines"),
    ],
    "A <sheet>",
    "Two boxes.",
)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def test_file_has_title_and_description() -> None:
    root = ElementTree.fromstring(SHEET.as_svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Two boxes."
    assert root.findtext(f"{SVG}title") == "A <sheet>"
    assert root.findtext(f"{SVG}desc") == "Two boxes."
    assert "two\nlines" in [element.text for element in root.iter(f"{SVG}title")]
    assert SHEET.as_text() == "A <sheet>. Two boxes."


def test_ids_of_a_page_start_with_the_key() -> None:
    root = ElementTree.fromstring(SHEET.as_svg("first"))
    assert root.get("aria-labelledby") == "first-title first-text"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert ids == ["first-title", "first-text"]
    assert "font-family" not in root.attrib


def test_curves_leave_and_arrive_upright() -> None:
    assert "M20 20C20 30 80 30 80 40" in SHEET.as_svg()


def test_frames_and_areas_have_both_classes() -> None:
    svg = SHEET.as_svg()
    assert 'class="stroke-series-2"' in svg
    assert 'd="M0 0L10 0L5 5Z" class="fill-series-1"' in svg


def test_matplotlib_shows_the_same_words_in_boxes_of_any_size() -> None:
    ax = SHEET.plot()
    assert [text.get_text() for text in ax.texts] == [r"\$a\$ < b", "x"]
    sizes = []
    for inches in (2, 8):
        _, given = plt.subplots(figsize=(inches, inches))
        assert SHEET.plot(given) is given
        sizes.append(given.texts[0].get_fontsize())
    assert sizes[0] < sizes[1]


def test_wide_signs_take_more_room() -> None:
    assert text_width("身長") > text_width("abc") > text_width("il")
