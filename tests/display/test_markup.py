"""Markup: hostile text stays text, whatever it is put into."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.display import Markup, element, escaped, joined, printable

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><svg onload=x>',
    "' onmouseover='x",
    "</style>&amp;]]>",
    "\x00\x1b[2J\u202e\u2028\ufffe\ud800",
)


@given(st.text(st.characters(codec=None), max_size=30))
def test_any_text_stays_text_in_children_and_attributes(text: str) -> None:
    # An XML parser refuses what is not escaped and what is no character.
    tree = ElementTree.fromstring(element("p", text, title=text))
    shown = escaped(text.replace("\n", ""))
    assert "<" not in shown
    assert not list(tree)
    assert "\x1b" not in (tree.text or "") + tree.attrib["title"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_are_neither_elements_nor_attributes(payload: str) -> None:
    made = element("td", payload, (payload, None, [payload]), aria_label=payload)
    root = ElementTree.fromstring(made)
    assert set(root.attrib) == {"aria-label"}
    assert len(root) == 0
    for mark in ("\x00", "\x1b", "\u202e", "\u2028", "\ufffe", "\ud800"):
        assert mark not in made


def test_markup_is_not_escaped_twice() -> None:
    inner = element("b", "a & b")
    assert isinstance(inner, Markup)
    assert element("p", inner) == "<p><b>a &amp; b</b></p>"
    assert joined([escaped("<"), "<"]) == "&lt;&lt;"


def test_attributes_have_their_names_and_rounded_numbers() -> None:
    assert element("rect", class_="a", stroke_width=1 / 3, x=-0.0001, rx=None) == (
        '<rect class="a" stroke-width="0.33" x="0"/>'
    )
    assert element("td") == "<td></td>"


@given(st.text(max_size=80), st.integers(4, 40))
def test_printable_is_one_short_line(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


def test_codes_of_control_characters_are_shown() -> None:
    assert printable("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\\n"
