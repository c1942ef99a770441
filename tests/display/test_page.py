"""Blocks: every one as text and as HTML, hostile words in each."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from novum.display import (
    Block,
    Bullets,
    Fact,
    Facts,
    Figure,
    Fold,
    Gallery,
    Heading,
    Listing,
    Markup,
    Notice,
    Paragraph,
    Section,
    Summary,
    Table,
    notebook,
)

EVIL = "<i>\x1b</i>&\"'"
PICTURE = Figure(EVIL, EVIL, Markup("<svg></svg>"))
BLOCKS: list[Block] = [
    Heading(EVIL),
    Paragraph(EVIL, "lead"),
    Bullets([EVIL, EVIL]),
    Listing([EVIL], EVIL),
    Facts([Fact(EVIL, EVIL, EVIL)]),
    Notice("danger", EVIL, EVIL, EVIL),
    Table(EVIL, [EVIL], [[EVIL]], EVIL),
    PICTURE,
    Gallery([PICTURE]),
    Fold(EVIL, [Paragraph(EVIL)]),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_words_stay_words_in_both_views(block: Block) -> None:
    page = f"<div>{block.as_html()}</div>"
    root = ElementTree.fromstring(page)
    assert not list(root.iter("i"))
    assert "<i>" in "".join(root.itertext())
    assert "\x1b" not in page + block.as_text()
    assert "<i>" in block.as_text()


def test_section_is_named_by_its_heading() -> None:
    section = Section("data", "The data", "Data", BLOCKS)
    root = ElementTree.fromstring(section.as_html())
    assert root.get("aria-labelledby") == "data-heading"
    assert root.find("h2").get("id") == "data-heading"  # type: ignore[union-attr]
    assert section.as_text().startswith("The data\n\n<i>")


def test_summary_has_title_lead_blocks_and_notes() -> None:
    summary = Summary("Title", "Lead.", [Paragraph("Body.")], ["Careful."])
    assert summary.as_text() == "Title\nLead.\n\nBody.\n\nNote: Careful."
    root = ElementTree.fromstring(summary.as_html())
    assert [child.tag for child in root] == ["style", "h2", "p", "p", "h3", "ul"]
    bare = ElementTree.fromstring(Summary("Title").as_html())
    assert [child.tag for child in bare] == ["style", "h2"]


def test_notebook_is_one_element_without_script_or_reference() -> None:
    page = notebook(*BLOCKS)
    root = ElementTree.fromstring(page)
    assert root.get("class") == "novum"
    for word in ("<script", "href", "url(", "@import"):
        assert word not in page


def test_unknown_severity_is_a_note() -> None:
    assert 'class="notice note"' in Notice(EVIL, "t", "x").as_html()
