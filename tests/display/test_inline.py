"""Drawings: what is not allowed is gone, what is allowed stays as it was, ids never clash."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.display import inline_svg
from tests.apps.report.page_parts import parsed

NAMESPACE = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def rebuilt(inside: str, **how: object) -> str:
    how = {"key": "k", "title": "T", **how}
    return str(inline_svg(f"<svg {NAMESPACE}>{inside}</svg>", **how))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<path onclick="alert(1)" d="M0 0"/>',
        '<image href="data:text/html,x"/>',
        '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
        "<foreignObject><b>x</b></foreignObject>",
        "<style>*{fill:url(//evil.example)}</style>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        '<use href="//evil.example/x.svg#a"/>',
        '<use xlink:href="data:image/svg+xml,x#a"/>',
        '<path d="M0 0" fill="url(//evil.example#a)"/>',
        '<path d="M0 0" style="fill: url(//evil.example); behavior: url(x)"/>',
        '<g clip-path="url(//evil.example#a)"><path d="M0 0"/></g>',
        '<text style="font-family: expression(alert(1))">x</text>',
        '<path d="javascript:alert(1)"/>',
    ],
)
def test_what_could_run_or_load_is_gone(inside: str) -> None:
    markup = rebuilt(inside).lower()
    for word in ("alert", "evil", "script", "data:", "style", "foreign", "behavior", "expression"):
        assert word not in markup
    parsed(markup)


def test_shapes_and_words_stay() -> None:
    markup = rebuilt(
        '<g transform="rotate(-90 5 6)"><title>a &lt; b</title>'
        '<text x="1" y="2" text-anchor="middle">x<tspan font-weight="bold">y</tspan>z</text></g>'
    )
    assert '<g transform="rotate(-90 5 6)"><title>a &lt; b</title>' in markup
    assert '>x<tspan font-weight="bold">y</tspan>z</text>' in markup


def test_coordinates_are_rounded_and_only_classes_of_the_palette_stay() -> None:
    markup = rebuilt('<path d="M 1.23456 2 L -3.999999 4" class="stroke-series-1" fill="none"/>')
    assert '<path d="M 1.23 2 L -4 4" class="stroke-series-1" fill="none" />' in markup
    assert "class" not in rebuilt('<path d="M0 0" class="notice danger"/>').split("<path")[1]


def test_ids_are_renamed_and_only_kept_where_used() -> None:
    inside = (
        '<defs><path id="m1" d="M0 0"/><clipPath id="p"><rect width="1" height="1"/></clipPath>'
        '</defs><g id="unused" clip-path="url(#p)"><use xlink:href="#m1" x="1"/></g>'
    )
    first, second = rebuilt(inside, key="one"), rebuilt(inside, key="two")
    ids = [set(re.findall(r' id="([^"]+)"', markup)) for markup in (first, second)]
    assert len(ids[0]) == 3  # title, path, clip path
    assert not ids[0] & ids[1]
    assert 'href="#one-0"' in first
    assert 'clip-path="url(#one-1)"' in first


def test_groups_cannot_be_used_again() -> None:
    """Uses of groups of uses would grow without bound."""
    bomb = '<g id="a"><path d="M0 0"/></g><g id="b"><use href="#a"/><use href="#a"/></g>'
    assert "href" not in rebuilt(bomb)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "starts with <svg"),
        ("<html/>", "starts with <svg"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "document type"),
        ("<svg><g></svg>", "not well-formed"),
        ("<svgx/>", "root of a drawing is svg"),
        ("<svg>" + "<g>" * 200 + "</g>" * 200 + "</svg>", "at most 100 levels"),
        ("<svg>&unknown;</svg>", "not well-formed"),
    ],
)
def test_what_is_no_drawing_is_refused(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        inline_svg(source, key="k", title="T")


@given(st.text(), st.text())
def test_title_and_description_are_escaped(title: str, description: str) -> None:
    from novum.apps.report.names import text

    title, description = text(title), text(description)
    markup = inline_svg("<svg/>", key="k", title=title, description=description)
    page = parsed(str(markup))
    assert [part.text for part in page.all("title")] == ([title] if title else [])
    assert [part.text for part in page.all("desc")] == ([description] if description else [])
